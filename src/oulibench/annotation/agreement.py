"""Agreement between raters, per dimension and task.

Coefficients:

- **alpha**: Krippendorff's alpha, ordinal (nominal for scales of two points, where the two are the same number); K.
  Krippendorff, *Computing Krippendorff's Alpha-Reliability* (2011). The point value is computed by the package
  `krippendorff`.
- **AC1, AC2**: Gwet's coefficients; AC1 for scales of two points, AC2 with ordinal weights for longer ones; K. L. Gwet,
  *Handbook of Inter-Rater Reliability*, 4th ed. (2014), for any number of raters and missing ratings. Steadier than
  alpha where nearly all ratings are alike. Computed here: the package `irrCAC` binds its users to one old version of
  scipy.
- **percent**: The mean, over items that two people or more rated, of the share of pairs of raters who gave the same
  point.

Intervals are bootstrap percentiles over items. A coefficient that the ratings do not decide is None, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import krippendorff
import numpy as np
import numpy.typing as npt

from oulibench.annotation.sampling import Unit
from oulibench.annotation.scheme import Scheme
from oulibench.annotation.store import Rating

Counts = npt.NDArray[np.float64]  # items × points: how many raters gave the item that point

DRAWS: Final = 1_000
CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient with its interval, or None with the reason. `interval` is None where too few draws decide one."""

    value: float | None
    interval: tuple[float, float] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far raters agree in one dimension, on one set of items.

    Attributes:
        task: the task whose items these are; None for all.
        items: rated by anybody; `pairable`: by two people or more; `ratings`: on pairable items.
        percent: the share of pairs that gave the same point; `within_one`: the same or a neighbouring point.
        distribution: for each rater and each point, how often it was given (all items).
        alpha, gwet: the coefficients; `gwet_name` is AC1 or AC2.
    """

    dimension: str
    task: str | None
    items: int
    pairable: int
    ratings: int
    percent: float | None
    within_one: float | None
    distribution: Mapping[str, Mapping[int, int]]
    alpha: Coefficient
    gwet: Coefficient
    gwet_name: str


@dataclass(frozen=True, slots=True)
class Score:
    """One value that somebody gave an item in some dimension."""

    item: str
    task: str
    rater: str
    value: int


def agreement(
    dimension: str,
    scores: Sequence[Score],
    points: Sequence[int],
    task: str | None = None,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Agreement:
    """Agreement on `scores`, which are one dimension's, over a scale with `points` in ascending order."""
    counts = count_table(scores, points)
    raters = counts.sum(axis=1)
    pairable = counts[raters >= 2]
    distribution: dict[str, Counter[int]] = {}
    for score in scores:
        distribution.setdefault(score.rater, Counter())[score.value] += 1
    shown = {rater: {p: distribution[rater][p] for p in points} for rater in sorted(distribution)}
    alpha, gwet = _coefficients(counts, pairable, seed, draws)
    return Agreement(
        dimension, task, len(counts), len(pairable), int(pairable.sum()), _pair_share(pairable, 0),
        _pair_share(pairable, 1), shown, alpha, gwet, "AC1" if len(points) == 2 else "AC2",
    )  # fmt: skip


def by_task(
    dimension: str, scores: Sequence[Score], points: Sequence[int], *, seed: int = 0, draws: int = DRAWS
) -> list[Agreement]:
    """Agreement on all items, then on each task's, in alphabetical order."""
    groups: dict[str, list[Score]] = {}
    for score in scores:
        groups.setdefault(score.task, []).append(score)
    found = [agreement(dimension, scores, points, seed=seed, draws=draws)]
    return found + [agreement(dimension, groups[t], points, t, seed=seed, draws=draws) for t in sorted(groups)]


def count_table(scores: Iterable[Score], points: Sequence[int]) -> Counts:
    """Items × points: how many raters gave each item each point.

    Raises:
        ValueError: a rater gave one item two values.
    """
    column = {point: i for i, point in enumerate(points)}
    rows: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    cells: list[tuple[int, int]] = []
    for score in scores:
        if (score.item, score.rater) in seen:
            raise ValueError(f"{score.rater} rated {score.item} twice.")
        seen.add((score.item, score.rater))
        cells.append((rows.setdefault(score.item, len(rows)), column[score.value]))
    table = np.zeros((len(rows), len(points)))
    if cells:
        np.add.at(table, tuple(np.array(cells).T), 1)
    return table


def _pair_share(pairable: Counts, reach: int) -> float | None:
    """The mean share of an item's pairs of raters whose points are at most `reach` apart."""
    if not len(pairable):
        return None
    n, points = pairable.sum(axis=1), pairable.shape[1]
    near = np.abs(np.subtract.outer(np.arange(points), np.arange(points))) <= reach
    together = np.einsum("ik,kl,il->i", pairable, near.astype(float), pairable) - n
    return float((together / (n * (n - 1))).mean())


