"""Coefficients against published worked examples, and where they are not defined."""

# ruff: noqa: E402  # what the extra brings is asked for before anything that needs it
from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

np = pytest.importorskip("numpy")
krippendorff = pytest.importorskip("krippendorff")

from hypothesis import given, settings
from hypothesis import strategies as st

from oulibench.annotation.agreement import (
    Score,
    _alpha_of,
    agreement,
    by_task,
    count_table,
    gwet_coefficient,
    ordinal_weights,
)


def scores(*raters: Sequence[int | None], task: str = "t") -> list[Score]:
    """One sequence per rater, one place per item; None where the rater gave nothing."""
    return [
        Score(f"item{i}", task, f"rater{r}", value)
        for r, row in enumerate(raters)
        for i, value in enumerate(row)
        if value is not None
    ]


# K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, missing data.
FOUR_OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
# The same, section A: two observers, two values.
MEG, OWEN = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)


def test_ordinal_alpha_of_krippendorffs_four_observers() -> None:
    found = agreement("d", scores(*FOUR_OBSERVERS), (1, 2, 3, 4, 5))
    assert found.alpha.value == pytest.approx(0.815, abs=5e-4)
    assert (found.items, found.pairable, found.ratings) == (12, 11, 40)
    assert found.alpha.interval is not None
    low, high = found.alpha.interval
    assert low < 0.815 < high <= 1


def test_binary_alpha_of_krippendorffs_two_observers() -> None:
    found = agreement("d", scores(MEG, OWEN), (0, 1))
    assert found.alpha.value == pytest.approx(0.095, abs=5e-4)
    assert found.percent == pytest.approx(0.6)
    assert found.gwet_name == "AC1"


def test_ac1_of_gwets_skewed_table() -> None:
    # Both yes 118, first only 5, second only 2, both no 0: kappa is −0.02 though they agree on 94.4 %
    # (K. L. Gwet, Kappa statistic is not satisfactory for assessing the extent of agreement, 2002).
    first = [1] * 118 + [1] * 5 + [0] * 2
    second = [1] * 118 + [0] * 5 + [1] * 2
    found = agreement("d", scores(first, second), (0, 1))
    assert found.percent == pytest.approx(0.944)
    assert found.gwet.value == pytest.approx(0.9408, abs=5e-5)
    assert found.alpha.value is not None
    assert found.alpha.value < 0.01


def test_ac2_of_the_four_observers() -> None:
    # irrCAC 0.4.4 (after Gwet 2014) on its table raw_4raters, with ordinal weights.
    rows = (
        (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None),
        (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
    )
    counts = count_table(scores(*rows), (1, 2, 3, 4, 5))
    assert gwet_coefficient(counts) == pytest.approx(0.89894, abs=1e-5)


def test_ordinal_weights_are_gwets() -> None:
    # Gwet 2014, for four categories: 1, 1 − 1/6, 1 − 3/6, 1 − 6/6.
    assert ordinal_weights(4)[0] == pytest.approx([1, 5 / 6, 1 / 2, 0])
    assert ordinal_weights(2).tolist() == [[1, 0], [0, 1]]


def test_constant_ratings_leave_alpha_undefined_with_the_reason() -> None:
    found = agreement("d", scores([5] * 20, [5] * 20), (1, 2, 3, 4, 5))
    assert found.alpha.value is None
    assert "alike" in found.alpha.reason
    assert found.percent == 1
    assert found.gwet.value == pytest.approx(1)
    assert found.distribution == {"rater0": {1: 0, 2: 0, 3: 0, 4: 0, 5: 20}, "rater1": {1: 0, 2: 0, 3: 0, 4: 0, 5: 20}}


def test_nobody_twice_is_undefined() -> None:
    found = agreement("d", scores([1, None], [None, 2]), (1, 2))
    assert (found.alpha.value, found.gwet.value, found.percent) == (None, None, None)
    assert "two people" in found.alpha.reason
    assert agreement("d", [], (1, 2)).alpha.reason == "nothing was rated"


def test_nearly_constant_ratings_have_a_value_and_no_interval() -> None:
    # One deviating item in thirty: a third of the draws miss it, and alpha is 0/0 in those.
    found = agreement("d", scores([5] * 30, [5] * 29 + [4]), (1, 2, 3, 4, 5))
    assert found.alpha.value == pytest.approx(0, abs=0.05)
    assert found.alpha.interval is None
    assert found.gwet.interval is not None
    assert found.gwet.value is not None
    assert found.gwet.value > 0.95


def test_one_point_apart_counts_as_near() -> None:
    found = agreement("d", scores([1, 2, 5], [2, 2, 1]), (1, 2, 3, 4, 5))
    assert found.percent == pytest.approx(1 / 3)
    assert found.within_one == pytest.approx(2 / 3)


def test_three_raters_count_every_pair() -> None:
    found = agreement("d", scores([1], [1], [2]), (1, 2))
    assert found.percent == pytest.approx(1 / 3)


def test_a_rater_cannot_rate_an_item_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        count_table([Score("i", "t", "a", 1), Score("i", "t", "a", 2)], (1, 2))


def test_tasks_are_told_apart() -> None:
    both = scores([1, 2, 1], [1, 2, 2], task="b") + [
        Score(s.item + "x", "a", s.rater, s.value) for s in scores([1, 1], [2, 2])
    ]
    found = by_task("d", both, (1, 2))
    assert [(a.task, a.items) for a in found] == [(None, 5), ("a", 2), ("b", 3)]
    assert found[1].percent == 0


def test_the_interval_is_the_same_each_time_and_another_with_another_seed() -> None:
    one, two = (agreement("d", scores(*FOUR_OBSERVERS), (1, 2, 3, 4, 5), seed=s).alpha.interval for s in (1, 1))
    other = agreement("d", scores(*FOUR_OBSERVERS), (1, 2, 3, 4, 5), seed=2).alpha.interval
    assert one == two
    assert one != other


tables = st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 4, 5]), min_size=3, max_size=3), min_size=2, max_size=12)


@given(tables)
@settings(max_examples=150, deadline=None)
def test_alpha_of_many_draws_is_the_packages_alpha(table: list[list[int | None]]) -> None:
    counts = count_table(scores(*zip(*table, strict=True)), (1, 2, 3, 4, 5))
    pairable = counts[counts.sum(axis=1) >= 2]
    if not len(pairable) or np.count_nonzero(pairable.sum(axis=0)) < 2:
        return
    expected = krippendorff.alpha(value_counts=pairable, level_of_measurement="ordinal")
    assert _alpha_of(counts, np.ones((1, len(counts))))[0] == pytest.approx(expected, abs=1e-9)


@given(tables)
@settings(max_examples=60, deadline=None)
def test_coefficients_do_not_depend_on_the_order_of_items_or_raters(table: list[list[int | None]]) -> None:
    given_order = agreement("d", scores(*zip(*table, strict=True)), (1, 2, 3, 4, 5), draws=2)
    turned = agreement(
        "d", scores(*zip(*[row[::-1] for row in reversed(table)], strict=True)), (1, 2, 3, 4, 5), draws=2
    )
    for one, other in ((given_order.alpha, turned.alpha), (given_order.gwet, turned.gwet)):
        assert (one.value is None) == (other.value is None)
        if one.value is not None and other.value is not None:
            assert one.value == pytest.approx(other.value)
            assert math.isfinite(one.value)
            assert one.value <= 1 + 1e-9
