"""The best dependency tree for a matrix of arc scores: Chu and Liu (1965), Edmonds (1967), with exactly one root."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]


def best_tree(scores: "Scores") -> list[int]:
    """Heads of words 1 to n (index 0 is unused), for scores[d, h] = how well word d hangs on h; h = 0 is the root.

    The heads that score best for each word are taken when they form a tree with one root, as they nearly always do.
    """
    n = len(scores) - 1
    if n == 0:
        return [0]
    greedy = [0, *scores[1:].argmax(axis=1).tolist()]
    if is_tree(greedy):
        return greedy
    heads = _edmonds(scores)
    roots = [d for d in range(1, n + 1) if heads[d] == 0]
    if len(roots) == 1:
        return heads
    # Several roots: try each of them, and the three words that score best as root, as the only one.
    candidates = sorted({*roots, *(1 + scores[1:, 0].argsort()[::-1][:3]).tolist()})
    best: tuple[float, list[int]] | None = None
    for root in candidates:
        forced = scores.copy()
        forced[1:, 0] = -1e12
        forced[root, :] = -1e12
        forced[root, 0] = scores[root, 0]
        tree = _edmonds(forced)
        total = float(sum(scores[d, tree[d]] for d in range(1, n + 1)))
        if is_tree(tree) and (best is None or total > best[0]):
            best = (total, tree)
    assert best is not None  # noqa: S101  the matrix is complete, so every root has a tree
    return best[1]


def is_tree(heads: list[int]) -> bool:
    """Whether heads (index 0 unused) form one tree with one root."""
    if heads[1:].count(0) != 1:
        return False
    state = bytearray(len(heads))  # 0 unseen, 1 reaches the root
    state[0] = 1
    for start in range(1, len(heads)):
        path = []
        at = start
        while not state[at]:
            state[at] = 2
            path.append(at)
            at = heads[at]
        if state[at] == 2:
            return False
        for i in path:
            state[i] = 1
    return True


def _edmonds(scores: "Scores") -> list[int]:
    """The maximum spanning arborescence from 0; cycles are contracted one by one, without recursion."""
    import numpy as np

    score = scores.copy()
    n = len(score)
    np.fill_diagonal(score, -np.inf)
    score[0, :] = -np.inf
    alive = list(range(n))
    # For each contraction: the cycle's nodes with their heads in it, the new node, and for each outside node the member
    # of the cycle that its arc into or out of the cycle really touches.
    history: list[tuple[list[int], dict[int, int], int, dict[int, int], dict[int, int]]] = []
    while True:
        index = np.array(alive)
        sub = score[np.ix_(index, index)]
        chosen = {node: int(index[k]) for node, k in zip(alive, sub.argmax(axis=1).tolist(), strict=True) if node != 0}
        cycle = _cycle(chosen)
        if cycle is None:
            break
        weight = {node: score[node, chosen[node]] for node in cycle}
        inside = set(cycle)
        outside = [node for node in alive if node not in inside]
        new = len(score)
        grown = np.full((new + 1, new + 1), -np.inf)
        grown[:new, :new] = score
        c = np.array(cycle)
        w = np.array([weight[node] for node in cycle])
        enter: dict[int, int] = {}
        leave: dict[int, int] = {}
        for node in outside:
            gains = score[c, node] - w
            k = int(gains.argmax())
            grown[new, node] = gains[k]
            enter[node] = cycle[k]
            if node != 0:
                k = int(score[node, c].argmax())
                grown[node, new] = score[node, cycle[k]]
                leave[node] = cycle[k]
        score = grown
        alive = [*outside, new]
        history.append((cycle, {node: chosen[node] for node in cycle}, new, enter, leave))
    heads = dict(chosen)
    for cycle, inner, new, enter, leave in reversed(history):
        outer = heads.pop(new)
        entry = enter[outer]
        for node, head in list(heads.items()):
            if head == new:
                heads[node] = leave[node]
        for node in cycle:
            heads[node] = outer if node == entry else inner[node]
    return [0, *(heads[i] for i in range(1, n))]


def _cycle(heads: dict[int, int]) -> list[int] | None:
    done: set[int] = {0}
    for start in heads:
        path: list[int] = []
        seen: set[int] = set()
        at = start
        while at not in done and at not in seen:
            seen.add(at)
            path.append(at)
            at = heads[at]
        if at in seen:
            return path[path.index(at) :]
        done |= seen
    return None
