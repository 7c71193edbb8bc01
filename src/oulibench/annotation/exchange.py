"""Ratings in and out: the long table (CSV, JSONL), and the formats of Label Studio and Potato.

The long table has one row per rating and dimension: `item_id, annotator, dimension, value, comment, time, seconds`. A
flag is the dimension `flag:ID` with the value 1. An adjudicator's decision has the annotator `gold:NAME`. Exports for
other tools hold text and constraint, not model or shots; their results come back by item id.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from xml.sax.saxutils import quoteattr

from oulibench.annotation.sampling import Unit
from oulibench.annotation.scheme import FLAG_PREFIX, InterfaceLanguage, Scheme, describe
from oulibench.annotation.store import MAX_COMMENT, Event, Rating, checked_name
from oulibench.errors import DataError
from oulibench.jsonl import dump_line, parse_line

Format = Literal["csv", "jsonl", "label-studio", "potato"]
COLUMNS: Final = ("item_id", "annotator", "dimension", "value", "comment", "time", "seconds")
GOLD_PREFIX: Final = "gold:"

LongRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReadIn:
    """What a file of ratings holds; `problems` says of each rating that was refused where it stands and why."""

    ratings: tuple[Rating, ...]
    golds: tuple[Rating, ...]
    problems: tuple[str, ...]


# --- the long table ---------------------------------------------------------------------------------------------------


def long_rows(ratings: Iterable[Rating], golds: Iterable[Rating] = ()) -> Iterator[LongRow]:
    """The rows of the long table, ratings of people first, then decisions."""
    for prefix, group in (("", ratings), (GOLD_PREFIX, golds)):
        for rating in group:
            marks = [*sorted(rating.values.items()), *((FLAG_PREFIX + flag, 1) for flag in sorted(rating.flags))]
            for dimension, value in marks:
                yield {
                    "item_id": rating.unit,
                    "annotator": prefix + rating.person,
                    "dimension": dimension,
                    "value": value,
                    "comment": rating.comment,
                    "time": rating.time,
                    "seconds": rating.seconds,
                }


def to_jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(dump_line(dict(row)) for row in rows)


# What a spreadsheet would read as a formula when a cell begins with it; the apostrophe is what guards them.
_GUARDED: Final = ("=", "+", "-", "@", "\t", "\r", "'")


def to_csv(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The rows as CSV. A cell that a spreadsheet would take for a formula is led by an apostrophe; reading drops it."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: _guarded(row[k]) for k in COLUMNS})
    return stream.getvalue().encode("utf-8")


def _guarded(cell: Any) -> Any:
    return "'" + cell if isinstance(cell, str) and cell.startswith(_GUARDED) else cell


def _csv_rows(data: bytes, where: str) -> Iterator[tuple[str, LongRow]]:
    reader = csv.DictReader(io.StringIO(_utf8(data, where), newline=""), strict=True)
    if missing := [c for c in COLUMNS[:4] if c not in (reader.fieldnames or ())]:
        raise DataError(f"{where}: the table lacks the column {missing[0]!r}; it needs {', '.join(COLUMNS[:4])}.")
    try:
        for row in reader:
            cells = {k: v.removeprefix("'") if isinstance(v, str) else v for k, v in row.items() if k is not None}
            yield f"{where}:{reader.line_num}", cells
    except csv.Error as error:
        raise DataError(f"{where}:{reader.line_num}: {error}") from error


def _jsonl_rows(data: bytes, where: str) -> Iterator[tuple[str, LongRow]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                yield f"{where}:{number}", parse_line(line)
            except DataError as error:
                raise DataError(f"{where}:{number}: {error}") from error


def _from_long(rows: Iterable[tuple[str, LongRow]]) -> Iterator[tuple[str, Rating]]:
    """The ratings that long rows add up to, each with the place of its first row, in order of appearance."""
    groups: dict[tuple[str, str], tuple[str, list[LongRow]]] = {}
    for where, row in rows:
        key = (str(row.get("annotator") or ""), str(row.get("item_id") or ""))
        groups.setdefault(key, (where, []))[1].append(row)
    for (annotator, unit), (where, members) in groups.items():
        values: dict[str, int] = {}
        flags: set[str] = set()
        for row in members:
            dimension = str(row.get("dimension") or "")
            if dimension.startswith(FLAG_PREFIX):
                flags.add(dimension.removeprefix(FLAG_PREFIX))
            elif dimension in values:
                values[dimension] = -1  # rated twice in one table: neither can be taken
            else:
                values[dimension] = _whole(row.get("value"))
        first = members[0]
        yield where, Rating(
            annotator, unit, values, frozenset(flags), str(first.get("comment") or ""), str(first.get("time") or ""),
            _seconds(first.get("seconds")),
        )  # fmt: skip


def _whole(value: Any) -> int:
    """A value as an int; what is none becomes one that no scale has."""
    if isinstance(value, bool):
        return -1
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal() and len(value.strip()) < 4:
        return int(value)
    return value if isinstance(value, int) else -1


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < 1e9 else None


# --- reading ----------------------------------------------------------------------------------------------------------


def format_of(path: Path) -> Format:
    """The format that a path's name speaks of.

    Raises:
        DataError: none.
    """
    if path.is_dir():
        return "potato"
    by_suffix: dict[str, Format] = {".csv": "csv", ".jsonl": "jsonl", ".json": "label-studio"}
    if path.suffix.lower() not in by_suffix:
        raise DataError(f"{path}: the name does not say which format this is; say it with --format.")
    return by_suffix[path.suffix.lower()]


def read_ratings(path: Path, form: Format | None, scheme: Scheme, units: Sequence[Unit]) -> ReadIn:
    """The ratings that a file (for Potato, a folder) holds. Those that fit no item or no scale are refused, by name.

    Raises:
        DataError: the file cannot be read, or is not of that format.
    """
    form = form or format_of(path)
    try:
        if form == "potato":
            found = list(_from_potato(path, scheme))
        else:
            data, name = path.read_bytes(), str(path)
            readers: dict[str, Callable[[], Iterator[tuple[str, Rating]]]] = {
                "csv": lambda: _from_long(_csv_rows(data, name)),
                "jsonl": lambda: _from_long(_jsonl_rows(data, name)),
                "label-studio": lambda: _from_label_studio(data, name, scheme),
            }
            found = list(readers[form]())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    known = {occurrence.item_id: unit.id for unit in units for occurrence in unit.occurrences}
    known |= {unit.id: unit.id for unit in units}
    ratings: list[Rating] = []
    golds: list[Rating] = []
    problems: list[str] = []
    for where, rating in found:
        gold = rating.person.startswith(GOLD_PREFIX)
        try:
            person = checked_name(rating.person.removeprefix(GOLD_PREFIX))
        except DataError as error:
            problems.append(f"{where}: {error}")
            continue
        unit = known.get(rating.unit)
        problem = f"no item {rating.unit!r}" if unit is None else scheme.problem(rating.values, rating.flags)
        if unit is None or problem:
            problems.append(f"{where}: {person}: {problem}")
            continue
        comment = rating.comment[:MAX_COMMENT]
        kept = Rating(person, unit, rating.values, rating.flags, comment, rating.time, rating.seconds)
        (golds if gold else ratings).append(kept)
    return ReadIn(tuple(ratings), tuple(golds), tuple(problems))


def _utf8(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: the file is not UTF-8 (byte {error.start + 1}).") from error


# --- the history ------------------------------------------------------------------------------------------------------


def history_rows(events: Iterable[Event]) -> Iterator[LongRow]:
    """Everything that was ever decided, what was undone included, one event a row."""
    for event in events:
        rating = event.rating
        yield {
            "event": event.seq,
            "kind": event.kind,
            "undoes": event.undoes,
            "item_id": rating.unit,
            "annotator": rating.person,
            "values": dict(rating.values),
            "flags": sorted(rating.flags),
            "comment": rating.comment,
            "time": rating.time,
            "seconds": rating.seconds,
        }


def item_rows(units: Iterable[Unit]) -> Iterator[LongRow]:
    """What was rated and where it stands in the runs (not blind): one row per unit, with all items that read so."""
    for unit in units:
        yield {
            "item_id": unit.id,
            "task": unit.task,
            "family": unit.family,
            "target": unit.target,
            "difficulty": unit.difficulty,
            "text": unit.text,
            "items": [
                {
                    "item_id": o.item_id,
                    "model": o.cell[0],
                    "shots": o.cell[3],
                    "passed": o.passed,
                    "drawn": o.drawn,
                }
                for o in unit.occurrences
            ],
        }


# --- Label Studio -----------------------------------------------------------------------------------------------------


def label_studio_config(scheme: Scheme, language: InterfaceLanguage = "it") -> str:
    """The labelling configuration (XML) that asks what the scheme asks."""
    lines = ["<View>", '  <Text name="rule" value="$constraint"/>', '  <Text name="text" value="$text"/>']
    for dimension in scheme.dimensions:
        title = f"{dimension.label[language]}. {dimension.question[language]}"
        lines.append(f"  <Header value={quoteattr(title)}/>")
        lines.append(f'  <Choices name={quoteattr(dimension.id)} toName="text" choice="single" showInline="true">')
        for point in dimension.points:
            hint = quoteattr(f"{point.label[language]}. {point.guideline[language]}")
            lines.append(f'    <Choice value="{point.value}" hint={hint}/>')
        lines.append("  </Choices>")
    if scheme.flags:
        lines.append('  <Choices name="flags" toName="text" choice="multiple" showInline="true">')
        for flag in scheme.flags:
            label = quoteattr(f"{flag.label[language]}. {flag.guideline[language]}")
            lines.append(f"    <Choice value={quoteattr(flag.id)} hint={label}/>")
        lines.append("  </Choices>")
    lines += ['  <TextArea name="comment" toName="text" rows="2" maxSubmissions="1"/>', "</View>", ""]
    return "\n".join(lines)


def to_label_studio(
    units: Iterable[Unit], ratings: Iterable[Rating] = (), language: InterfaceLanguage = "it"
) -> list[dict[str, Any]]:
    """Label Studio tasks: text and constraint, and, where ratings are given, annotations."""
    by_unit: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_unit.setdefault(rating.unit, []).append(rating)
    tasks = []
    for unit in units:
        task: dict[str, Any] = {"data": _blind(unit, language)}
        if unit.id in by_unit:
            task["annotations"] = [_label_studio_annotation(rating) for rating in by_unit[unit.id]]
        tasks.append(task)
    return tasks


def _blind(unit: Unit, language: InterfaceLanguage) -> dict[str, str]:
    rule = describe(unit.task, unit.target, language, unit.policy)
    return {
        "item_id": unit.id,
        "text": unit.text,
        "constraint": f"{rule.text} {rule.severe_note if rule.severe else ''}".strip(),
    }


def _label_studio_annotation(rating: Rating) -> dict[str, Any]:
    def region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
        return {"from_name": name, "to_name": "text", "type": kind, "value": value}

    result = [region(d, "choices", {"choices": [str(v)]}) for d, v in sorted(rating.values.items())]
    if rating.flags:
        result.append(region("flags", "choices", {"choices": sorted(rating.flags)}))
    if rating.comment:
        result.append(region("comment", "textarea", {"text": [rating.comment]}))
    return {
        "completed_by": {"email": rating.person},
        "created_at": rating.time,
        "lead_time": rating.seconds,
        "was_cancelled": False,
        "result": result,
    }


def _from_label_studio(data: bytes, where: str, scheme: Scheme) -> Iterator[tuple[str, Rating]]:
    """Ratings out of a Label Studio export (JSON); skipped tasks are passed over."""
    try:
        tasks = json.loads(_utf8(data, where))
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{where}: this is no JSON: {error}") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise DataError(f"{where}: a Label Studio export is an array of tasks; export as «JSON».")
    for number, task in enumerate(tasks, 1):
        held = task.get("data")
        unit = str(held.get("item_id", "")) if isinstance(held, dict) else ""
        annotations = task.get("annotations", task.get("completions", []))
        for annotation in annotations if isinstance(annotations, list) else []:
            if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
                yield f"{where}: task {number}", _label_studio_rating(annotation, unit)


def _label_studio_rating(annotation: Mapping[str, Any], unit: str) -> Rating:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    values: dict[str, int] = {}
    flags: set[str] = set()
    comment = ""
    for region in annotation.get("result") or []:
        if not isinstance(region, dict) or not isinstance(region.get("value"), dict):
            continue
        name, value = str(region.get("from_name")), region["value"]
        chosen = value.get("choices")
        chosen = [str(c) for c in chosen] if isinstance(chosen, list) else []
        if name == "flags":
            flags.update(chosen)
        elif name == "comment":
            text = value.get("text")
            comment = "\n".join(map(str, text)) if isinstance(text, list) else str(text or "")
        elif chosen:
            values[name] = _whole(chosen[0]) if len(chosen) == 1 and name not in values else -1
    time = str(annotation.get("created_at") or "")
    return Rating(str(by or ""), unit, values, frozenset(flags), comment, time, _seconds(annotation.get("lead_time")))


# --- Potato -----------------------------------------------------------------------------------------------------------

_COMMENT_SCHEMA: Final = "comment"
_FLAG_SCHEMA: Final = "flags"


def potato_config(scheme: Scheme, language: InterfaceLanguage = "it") -> dict[str, Any]:
    """The configuration of a Potato project (JSON, which YAML readers take) that asks what the scheme asks."""
    excused = any(flag.excuses for flag in scheme.flags)
    schemes: list[dict[str, Any]] = [
        {
            "annotation_type": "radio",
            "name": dimension.id,
            "description": f"{dimension.label[language]}. {dimension.question[language]}",
            "labels": [
                {"name": str(p.value), "tooltip": f"{p.label[language]}. {p.guideline[language]}"}
                for p in dimension.points
            ],
            "label_requirement": {"required": not excused},
        }
        for dimension in scheme.dimensions
    ]
    if scheme.flags:
        labels = [{"name": f.id, "tooltip": f"{f.label[language]}. {f.guideline[language]}"} for f in scheme.flags]
        schemes.append(
            {"annotation_type": "multiselect", "name": _FLAG_SCHEMA, "description": "Flags", "labels": labels}
        )
    schemes.append({"annotation_type": "text", "name": _COMMENT_SCHEMA, "description": "Comment"})
    return {
        "annotation_task_name": f"OuLiBench {scheme.name}",
        "task_dir": ".",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output",
        "user_config": {"allow_all_users": True, "users": []},
        "annotation_schemes": schemes,
    }


def to_potato(units: Iterable[Unit], language: InterfaceLanguage = "it") -> bytes:
    """Potato's data file: one item a line, the constraint above the text."""
    rows = (_blind(unit, language) for unit in units)
    return to_jsonl({"id": row["item_id"], "text": f"[{row['constraint']}]\n{row['text']}"} for row in rows)


