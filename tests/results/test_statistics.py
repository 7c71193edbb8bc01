"""Statistics against values worked out independently: by hand, from textbooks, by simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from oulibench.results.breakdown import FAMILIES, FEW_SHOT_TASKS, TASKS, averages, by_difficulty
from oulibench.results.comparison import Difference, _holm, compare, difference_of
from oulibench.results.correlation import length_fit
from oulibench.results.intervals import Settings, macro_interval, no_interval, success_interval
from oulibench.results.tally import Answer, Cell, CellKey

SETTINGS = Settings(seed=3)


def answer(number: int, passed: int, items: int, target: object = None, difficulty: int | None = None) -> Answer:
    assert target is None or isinstance(target, int | str)
    return Answer(number, f"r{number}", 1, target, difficulty, requested=10, items=items, passed=passed)


def cell(key: tuple[str, str, int], pairs: Sequence[tuple[int, int]], family: str = "stylistic") -> Cell:
    made = Cell(CellKey(*key), family)
    made.answers = [answer(i, p, n, target=i) for i, (p, n) in enumerate(pairs)]
    return made


# --- intervals ---


def test_wilson_where_one_answer_is_one_item() -> None:
    # Wilson's interval for 8 of 10 at z = 1.959964, from its formula:
    # centre (0.8 + z²/20) / (1 + z²/10), half width z sqrt(0.16/10 + z²/400) / (1 + z²/10)
    z = 1.959963984540054
    centre = (0.8 + z * z / 20) / (1 + z * z / 10)
    half = z * math.sqrt(0.16 / 10 + z * z / 400) / (1 + z * z / 10)
    found = success_interval([answer(i, int(i < 8), 1) for i in range(10)], SETTINGS, "x")
    assert found.method == "wilson"
    assert found.low == pytest.approx(centre - half)
    assert found.high == pytest.approx(centre + half)
    assert found.low == pytest.approx(0.4902, abs=5e-5)  # as printed in tables of the interval
    assert found.high == pytest.approx(0.9433, abs=5e-5)


def test_answers_that_all_fail_have_the_cautious_wilson_interval() -> None:
    found = success_interval([answer(i, 0, 50) for i in range(20)], SETTINGS, "x")
    z2 = 1.959963984540054**2
    assert found.method == "wilson_answers"
    assert found.low == 0.0
    assert found.high == pytest.approx(z2 / (20 + z2)), "the upper limit for 0 of 20 answers, not of 1,000 items"


def test_one_answer_has_no_interval_and_says_why() -> None:
    found = success_interval([answer(0, 10, 50)], SETTINGS, "x")
    assert found == no_interval("one answer only: its sentences are not independent")


def test_the_bootstrap_resamples_answers_not_sentences() -> None:
    """Answers that are all right or all wrong: 20 of them, of 50 sentences each, have the interval of 20 trials."""
    found = success_interval([answer(i, 50 * (i % 2), 50) for i in range(20)], SETTINGS, "x")
    assert found.low is not None
    assert found.high is not None
    width_of_20_trials = 2 * 1.96 * math.sqrt(0.25 / 20)
    assert found.high - found.low == pytest.approx(width_of_20_trials, rel=0.15)


def test_intervals_depend_on_the_seed_alone() -> None:
    answers = [answer(i, i % 7, 10) for i in range(12)]
    assert success_interval(answers, SETTINGS, "a") == success_interval(answers, SETTINGS, "a")
    assert success_interval(answers, SETTINGS, "a") != success_interval(answers, Settings(seed=4), "a")


@pytest.mark.parametrize(("answers", "rate", "least"), [(12, 0.5, 0.88), (25, 0.3, 0.89)])
def test_coverage_of_the_interval_by_simulation(answers: int, rate: float, least: float) -> None:
    """Answers whose sentences hang together (beta-binomial, intraclass correlation 0.2): the true rate is covered."""
    rng = np.random.default_rng(1)
    a, b = rate * 4, (1 - rate) * 4  # intraclass correlation 1 / (a + b + 1) = 0.2
    trials, covered = 150, 0
    for _ in range(trials):
        passed = rng.binomial(20, rng.beta(a, b, answers))
        found = success_interval(
            [answer(i, int(p), 20) for i, p in enumerate(passed)], Settings(seed=1, resamples=400), "s"
        )
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= rate <= found.high
    assert least <= covered / trials <= 0.99


def test_the_macro_interval_matches_the_normal_approximation() -> None:
    """Mean of two tasks' rates: its variance is a quarter of the sum of the two, by hand from the answers' spread."""
    rng = np.random.default_rng(5)
    groups = [[answer(i, int(p), 40) for i, p in enumerate(rng.binomial(40, q, 60))] for q in (0.3, 0.7)]
    variance = sum(np.var([x.passed / 40 for x in g], ddof=1) / 60 for g in groups) / 4
    found = macro_interval(groups, [0.5, 0.5], Settings(seed=1, resamples=4_000), "m")
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * math.sqrt(variance), rel=0.08)


# --- averages ---


def test_averages_over_tasks_and_over_families() -> None:
    cells = {
        c.key: c
        for c in (
            cell(("m", "word_length", 0), [(1, 10), (3, 10)], "quantitative"),  # .2
            cell(("m", "lipogram", 0), [(10, 10), (8, 10)]),  # .9
            cell(("m", "tautogram", 0), [(7, 10)]),  # .7
            cell(("m", "palindrome", 0), [(0, 0)]),  # no items: no rate
            cell(("m", "lipogram", 5), [(5, 10), (5, 10)]),  # .5
        )
    }
    found = {(a.shots, a.over): a for a in averages(cells, SETTINGS)}
    assert found[0, TASKS].value == pytest.approx((0.2 + 0.9 + 0.7) / 3)
    assert found[0, TASKS].tasks == ("word_length", "lipogram", "tautogram")
    assert found[0, FAMILIES].value == pytest.approx((0.2 + 0.8) / 2)
    assert found[0, "stylistic"].value == pytest.approx(0.8)
    assert found[0, FEW_SHOT_TASKS].value == pytest.approx(0.9)
    assert found[5, FEW_SHOT_TASKS].value == pytest.approx(0.5)
    assert found[5, TASKS].tasks == ("lipogram",)


def test_by_difficulty() -> None:
    made = Cell(CellKey("m", "lipogram", 0), "stylistic")
    made.answers = [answer(0, 4, 10, "z", 1), answer(1, 6, 10, "q", 1), answer(2, 1, 10, "e", 5)]
    parts = by_difficulty(made, SETTINGS)
    assert [(p.value, p.answers, p.sr) for p in parts] == [(1, 2, 0.5), (5, 1, 0.1)]


# --- comparisons ---


def exact_permutation(first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]) -> float:
    """The two-sided p-value over all ways of swapping the answers of a pair."""

    def difference(swaps: Sequence[bool]) -> float:
        a = [s if swap else f for f, s, swap in zip(first, second, swaps, strict=True)]
        b = [f if swap else s for f, s, swap in zip(first, second, swaps, strict=True)]
        return sum(p for p, _ in b) / sum(n for _, n in b) - sum(p for p, _ in a) / sum(n for _, n in a)

    everything = [difference(swaps) for swaps in itertools.product([False, True], repeat=len(first))]
    seen = everything[0]
    above = sum(d >= seen - 1e-12 for d in everything) / len(everything)
    below = sum(d <= seen + 1e-12 for d in everything) / len(everything)
    return min(1.0, 2 * min(above, below))


def test_the_permutation_test_agrees_with_full_enumeration() -> None:
    first = [(3, 10), (5, 10), (2, 8), (4, 10), (1, 10), (6, 12)]
    second = [(6, 10), (7, 10), (5, 10), (4, 9), (5, 10), (7, 10)]
    found = difference_of(cell(("a", "t", 0), first), cell(("b", "t", 0), second), SETTINGS)
    assert found is not None
    assert found.test == "permutation"
    assert found.difference == pytest.approx(34 / 59 - 21 / 60)
    assert found.p == pytest.approx(exact_permutation(first, second))


def test_mcnemar_where_answers_are_single_items() -> None:
    """Of 10 discordant pairs 8 favour the second: exact binomial, 2 Σ_{k≤2} C(10,k)/2^10 = .109375."""
    first = [(0, 1)] * 8 + [(1, 1)] * 2 + [(1, 1)] * 5
    second = [(1, 1)] * 8 + [(0, 1)] * 2 + [(1, 1)] * 5
    found = difference_of(cell(("a", "t", 0), first), cell(("b", "t", 0), second), SETTINGS)
    assert found is not None
    assert found.test == "mcnemar"
    assert found.p == pytest.approx(2 * (1 + 10 + 45) / 1024)


def test_holm_worked_out_by_hand() -> None:
    differences = [Difference(str(p), 0, 0, 1, 0, no_interval(""), p, "x") for p in (0.01, 0.04, 0.03, 0.005)]
    differences.append(Difference("none", 0, 0, 1, 0, no_interval(""), None, "none"))
    # Sorted: .005×4 = .02, .01×3 = .03, .03×2 = .06, .04×1 → at least .06
    assert [d.p_holm for d in _holm(differences)] == pytest.approx([0.03, 0.06, 0.06, 0.02, None])


def test_answers_without_a_partner_are_left_out_and_counted() -> None:
    first, second = cell(("a", "t", 0), [(1, 5), (2, 5), (3, 5)]), cell(("a", "t", 5), [(2, 5), (0, 0)])
    found = compare({first.key: first, second.key: second}, ("a", 0), ("a", 5), SETTINGS)
    (only,) = found.tasks
    assert (only.pairs, only.unpaired) == (1, 3)
    assert only.difference == pytest.approx(1 / 5)
    assert only.p is None


# --- lengths ---


def test_length_fit_by_hand() -> None:
    # Requested 2 2 4 4 6 6, obtained 2 3 3 5 5 6: errors 0 1 -1 1 -1 0
    fit = length_fit([2, 2, 4, 4, 6, 6], [2, 3, 3, 5, 5, 6])
    assert fit.mean_error == pytest.approx(0.0)
    assert fit.mean_absolute_error == pytest.approx(4 / 6)
    assert fit.slope == pytest.approx(12 / 16)  # Σ(x-4)(y-4) = 4+2+0+0+2+4, Σ(x-4)² = 16
    # Mid-ranks, then Pearson of them:
    x, y = [1.5, 1.5, 3.5, 3.5, 5.5, 5.5], [1, 2.5, 2.5, 4.5, 4.5, 6]
    top = sum((a - 3.5) * (b - 3.5) for a, b in zip(x, y, strict=True))
    bottom = math.sqrt(sum((a - 3.5) ** 2 for a in x) * sum((b - 3.5) ** 2 for b in y))
    assert fit.items.value == pytest.approx(top / bottom)
    assert fit.means.value == pytest.approx(1.0)


def test_length_fit_without_variation() -> None:
    fit = length_fit([5, 5, 5], [4, 5, 6])
    assert fit.slope is None
    assert fit.means.value is None
    assert fit.mean_absolute_error == pytest.approx(2 / 3)
    assert length_fit([], []).mean_error is None
