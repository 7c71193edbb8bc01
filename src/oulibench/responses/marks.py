"""List marks: what they look like, and whether a number at the start of a line is one."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Literal

from oulibench.responses.markup import without_escapes
from oulibench.responses.patterns import Patterns

Kind = Literal["plain", "blank", "heading", "number", "bare", "label", "letter", "roman", "bullet", "dash"]


@dataclass(slots=True)
class Line:
    """A line of an answer. `text` is what follows the mark; where the mark is refused it becomes `full` again."""

    raw: str
    full: str
    text: str
    kind: Kind = "plain"
    number: int = 0
    mark: str = ""
    indent: int = 0
    weak: bool = False
    """A mark that needs a neighbour in sequence to be one."""
    heading: bool = False
    notes: list[str] = field(default_factory=list)


_FAST = re.compile(r"(\d{1,4})[.)] +(?=\S)")
_BOLD = re.compile(r"\*\*(\d{1,4})[.)]\*\* +(?=\S)")
_HASHED = re.compile(r"(\d{1,4})[.):]? (?:[-–—] )?(?=\S)")
_NUMBER = re.compile(r"\(?\[?(?P<number>\d{1,4})")
_SEPARATOR = re.compile(
    r"(?P<strong>[ ]?(?:\.[)]|[.)\]]|\)\.|\]\.)[:]?[-–]?)(?:(?=[ ]|$)|(?=[^\W\d_]|[«\"“*_'(¿¡]))"
    r"|(?P<weak>[ ]?:|[ ]?[.]?[-–—]|[ ][|→➜>])(?=[ ]|$|[*_]{1,3}(?:[ ]|$))"
)
_KEYCAP = re.compile(r"((?:\d\u20e3){1,3}|\d{1,3}\u20e3)[.):]? ?-? ?")
_BARE = re.compile(r"(\d{1,3})(?: |\t)+(?=[A-ZÀ-Ý«\"“*])")
_ALPHA = re.compile(r"\(?(?P<alpha>[A-Za-z]|[ivxIVX]{2,5})(?P<close>\)|\.\)|\.|\]) +(?=\S)")
_EMPHASIS = re.compile(r"(?:\*{1,3}|_{1,3})(?=[^\s*_])")
_LABEL_LIKELY = re.compile(r"[:0-9]|fras[ei]", re.IGNORECASE)
_BULLETS = "•·‣⁃∙▪▫◦○●■□◆◇➢➤►▶→⇒➜➔➡✓✔★☆❖✦✧❧»›+"
_CHECKBOX = re.compile(r"\[[ xX✓]?\] +")
_ROMAN = {
    numeral: value
    for value, numeral in enumerate(
        ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi"), start=1
    )
}


def parse_line(raw: str, patterns: Patterns) -> Line:
    """`raw` with the mark it may begin with; `settle_marks` decides afterwards which marks are real."""
    full = raw.strip()
    if not full:
        return Line(raw, full, full, "blank")
    if "\\" in full:
        full = without_escapes(full) or full
    first = full[0]
    if "0" <= first <= "9":
        fast = _FAST.match(full)
        if fast and full[fast.end()].isalpha() and ":" not in full[fast.end() : fast.end() + 40]:
            return Line(raw, full, full[fast.end() :], "number", int(fast[1]), fast[0].rstrip(), _indent(raw))
    elif first == "*" and (bold := _BOLD.match(full)) and full[bold.end()].isalpha() and ":" not in full[:48]:
        return Line(raw, full, full[bold.end() :], "number", int(bold[1]), bold[0].rstrip(), _indent(raw))
    elif first.isalpha() and not (full[1:2] in ".)]" or first in "ivxIVX" or _may_be_label(full)):
        return Line(raw, full, full)
    line = Line(raw, full, full, indent=_indent(raw))
    _take_mark(line, full, patterns, 0)
    return line


def _indent(raw: str) -> int:
    return len(raw) - len(raw.lstrip(" >"))


def _may_be_label(full: str) -> bool:
    return _LABEL_LIKELY.search(full, 0, 40) is not None


def _take_mark(line: Line, s: str, patterns: Patterns, taken: int) -> None:
    """Move marks from the front of `s` into `line`, at most three of them (a bullet, a number, a label)."""
    if taken > 3 or not s:
        line.text = s
        return
    while s[:1] == ">":
        s = s[1:].lstrip()
    if not s:
        line.text = s
        return
    if s[0] == "#":
        bare = s.lstrip("#")
        hashes = len(s) - len(bare)
        if hashes <= 6 and bare[:1] == " ":
            line.heading = True
            line.kind = "heading" if line.kind == "plain" else line.kind
            _take_mark(line, bare.strip().rstrip("#").rstrip(), patterns, taken + 1)
            return
        if hashes == 1 and line.kind == "plain" and (hashed := _HASHED.match(bare)):
            line.kind, line.number, line.mark = "number", int(hashed[1]), "#" + hashed.group().strip()
            _take_mark(line, bare[hashed.end() :], patterns, taken + 1)
            return
    emphasis = match.group() if (match := _EMPHASIS.match(s)) else ""
    core = s[len(emphasis) :]
    first = core[0]
    numbered = line.kind in ("number", "label")
    if line.kind == "number" and (again := _FAST.match(s)) and int(again[1]) == line.number:
        s = s[again.end() :]  # «1. 1. …»
        line.text = s
        return
    if not numbered and (
        (first in "0123456789([" and _take_number(line, s, core, emphasis, patterns, taken))
        or _take_symbol(line, core, emphasis, patterns, taken)
    ):
        return
    if first.isalpha() or first in "#0123456789":
        if _take_label(line, s, core, emphasis, patterns, taken):
            return
        if line.kind in ("plain", "heading") and not emphasis and (alpha := _ALPHA.match(core)):
            name = alpha["alpha"]
            roman = _ROMAN.get(name.lower())
            line.kind = "roman" if len(name) > 1 else "letter"
            if line.kind == "roman" and roman is None:
                line.kind = "plain"
            else:
                line.number = roman or 0 if len(name) > 1 else ord(name.lower()) - 96
                line.weak = alpha["close"] == "." or len(name) > 1 or line.number > 1
                line.mark += alpha.group().strip()
                line.text = core[alpha.end() :]
                return
    if not emphasis and taken < 2 and _take_bullet(line, s, patterns, taken):
        return
    line.text = s


def _finish(line: Line, rest: str, emphasis: str, patterns: Patterns, taken: int) -> None:
    """Go on behind a mark; emphasis that began before it and did not end with it goes on too."""
    rest = rest.lstrip()
    _take_mark(line, emphasis + rest if rest else "", patterns, taken + 1)


def _take_number(line: Line, s: str, core: str, emphasis: str, patterns: Patterns, taken: int) -> bool:
    if keycap := _KEYCAP.match(core):
        digits = keycap[1].replace("\u20e3", "")
        line.kind, line.number, line.mark = "number", int(digits), line.mark + keycap[1]
        rest = core[keycap.end() :]
        if emphasis and rest.startswith(emphasis):
            rest, emphasis = rest[len(emphasis) :], ""
        _finish(line, rest, emphasis, patterns, taken)
        return True
    number = _NUMBER.match(core)
    if not number:
        return False
    rest = core[number.end() :]
    bracket = number.group()[0] in "(["
    closed = bool(emphasis) and rest.startswith(emphasis)
    if closed:
        rest = rest[len(emphasis) :]
    separator = _SEPARATOR.match(rest)
    if (bracket and not (separator and separator["strong"])) or (line.mark and int(number["number"]) > 300):
        return False
    if separator:
        after = rest[separator.end() :]
        if separator["weak"] and (line.mark or after.lstrip()[:1].isdigit()):
            return False  # «20 - 10 fa 10»; and behind a bullet a number must look like nothing else
        if emphasis and not closed and after.startswith(emphasis):
            after, closed = after[len(emphasis) :], True
        line.weak = not (separator["strong"] or closed)
    elif closed:
        after = rest
    elif not emphasis and (bare := _BARE.match(core)) and line.kind == "plain" and not line.mark:
        line.kind, line.number, line.mark, line.weak = "bare", int(bare[1]), bare[1], True
        line.text = core[bare.end() :]
        return True
    elif not emphasis and not rest and line.kind == "plain":  # a number alone on its line
        line.kind, line.number, line.mark, line.weak, line.text = "number", int(number["number"]), core, True, ""
        return True
    else:
        return False
    line.kind, line.number = "number", int(number["number"])
    line.mark += s[: len(s) - len(after)].strip()
    _finish(line, after, "" if closed else emphasis, patterns, taken)
    return True


def _take_symbol(line: Line, core: str, emphasis: str, patterns: Patterns, taken: int) -> bool:
    """① ❷ ⑴ ⒈ 🔟"""
    first = core[0]
    number = 10 if first == "🔟" else 0
    if "\u2460" <= first <= "\u249b" or "\u2776" <= first <= "\u2793" or "\u24eb" <= first <= "\u24ff":
        number = int(unicodedata.numeric(first, 0))
    if not number:
        return False
    line.kind, line.number, line.mark = "number", number, line.mark + first
    _finish(line, core[1:].lstrip(" .):-"), emphasis, patterns, taken)
    return True


def _take_label(line: Line, s: str, core: str, emphasis: str, patterns: Patterns, taken: int) -> bool:
    if not _may_be_label(core):
        return False
    label = patterns.numbered_label.match(core)
    if not label:
        return False
    rest = core[label.end() :]
    closed = bool(emphasis) and rest.startswith(emphasis)
    if closed:
        rest = rest[len(emphasis) :]
    separator = _SEPARATOR.match(rest)
    after = rest
    if separator:
        after = rest[separator.end() :]
        if emphasis and not closed and after.startswith(emphasis):
            after, closed = after[len(emphasis) :], True
    elif rest.strip() and not closed:
        return False  # «Frase 1 lunga»: no label
    if line.kind not in ("number", "label"):
        line.kind = "label"
        line.number = int(label["number"] or label["ordinal_number"] or 0)
    line.mark = f"{line.mark} {s[: len(s) - len(after)].strip()}".strip()
    _finish(line, after, "" if closed else emphasis, patterns, taken)
    return True


def _take_bullet(line: Line, s: str, patterns: Patterns, taken: int) -> bool:
    first = s[0]
    spaced = s[1:2] in (" ", "")
    if first in "-–—":
        if not spaced and not s[1:2].isupper() and s[1:2] not in '«"“*':
            return False
        kind: Kind = "dash"
    elif (
        (first == "*" and (spaced or s.count("*") == 1))
        or (first in _BULLETS and (first not in "»›→+" or spaced))
        or (first > "\u2100" and unicodedata.category(first) == "So")  # ✅, 🔹 and all the others
    ):
        kind = "bullet"
    else:
        return False
    rest = s[1:].lstrip()
    if checkbox := _CHECKBOX.match(rest):
        rest = rest[checkbox.end() :]
    if line.kind in ("number", "label"):
        if kind == "dash" and _is_dialogue(s):
            return False
    else:
        line.kind = kind
    line.mark = f"{line.mark} {first}".strip()
    _take_mark(line, rest, patterns, taken + 1)
    return True


def _is_dialogue(s: str) -> bool:
    """«– Vieni? – chiese Marco.»: a dash that opens direct speech, closed by another."""
    return re.search(rf"[\w.!?,…»\"”] ?{re.escape(s[0])} ?[a-zà-ÿ]", s[1:2000]) is not None and (
        f" {s[0]}" in s[1:] or f"{s[0]} " in s[2:]
    )


def settle_marks(lines: list[Line]) -> None:
    """Refuse the marks that are none: a numeral out of sequence, an initial, a dash of dialogue."""
    content = [line for line in lines if line.kind != "blank"]
    _settle_bare(content)
    if any(line.kind == "roman" for line in content):
        for line in content:
            if line.kind == "letter" and (roman := _ROMAN.get(chr(96 + line.number))):
                line.kind, line.number, line.weak = "roman", roman, True
    for kinds in (("number", "label"), ("letter",), ("roman",)):
        marked = [line for line in content if line.kind in kinds]
        if any(line.weak or line.number > 300 for line in marked):
            _settle_sequence(marked)
    dashes = [line for line in content if line.kind == "dash" and _is_dialogue(line.full)]
    if dashes and any(line.kind != "dash" for line in content):
        for line in dashes:
            _refuse(line)
    elif len(dashes) == 1 and len(content) == 1:
        _refuse(dashes[0])


def _settle_bare(content: list[Line]) -> None:
    """«1 Il gatto…» is a list only where every line counts on from 1 and goes on with a capital."""
    bare = [line for line in content if line.kind == "bare"]
    if not bare:
        return
    in_sequence = [line.number for line in bare] == list(range(1, len(bare) + 1))
    if len(bare) >= 3 and in_sequence and len(content) - len(bare) <= 2:
        for line in bare:
            line.kind = "number"
            line.weak = False
    else:
        for line in bare:
            _refuse(line)


def _settle_sequence(marked: list[Line]) -> None:
    numbers = [line.number for line in marked]
    for i, line in enumerate(marked):
        if not line.weak and line.number <= 300:
            continue
        after_previous = i > 0 and 0 <= numbers[i] - numbers[i - 1] <= 2
        before_next = i + 1 < len(marked) and 0 <= numbers[i + 1] - numbers[i] <= 2
        restarts = numbers[i] == 1 and line.kind in ("number", "label")
        if line.kind in ("letter", "roman"):
            after_previous = i > 0 and numbers[i] - numbers[i - 1] == 1
            before_next = i + 1 < len(marked) and numbers[i + 1] - numbers[i] == 1
        if line.text == "" and line.kind == "number" and line.weak:
            restarts = False
        if not (after_previous or before_next or restarts or line.kind == "label"):
            _refuse(line)


def _refuse(line: Line) -> None:
    line.kind, line.mark, line.text, line.number = "plain", "", line.full, 0
