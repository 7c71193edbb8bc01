"""What the three letter tasks share: one letter, and a rule that every word must keep."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from oulibench.constraints.base import Constraint, Judgement, number, quote
from oulibench.errors import TargetError
from oulibench.text import Word, letters


class LetterConstraint(Constraint[str]):
    """Every word keeps a rule about the letter; case and accents do not count. `measured` is how many break it."""

    family = "stylistic"

    def parse_target(self, target: object) -> str:
        if isinstance(target, str) and target in _PLAIN_LETTERS:
            return target
        folded = letters(target) if isinstance(target, str) and len(target) < 10 else ""
        if len(folded) != 1 or not "a" <= folded <= "z":
            raise TargetError(f"The target of {self.name} is one letter such as «e», not {target!r}.")
        return folded

    def _refuse(self, offending: Sequence[Word], total: int, one: str, many: str) -> Judgement:
        """The judgement where words break the rule; `one` and `many` say how, of one word and of several."""
        n = len(offending)
        reason = f"{number(n, 'word')} {one if n == 1 else many}: {quote(offending)}."
        return Judgement(False, penalised_share(n, total), n, reason, offending=offending)


_PLAIN_LETTERS = frozenset(ascii_lowercase)


def penalised_share(offending: int, total: int) -> float:
    """Partial score of a rule that every word must keep: the share of words that do, divided by one more than the
    number that do not, so that padding a text with easy words gains next to nothing.
    """
    return (1 - offending / total) / (1 + offending)
