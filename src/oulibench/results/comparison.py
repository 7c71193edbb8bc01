"""Is one system better than another, or with more demonstrations? Paired differences, task by task.

The same request to both is a pair. The difference of success rates has a bootstrap interval over pairs. Its test is
McNemar's exact one where each answer is one item, otherwise a permutation test that swaps the two answers of a pair
(`scipy.stats.permutation_test`, exact where there are few pairs). p-values are corrected over tasks by Holm's method.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oulibench.results.intervals import FEW_ANSWERS, Interval, Settings, _limits, generator, no_interval
from oulibench.results.tally import Answer, Cell, CellKey


@dataclass(frozen=True, slots=True)
class Difference:
    """Success rate of `second` minus that of `first` on one task, over paired requests.

    Attributes:
        pairs: requests that both answered with at least one item.
        unpaired: answers of either side without a partner; they are left out.
        p: p-value of the test; None where there is nothing to test.
        p_holm: the same after Holm's correction over the tasks compared.
        test: `mcnemar`, `permutation` or `none`.
    """

    task: str
    first: float
    second: float
    pairs: int
    unpaired: int
    interval: Interval
    p: float | None
    test: str
    p_holm: float | None = None

    @property
    def difference(self) -> float:
        return self.second - self.first

    def fields(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "first": round(self.first, 6),
            "second": round(self.second, 6),
            "difference": round(self.difference, 6),
            "interval": self.interval.fields(),
            "pairs": self.pairs,
            "unpaired": self.unpaired,
            "p": self.p,
            "p_holm": self.p_holm,
            "test": self.test,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two columns of the table against each other: (system, shots) twice."""

    first: tuple[str, int]
    second: tuple[str, int]
    tasks: tuple[Difference, ...]


def compare(
    cells: Mapping[CellKey, Cell], first: tuple[str, int], second: tuple[str, int], settings: Settings
) -> Comparison:
    """Compare two systems, or two numbers of demonstrations, on every task that both have."""
    found = []
    for key, cell in cells.items():
        other = cells.get(CellKey(second[0], key.task, second[1]))
        if (key.system, key.shots) == first and other is not None:
            difference = difference_of(cell, other, settings)
            if difference is not None:
                found.append(difference)
    return Comparison(first, second, tuple(_holm(found)))


def _holm(differences: Sequence[Difference]) -> list[Difference]:
    from statsmodels.stats.multitest import multipletests

    tested = [d for d in differences if d.p is not None]
    if not tested:
        return list(differences)
    gc.freeze()  # statsmodels collects garbage on every call, which takes long when many rows are held
    corrected = iter(multipletests([d.p for d in tested], method="holm")[1])
    gc.unfreeze()
    return [replace(d, p_holm=float(next(corrected))) if d.p is not None else d for d in differences]


def paired(first: Sequence[Answer], second: Sequence[Answer]) -> tuple[list[tuple[Answer, Answer]], int]:
    """Answers to the same request (target, number asked for, epoch, and place among equal ones); how many had none."""
    by_request = [_by_request(answers) for answers in (first, second)]
    pairs = [(a, by_request[1][k]) for k, a in by_request[0].items() if k in by_request[1]]
    full = [(a, b) for a, b in pairs if a.items and b.items]
    return full, len(first) + len(second) - 2 * len(full)


def _by_request(answers: Sequence[Answer]) -> dict[tuple[object, ...], Answer]:
    seen: Counter[tuple[object, ...]] = Counter()
    found: dict[tuple[object, ...], Answer] = {}
    for answer in answers:
        request = (repr(answer.target), answer.requested, answer.epoch)
        seen[request] += 1
        found[*request, seen[request]] = answer
    return found


def difference_of(first: Cell, second: Cell, settings: Settings) -> Difference | None:
    """The paired difference on one task; None where no request was answered by both."""
    import numpy as np
    from scipy.stats import bootstrap

    pairs, unpaired = paired(first.answers, second.answers)
    if not pairs:
        return None
    passed = np.array([[a.passed for a, _ in pairs], [b.passed for _, b in pairs]])
    items = np.array([[a.items for a, _ in pairs], [b.items for _, b in pairs]])
    name = (*first.key, *second.key)
    count = len(pairs)

    def rates_apart(drawn: Any, axis: int = -1) -> Any:
        return passed[1][drawn].sum(axis=axis) / items[1][drawn].sum(axis=axis) - passed[0][drawn].sum(
            axis=axis
        ) / items[0][drawn].sum(axis=axis)

    if count == 1:
        interval = no_interval("one pair of answers only")
    elif (passed[0] * items[1] == passed[1] * items[0]).all():
        interval = no_interval("every pair of answers has the same rate")
    else:
        limits = _limits(bootstrap, [np.arange(count)], rates_apart, settings, generator(settings, "interval", *name))
        interval = Interval(*limits, "bootstrap", few=count < FEW_ANSWERS)
    p, test = _test(passed, items, settings, generator(settings, "test", *name))
    rates = passed.sum(axis=1) / items.sum(axis=1)
    return Difference(first.key.task, float(rates[0]), float(rates[1]), count, unpaired, interval, p, test)


def _test(passed: Any, items: Any, settings: Settings, rng: Any) -> tuple[float | None, str]:
    import numpy as np

    count = passed.shape[1]
    if items.max() == 1:
        from statsmodels.stats.contingency_tables import mcnemar

        table = np.zeros((2, 2), dtype=int)
        np.add.at(table, (passed[0], passed[1]), 1)
        return float(mcnemar(table, exact=True).pvalue), "mcnemar"
    if count < 2:
        return None, "none"
    from scipy.stats import permutation_test

    all_passed, all_items = passed.ravel(), items.ravel()

    def rates_apart(a: Any, b: Any, axis: int = -1) -> Any:
        return all_passed[b].sum(axis=axis) / all_items[b].sum(axis=axis) - all_passed[a].sum(axis=axis) / all_items[
            a
        ].sum(axis=axis)

    found = permutation_test(
        (np.arange(count), np.arange(count, 2 * count)),
        rates_apart,
        permutation_type="samples",
        n_resamples=max(settings.resamples, 1_000) * 2 - 1,
        batch=max(1, 1_000_000 // count),
        vectorized=True,
        rng=rng,
    )
    return float(found.pvalue), "permutation"
