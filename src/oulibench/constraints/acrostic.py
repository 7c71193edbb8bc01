"""Text whose initials spell a given word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oulibench.constraints.base import Constraint, Judgement, Unit
from oulibench.errors import TargetError
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.text import Word, initial, letters, normalise, without_list_mark, word_spans

# Single letters that are Italian words (è, ò and ì fold into these), alone or elided; any other letter standing alone
# only spells.
_ONE_LETTER_WORDS = frozenset("aeio")
_ONE_LETTER_ELIDED = frozenset("cdlmnstv")


class Acrostic(Constraint[str]):
    """The initials of the words (policy `acrostic: words`), or of the first words of the non-blank lines
    (`acrostic: lines`), spell the target, with nothing before, between or after.

    An elided form is a word with an initial of its own. Letters standing alone (*S.O.L.E.*, *S o l e*) only spell the
    target out and are no acrostic. `measured` is the initials found.
    """

    name = "acrostic"
    family = "stylistic"
    version = 2
    policies = ("acrostic",)

    def parse_target(self, target: object) -> str:
        spelled = letters(normalise(target)) if isinstance(target, str) else ""
        if len(spelled) < 2 or not spelled.isalpha() or not spelled.isascii():
            raise TargetError(
                f"The target of {self.name} is a word of two letters or more such as «sole», not {target!r}."
            )
        return spelled

    def _template_values(self, target: str) -> dict[str, str]:
        return {"target": target.upper(), "count": str(len(target))}

    def unit(self, policy: Policy = DEFAULT_POLICY) -> Unit:
        return "stanza" if policy.acrostic == "lines" else "sentence"

    def _prompt_name(self, policy: Policy) -> str:
        return "acrostic_lines" if policy.acrostic == "lines" else self.name

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        heads = _line_heads(content) if policy.acrostic == "lines" else _word_heads(content)
        found = "".join(initial(head.word.form) for head in heads)
        alone = [head.word for head in heads if head.alone]
        if alone and _only_spells(alone, len(heads)):
            return Judgement(
                False,
                0.0,
                found,
                "Letters that stand alone spell the word out; an acrostic needs words.",
                formal=found == target,
                offending=alone,
                flags=("spelled_out",),
            )
        if found == target:
            return Judgement(True, 1.0, found, f"The initials spell «{target}».")
        wrong = [h.word for i, h in enumerate(heads) if i >= len(target) or initial(h.word.form) != target[i]]
        matching = len(heads) - len(wrong)
        unit = "lines" if policy.acrostic == "lines" else "words"
        return Judgement(
            False,
            matching / max(len(heads), len(target)),
            found,
            f"The initials of its {len(heads)} {unit} spell «{found[:60]}», not «{target}».",
            offending=wrong,
        )


class _Head(NamedTuple):
    """A word that gives its initial; `alone` where it is a letter that stands alone."""

    word: Word
    alone: bool


def _word_heads(content: str) -> list[_Head]:
    return [_Head(word, _is_a_letter(word.form)) for word in word_spans(content)]


def _line_heads(content: str) -> list[_Head]:
    """The first word of each line that has one, less the line's list mark."""
    heads: list[_Head] = []
    start = 0
    for line in content.split("\n"):
        body = without_list_mark(line)
        if spans := word_spans(body):
            shift = start + len(line) - len(body)
            first = Word(spans[0].form, spans[0].start + shift, spans[0].end + shift)
            heads.append(_Head(first, len(spans) == 1 and _is_a_letter(first.form)))
        start += len(line) + 1
    return heads


def _is_a_letter(form: str) -> bool:
    """A letter by itself, or letters with a dot each (S.O.L.E.)."""
    return len(letters(form)) == 1 or (form[1:2] == "." and form[0].isalpha())


def _only_spells(alone: Sequence[Word], heads: int) -> bool:
    """Whether letters that stand alone make the acrostic: they are all there is, one of them is no word, or half of
    the words or more are abbreviations (*a.C.*, *k.o.*), which are words among others.
    """
    shortened = sum(len(letters(word.form)) > 1 for word in alone)
    others = (word for word in alone if len(letters(word.form)) == 1)
    return len(alone) == heads or 2 * shortened >= heads or not all(_is_one_letter_word(word.form) for word in others)


def _is_one_letter_word(form: str) -> bool:
    letter = letters(form)
    return letter in _ONE_LETTER_WORDS or (form.endswith("'") and letter in _ONE_LETTER_ELIDED)
