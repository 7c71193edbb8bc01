"""The best tree, against trying all of them."""

import itertools

import numpy as np
import pytest

from oulibench.syntax.mst import best_tree, is_tree


def brute_force(scores: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> float:
    n = len(scores) - 1
    trees = ([0, *heads] for heads in itertools.product(range(n + 1), repeat=n))
    return max(float(sum(scores[d, t[d]] for d in range(1, n + 1))) for t in trees if is_tree(t))


@pytest.mark.parametrize("seed", range(60))
def test_best_of_all_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    scores = rng.normal(size=(n + 1, n + 1)) * 3
    np.fill_diagonal(scores, -1e9)
    heads = best_tree(scores)
    assert is_tree(heads)
    assert sum(scores[d, heads[d]] for d in range(1, n + 1)) == pytest.approx(brute_force(scores))


@pytest.mark.parametrize(
    ("heads", "tree"),
    [
        ([0, 0], True),
        ([0, 2, 0], True),
        ([0, 0, 0], False),
        ([0, 2, 1], False),
        ([0, 0, 3, 2], False),
        ([0, 0, 1, 2], True),
    ],
)
def test_is_tree(heads: list[int], tree: bool) -> None:
    assert is_tree(heads) is tree


def test_no_words() -> None:
    assert best_tree(np.zeros((1, 1))) == [0]
