"""One reading of a response: what it says, less everything round it.

The order of the steps is fixed and each that changes something is recorded, so that a person can see why an item reads
as it does. There is no second, more tolerant reading: a response has one set of items, whatever the verdicts on them.
The reading looks at the task and the target to know what an item is (a word, a sentence, a stanza) and which side of
«noce → ceno» is the source; never at whether an item meets its constraint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal

from oulibench.responses.cleaning import (
    ANAGRAMS,
    BRACKETS_ARE_GLOSSES,
    LONGEST_CLEANED,
    Context,
    clean,
    habits,
    words_of_list,
)
from oulibench.responses.cleaning import Unit as Unit
from oulibench.responses.marks import Line, parse_line, settle_marks
from oulibench.responses.markup import (
    FENCE,
    TICK,
    fenced_blocks,
    shield_code,
    without_emphasis,
    without_html,
    without_tilde_fences,
)
from oulibench.responses.patterns import Patterns, load
from oulibench.responses.reasoning import without_reasoning, without_template
from oulibench.responses.sentences import split_sentences
from oulibench.responses.structured import (
    may_hold_records,
    quoted_on_one_line,
    rows_of_tables,
    strings_of_json,
    table_of_records,
)
from oulibench.text import letters, normalise

READER_VERSION: Final = "2"
"""Part of the signature of a score; rises when any response reads differently."""

Status = Literal["ok", "refusal", "no_response", "unclosed_reasoning", "unreadable"]


@dataclass(frozen=True, slots=True)
class Item:
    """One text that the model gave as an answer."""

    text: str
    number: int
    """From 1: the order in the answer."""
    raw: str
    """The (normalised) stretch of the response it came from."""
    notes: tuple[str, ...]
    """What was taken off it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a response says. Items there are only with the status `ok`."""

    status: Status
    items: tuple[Item, ...]
    steps: tuple[str, ...]
    """Each step that did something, in order, for people."""


@dataclass(slots=True)
class _Entry:
    raw: str
    text: str
    notes: list[str]


# Tasks whose single text may run over several sentences: a palindrome or an anagram reads through its full stops, and
# an acrostic spends one word on each letter. Unless several were asked for, a paragraph is one such text.
_ONE_TEXT: Final = frozenset({"palindrome", "acrostic", "sentence_anagram"})
_NUMBERED: Final = frozenset({"number", "label", "letter", "roman"})
_MARKED: Final = _NUMBERED | {"bullet", "dash"}
_WORD = re.compile(r"[^\W_]")
_END = ".!?…"
_SHOWN: Final = 3
_LONGEST_JOINED: Final = 10_000
"""Characters. No sentence broken over lines is longer; without an end, joining lines would take quadratic time."""


def read_response(
    response: str,
    *,
    task: str | None = None,
    target: object = None,
    requested: int | None = None,
    unit: Unit = "sentence",
) -> Reading:
    """The items of a model's raw `response`.

    Args:
        response: the answer as it came, with reasoning, preamble, marks and glosses.
        task: what was asked; decides what an item is.
        target: its target; the source word or sentence of an anagram, the word of an acrostic.
        requested: how many texts were asked for. With 1, running text is one item.
        unit: `stanza` where an item is a block of lines (an acrostic over lines).

    Raises:
        TextError: the response cannot be read as text at all (see `oulibench.text.normalise`).
    """
    steps: list[str] = []
    text = normalise(shield_code(response) if isinstance(response, str) else response)
    if not text.strip():
        return Reading("no_response", (), ("the response is empty",))
    answer = without_reasoning(text, steps)
    if answer is None:
        return Reading("unclosed_reasoning", (), tuple(steps))
    text = without_template(answer, steps)
    if not text.strip():
        return Reading("no_response", (), (*steps, "nothing stands outside the reasoning"))
    patterns = load()
    source = letters(target) or None if isinstance(target, str) else None
    context = Context(patterns, task, source, requested, unit)

    entries = _of_data(text, context, steps)
    if entries is None:
        text = _plain_text(text, steps)
        found = _of_lines(text, context, steps)
        if found is None:
            return Reading("refusal", (), tuple(steps))
        entries = found
    items = _items(entries, context, steps)
    if not items:
        steps.append("nothing is left that could be an item")
        return Reading("unreadable", (), tuple(steps))
    return Reading("ok", items, tuple(steps))


def _items(entries: list[_Entry], context: Context, steps: list[str]) -> tuple[Item, ...]:
    bracketed, dashed = habits([entry.text for entry in entries])
    if bracketed or dashed:
        context = replace(context, bracketed=bracketed, dashed=dashed)
        steps.append(f"most entries go on after the sentence {'in brackets' if bracketed else 'with a dash'}: glosses")
    items: list[Item] = []
    wordless = 0
    lone_words = context.task == "word_anagram"
    for entry in entries:
        notes = entry.notes
        if context.unit == "stanza" and "\n" in entry.text:
            cleaned = (clean(line, context, notes) for line in entry.text.split("\n"))
            text = "\n".join(line for line in cleaned if _WORD.search(line))
        else:
            text = clean(entry.text, context, notes)
        members = words_of_list(text) if lone_words else None
        if members is not None:
            notes.append("list of words on one line")
            for member in members:
                own = list(notes)
                member = clean(member, context, own)
                items.append(Item(member, len(items) + 1, entry.raw, tuple(own)))
        elif _WORD.search(text):
            items.append(Item(text, len(items) + 1, entry.raw, tuple(notes)))
        else:
            wordless += 1
    if wordless:
        steps.append(f"{wordless} entr{'y' if wordless == 1 else 'ies'} without a letter or digit left out")
    return tuple(items)


# --- structure ---------------------------------------------------------------------------------------------------


def _of_data(text: str, context: Context, steps: list[str]) -> list[_Entry] | None:
    """Entries of an answer in JSON or in a table; `None` where it is neither."""
    strings = strings_of_json(text, context.patterns, steps)
    if strings is not None:
        if len(strings) == 1 and "\n" in strings[0]:
            return None if strings[0] == text else _of_lines(_plain_text(strings[0], steps), context, steps)
        if context.task == "acrostic" and context.requested == 1 and len(strings) == len(context.source or "") > 1:
            return [_joined(strings, "\n".join(strings), context)]
        return [_Entry(s, s, ["JSON string"]) for s in strings]
    if context.requested != 1 and (quoted := quoted_on_one_line(text)):
        return [_Entry(s, s, ["one of several quotations on a line"]) for s in quoted]
    records = table_of_records(_plain_text(text, [])) if may_hold_records(text) else None
    if records is not None or "|" in text or "<t" in text:
        plain = records if records is not None else _plain_text(text, [])
        rows = rows_of_tables(plain, context.source, context.patterns, steps)
        if rows is not None:
            return [_Entry(row, cell, ["table cell"]) for cell, row in rows]
    return None


def _plain_text(text: str, steps: list[str]) -> str:
    """`text` as lines: HTML read, code fences and code marks gone."""
    if "<" in text or "&" in text:
        text = without_html(text, steps)
    text = without_tilde_fences(text)
    if FENCE in text:
        inside, outside = fenced_blocks(text)
        code = "\n\n".join(inside)
        patterns = load()
        if _WORD.search(code):
            if any(parse_line(line, patterns).kind in _MARKED for line in outside.split("\n") if line.strip()):
                text = "\n".join(line for line in text.split("\n") if not _is_fence(line))
            else:
                text = code
                steps.append("only what stands in the code fence read")
    if TICK in text:
        text = text.replace(TICK, "")
        steps.append("code marks taken off")
    return text


def _is_fence(line: str) -> bool:
    return line.strip(" >").startswith(FENCE) and " " not in line.strip()


def _of_lines(text: str, context: Context, steps: list[str]) -> list[_Entry] | None:
    """Entries of an answer in lines; `None` for a refusal."""
    patterns = context.patterns
    if _OUTLINE.search(text):
        text = _with_plain_numbers(text, steps)
    lines = [parse_line(raw, patterns) for raw in text.split("\n")]
    if context.task == "acrostic" and (stanzas := _lettered_stanzas(lines, context, steps)):
        return stanzas
    settle_marks(lines)
    lines = _before_explanation(lines, patterns, steps)
    for line in lines:
        if line.kind != "blank" and not _WORD.search(line.full):
            line.kind = "blank"  # a rule, a row of dots
    marked = [line for line in lines if line.kind in _MARKED]
    loose = [line for line in lines if line.kind == "plain"]
    first = next((line for line in lines if line.kind != "blank"), None)
    refusing = first is not None and first.kind == "plain" and _refuses(first.text, patterns)
    if len(marked) == 1 and (inline := _inline_list(marked[0], context)):
        steps.append(f"numbered list on one line: {len(inline)} entries")
        return inline
    in_list = bool(marked) and (
        len(marked) * 2 >= len(loose) or len(marked) * 2 >= sum(not _is_aside(line.text, patterns) for line in loose)
    )
    if refusing and not _takes_back(lines, in_list, context):
        steps.append(f"declines: «{_shown(first.text if first else '')}»")
        return None
    if in_list:
        return _of_list(lines, context, steps)
    return _of_plain_lines(lines, context, steps, refusing)


_OUTLINE = re.compile(r"^([ ]*)((?:\*\*)?)(\d{1,2})\.(\d{1,3})[.):]?\2[ ]+(?=\S)", re.MULTILINE)
_LIST_NUMBER = re.compile(r"^[ ]*(?:\*\*)?(\d{1,2})[.)](?!\d)", re.MULTILINE)


def _with_plain_numbers(text: str, steps: list[str]) -> str:
    """Outline numbers (1.1, 1.2, 2.1) as those of one list below its headings; decimals stay what they are."""
    found = [(int(m[3]), int(m[4])) for m in _OUTLINE.finditer(text)]
    expected = [
        (major, 1 if i == 0 or found[i - 1][0] != major else found[i - 1][1] + 1) for i, (major, _) in enumerate(found)
    ]
    if len(found) < 2 or found != expected or [m for m, _ in found] != sorted(m for m, _ in found):
        return text
    steps.append("outline numbers read as list numbers")
    below = {int(m[1]) for m in _LIST_NUMBER.finditer(text)}
    numbers = count(1)

    def numbered(match: re.Match[str]) -> str:
        return f"   {match[1]}{match[4]}. " if int(match[3]) in below else f"{match[1]}{next(numbers)}. "

    return _OUTLINE.sub(numbered, text)


def _refuses(text: str, patterns: Patterns) -> bool:
    head = text[:600].lstrip('*_«"“ ')
    if patterns.refusal.match(head):
        return True
    return bool(patterns.apology.match(head) and patterns.about_request.search(head))


def _takes_back(lines: list[Line], in_list: bool, context: Context) -> bool:
    """Whether an answer that begins by declining gives something all the same."""
    patterns = context.patterns
    content = [line for line in lines if line.kind != "blank"]
    if in_list:
        numbered = any(line.kind in _NUMBERED for line in content)
        before = [line.text for line in content if line.kind == "plain"]
        return numbered or any(t.endswith(":") and patterns.but_here.search(t[:600]) for t in before)
    offers = any(line.text.endswith(":") and patterns.but_here.search(line.text[:600]) for line in content[:-1])
    many = sum(not _is_aside(line.text, patterns) and not _refuses(line.text, patterns) for line in content)
    return offers or many >= max(3, (context.requested or 1) // 2)


def _is_aside(text: str, patterns: Patterns) -> bool:
    """A line about the answer: it opens, closes or explains."""
    head = text[:600]
    if len(text) > 600:
        return False
    bare = without_emphasis(head).strip() if "*" in head or "_" in head else head
    return bool(
        patterns.preamble.fullmatch(bare)
        or patterns.closing.fullmatch(bare)
        or (":" in bare[:80] and patterns.explanation.match(bare))
    )


def _before_explanation(lines: list[Line], patterns: Patterns, steps: list[str]) -> list[Line]:
    """`lines` up to «Spiegazione:» or «Questa frase è composta da 5 parole:» and its list, behind an unmarked text."""
    found = False
    for index, line in enumerate(lines):
        if line.kind in _MARKED:
            return lines
        if line.kind not in ("plain", "heading") or len(line.text) > 600:
            continue
        text = _bare(line.text)
        if found and text.endswith(":") and (patterns.explanation.fullmatch(text) or patterns.closing.fullmatch(text)):
            steps.append(f"all from «{_shown(text)}» on left out: an explanation")
            return lines[:index]
        found = found or (line.kind == "plain" and not _is_aside(line.text, patterns))
    return lines


# --- lists -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    line: Line
    text: str
    children: list[Line]
    closed: bool = False


def _of_list(lines: list[Line], context: Context, steps: list[str]) -> list[_Entry]:
    patterns = context.patterns
    marked = [line for line in lines if line.kind in _MARKED]
    _mend_first_indent(marked)
    numbers = any(line.kind in _NUMBERED for line in marked)
    nodes: list[_Node] = []
    outside: list[str] = []
    node: _Node | None = None
    gap = False
    for line in lines:
        if line.kind == "blank":
            gap = True
            continue
        if line.kind in _MARKED:
            if node is not None and _is_child(line, node, numbers):
                node.children.append(line)
            else:
                node = _Node(line, line.text, [])
                nodes.append(node)
        elif node is None or line.kind == "heading" or node.closed:
            outside.append(line.text)
            if node is not None:
                node.closed = True
        elif not node.text and not node.children:
            node.text = line.text
            node.line.raw += "\n" + line.raw
        elif gap or node.children:
            outside.append(line.text)
            node.closed = True
        elif len(node.text) > _LONGEST_JOINED:
            outside.append(line.text)
        elif context.unit == "stanza" and not _is_aside(line.text, patterns):
            node.text += "\n" + line.text
            node.line.raw += "\n" + line.raw
        elif _goes_on(node.text, line.text):
            node.text += " " + line.text
            node.line.raw += "\n" + line.raw
        else:
            outside.append(line.text)
        gap = False
    steps.append(f"list: {len(nodes)} entr{'y' if len(nodes) == 1 else 'ies'}")
    if outside:
        steps.append(_left_out("line", outside))
    entries: list[_Entry] = []
    details: list[str] = []
    for node in nodes:
        entries.extend(_of_node(node, context, details))
    if not numbers and len(entries) > 1:
        explains = [_explains(e.text, patterns) for e in entries]
        if not all(explains):
            details.extend(e.text for e, drop in zip(entries, explains, strict=True) if drop)
            entries = [e for e, drop in zip(entries, explains, strict=True) if not drop]
    if details:
        steps.append(_left_out("detail", details))
    if context.task == "acrostic" and context.requested == 1 and len(entries) == len(context.source or "") > 1:
        steps.append("as many entries as the word has letters, and one text asked for: its lines")
        return [_joined([e.text for e in entries], "\n".join(e.raw for e in entries), context)]
    return entries


def _mend_first_indent(marked: list[Line]) -> None:
    """The first line often lost the indent of the others when the answer was trimmed; a second «1.» is below it."""
    rest = {line.indent for line in marked[1:]}
    if len(marked) > 1 and marked[0].kind == "number" and marked[0].number == marked[1].number:
        return
    if len(rest) == 1 and len({line.kind for line in marked}) == 1:
        marked[0].indent = rest.pop()


def _is_child(line: Line, node: _Node, numbers: bool) -> bool:
    parent = node.line
    if line.indent >= parent.indent + 2:
        return True
    if not numbers:
        return bool(node.children) and line.indent > parent.indent
    line_numbered, parent_numbered = line.kind in _NUMBERED, parent.kind in _NUMBERED
    if parent_numbered and not line_numbered:
        return True
    return line_numbered and not parent_numbered and node.text.rstrip("*_").endswith(":")


def _of_node(node: _Node, context: Context, details: list[str]) -> list[_Entry]:
    line = node.line
    own = _Entry(line.raw.strip(), node.text, [f"list mark «{line.mark}»"] if line.mark else [])
    if not node.children:
        return [own]
    patterns = context.patterns
    children = [c for c in node.children if not _explains(c.text, patterns)]
    if not _is_heading(node, children, context):
        details.extend(c.text for c in node.children)
        return [own]
    details.extend(c.text for c in node.children if _explains(c.text, patterns))
    if node.text:
        details.append(node.text)
    if context.unit == "stanza" or (context.task == "acrostic" and len(children) == len(context.source or "")):
        return [_joined([c.text for c in children], "\n".join([line.raw, *(c.raw for c in children)]), context)]
    return [_Entry(c.raw.strip(), c.text, [f"list mark «{c.mark}»"]) for c in children]


def _explains(text: str, patterns: Patterns) -> bool:
    return ":" in text[:80] and patterns.explanation.match(_bare(text[:600])) is not None


def _is_heading(node: _Node, children: list[Line], context: Context) -> bool:
    """Whether the entry only announces the entries under it."""
    if not children:
        return False
    text = _bare(node.text)
    if not text or text.endswith(":"):
        return True
    if context.task in ANAGRAMS and letters(text) == context.source:
        return True
    ended = all(_bare(c.text).rstrip("»\"”')")[-1:] in _END for c in children)
    return text.rstrip("»\"”'")[-1:] not in _END and ended and len(text.split()) <= 4


def _bare(text: str) -> str:
    return (without_emphasis(text) if "*" in text or "_" in text else text).strip()


def _goes_on(before: str, after: str) -> bool:
    """A sentence broken over two lines: no stop at the end of the first, a small letter at the start of the second."""
    return after[:1].islower() and before.rstrip("*_ »\"”')")[-1:] not in (*_END, ":", ";")


_INLINE = re.compile(r"(?<=[ ,;])(\d{1,3})([.)]) (?=\S)")


def _inline_list(line: Line, context: Context) -> list[_Entry] | None:
    """«1. … 2. … 3. …» on one line."""
    if line.kind != "number" or line.number != 1 or context.requested == 1:
        return None
    cuts: list[tuple[int, int]] = []
    expected = 2
    for mark in _INLINE.finditer(line.text):
        if int(mark[1]) == expected:
            cuts.append((mark.start(), mark.end()))
            expected += 1
    if not cuts or (len(cuts) == 1 and line.text[: cuts[0][0]].rstrip()[-1:] not in '.!?…;,»"”'):
        return None
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(line.text)]
    pieces = [line.text[s:e].strip(" ,;") for s, e in zip(starts, ends, strict=True)]
    return [_Entry(piece, piece, [f"list mark «{n}.»"]) for n, piece in enumerate(pieces, start=1)]


# --- lines without marks -----------------------------------------------------------------------------------------


def _of_plain_lines(lines: list[Line], context: Context, steps: list[str], refusing: bool) -> list[_Entry]:
    patterns = context.patterns
    if refusing:
        declined = 0
        while declined < len(lines) and (lines[declined].kind == "blank" or _refuses(lines[declined].text, patterns)):
            declined += 1
        lines = lines[declined:]
    if announcement := _announcement(lines):
        steps.append(_left_out("line", [announcement.text]))
        lines = [line for line in lines if line is not announcement]
    content = [line for line in lines if line.kind != "blank"]
    content = _without_asides(content, context, steps)
    if not content:
        return []
    first = content[0]
    if (announced := patterns.preamble_before_text.match(_bare(first.text)[:600])) and first.kind == "plain":
        rest = _bare(first.text)[announced.end() :]
        if rest:
            steps.append(f"preamble taken off: «{_shown(announced.group())}»")
            first.text = first.full = rest
            again = parse_line(rest, patterns)
            if again.kind == "number" and (inline := _inline_list(again, context)):
                steps.append(f"numbered list on one line: {len(inline)} entries")
                return inline
    if context.unit == "stanza" or context.task == "acrostic":
        blocks = _blocks(lines, content)
        if context.unit == "stanza" or (
            all(len(b) > 1 for b in blocks) and (len(blocks) > 1 or context.requested == 1)
        ):
            return _stanzas(blocks, context, steps)
    if len(content) == 1:
        return _running_text(content[0], context, steps)
    entries = _per_line(content, context, steps)
    if context.requested and context.requested > 1 and len(entries) * 2 <= context.requested:
        split = [_Entry(s, s, []) for e in entries for s in split_sentences(e.text, patterns)]
        if len(split) >= 2 * len(entries):
            steps.append(f"paragraphs of running text: {len(split)} sentences")
            return split
    return entries


def _announcement(lines: list[Line]) -> Line | None:
    """A first line that ends with a colon and stands apart from all the others, which stand together."""
    kinds = "".join("_" if line.kind == "blank" else "x" for line in lines).strip("_")
    first = next((line for line in lines if line.kind != "blank"), None)
    if first is None or first.kind != "plain" or not first.text.rstrip("*_ ").endswith(":"):
        return None
    return first if re.fullmatch(r"x_+x+", kinds) else None


def _without_asides(content: list[Line], context: Context, steps: list[str]) -> list[Line]:
    """`content` less headings, preamble, closing and explanations."""
    patterns = context.patterns
    asides: list[str] = []
    start, end = 0, len(content)
    while start < end and (content[start].kind == "heading" or _is_preamble(content, start, patterns)):
        start += 1
    asides.extend(line.text for line in content[:start])
    while end > start + 1 and _is_closing(content[end - 1], patterns):
        end -= 1
    kept: list[Line] = []
    for line in content[start:end]:
        bare = _bare(line.text) if line.text[:1] in "*_" else line.text
        explains = ":" in bare[:80] and patterns.explanation.match(bare)
        bracketed = bare[:1] in ("(", "[") and bare[-1:] in (")", "]") and len(bare) < 400
        if line.kind == "heading" or explains or (bracketed and kept and _is_remark(bare[1:-1], context)):
            asides.append(line.text)
        else:
            kept.append(line)
    asides.extend(line.text for line in content[end:])
    if asides:
        steps.append(_left_out("line", asides))
    return kept


def _is_remark(inner: str, context: Context) -> bool:
    patterns = context.patterns
    return bool(
        context.task in BRACKETS_ARE_GLOSSES
        or patterns.gloss.fullmatch(inner)
        or patterns.explanation.match(inner)
        or patterns.is_english(inner)
    )


def _is_preamble(content: list[Line], index: int, patterns: Patterns) -> bool:
    line = content[index]
    bare = _bare(line.text)
    if line.kind != "plain" or len(bare) > 600:
        return False
    if patterns.preamble.fullmatch(bare):
        return True
    # A title: bold as a whole, or ending with a colon in bold, with more to come.
    return line.text[:2] == "**" and bare.endswith(":") and index + 1 < len(content)


def _is_closing(line: Line, patterns: Patterns) -> bool:
    return line.kind == "plain" and len(line.text) <= 800 and patterns.closing.fullmatch(_bare(line.text)) is not None


def _running_text(line: Line, context: Context, steps: list[str]) -> list[_Entry]:
    notes = [f"list mark «{line.mark}»"] if line.mark else []
    if context.task == "word_anagram":
        return [_Entry(line.raw.strip(), line.text, notes)]
    sentences = split_sentences(line.text, context.patterns)
    sentences = _without_aside_sentences(sentences, context.patterns, steps)
    if not sentences:
        return []
    if context.requested == 1 or line.mark or (context.task in _ONE_TEXT and context.requested is None):
        return [_Entry(line.raw.strip(), " ".join(sentences), notes)]
    if len(sentences) > 1:
        steps.append(f"running text: {len(sentences)} sentences")
    return [_Entry(s, s, list(notes)) for s in sentences]


def _without_aside_sentences(sentences: list[str], patterns: Patterns, steps: list[str]) -> list[str]:
    start, end = 0, len(sentences)
    while start < end and len(sentences[start]) <= 400 and patterns.preamble.fullmatch(sentences[start]):
        start += 1
    while end > start + 1 and len(sentences[end - 1]) <= 400 and patterns.closing.fullmatch(sentences[end - 1]):
        end -= 1
    if end - start < len(sentences):
        steps.append(_left_out("sentence", sentences[:start] + sentences[end:]))
    return sentences[start:end]


def _per_line(content: list[Line], context: Context, steps: list[str]) -> list[_Entry]:
    entries: list[_Entry] = []
    joined = 0
    for line in content:
        previous = entries[-1] if entries else None
        if (
            previous is not None
            and context.task != "word_anagram"
            and not line.mark
            and len(previous.text) <= _LONGEST_JOINED
            and len(previous.text.rsplit("\n", 1)[-1]) >= 40
            and previous.text[:1].isupper()
            and _goes_on(previous.text, line.text)
        ):
            previous.text += " " + line.text
            previous.raw += "\n" + line.raw
            joined += 1
            continue
        entries.append(_Entry(line.raw.strip(), line.text, [f"list mark «{line.mark}»"] if line.mark else []))
    if joined:
        steps.append(f"{joined} broken line{'' if joined == 1 else 's'} joined")
    return entries


# --- stanzas -----------------------------------------------------------------------------------------------------


def _blocks(lines: list[Line], content: list[Line]) -> list[list[Line]]:
    """Runs of `content` lines with nothing blank between them in `lines`."""
    kept = {id(line) for line in content}
    blocks: list[list[Line]] = [[]]
    for line in lines:
        if id(line) in kept:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [b for b in blocks if b]


def _stanzas(blocks: list[list[Line]], context: Context, steps: list[str]) -> list[_Entry]:
    size = len(context.source or "")
    if size > 1 and all(len(b) == 1 for b in blocks) and len(blocks) % size == 0:
        flat = [line for b in blocks for line in b]
        blocks = [flat[i : i + size] for i in range(0, len(flat), size)]
    steps.append(f"blocks of lines: {len(blocks)}")
    entries = []
    for block in blocks:
        titled = len(block) > 1 and (block[0].text.rstrip("*_ ").endswith(":") or block[0].kind == "heading")
        body = block[1:] if titled else block
        entries.append(_joined([line.text for line in body], "\n".join(line.raw for line in block), context))
    return entries


def _joined(texts: list[str], raw: str, context: Context) -> _Entry:
    return _Entry(raw.strip(), ("\n" if context.unit == "stanza" else " ").join(texts), ["lines joined"])


_LETTERED = re.compile(
    r"(?:[-*•] )?[*_(\[\"«]{0,3}(?P<letter>[^\W\d_])[*_)\]\"»]{0,3}(?: ?[-–—:.)=→|]|(?= (?:come|as in) )){1,2}"
    r"[*_]{0,3} ?(?:(?:come|as in) )?(?P<rest>\S.*)"
)


def _lettered_stanzas(lines: list[Line], context: Context, steps: list[str]) -> list[_Entry]:
    """«S - Sole», «O - Ombra», «L - Luna», «E - Erba»: lines that each begin with one letter of the word."""
    entries: list[_Entry] = []
    run: list[tuple[str, Line, str]] = []

    def flush() -> None:
        spelled = "".join(letter for letter, _, _ in run)
        size = len(context.source or "") or len(run)
        right = len(run) > 2 and all(letters(rest)[:1] == letter for letter, _, rest in run)
        if context.source:
            right = len(run) > 1 and spelled == context.source * (len(run) // size)
        if right:
            for i in range(0, len(run), size):
                part = run[i : i + size]
                entries.append(_joined([t for _, _, t in part], "\n".join(x.raw for _, x, _ in part), context))
                entries[-1].notes[:] = ["letters of the word before its lines"]
        run.clear()

    for line in lines:
        found = _LETTERED.match(line.full[:LONGEST_CLEANED]) if line.full else None
        if found:
            run.append((letters(found["letter"]), line, found["rest"]))
        elif line.full:
            flush()
    flush()
    if entries:
        steps.append(f"lines lettered with the word: {len(entries)} text{'' if len(entries) == 1 else 's'}")
    return entries


def _left_out(what: str, texts: list[str]) -> str:
    shown = "», «".join(_shown(t) for t in texts[:_SHOWN])
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{len(texts)} {what}{'' if len(texts) == 1 else 's'} left out: «{shown}»{more}"


def _shown(text: str) -> str:
    text = text.strip().replace("\n", " / ")
    return text if len(text) <= 80 else text[:77] + "…"
