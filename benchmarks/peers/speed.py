"""How long a verdict takes, ours and the peers'."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.peers import Check, Peer, Target
from benchmarks.peers.cases import RULES, golden_cases
from benchmarks.peers.table import NOTHING, OURS, markdown
from benchmarks.surface import SENTENCES, verdicts_per_second

from oulibench.constraints import get_constraint


def times(peers: Sequence[Peer]) -> str:
    """Microseconds of ours, and the peers' times as multiples of ours."""
    rows = [["rule", f"{OURS}, µs", *(f"{peer.NAME} ÷ {OURS}" for peer in peers)]]
    for rule in RULES:
        texts = _texts(rule)
        ours = _seconds([(_our_check(rule, target), text) for target, text in texts])
        row = [rule, f"{1e6 * ours:.0f}"]
        for peer in peers:
            calls = [(check, text) for target, text in texts if (check := peer.express(rule, target))]
            row.append(f"{_seconds(calls) / ours:.1f}" if calls else NOTHING)
        rows.append(row)
    return markdown(rows)


def _texts(rule: str) -> list[tuple[Target, str]]:
    """Ten-word sentences where there are some for the task, else the golden cases."""
    if found := SENTENCES.get(RULES[rule].task):
        target, sentences = found
        return [(target, sentence) for sentence in sentences]
    return [(case.target, case.text) for case in golden_cases() if case.rule == rule and case.text]


def _our_check(rule: str, target: Target) -> Check:
    """The whole verdict: score, violations, reason and signature too."""
    return partial(get_constraint(RULES[rule].task).check, target=target, policy=RULES[rule].policy)


def _seconds(calls: Sequence[tuple[Check, str]]) -> float:
    return 1 / verdicts_per_second(lambda call: call[0](call[1]), calls)
