"""A judge beside people: how far the two agree, before anything else that the judge says is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from oulibench.annotation.agreement import Agreement, Score, agreement, scores_of
from oulibench.annotation.judge import Judged
from oulibench.annotation.sampling import Unit
from oulibench.annotation.scheme import Scheme
from oulibench.annotation.store import Rating
from oulibench.results.correlation import Coefficient, spearman


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge and people in one dimension, on the items that both rated.

    Attributes:
        agreement: of the judge with people, as of two raters.
        spearman: rank correlation of their ratings.
        confusion: how often people gave the first point where the judge gave the second.
        self_agreement: of the judge's samples with one another.
        bias: mean of the judge's rating less people's, in points; None where both rated nothing.
    """

    dimension: str
    agreement: Agreement
    spearman: Coefficient
    confusion: Mapping[tuple[int, int], int]
    self_agreement: Agreement
    bias: float | None


def people_say(scheme: Scheme, ratings: Iterable[Rating], golds: Iterable[Rating]) -> list[Rating]:
    """People's one rating of each item: the adjudicator's decision, or the median (the lower one) of the ratings."""
    decided = {gold.unit: gold for gold in golds}
    by_unit: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_unit.setdefault(rating.unit, []).append(rating)
    found = []
    for unit in sorted({*decided, *by_unit}):
        values = dict(decided[unit].values) if unit in decided else _median(scheme, by_unit[unit])
        if values:
            found.append(Rating("people", unit, values))
    return found


def _median(scheme: Scheme, ratings: Sequence[Rating]) -> dict[str, int]:
    given = {d.id: [r.values[d.id] for r in ratings if d.id in r.values] for d in scheme.dimensions}
    return {dimension: median_low(values) for dimension, values in given.items() if values}


def compare_with_people(
    judged: Judged, scheme: Scheme, units: Sequence[Unit], ratings: Iterable[Rating], golds: Iterable[Rating]
) -> list[Comparison]:
    """The judge beside people, dimension by dimension."""
    people = scores_of(scheme, units, people_say(scheme, ratings, golds))
    judge = scores_of(scheme, units, judged.ratings)
    samples = scores_of(scheme, units, judged.samples)
    found = []
    for dimension in scheme.dimensions:
        human = {score.item: score for score in people[dimension.id]}
        both: list[tuple[Score, Score]] = [(human[s.item], s) for s in judge[dimension.id] if s.item in human]
        pairs = [(person.value, model.value) for person, model in both]
        confusion = {(a, b): pairs.count((a, b)) for a in dimension.values for b in dimension.values}
        found.append(
            Comparison(
                dimension.id,
                agreement(dimension.id, [score for pair in both for score in pair], dimension.values),
                spearman([float(a) for a, _ in pairs], [float(b) for _, b in pairs]),
                confusion,
                agreement(dimension.id, samples[dimension.id], dimension.values),
                sum(b - a for a, b in pairs) / len(pairs) if pairs else None,
            )
        )
    return found


def in_words(judged: Judged, comparisons: Sequence[Comparison], scheme: Scheme) -> list[str]:
    """What `oulibench judge` prints: what could be read, agreement with people, and only then the averages."""
    unread = sum(judged.unreadable.values())
    lines = [f"{judged.name}: {judged.answers} answers, {unread} of them no rating"]
    lines += [f"  {count} × {reason}" for reason, count in judged.unreadable.items()]
    lines.append(f"{len(judged.ratings)} items have a judge's rating.")
    for comparison in comparisons:
        measured, rho = comparison.agreement, comparison.spearman
        lines += ["", f"{comparison.dimension}: judge and people on {measured.pairable} items"]
        if not measured.pairable:
            lines.append("  no item was rated by both: what the judge says is not validated")
        else:
            alpha = measured.alpha.reason if measured.alpha.value is None else f"{measured.alpha.value:.3f}"
            rank = rho.reason if rho.value is None else f"{rho.value:.3f}"
            lines.append(f"  alpha {alpha} · Spearman {rank} · same {100 * (measured.percent or 0):.1f} %")
            lines.append(f"  judge less people {comparison.bias:+.2f} points")
            lines += _confusion(comparison, scheme)
        self_alpha = comparison.self_agreement.alpha
        steady = self_alpha.reason if self_alpha.value is None else f"{self_alpha.value:.3f}"
        lines.append(f"  alpha of the judge's own samples: {steady}")
    if judged.ratings:
        lines += ["", "Averages of the judge:"]
        for dimension in scheme.dimensions:
            values = [r.values[dimension.id] for r in judged.ratings]
            lines.append(f"  {dimension.id}: {sum(values) / len(values):.2f} over {len(values)} items")
    return lines


def _confusion(comparison: Comparison, scheme: Scheme) -> list[str]:
    dimension = scheme.dimension(comparison.dimension)
    points = dimension.values if dimension else ()
    lines = ["  people ↓ judge → " + "".join(f"{p:>5}" for p in points)]
    return lines + [f"{p:>18}" + "".join(f"{comparison.confusion[p, q]:>5}" for q in points) for p in points]
