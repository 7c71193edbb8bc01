"""Text that does without a given letter."""

from __future__ import annotations

from collections.abc import Sequence

from oulibench.constraints.base import Judgement, spans_of
from oulibench.constraints.letter import LetterConstraint
from oulibench.policy import Policy
from oulibench.text import Word, fold, words


class Lipogram(LetterConstraint):
    """No word holds the letter, with or without accent, in either case."""

    name = "lipogram"
    version = 1
    few_shot = True

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        if target in fold(content):
            found = words(content)
            holding = [i for i, word in enumerate(found) if target in word or target in fold(word)]
            if holding:  # else it stands in a symbol («™»), which is no letter
                offending = _as_read(content, found, holding)
                return self._refuse(
                    offending, len(found), f"holds the letter «{target}»", f"hold the letter «{target}»"
                )
        return Judgement(True, 1.0, 0, f"No word holds the letter «{target}».")


def _as_read(content: str, forms: Sequence[str], indices: Sequence[int]) -> list[Word]:
    """The words with these indices, each with the innocent elided form that it leans on: «c'è», where è offends."""
    offending = spans_of(content, forms, indices)
    if "'" not in content:
        return offending
    named: list[Word] = []
    taken = 0  # up to here the text belongs to an offending word
    for word in offending:
        start = word.start
        if content[start - 1 : start] == "'" and start - 1 > taken:
            start -= 1
            while start > taken and content[start - 1].isalnum():
                start -= 1
        named.append(Word(content[start : word.end], start, word.end))
        taken = word.end
    return named
