"""An adversary: each cheap strategy of benchmarks/rewards.py, on every task and several targets, earns next to nothing.

`python benchmarks/rewards.py --adversary` prints the whole table, with more tries and without gates beside it.
"""

from __future__ import annotations

from statistics import mean

import pytest
from benchmarks.rewards import STRATEGIES, golden_rows, honest_rows, rows_of

from oulibench.constraints import task_names
from oulibench.rewards import Gates, score_completions


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_cheap_strategy_earns_next_to_nothing(name: str) -> None:
    rewards = {task: [r or 0.0 for r in score_completions(rows_of(STRATEGIES[name], task, 1))] for task in task_names()}
    everything = [r for found in rewards.values() for r in found]
    assert len(everything) > 25
    assert mean(map(mean, rewards.values())) <= 0.1, rewards
    # Few slip through, whatever the mean says.
    assert sum(r >= 0.5 for r in everything) <= 0.1 * len(everything), rewards


def test_honest_texts_earn_nearly_all_of_it() -> None:
    rows = honest_rows()[1::5] + [r for r in golden_rows()[1::4] if len(str(r["completion"]).split()) >= 3]
    assert mean(r or 0.0 for r in score_completions(rows)) >= 0.95
    assert mean(r or 0.0 for r in score_completions(rows, Gates(syntax=None))) >= 0.97


def test_without_gates_the_same_strategies_earn_plenty() -> None:
    """What the gates are for: were it not so, the strategies would be no adversary."""
    for name in ("one word", "words of the lexicon", "a letter repeated", "English", "the demonstrations back"):
        open_ = [mean(r or 0.0 for r in score_completions(rows_of(STRATEGIES[name], t, 1), None)) for t in task_names()]
        assert mean(open_) >= 0.3, name
