"""The items that raters disagree about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oulibench.annotation.sampling import Unit
from oulibench.annotation.scheme import Scheme
from oulibench.annotation.store import Rating


@dataclass(frozen=True, slots=True)
class Dispute:
    """A unit that two people or more rated.

    Attributes:
        spread: the largest distance between two ratings of one dimension, in points; a scale's whole length where
            somebody excused the item by a flag and somebody else rated it.
        total: the sum of the dimensions' distances.
    """

    unit: Unit
    ratings: tuple[Rating, ...]
    spread: int
    total: int


def disputes(scheme: Scheme, units: Sequence[Unit], ratings: Iterable[Rating]) -> list[Dispute]:
    """The units that two people or more rated, the most disputed first, in the units' order where they tie."""
    by_unit: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_unit.setdefault(rating.unit, []).append(rating)
    found = [_dispute(scheme, unit, by_unit[unit.id]) for unit in units if len(by_unit.get(unit.id, ())) > 1]
    return sorted(found, key=lambda dispute: (-dispute.spread, -dispute.total))


def _dispute(scheme: Scheme, unit: Unit, ratings: list[Rating]) -> Dispute:
    distances = []
    for dimension in scheme.dimensions:
        values = [rating.values[dimension.id] for rating in ratings if dimension.id in rating.values]
        whole = dimension.values[-1] - dimension.values[0]
        if 0 < len(values) < len(ratings):
            distances.append(whole)
        elif values:
            distances.append(max(values) - min(values))
    return Dispute(unit, tuple(ratings), max(distances, default=0), sum(distances))
