"""Answers that are data: JSON and tables."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import orjson

from oulibench.responses.markup import TICK, fenced_blocks
from oulibench.responses.patterns import Patterns

_KEY_NUMBER = re.compile(r"[^\W\d]{0,20}[ _-]?\d{1,4}", re.IGNORECASE)
_MAX_DEPTH: Final = 20


def strings_of_json(text: str, patterns: Patterns, steps: list[str]) -> list[str] | None:
    """The sentences of an answer written as JSON (bare, in a code fence, after a preamble, one object a line).

    `None` where the answer is no JSON. JSON that is cut off or malformed gives the strings that are whole.
    """
    if "[" not in text and "{" not in text:
        return None
    for candidate in _candidates(text):
        bare = candidate.replace(TICK, "`")
        try:
            value = orjson.loads(bare)
        except orjson.JSONDecodeError:
            lines = _json_lines(bare)
            if lines is None:
                continue
            value = lines
        if not isinstance(value, list | dict):
            continue
        found = list(_sentences(value, patterns, 0))
        steps.append(f"JSON: {len(found)} string{'' if len(found) == 1 else 's'} read")
        return found
    for candidate in _candidates(text):
        if re.match(r"[\[{]\s{0,80}[\"{\[]", candidate):
            found = _repair(candidate.replace(TICK, "`"))
            if found:
                steps.append(f"malformed or unfinished JSON: {len(found)} whole strings read")
                return found
    return None


def _candidates(text: str) -> Iterator[str]:
    whole = text.strip()
    if whole[:1] in "[{":
        yield whole
    if TICK * 3 in text:
        for block in fenced_blocks(text)[0]:
            if block.strip()[:1] in ("[", "{"):
                yield block.strip()
    if whole[:1] not in "[{":
        opening = re.search(r"^ {0,8}[\[{]", text, re.MULTILINE)
        if opening:
            tail = text[opening.start() :].strip()
            closing = max(tail.rfind("]"), tail.rfind("}"))
            yield tail[: closing + 1] if closing > 0 else tail


def _json_lines(text: str) -> list[object] | None:
    lines = [line.strip().rstrip(",") for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or not all(line[0] == "{" and line[-1] == "}" for line in lines):
        return None
    values: list[object] = []
    for line in lines:
        try:
            values.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            return None
    return values


def _sentences(value: object, patterns: Patterns, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list):
        for member in value:
            yield from _sentences(member, patterns, depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(value, patterns, depth)


def _of_object(value: dict[str, object], patterns: Patterns, depth: int) -> Iterator[str]:
    lists = {k: v for k, v in value.items() if isinstance(v, list | dict) and v}
    texts = {k: v for k, v in value.items() if isinstance(v, str)}
    if lists and not (texts and _field(texts, patterns)):
        for name, member in lists.items():
            if len(lists) == 1 or not patterns.other_field.fullmatch(name.strip()):
                yield from _sentences(member, patterns, depth + 1)
        return
    if not texts:
        return
    if len(texts) > 1 and all(_KEY_NUMBER.fullmatch(k.strip()) or k.strip().isdigit() for k in texts):
        yield from (v.strip() for v in texts.values())
        return
    key = _field(texts, patterns)
    if key is not None:
        yield texts[key].strip()
    elif all(not patterns.other_field.fullmatch(k.strip()) for k in texts):  # {"noce": "ceno", "ramo": "mora"}
        yield from (v.strip() for v in texts.values())


def _field(texts: dict[str, str], patterns: Patterns) -> str | None:
    """The key that holds the sentence."""
    for pattern in patterns.text_fields:
        for key in texts:
            if pattern.fullmatch(key.strip()) and not patterns.other_field.fullmatch(key.strip()):
                return key
    return None


_TOKEN = re.compile(r"\\.|[\"\[\]{}:,]", re.DOTALL)


def _repair(text: str) -> list[str]:
    """The whole strings of broken JSON that are not keys."""
    found: list[str] = []
    start: int | None = None
    for token in _TOKEN.finditer(text):
        if token.group() != '"':
            continue
        if start is None:
            start = token.end()
            continue
        after = text[token.end() : token.end() + 20].lstrip()
        if after and after[0] not in ",:]}" and text[token.end() : token.end() + 1] != "\n":
            continue  # a quotation mark inside the string that nobody escaped
        if not after.startswith(":"):
            piece = text[start : token.start()]
            with contextlib.suppress(ValueError):  # a bad escape: the string as it stands
                piece = str(json.loads(f'"{piece}"', strict=False))
            if piece.strip():
                found.append(piece.strip())
        start = None
    return found


# --- tables ------------------------------------------------------------------------------------------------------


def rows_of_tables(text: str, source: str | None, patterns: Patterns, steps: list[str]) -> list[tuple[str, str]] | None:
    """(sentence, row) for each row of the Markdown tables of `text`; `None` where there is no table."""
    if text.count("|") < 3:
        return None
    found: list[tuple[str, str]] = []
    tables = 0
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        if "|" in line:
            block.append(line.strip())
            continue
        if len(block) > 1 and _is_table(block):
            tables += 1
            found.extend(_column(block, source, patterns, steps))
        block = []
    return found if tables else None


_QUOTED = r"(?:\"[^\"\n]+\"|«[^«»\n]+»|“[^“”\n]+”)"
_QUOTED_LIST = re.compile(rf"\s*(?:{_QUOTED}[ ]?[,;][ ]?)+{_QUOTED}[.,;]?\s*")


def quoted_on_one_line(text: str) -> list[str]:
    """The texts of an answer that is nothing but quotations with commas between them."""
    if text.count(",") + text.count(";") == 0 or not _QUOTED_LIST.fullmatch(text):
        return []
    return [match[0][1:-1].strip() for match in re.finditer(_QUOTED, text)]


_NUMBERED_RECORD = re.compile(r"[ ]*\"?(?P<number>\d{1,4})\"?[ ]*(?P<delimiter>[,;])[ ]*(?P<rest>(?!\d)\S.*)")


_FIRST_RECORD = re.compile(r"^[ ]*\"?[012]\"?[ ]*[,;]", re.MULTILINE)


def may_hold_records(text: str) -> bool:
    """Whether `table_of_records` is worth a try."""
    return _FIRST_RECORD.search(text) is not None


def table_of_records(text: str) -> str | None:
    """Numbered records with commas or semicolons (`1,Il gatto dorme`) as a Markdown table; `None` where there are
    none. A text may hold the delimiter without being quoted: what follows the number is one text, unless a header and
    every record have as many fields.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    found = [(i, match) for i, line in enumerate(lines) if (match := _NUMBERED_RECORD.fullmatch(line))]
    numbers = [int(match["number"]) for _, match in found]
    first = found[0][0] if found else 0
    delimiters = {match["delimiter"] for _, match in found}
    together = [i for i, _ in found] == list(range(first, first + len(found)))
    in_order = all(0 <= number - before <= 2 for before, number in pairwise(numbers))  # models miscount
    if len(found) < 2 or numbers[0] > 2 or not in_order or len(delimiters) > 1 or not together:
        return None
    delimiter = delimiters.pop()
    header = _fields(lines[first - 1], delimiter) if first and delimiter in lines[first - 1] else []
    records = [_fields(lines[i], delimiter) for i, _ in found]
    if not header or any(len(record) != len(header) for record in records):
        header = header[:2] if len(header) == 2 else []
        records = [[match["number"], _whole(match["rest"], delimiter)] for _, match in found]
    rows = [header, ["---"] * len(header), *records] if header else records
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def _fields(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]
    except csv.Error:  # a field longer than the module takes
        return [line.strip()]


