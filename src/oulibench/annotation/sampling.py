"""A blind, stratified sample of the items of one or more runs, and who rates what.

A *cell* is model × task × target × shots (× passed or not). In each cell the distinct texts are drawn without
replacement; a text that two cells (or two items of a cell) share is one *unit*, shown once, whose ratings hold for
every item that reads so. Everything follows from the rows and the seed.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from oulibench.annotation.scheme import canonical_target
from oulibench.errors import DataError, TextError
from oulibench.jsonl import Row, dump_line, read_jsonl
from oulibench.text import normalise, without_list_mark

ITEMS_FILE: Final = "items.jsonl"


def item_id(row: Mapping[str, Any]) -> str:
    """The id of an item of a run: 16 hexadecimal digits that model, request, epoch and item number decide."""
    key = [row.get("model"), row.get("id"), row.get("epoch"), row.get("item")]
    return hashlib.sha256(dump_line({"item": key})).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An item of a run: where a unit's text stands. `drawn` where the sample of its own cell holds the unit.

    `cell` is (model, task, target, shots) with the target as JSON.
    """

    item_id: str
    cell: tuple[str, str, str, str]
    passed: bool
    drawn: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """What raters see: a text and its constraint. Its id is that of its first drawn item."""

    id: str
    task: str
    family: str
    target: Any
    difficulty: int | None
    policy: Mapping[str, Any]
    text: str
    occurrences: tuple[Occurrence, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """The units in a fixed order, for each annotator the ids to rate in the order of rating, and what was left out.

    Attributes:
        shared: ids of the units that every annotator rates.
        short_cells: cells that hold fewer distinct texts than were asked for.
        unreadable: rows whose text cannot be shown (damaged, over-long).
    """

    units: tuple[Unit, ...]
    assignments: Mapping[str, tuple[str, ...]]
    shared: frozenset[str]
    short_cells: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class Settings:
    """How a sample is drawn.

    Attributes:
        per_cell: distinct texts that passed, drawn from each cell.
        failed: distinct texts that did not pass, drawn from each cell.
        overlap: share of the units that all annotators rate; the others are dealt out evenly.
        seed: of drawing, dealing and shuffling.
        tasks: tasks to draw from; empty for all.
    """

    per_cell: int = 5
    failed: int = 0
    overlap: float = 0.3
    seed: int = 0
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.per_cell < 0 or self.failed < 0 or self.per_cell + self.failed == 0:
            raise DataError("Ask for at least one text per cell.")
        if not 0 <= self.overlap <= 1:
            raise DataError(f"The overlap is a share from 0 to 1, not {self.overlap}.")


def read_items(runs: Iterable[Path]) -> Iterable[Row]:
    """The item rows of run folders (or of item files), in order.

    Raises:
        DataError: a run without items, or a bad line in them.
    """
    for run in runs:
        path = run / ITEMS_FILE if run.is_dir() else run
        if not path.is_file():
            raise DataError(f"{run} holds no {ITEMS_FILE}; it is no run folder, or the run has not been scored.")
        yield from read_jsonl(path)


def draw(rows: Iterable[Row], settings: Settings, annotators: Sequence[str]) -> Sample:
    """The sample that `settings` and the rows decide.

    Raises:
        DataError: no row can be drawn, or two annotators share a name.
    """
    if twice := next((name for name in annotators if annotators.count(name) > 1), None):
        raise DataError(f"Two people are called {twice!r}.")
    pools, unreadable = _pools(rows, set(settings.tasks))
    chosen: dict[_Key, set[_Cell]] = {}
    short = 0
    for cell in sorted(pools):
        wanted = settings.per_cell if cell.passed else settings.failed
        texts = sorted(pools[cell])
        short += bool(wanted) and len(texts) < wanted
        for key in _rng(settings.seed, "draw", *cell.place, str(cell.passed)).sample(texts, min(wanted, len(texts))):
            chosen.setdefault(key, set()).add(cell)
    if not chosen:
        kind = "item that passed" if settings.failed == 0 else "scored item"
        raise DataError(f"There is no {kind} to rate in these runs.")
    by_key: dict[_Key, list[tuple[_Cell, Row]]] = {key: [] for key in chosen}
    for cell in sorted(pools):
        for key, members in pools[cell].items():
            if key in by_key:
                by_key[key].extend((cell, row) for row in members)
    units = tuple(_unit(members, chosen[key]) for key, members in sorted(by_key.items()))
    return Sample(units, *_deal(units, settings, annotators), short, unreadable)


class _Cell(tuple[tuple[str, str, str, str], bool]):
    """((model, task, target, shots), passed)."""

    __slots__ = ()

    @property
    def place(self) -> tuple[str, str, str, str]:
        return self[0]

    @property
    def passed(self) -> bool:
        return self[1]


_Key = tuple[str, str, str]  # task, target, text as read
_SPACES = re.compile(" {2,}")


def _pools(rows: Iterable[Row], tasks: set[str]) -> tuple[dict[_Cell, dict[_Key, list[Row]]], int]:
    """Scored rows by cell and by distinct text; and how many had a text that cannot be shown."""
    pools: dict[_Cell, dict[_Key, list[Row]]] = {}
    seen: set[str] = set()
    unreadable = 0
    for row in rows:
        task, text, passed = row.get("task"), row.get("text"), row.get("passed")
        if not isinstance(task, str) or not isinstance(passed, bool) or (tasks and task not in tasks):
            continue
        try:
            read = _SPACES.sub(" ", without_list_mark(normalise(text))).strip() if text is not None else ""
        except TextError:
            unreadable += 1
            continue
        identifier = item_id(row)
        if not read or identifier in seen:  # the same run given twice
            continue
        seen.add(identifier)
        target = canonical_target(row.get("target"))
        cell = _Cell(((str(row.get("model", "")), task, target, str(row.get("shots", 0))), passed))
        kept = {k: row.get(k) for k in ("model", "id", "epoch", "item", "family", "target", "difficulty", "policy")}
        pools.setdefault(cell, {}).setdefault((task, target, read), []).append({**kept, "task": task, "read": read})
    return pools, unreadable


def _unit(members: Sequence[tuple[_Cell, Row]], chosen_in: set[_Cell]) -> Unit:
    occurrences = tuple(Occurrence(item_id(row), cell.place, cell.passed, cell in chosen_in) for cell, row in members)
    first = next(i for i, occurrence in enumerate(occurrences) if occurrence.drawn)
    row = members[first][1]
    return Unit(
        id=occurrences[first].item_id,
        task=row["task"],
        family=row["family"] or "",
        target=row["target"],
        difficulty=row["difficulty"],
        policy=row["policy"] or {},
        text=row["read"],
        occurrences=occurrences,
    )


def _deal(
    units: Sequence[Unit], settings: Settings, annotators: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """Which annotator rates what: the shared units and an even part of the others, out of every cell alike."""
    rng = _rng(settings.seed, "deal")
    ordered: list[Unit] = []
    for _, group in groupby(sorted(units, key=_stratum), key=_stratum):
        members = list(group)
        rng.shuffle(members)
        ordered.extend(members)
    # Systematic sampling along the strata: each gets its part of the overlap, up to one unit.
    share = 1.0 if len(annotators) < 2 else settings.overlap
    start = rng.random()
    marks = [int(start + i * share) for i in range(len(ordered) + 1)]
    shared = [unit.id for unit, a, b in zip(ordered, marks, marks[1:], strict=False) if b > a]
    shared_ids = frozenset(shared)
    others = [unit.id for unit in ordered if unit.id not in shared_ids]
    turn = rng.randrange(len(annotators)) if annotators else 0
    assignments = {}
    for i, name in enumerate(annotators):
        own = [*shared, *others[(i + turn) % len(annotators) :: len(annotators)]]
        own.sort()
        _rng(settings.seed, "order", name).shuffle(own)
        assignments[name] = tuple(own)
    return assignments, shared_ids


def order_for(annotator: str, shared: Iterable[str], seed: int) -> tuple[str, ...]:
    """The shared units in the order in which an annotator who joins later rates them."""
    own = sorted(shared)
    _rng(seed, "order", annotator).shuffle(own)
    return tuple(own)


def _stratum(unit: Unit) -> tuple[tuple[str, str, str, str], bool]:
    first = next(o for o in unit.occurrences if o.drawn)
    return first.cell, first.passed


def _rng(seed: int, *purpose: str) -> random.Random:
    return random.Random("\x1f".join((str(seed), *purpose)))  # noqa: S311  # reproducible, not secret
