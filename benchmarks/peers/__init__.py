"""Our verdicts beside those of COLLIE, IFEval and IFBench, on what both can express.

    python -m benchmarks.peers [--ud TREEBANKS] [--write docs/peers.md]

Each peer has a module with `express(rule, target)`: the peer's own check of what the rule asks, put together from the
peer's documented parameters so as to come as close to the rule as the peer can, or None where it has none.
`benchmarks.peers.cases` holds the rules and the cases.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, Protocol, cast

Check = Callable[[str], object]
Target = int | str | None


class Peer(Protocol):
    """What the module of a peer offers.

    Attributes:
        NAME: what the peer is called in the tables.
        DISTRIBUTIONS: the installed packages whose versions decide its verdicts.
        HOW: for each rule that it can express, with what.
    """

    NAME: str
    DISTRIBUTIONS: tuple[str, ...]
    HOW: dict[str, str]

    def express(self, rule: str, target: Target) -> Check | None: ...


class Missing(NamedTuple):
    """A peer that is not installed, and why it could not be loaded."""

    name: str
    why: str


NAMES = ("collie", "ifeval", "ifbench")


def load_peers() -> tuple[list[Peer], list[Missing]]:
    """The peers that are installed, and those that are not."""
    found: list[Peer] = []
    missing: list[Missing] = []
    for name in NAMES:
        try:
            found.append(cast(Peer, import_module(f"{__name__}.{name}")))
        except ImportError as error:
            missing.append(Missing(name, str(error)))
    return found, missing
