"""Text whose words all begin with a given letter."""

from __future__ import annotations

from oulibench.constraints.base import Judgement, spans_of
from oulibench.constraints.letter import LetterConstraint
from oulibench.policy import Policy
from oulibench.text import initial, letters, words


class Tautogram(LetterConstraint):
    """Every word, articles and elided forms included, begins with the letter, with or without accent; and there are at
    least two different words, since one word alone begins with its letter whatever one does.
    """

    name = "tautogram"
    version = 1

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        found = words(content)
        capital = target.upper()
        other = [i for i, word in enumerate(found) if word[0] not in (target, capital) and initial(word) != target]
        if other:
            offending = spans_of(content, found, other)
            return self._refuse(
                offending, len(found), f"does not begin with «{target}»", f"do not begin with «{target}»"
            )
        first = letters(found[0])
        if all(letters(word) == first for word in found):
            reason = f"One word alone is no tautogram: «{found[0]}»."
            return Judgement(False, 0.0, 0, reason, formal=True, flags=("single_word",))
        return Judgement(True, 1.0, 0, f"Every word begins with «{target}».")