def _whole(rest: str, delimiter: str) -> str:
    """A record's text: the quoted field, or all that follows the number."""
    return _fields(rest, delimiter)[0] if rest.startswith('"') else rest.strip()


def _is_rule(line: str) -> bool:
    return "-" in line and not line.strip("|:-+ ")


def _is_table(block: list[str]) -> bool:
    return any(_is_rule(line) for line in block[:3]) or all(line[0] == "|" and line.count("|") > 1 for line in block)


def _cells(line: str) -> list[str]:
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.replace("\x1f", "|").strip() for cell in line.replace("\\|", "\x1f").split("|")]


def _column(block: list[str], source: str | None, patterns: Patterns, steps: list[str]) -> list[tuple[str, str]]:
    rows = [(_cells(line), line) for line in block if not _is_rule(line)]
    if not rows:
        return []
    header: list[str] | None = None
    names = [name.strip("*_ ").casefold() for name in rows[0][0]]
    known = sum(bool(patterns.other_field.fullmatch(n) or _rank(n, patterns) is not None) for n in names)
    ruled = len(block) > 1 and _is_rule(block[1])
    if ruled or known * 2 > len(names):
        header, rows = names, rows[1:]
    if not rows:
        return []
    width = max(len(cells) for cells, _ in rows)
    columns = [[cells[i].strip("*_ ") if i < len(cells) else "" for cells, _ in rows] for i in range(width)]
    best = max(range(width), key=lambda i: (_worth(columns[i], header, i, source, patterns), -i))
    name = f"«{header[best]}»" if header and best < len(header) and header[best] else f"{best + 1}"
    steps.append(f"table: {len(rows)} rows, column {name} read")
    return [(cells[best], line) for cells, line in rows if best < len(cells) and cells[best]]


def _rank(name: str, patterns: Patterns) -> int | None:
    for rank, pattern in enumerate(patterns.text_fields):
        if pattern.fullmatch(name):
            return rank
    return None


def _worth(
    column: list[str], header: list[str] | None, index: int, source: str | None, patterns: Patterns
) -> tuple[int, float]:
    """How likely a column holds the sentences: its name first, then what is in it."""
    filled = [cell for cell in column if cell]
    letters = sum(sum(map(str.isalpha, cell)) for cell in filled) / max(1, len(column))
    if not letters or all(source is not None and cell.casefold() == source for cell in filled):
        return (-100, 0.0)
    name = header[index] if header and index < len(header) else ""
    if name and patterns.other_field.fullmatch(name):
        return (-50, letters)
    rank = _rank(name, patterns) if name else None
    if sum(patterns.is_english(cell) for cell in filled) * 2 > len(filled):
        return (-20, letters)
    return (10 - rank if rank is not None else 0, letters)
