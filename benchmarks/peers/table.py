"""The tables of the comparison as Markdown: who is right how often, and on what the errors turn."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

from benchmarks.peers import Check, Peer, Target
from benchmarks.peers.cases import RULES, Case, golden_cases, ours
from benchmarks.peers.kinds import KINDS, kind

from oulibench.constraints import task_names
from oulibench.results.intervals import wilson
from oulibench.version import __version__

OURS = "OuLiBench"
NOTHING = "–"


class Ours:
    """Our verdicts, in the shape of a peer's."""

    NAME = OURS
    DISTRIBUTIONS = ("oulibench",)
    HOW: Mapping[str, str] = {}

    def express(self, rule: str, target: Target) -> Check:
        return lambda text: ours(rule, target, text)


def measure(peers: Sequence[Peer], treebanks: Mapping[str, list[Case]] | None = None) -> dict[str, tuple[str, ...]]:
    """The tables, by the heading they stand under; of the treebanks only where there are cases of them."""
    everyone: list[Peer | Ours] = [Ours(), *peers]
    golden = golden_cases()
    tables: dict[str, tuple[str, ...]] = {
        "How each is asked": (how_asked(peers), ""),
        "The golden cases": (right_verdicts(golden, everyone), kinds_of_error(golden, everyone)),
        "Versions": (versions(everyone),),
    }
    if treebanks is not None:
        cases = [case for of_one in treebanks.values() for case in of_one]
        tables["Ordinary sentences"] = (by_treebank(treebanks, everyone), kinds_of_error(cases, everyone))
    return tables


def markdown(rows: Iterable[Sequence[str]]) -> str:
    """A table whose first row is its head."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def how_asked(peers: Sequence[Peer]) -> str:
    rules = [*RULES, *(task for task in task_names() if task not in {rule.task for rule in RULES.values()})]
    rows = [[rule, *(peer.HOW.get(rule, NOTHING) for peer in peers)] for rule in rules]
    return markdown([["rule", *(peer.NAME for peer in peers)], *rows])


def wrong(cases: Iterable[Case], peer: Peer | Ours) -> list[Case] | None:
    """The cases that `peer` gets wrong; None where it cannot express their rule."""
    found = []
    for case in cases:
        check = peer.express(case.rule, case.target)
        if check is None:
            return None
        if bool(check(case.text)) is not case.expected:
            found.append(case)
    return found


def share(right: int, cases: int) -> str:
    """*69/113 61% (52–70)*: the number, the percentage and its 95% Wilson interval."""
    interval = wilson(right, cases, "wilson")
    if interval.low is None or interval.high is None:
        return f"{right}/{cases}"
    return f"{right}/{cases} {percent(right / cases)}% ({percent(interval.low)}–{percent(interval.high)})"


def percent(rate: float) -> str:
    """A whole percentage; from 99 with a decimal, rounded down, so that 100 is said of all alone."""
    if rate > 1 - 1e-9:
        return "100"
    return f"{math.floor(1000 * rate) / 10:.1f}" if rate >= 0.99 else f"{100 * rate:.0f}"


def right_verdicts(cases: Sequence[Case], everyone: Sequence[Peer | Ours]) -> str:
    rows = [["rule", "cases that hold / do not", *(peer.NAME for peer in everyone)]]
    for rule in RULES:
        of_rule = [case for case in cases if case.rule == rule]
        if of_rule:
            holds = sum(case.expected for case in of_rule)
            rows.append([rule, f"{holds} / {len(of_rule) - holds}", *_cells(of_rule, everyone)])
    return markdown(rows)


def _cells(cases: Sequence[Case], everyone: Sequence[Peer | Ours]) -> list[str]:
    errors = [wrong(cases, peer) for peer in everyone]
    return [NOTHING if found is None else share(len(cases) - len(found), len(cases)) for found in errors]


def by_treebank(treebanks: Mapping[str, list[Case]], everyone: Sequence[Peer | Ours]) -> str:
    rows = [["rule", "treebank", "sentences", *(peer.NAME for peer in everyone)]]
    for rule in RULES:
        for name, cases in treebanks.items():
            of_rule = [case for case in cases if case.rule == rule]
            if of_rule:
                rows.append([rule, name, str(len({case.text for case in of_rule})), *_cells(of_rule, everyone)])
    return markdown(rows)


def kinds_of_error(cases: Sequence[Case], everyone: Sequence[Peer | Ours]) -> str:
    """How many wrong verdicts turn on what."""
    counts: list[Counter[str]] = []
    for peer in everyone:
        count: Counter[str] = Counter()
        for rule in RULES:
            for case in wrong([case for case in cases if case.rule == rule], peer) or ():
                if check := peer.express(case.rule, case.target):
                    count[kind(case, check)] += 1
        counts.append(count)
    rows = [[name, *(str(count[name]) for count in counts)] for name in KINDS if any(count[name] for count in counts)]
    return markdown([["what a wrong verdict turns on", *(peer.NAME for peer in everyone)], *rows])


def versions(everyone: Sequence[Peer | Ours]) -> str:
    names = dict.fromkeys(name for peer in everyone for name in peer.DISTRIBUTIONS)
    found = {name: __version__ if name == "oulibench" else version(name) for name in names}
    return f"Python {platform.python_version()}, " + ", ".join(map(" ".join, found.items())) + "."
