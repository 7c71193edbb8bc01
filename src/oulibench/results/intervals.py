"""95% intervals of success rates.

Sentences of one answer are not independent, so answers are resampled, not sentences: the bias-corrected and accelerated
bootstrap (Efron 1987; `scipy.stats.bootstrap`) of passed/items over answers. Two cases have another answer:

- one item per answer: items are independent, and the Wilson score interval is used;
- every answer has the same extreme rate (nothing passed, or everything): resampling finds no variation, so the Wilson
  interval is taken with answers as observations, which is the cautious reading (all sentences of an answer alike).

One answer alone has no interval, and the reason is said. With few answers (`FEW_ANSWERS`) the bootstrap covers less
than it promises: the interval is marked.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oulibench.results.tally import Answer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

LEVEL: Final = 0.95
RESAMPLES: Final = 1_000
FEW_ANSWERS: Final = 10
"""Below this number of answers an interval is marked: simulated coverage falls under 90% (tests/results)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How intervals and tests are drawn: both stand in the report."""

    seed: int = 0
    resamples: int = RESAMPLES


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval, or the reason why there is none.

    Attributes:
        method: `bootstrap`, `wilson` (items), `wilson_answers` (answers as observations) or `none`.
        few: there were so few answers that the interval is likely too narrow.
    """

    low: float | None
    high: float | None
    method: str
    reason: str | None = None
    few: bool = False

    def fields(self) -> dict[str, Any]:
        return {
            "low": None if self.low is None else round(self.low, 6),
            "high": None if self.high is None else round(self.high, 6),
            "method": self.method,
            "reason": self.reason,
            "few_answers": self.few,
        }


def no_interval(reason: str) -> Interval:
    return Interval(None, None, "none", reason)


def generator(settings: Settings, *name: object) -> np.random.Generator:
    """A generator of its own for each named quantity: no result depends on what else is computed."""
    import numpy as np

    return np.random.default_rng([settings.seed, zlib.crc32("\x1f".join(map(str, name)).encode("utf-8", "replace"))])


def counts(answers: Sequence[Answer]) -> tuple[Numbers, Numbers]:
    """Passed and produced items of each answer that holds any."""
    import numpy as np

    full = [a for a in answers if a.items]
    return np.array([a.passed for a in full], dtype=np.int64), np.array([a.items for a in full], dtype=np.int64)


def success_interval(answers: Sequence[Answer], settings: Settings, *name: object) -> Interval:
    """The interval of passed/items over these answers; `name` seeds it."""
    passed, items = counts(answers)
    if not len(items):
        return no_interval("no items")
    if items.max() == 1:
        return wilson(int(passed.sum()), int(items.sum()), "wilson")
    if len(items) == 1:
        return no_interval("one answer only: its sentences are not independent")
    if not passed.any() or (passed == items).all():
        return wilson(len(items) if passed.any() else 0, len(items), "wilson_answers")
    return bootstrap_rates([(passed, items, 1.0)], settings, *name)


def wilson(successes: int, trials: int, method: str) -> Interval:
    """Wilson's score interval (Wilson 1927)."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(successes, trials, alpha=1 - LEVEL, method="wilson")
    return Interval(
        max(0.0, float(low)), min(1.0, float(high)), method, few=method != "wilson" and trials < FEW_ANSWERS
    )


def macro_interval(
    groups: Sequence[Sequence[Answer]], weights: Sequence[float], settings: Settings, *name: object
) -> Interval:
    """The interval of the weighted mean of the groups' rates; answers are resampled within each group.

    A group with one answer cannot be resampled: its rate is held fixed, and the reason says so.
    """
    weighted = [(*counts(group), weight) for group, weight in zip(groups, weights, strict=True)]
    if not weighted or any(not len(items) for _, items, _ in weighted):
        return no_interval("no items")
    if all(len(items) == 1 for _, items, _ in weighted):
        return no_interval("one answer per task: nothing to resample")
    return bootstrap_rates(weighted, settings, *name)


def bootstrap_rates(groups: Sequence[tuple[Numbers, Numbers, float]], settings: Settings, *name: object) -> Interval:
    """BCa bootstrap of the weighted sum over groups of sum(passed)/sum(items).

    A group is two series, passed and items, with one value per answer, and its weight.
    """
    import numpy as np
    from scipy.stats import bootstrap

    constant = [(p, n, w) for p, n, w in groups if len(n) == 1 or not p.any() or (p == n).all()]
    free = [(p, n, w) for p, n, w in groups if not (len(n) == 1 or not p.any() or (p == n).all())]
    base = sum(w * p.sum() / n.sum() for p, n, w in constant)
    if not free:
        return no_interval("no variation between answers")

    def mean_rate(*drawn: Numbers, axis: int = -1) -> Any:
        total: Any = base
        for (p, n, w), i in zip(free, drawn, strict=True):
            total = total + w * p[i].sum(axis=axis) / n[i].sum(axis=axis)
        return total

    limits = _limits(
        bootstrap, [np.arange(len(n)) for _, n, _ in free], mean_rate, settings, generator(settings, *name)
    )
    single = sum(len(n) == 1 for _, n, _ in groups)
    reason = f"{single} task(s) with one answer held fixed" if single else None
    few = len(groups) == 1 and len(groups[0][1]) < FEW_ANSWERS
    return Interval(*limits, "bootstrap", reason, few)


def _limits(
    bootstrap: Any, indices: Sequence[Numbers], statistic: Any, settings: Settings, rng: np.random.Generator
) -> tuple[float, float]:
    """BCa limits; the percentile ones where the acceleration is undefined (all leave-one-out values equal)."""
    import math

    largest = max(len(i) for i in indices)
    batch = max(1, min(settings.resamples, 2_000_000 // largest))
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a degenerate distribution is dealt with below
            found = bootstrap(
                indices,
                statistic,
                n_resamples=settings.resamples,
                batch=batch,
                vectorized=True,
                confidence_level=LEVEL,
                method=method,
                rng=rng,
            ).confidence_interval
        low, high = float(found.low), float(found.high)
        if math.isfinite(low) and math.isfinite(high):
            return low, high
    return low, high
