"""How much does the convention decide? The stored texts, checked again under every counting policy, side by side.

Besides the policies of a task: `formal`, the letters alone, without lexicon and shortcuts (strict against formal).
Conventions that need the parser are computed on at most `PARSED` items a cell, evenly spread, and say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from oulibench.behaviour.repetition import spread
from oulibench.constraints import get_constraint
from oulibench.errors import OuLiBenchError
from oulibench.policy import Policy
from oulibench.results.table import rate
from oulibench.results.tally import Cell, CellKey, Item
from oulibench.scoring import score_block

PARSED: Final = 50
"""Items a cell that conventions which need the parser look at."""

# Policy key → the values that are set side by side.
_SIDE_BY_SIDE: Final[dict[str, tuple[str, ...]]] = {
    "words": ("orthographic", "graphic", "syntactic", "profiling"),
    "acrostic": ("words", "lines"),
    "names": ("accept", "reject"),
}
FORMAL: Final = "formal"


@dataclass(frozen=True, slots=True)
class Convention:
    """The success rate of a cell under one convention.

    Attributes:
        convention: such as `words: graphic`, or `formal`.
        items: items looked at; fewer than the cell has where `sampled`.
        changed: items whose verdict differs from the one the run counts.
    """

    key: CellKey
    convention: str
    items: int
    passed: int
    changed: int
    sampled: bool

    @property
    def sr(self) -> float | None:
        return rate(self.passed, self.items)

    def fields(self) -> dict[str, Any]:
        return {
            "model": self.key.system,
            "task": self.key.task,
            "shots": self.key.shots,
            "convention": self.convention,
            "n": self.items,
            "passed": self.passed,
            "sr": None if self.sr is None else round(self.sr, 6),
            "changed": self.changed,
            "sampled": self.sampled,
        }


def conventions_of(cell: Cell, parse: bool = True) -> list[Convention]:
    """The conventions of a cell whose items were kept; empty for a task that knows only one, or that nobody knows.

    Args:
        cell: the cell.
        parse: whether to compute those that need the parser.
    """
    try:
        constraint = get_constraint(cell.key.task)
    except OuLiBenchError:
        return []
    items = [item for item in cell.items if item.passed is not None]
    found = []
    for name in constraint.policies:
        for value in _SIDE_BY_SIDE.get(name, ()):
            policy = {name: value}
            needs_parser = constraint.parses(Policy.from_mapping(policy))
            if needs_parser and not parse:
                continue
            chosen = [items[i] for i in spread(range(len(items)), PARSED)] if needs_parser else items
            if verdicts := _check(cell, chosen, policy):
                passed = sum(verdicts)
                changed = sum(v != bool(i.passed) for v, i in zip(verdicts, chosen, strict=True))
                sampled = len(chosen) < len(items)
                found.append(Convention(cell.key, f"{name}: {value}", len(chosen), passed, changed, sampled))
    if any(item.formal != item.passed for item in items):
        formal = [bool(item.formal) for item in items]
        changed = sum(f != bool(i.passed) for f, i in zip(formal, items, strict=True))
        found.append(Convention(cell.key, FORMAL, len(items), sum(formal), changed, False))
    return found


def _check(cell: Cell, items: Sequence[Item], policy: Mapping[str, str]) -> list[bool] | None:
    """Whether each item passes under the policy; None where the checker cannot say (the parser is not installed)."""
    rows = [{"task": cell.key.task, "target": cell.answers[i.answer].target, "text": i.text} for i in items]
    verdicts = [scored["passed"] for scored in _flat(score_block(rows, policy))]
    return None if not verdicts or any(v is None for v in verdicts) else verdicts


def _flat(nested: Iterable[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [row for rows in nested for row in rows]
