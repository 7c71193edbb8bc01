"""Does length follow the request? Spearman's rank correlation and the errors of quantitative tasks.

The paper reports Spearman's rho between requested and obtained value. Ties get mid-ranks (scipy). Where a series is
constant the coefficient does not exist, and the reason is said instead of a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oulibench.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number, or the reason why there is none.

    Attributes:
        n: pairs that went into it.
    """

    value: float | None
    n: int
    reason: str | None = None


def undefined(requested: Sequence[float], obtained: Sequence[float]) -> str | None:
    """Why no correlation exists between the two series; None where one does."""
    if len(requested) < 2:
        return f"{len(requested)} pair of values is too few" if len(requested) == 1 else "there are no measured values"
    if min(requested) == max(requested):
        return f"only one value was asked for ({requested[0]:g})"
    if min(obtained) == max(obtained):
        return f"all texts measure the same ({obtained[0]:g})"
    return None


def spearman(requested: Sequence[float], obtained: Sequence[float]) -> Coefficient:
    """Spearman's rho of two series of equal length, with mid-ranks for ties."""
    n = len(requested)
    if reason := undefined(requested, obtained):
        return Coefficient(None, n, reason)
    try:
        from scipy.stats import spearmanr
    except ImportError:
        return Coefficient(None, n, "scipy is not installed (pip install 'oulibench[report]')")
    return Coefficient(float(spearmanr(requested, obtained).statistic), n)


def need(module: str, purpose: str) -> MissingExtraError:
    """The error for a library of the extra `report` that is not installed."""
    return MissingExtraError(f"{purpose} needs {module}: pip install 'oulibench[report]'")


@dataclass(frozen=True, slots=True)
class LengthFit:
    """How the obtained lengths follow the requested ones.

    Attributes:
        items: Spearman's rho over all items.
        means: Spearman's rho over the mean length obtained for each requested one.
        mean_error: mean of obtained − requested (negative: too short).
        mean_absolute_error: mean of |obtained − requested|.
        slope: of the least-squares line of obtained on requested length (1 follows the request); None where only one
            length was asked for.
    """

    items: Coefficient
    means: Coefficient
    mean_error: float | None
    mean_absolute_error: float | None
    slope: float | None


def length_fit(requested: Sequence[float], obtained: Sequence[float]) -> LengthFit:
    """The fit of the items of a quantitative task."""
    import numpy as np

    wanted, found = np.asarray(requested, dtype=float), np.asarray(obtained, dtype=float)
    if not len(wanted):
        nothing = spearman([], [])
        return LengthFit(nothing, nothing, None, None, None)
    targets = np.unique(wanted)
    means = [float(found[wanted == t].mean()) for t in targets]
    slope = None
    if len(targets) > 1:
        from scipy.stats import linregress

        slope = float(linregress(wanted, found).slope)
    errors = found - wanted
    return LengthFit(
        spearman(requested, obtained),
        spearman([float(t) for t in targets], means),
        float(errors.mean()),
        float(np.abs(errors).mean()),
        slope,
    )