def to_potato_state(person: str, ratings: Iterable[Rating]) -> dict[str, Any]:
    """Somebody's ratings as Potato keeps them (`annotation_output/NAME/user_state.json`), as far as ratings go."""
    held: dict[str, list[Any]] = {}
    for rating in ratings:
        marks = [({"schema": d, "name": str(v)}, str(v)) for d, v in sorted(rating.values.items())]
        marks += [({"schema": _FLAG_SCHEMA, "name": flag}, flag) for flag in sorted(rating.flags)]
        if rating.comment:
            marks.append(({"schema": _COMMENT_SCHEMA, "name": "text_box"}, rating.comment))
        held[rating.unit] = [list(mark) for mark in marks]
    return {"user_id": person, "instance_id_to_label_to_value": held}


def _from_potato(path: Path, scheme: Scheme) -> Iterator[tuple[str, Rating]]:
    """Ratings out of a Potato output folder, or one `user_state.json`. Potato keeps no time for a rating."""
    states = sorted(path.rglob("user_state.json")) if path.is_dir() else [path]
    if not states:
        raise DataError(f"{path} holds no user_state.json: give Potato's output_annotation_dir.")
    for state_path in states:
        try:
            state = json.loads(_utf8(state_path.read_bytes(), str(state_path)))
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(f"{state_path}: this is no JSON: {error}") from error
        held = state.get("instance_id_to_label_to_value") if isinstance(state, dict) else None
        if not isinstance(held, dict):
            raise DataError(f"{state_path}: this is no user state of Potato.")
        for unit, marks in held.items():
            yield f"{state_path}: {unit}", _potato_rating(str(state.get("user_id") or ""), str(unit), marks)


def _potato_rating(person: str, unit: str, marks: Any) -> Rating:
    values: dict[str, int] = {}
    flags: set[str] = set()
    comment = ""
    for schema, name, value in _potato_marks(marks):
        if schema == _FLAG_SCHEMA:
            flags.add(name)
        elif schema == _COMMENT_SCHEMA:
            comment = str(value)
        else:
            values[schema] = _whole(name) if schema not in values else -1
    return Rating(person, unit, values, frozenset(flags), comment)


def _potato_marks(marks: Any) -> Iterator[tuple[str, str, Any]]:
    """(schema, label, value) out of the pairs that Potato writes, or out of the nested form that older versions do."""
    if isinstance(marks, dict):
        for schema, labels in marks.items():
            inner = labels.get("labels", labels) if isinstance(labels, dict) else {}
            for name, value in inner.items() if isinstance(inner, dict) else ():
                if value not in (False, None, ""):
                    yield str(schema), str(name), value
        return
    for pair in marks if isinstance(marks, list) else []:
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict) and pair[1] not in (False, None, ""):
            yield str(pair[0].get("schema")), str(pair[0].get("name")), pair[1]
