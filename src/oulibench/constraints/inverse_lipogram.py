"""Text in which a given letter stands in every word."""

from __future__ import annotations

from oulibench.constraints.base import Judgement, spans_of
from oulibench.constraints.letter import LetterConstraint
from oulibench.policy import Policy
from oulibench.text import fold, words


class InverseLipogram(LetterConstraint):
    """Every word, articles and elided forms included, holds the letter at least once, with or without accent."""

    name = "inverse_lipogram"
    version = 1

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        found = words(content)
        without = [i for i, word in enumerate(found) if target not in word and target not in fold(word)]
        if without:
            offending = spans_of(content, found, without)
            return self._refuse(offending, len(found), f"has no letter «{target}»", f"have no letter «{target}»")
        return Judgement(True, 1.0, 0, f"Every word holds the letter «{target}».")
