"""What the two length tasks share: an exact number, asked for and counted."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from oulibench.constraints.base import Constraint, Judgement, number, parse_count
from oulibench.policy import Policy


class LengthConstraint(Constraint[int]):
    """The text has as many of something as asked. `measured` is the number found."""

    family = "quantitative"
    few_shot = True
    noun: ClassVar[str]
    """What is counted, in a reason."""

    def parse_target(self, target: object) -> int:
        return parse_count(self.name, target)

    @abstractmethod
    def _count(self, content: str, policy: Policy) -> int:
        """How many there are in normalised `content`."""

    def _judge(self, content: str, target: int, policy: Policy) -> Judgement:
        found = self._count(content, policy)
        if found == target:
            return Judgement(True, 1.0, found, f"It has {number(found, self.noun)}, as asked.")
        # The smaller over the larger: falls on either side of the target, to 0 at nothing and at no end.
        closeness = min(found, target) / max(found, target)
        return Judgement(
            False, closeness, found, f"It has {number(found, self.noun)}, {target:,} {_were(target)} asked for."
        )


def _were(n: int) -> str:
    return "was" if n == 1 else "were"
