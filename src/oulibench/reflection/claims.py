"""From a model's answer to its claim: a strict reading, which rather finds nothing than something that was not said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

from oulibench.constraints import get_constraint
from oulibench.errors import TextError
from oulibench.language import Language
from oulibench.reflection.numbers import numbers_in_words
from oulibench.reflection.questions import Value, entry_of
from oulibench.responses.reasoning import without_reasoning, without_template
from oulibench.text import letters, normalise, without_list_mark

LONGEST: Final = 4_000
"""Characters; one word was asked for, and what is longer holds no claim that could be trusted."""


def read_claim(answer: str, task: str, text: str) -> Value | None:
    """What the answer claims of `text`; None where it claims nothing, or more than one thing.

    Reasoning, tokens of a chat template, mark-up and quotations of the text are no part of the answer.
    """
    constraint = get_constraint(task)
    entry = entry_of(task, constraint.language)
    if entry is None:
        return None
    try:
        visible = without_reasoning(normalise(answer), [])
        said = normalise(text).strip()
    except TextError:
        return None
    if visible is None:
        return None
    visible = _MARKUP.sub("", without_template(visible, [])).strip()
    if len(visible) > LONGEST:
        return None
    visible = _without_echo(without_list_mark(visible), said)
    visible = _without_label(_unquoted(visible), constraint.language)
    return _READERS[entry["reads"]](visible, entry, constraint.language)


# --- what is not the claim ---------------------------------------------------------------------------------------

_MARKUP: Final = re.compile(r"[*_`#\\$]+|\bboxed(?=\{)|[{}]")
_QUOTED: Final = re.compile(r"«([^«»]*)»|“([^“”]*)”|\"([^\"]*)\"|„([^„“”]*)[“”]")


def _without_echo(answer: str, text: str) -> str:
    """The answer less repetitions of the text; one word is no repetition, it may be the answer itself."""
    core = text.rstrip(" .!?…")
    if len(core.split()) < 2:
        return answer
    return re.sub(re.escape(core) + r"[.!?…]*", " ", answer, flags=re.IGNORECASE)


def _unquoted(answer: str) -> str:
    """The answer without the quotation marks around all of it."""
    answer = answer.strip()
    whole = _QUOTED.fullmatch(answer.rstrip(" ."))
    return next((group for group in whole.groups() if group is not None), "") if whole else answer


def _without_label(answer: str, language: Language) -> str:
    label = _label(language).match(answer)
    return _unquoted(answer[label.end() :]) if label else answer


def _without_quotations(answer: str) -> str:
    """The answer less what it quotes; a lone quotation is kept, for it may be the claim («la risposta è "5"»)."""
    return _QUOTED.sub(lambda m: m.group() if _is_lone(answer) else " … ", answer).translate(_NO_QUOTES)


def _is_lone(answer: str) -> bool:
    found = _QUOTED.findall(answer)
    return len(found) == 1 and len("".join(found[0]).split()) == 1


_NO_QUOTES: Final = dict.fromkeys(map(ord, '«»“”„"'), None)


def _any_of(words: Iterable[str]) -> str:
    """An alternation of words, longest first, that matches whole words only."""
    parts = sorted(words, key=len, reverse=True)
    return (
        "(?:" + "|".join(rf"(?<![^\W_]){re.escape(p)}" + (r"(?![^\W_])" if p[-1] != "'" else "") for p in parts) + ")"
    )


@cache
def _label(language: Language) -> re.Pattern[str]:
    words = language.table("reflection.toml")["words"]
    ending_in_verb = [w for w in words["label"] if w.endswith(" è")]
    others = [w for w in words["label"] if not w.endswith(" è")]
    return re.compile(rf"\s*(?:{_any_of(ending_in_verb)}\s*:?|{_any_of(others)}\s*:)\s*", re.IGNORECASE)


# --- numbers -----------------------------------------------------------------------------------------------------

_DIGITS: Final = re.compile(r"(?<![^\W_])(?<![\d][.,])[-−+]?\d+(?:[.,]\d+)*(?![^\W_])")
_WORD: Final = re.compile(r"[^\W\d_]+")
_ASCII_NUMBER: Final = re.compile(r"[0-9]{1,6}|[0-9]{1,3}\.[0-9]{3}")


def _read_number(answer: str, entry: Mapping[str, Any], language: Language) -> int | None:
    lines = [line for line in _without_quotations(answer).lower().split("\n") if line.strip(" .-–…")]
    if not lines:
        return None
    forms = _NumberForms.of(language, tuple(entry["units"]))
    whole = "\n".join(lines)
    found, counted = _numbers(whole, forms)
    if found is None or forms.hedged.search(whole):
        return None
    bare = _bare_number(lines[0], forms)
    if bare is not None:
        return bare if set(counted) <= {bare} else None
    values = set(counted)
    if len(values) != 1:
        return None
    (value,) = values
    # Whoever counts aloud writes 1, 2, 3 … up to the claim; any other number beside it is another claim.
    others = set(found) - values
    return value if not others or set(found) == set(range(1, value + 1)) else None


class _NumberForms:
    """The patterns of one kind of count."""

    def __init__(self, language: Language, units: tuple[str, ...]) -> None:
        table = language.table("reflection.toml")
        words = table["words"]
        self.spelt = numbers_in_words(language)
        self.articles = dict.fromkeys(table["numbers"]["one"], 1) | dict.fromkeys(table["numbers"]["zero"], 0)
        self.unit = re.compile(rf"[\s)]*{_any_of(units)}")
        self.other_unit = re.compile(rf"[\s)]*{_any_of(set(words['other_units']) - set(units))}")
        self._cue = re.compile(rf"(?:{_any_of(words['before_the_count'])}\s*:?|[=:→])\s*\Z")
        number = rf"(?:\d+|{_any_of([*_frequent(self.spelt), *self.articles])})"
        self.hedged = re.compile(
            rf"{_any_of(words['no_count'])}\s+(?:(?:è|sono|ha|contiene|ci sono|le|i|di)\s+)?{number}(?![^\W_])"
        )

    def announces(self, text: str, start: int) -> bool:
        """Whether what stands before `start` leads one to expect the count there."""
        return not start or bool(self._cue.search(text[max(0, start - 40) : start]))

    @staticmethod
    @cache
    def of(language: Language, units: tuple[str, ...]) -> _NumberForms:
        return _NumberForms(language, units)


def _frequent(spelt: Mapping[str, int]) -> list[str]:
    return [word for word, n in spelt.items() if n < 200]


def _bare_number(line: str, forms: _NumberForms) -> int | None:
    """The number that a line consists of, with its unit or without, in digits or in letters."""
    line = line.strip(" .:!()[]-–…=")
    if unit := re.search(rf"{forms.unit.pattern}\Z", line):
        line = line[: unit.start()].strip(" (")
    if _ASCII_NUMBER.fullmatch(line):
        return int(line.replace(".", ""))
    joined = line.replace(" ", "")
    return forms.spelt.get(joined, forms.articles.get(joined))


def _numbers(text: str, forms: _NumberForms) -> tuple[list[int] | None, list[int]]:
    """All numbers of a text, and those of them that are said to be the count; None for the first where there is one
    that no count can be (negative, with decimals, in other digits)."""
    found: list[int] = []
    counted: list[int] = []
    for match in _DIGITS.finditer(text):
        end = match.end()
        if forms.other_unit.match(text, end):
            continue
        if not _ASCII_NUMBER.fullmatch(match.group()):
            return None, []
        value = int(match.group().replace(".", ""))
        found.append(value)
        if forms.unit.match(text, end) or (forms.announces(text, match.start()) and _CLOSED.match(text, end)):
            counted.append(value)
    for match in _WORD.finditer(text):
        word, end = match.group(), match.end()
        number = forms.spelt.get(word, forms.articles.get(word))
        if number is None:
            continue
        # In letters, a number is a number only where it counts: «una», «sei» and «due» are words of the language, too.
        last = word in forms.spelt and _ENDED.match(text, end)
        if forms.unit.match(text, end) or (last and forms.announces(text, match.start())):
            found.append(number)
            counted.append(number)
    return found, counted


# What follows a number ends its statement, so that it is not the number of something else.
_CLOSED: Final = re.compile(r"\s*(?:[,;:)(\]]|\n|\.?\s*\Z|\.\s*\n)")
_ENDED: Final = re.compile(r"[ .!)\n]*\Z")


# --- yes or no ---------------------------------------------------------------------------------------------------


def _read_yes_no(answer: str, entry: Mapping[str, Any], language: Language) -> bool | None:
    words = language.table("reflection.toml")["words"]
    text = _without_quotations(answer).lower().strip()
    said = set()
    for value, forms, alone in ((True, words["yes"], words["yes_alone"]), (False, words["no"], ())):
        if _opens(text, forms, _AFTER) or (alone and _opens(text, alone, _NOTHING_AFTER)):
            said.add(value)
        if re.search(_STATEMENT + _any_of([*forms, *alone]) + r"\s*(?:[.,;:!\n)]|\Z)", text):
            said.add(value)
    if len(said) != 1 or _both(text, words):
        return None
    return said.pop()


_STATEMENT: Final = r"[.?!:;\n)]\s*"
_AFTER: Final = r"(?![^\W_'])"
_NOTHING_AFTER: Final = r"\s*(?:[.,;:!\n)]|\Z)"


def _opens(text: str, forms: Sequence[str], after: str) -> bool:
    return bool(re.match(_any_of(forms) + after, text))


def _both(text: str, words: Mapping[str, Any]) -> bool:
    """«sì o no», «sì/no», «sì e no»: the options or both, no choice between them."""
    yes, no = _any_of([*words["yes"], *words["yes_alone"]]), _any_of(words["no"])
    between = r"\s*(?:/|,|\||-|\(|(?<=\s)(?:o|e|or|oppure)(?=\s))\s*"
    return bool(re.search(rf"{yes}{between}{no}|{no}{between}{yes}", text))


# --- voice, order, letters ---------------------------------------------------------------------------------------


def _read_voice(answer: str, entry: Mapping[str, Any], language: Language) -> str | None:
    voices: Mapping[str, Sequence[str]] = language.table("reflection.toml")["voices"]
    text = _without_quotations(answer).lower().strip()
    named = {value for value, forms in voices.items() if value != "not" and re.search(_any_of(forms), text)}
    first = [
        value
        for value, forms in voices.items()
        if value != "not" and re.match(_any_of(forms) + r"\s*(?:[.;:\n(]|\Z)", text)
    ]
    if first:
        return first[0]
    if len(named) != 1 or re.search(_any_of(voices["not"]), text):
        return None
    return named.pop()


_CODE: Final = re.compile(
    r"(?<![^\W_])([SVO])(?P<between>\s*[-–—→>,/+.]?\s*)([SVO])(?P=between)([SVO])(?![^\W_])", re.I
)
_SPACES: Final = re.compile(r"\s+")


def _read_order(answer: str, entry: Mapping[str, Any], language: Language) -> str | None:
    text = _without_quotations(answer)
    found = set()
    for match in _CODE.finditer(text):
        code = (match[1] + match[3] + match[4]).upper()
        if len(set(code)) == 3:
            found.add(code)
    found |= _orders_in_words(text, language)
    return found.pop() if len(found) == 1 else None


def _orders_in_words(text: str, language: Language) -> set[str]:
    """Orders written out («prima il verbo, poi il soggetto e infine l'oggetto»), not mentions of the three."""
    table: Mapping[str, Sequence[str]] = language.table("reflection.toml")["orders"]
    one = "|".join(f"(?P<{letter}>{_any_of(table[letter])})" for letter in "SVO")
    mentions = list(re.finditer(one, text, re.IGNORECASE))
    between = re.compile(rf"(?:[\s,;>→+/()–—-]|\d[.)]|{_any_of(table['between'])})*", re.IGNORECASE)
    found = set()
    for start in range(len(mentions) - 2):
        three = mentions[start : start + 3]
        code = "".join(str(m.lastgroup) for m in three)
        gaps = [text[a.end() : b.start()] for a, b in pairwise(three)]
        if len(set(code)) == 3 and all(between.fullmatch(gap) for gap in gaps):
            found.add(code)
    return found


def _read_letters(answer: str, entry: Mapping[str, Any], language: Language) -> str | None:
    words = language.table("reflection.toml")["words"]
    if re.fullmatch(_any_of(words["no_letters"]), answer.strip(" .!").lower()):
        return None
    if lone := _as_letters(answer):
        return lone
    quoted = {_as_letters("".join(groups)) for groups in _QUOTED.findall(answer)}
    if len(quoted) == 1:
        return quoted.pop()
    if quoted:
        return None
    capitals = {
        letters(word) for word in re.findall(r"(?<![^\W_])(?:[A-ZÀ-Ý]{2,}|[A-ZÀ-Ý](?:[-.][A-ZÀ-Ý])+)(?![^\W_])", answer)
    }
    if capitals:
        return capitals.pop() if len(capitals) == 1 and not capitals & set(words["no_letters"]) else None
    named = re.search(rf"{_any_of(words['before_the_letters'])}\s*:?\s+([^\W\d_]{{2,}})\s*[.!]?\s*\Z", answer, re.I)
    spells = named and named[1].lower() not in numbers_in_words(language)  # «le lettere sono tre»
    return letters(named[1]) if named and spells else None


def _as_letters(answer: str) -> str | None:
    """The letters of an answer that is one word, or letters one by one."""
    plain = answer.strip(" .!:;,\n()[]")
    if re.fullmatch(r"[^\W\d_]{2,}", plain) or re.fullmatch(r"[^\W\d_](?:\s*[-–,.;/·>→+\s]\s*[^\W\d_])+", plain):
        return letters(plain)
    return None


_READERS: Final[dict[str, Callable[[str, Mapping[str, Any], Language], Value | None]]] = {
    "number": _read_number,
    "yes_no": _read_yes_no,
    "voice": _read_voice,
    "order": _read_order,
    "letters": _read_letters,
}