def _coefficients(counts: Counts, pairable: Counts, seed: int, draws: int) -> tuple[Coefficient, Coefficient]:
    if not len(pairable):
        reason = "no item was rated by two people" if len(counts) else "nothing was rated"
        return Coefficient(None, reason=reason), Coefficient(None, reason=reason)
    used = np.flatnonzero(pairable.sum(axis=0))
    # Items that were rated alike are one pattern: drawing items is drawing how often each pattern comes.
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(counts), times / len(counts), size=draws).astype(float)
    gwet = Coefficient(gwet_coefficient(counts), _interval(_gwet_of(patterns, drawn)))
    if len(used) == 1:
        reason = "all ratings are alike: without variation alpha is 0/0"
        return Coefficient(None, reason=reason), gwet
    level = "nominal" if counts.shape[1] == 2 else "ordinal"
    value = float(krippendorff.alpha(value_counts=pairable, level_of_measurement=level))  # type: ignore[arg-type]
    return Coefficient(value, _interval(_alpha_of(patterns, drawn))), gwet


def _interval(values: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    """Percentiles of the draws that decide a value; None where fewer than nine in ten do."""
    decided = values[np.isfinite(values)]
    if len(decided) < 0.9 * len(values):
        return None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(decided, [tail, 1 - tail])
    return float(low), float(high)


def _alpha_of(patterns: Counts, drawn: Counts) -> npt.NDArray[np.float64]:
    """Ordinal alpha of each draw (the formula of the package, for all draws at once); NaN where it is 0/0.

    For two points ordinal and nominal alpha are the same number.
    """
    n = patterns.sum(axis=1)
    pairs = np.einsum("pk,pl->pkl", patterns, patterns)
    index = np.arange(patterns.shape[1])
    pairs[:, index, index] -= patterns
    pairs[n < 2] = 0
    observed = np.tensordot(drawn, pairs / np.maximum(n - 1, 1)[:, None, None], axes=1)  # draws × points × points
    margins = observed.sum(axis=2)
    total = margins.sum(axis=1)
    expected = np.einsum("dk,dl->dkl", margins, margins)
    expected[:, index, index] -= margins
    # Ordinal distance: the ratings from one point to the other, each end counted half, squared.
    up_to = np.cumsum(margins, axis=1) - margins / 2
    distance = (up_to[:, :, None] - up_to[:, None, :]) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (observed * distance).sum(axis=(1, 2)) / (expected * distance).sum(axis=(1, 2)) * (total - 1)
        return np.asarray(1 - ratio, dtype=np.float64)


def gwet_coefficient(counts: Counts) -> float:
    """Gwet's AC1 (two points) or AC2 with ordinal weights, on items × points; NaN where no item has two ratings."""
    return float(_gwet_of(counts, np.ones((1, len(counts))))[0])


def ordinal_weights(points: int) -> npt.NDArray[np.float64]:
    """Gwet's ordinal weights: 1 less C(k−l+1, 2) over the same for the two ends of the scale."""
    apart = np.abs(np.subtract.outer(np.arange(points), np.arange(points))) + 1
    pairs = apart * (apart - 1) / 2
    return np.asarray(1 - pairs / pairs.max())


def _gwet_of(patterns: Counts, drawn: Counts) -> npt.NDArray[np.float64]:
    """AC1/AC2 of each draw: agreement over items with two ratings or more, prevalence over all rated items."""
    points = patterns.shape[1]
    weights = ordinal_weights(points)
    n = patterns.sum(axis=1)
    agreeing = (patterns * (patterns @ weights.T - 1)).sum(axis=1)
    share = np.where(n >= 2, agreeing / np.maximum(n * (n - 1), 1), 0)
    prevalence = (drawn @ (patterns / np.maximum(n, 1)[:, None])) / drawn.sum(axis=1)[:, None]
    chance = weights.sum() / (points * (points - 1)) * (prevalence * (1 - prevalence)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (drawn @ share) / (drawn @ (n >= 2).astype(float))
        return np.asarray((observed - chance) / (1 - chance), dtype=np.float64)


def scores_of(scheme: Scheme, units: Iterable[Unit], ratings: Iterable[Rating]) -> dict[str, list[Score]]:
    """Each dimension's scores, in the scheme's order of dimensions."""
    task = {unit.id: unit.task for unit in units}
    found: dict[str, list[Score]] = {dimension.id: [] for dimension in scheme.dimensions}
    for rating in ratings:
        for dimension, value in rating.values.items():
            found[dimension].append(Score(rating.unit, task[rating.unit], rating.person, value))
    return found


def agreement_of(
    scheme: Scheme, units: Sequence[Unit], ratings: Iterable[Rating], *, seed: int = 0, draws: int = DRAWS
) -> list[Agreement]:
    """Agreement in every dimension: on all items, then task by task."""
    found = scores_of(scheme, units, ratings)
    return [
        measured
        for dimension in scheme.dimensions
        for measured in by_task(dimension.id, found[dimension.id], dimension.values, seed=seed, draws=draws)
    ]
