"""Counting scored rows, one pass, in little memory: the base of every table and statistic.

A cell is one system (a model in a run, with a wording) on one task with one number of demonstrations. It keeps one
small record per answer, because sentences of one answer are not independent: intervals and tests resample answers.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from oulibench.behaviour.duplicates import text_key
from oulibench.scoring import OK, SCORING_FAILED

UNNAMED: Final = "(unnamed)"
"""The model of rows that name none."""


class CellKey(NamedTuple):
    """What a success rate is a success rate of."""

    system: str
    task: str
    shots: int


@dataclass(slots=True)
class Answer:
    """One response of a model, counted.

    Attributes:
        number: its place in its cell, from 0.
        request: the request's id; with `epoch` it is unique in its cell.
        requested: texts asked for; None where the rows do not say.
        items: texts read out of the answer, those that could not be scored included.
        passed: items that passed.
        passed_in_time: items that passed among the first `requested`, so that writing more gains nothing.
        formal: items whose letters alone fit.
        failed: items, or the answer itself, that could not be scored.
        empty: 1 where the answer holds no item and nothing failed.
        status: `ok`, or why there is no item.
    """

    number: int
    request: str
    epoch: int
    target: int | str | None
    difficulty: int | None
    requested: int | None
    items: int = 0
    passed: int = 0
    passed_in_time: int = 0
    formal: int = 0
    failed: int = 0
    empty: int = 0
    status: str = OK
    truncated: bool = False
    error: bool = False
    demonstrations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One scored row, for measurements on texts and for people who want to read it.

    Attributes:
        answer: the number of its answer in the cell.
        number: its number in the answer, from 1; None where the answer holds no item.
        spans: start and end of each violation in `text`.
    """

    answer: int
    number: int | None
    text: str
    status: str
    passed: bool | None
    formal: bool | None
    score: float | None
    measured: int | str | None
    reason: str
    flags: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Cell:
    """All the answers of one system to one task with one number of demonstrations.

    Attributes:
        requested, obtained, owner: target, measure and answer of every item of a quantitative task, in parallel.
        unique: for each different (target, text), whether its first occurrence passed.
        items: the rows themselves, where they are kept.
        signatures: signature → number of items it decided.
    """

    key: CellKey
    family: str
    answers: list[Answer] = field(default_factory=list)
    requested: array[float] = field(default_factory=lambda: array("d"))
    obtained: array[float] = field(default_factory=lambda: array("d"))
    owner: array[int] = field(default_factory=lambda: array("l"))
    unique: dict[int, bool] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    rows: int = 0
    repeated: int = 0
    seen: set[tuple[int, int | None]] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    signatures: Counter[str] = field(default_factory=Counter)


class Tally:
    """Cells that grow row by row.

    Rows of one answer are known by (system, task, shots, `id`, `epoch`). Rows without `id` (scored files) begin a new
    answer whenever their item number does not rise.
    """

    def __init__(self, keep_items: bool = False) -> None:
        self.keep_items = keep_items
        self.cells: dict[CellKey, Cell] = {}
        self._answers: dict[tuple[CellKey, str, int], Answer] = {}
        self._demonstrations: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._anonymous = 0
        self._last_item = 0

    def add(self, row: Mapping[str, Any], system: str) -> CellKey:
        """Count one scored row."""
        key = CellKey(system, str(row.get("task")), _whole(row.get("shots")) or 0)
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cells[key] = Cell(key, str(row.get("family") or family_of(key.task)))
        answer = self._answer(cell, row)
        status = str(row.get("status", OK))
        cell.rows += 1
        cell.statuses[status] += 1
        item = _whole(row.get("item"))
        seen = (answer.number, item)
        if row.get("id") is not None and seen in cell.seen:
            cell.repeated += 1
        cell.seen.add(seen)
        text = row.get("text")
        if self.keep_items:
            cell.items.append(_item(row, answer.number, item, status))
        if text is None and row.get("passed") is None:
            answer.status = status
            if status == SCORING_FAILED:
                answer.failed += 1
            else:
                answer.empty += 1
            return key
        answer.items += 1
        passed = row.get("passed") is True
        if row.get("passed") is None:
            answer.failed += 1
        answer.passed += passed
        answer.formal += row.get("formal") is True
        if passed and (answer.requested is None or (item or answer.items) <= answer.requested):
            answer.passed_in_time += 1
        if isinstance(signature := row.get("signature"), str):
            cell.signatures[signature] += 1
        if cell.family == "quantitative":
            self._measure(cell, answer, row)
        # A hash of 64 bits stands for the text: among a million texts, one in ten million runs would confuse two.
        cell.unique.setdefault(hash((repr(row.get("target")), text_key(text if isinstance(text, str) else ""))), passed)
        return key

    def _answer(self, cell: Cell, row: Mapping[str, Any]) -> Answer:
        request, epoch = row.get("id"), _whole(row.get("epoch")) or 1
        item = _whole(row.get("item")) or 0
        if request is None:
            if item == 0 or item <= self._last_item or not self._anonymous:
                self._anonymous += 1
            request = f"#{self._anonymous}"
            self._last_item = item
        place = (cell.key, str(request), epoch)
        answer = self._answers.get(place)
        if answer is None:
            answer = self._answers[place] = Answer(
                len(cell.answers),
                str(request),
                epoch,
                row.get("target"),
                _whole(row.get("difficulty")),
                _whole(row.get("n")),
                truncated=row.get("truncated") is True,
                error=bool(row.get("error")),
                demonstrations=self._shared_demonstrations(row.get("demonstrations")),
            )
            cell.answers.append(answer)
        return answer

    def _shared_demonstrations(self, given: object) -> tuple[str, ...]:
        """The ids as one tuple that all answers with the same demonstrations share."""
        ids = tuple(str(i) for i in given) if isinstance(given, list) else ()
        return self._demonstrations.setdefault(ids, ids)

    @staticmethod
    def _measure(cell: Cell, answer: Answer, row: Mapping[str, Any]) -> None:
        target, measured = row.get("target"), row.get("measured")
        try:
            wanted = float(target)  # type: ignore[arg-type]  # «5» is a target too
        except (TypeError, ValueError):
            return
        if isinstance(measured, int | float) and not isinstance(measured, bool):
            cell.requested.append(wanted)
            cell.obtained.append(float(measured))
            cell.owner.append(answer.number)


def tally(rows: Iterable[Mapping[str, Any]]) -> dict[CellKey, Cell]:
    """The cells of rows of one run; the system is the row's model."""
    counted = Tally()
    for row in rows:
        counted.add(row, str(row.get("model") or UNNAMED))
    return counted.cells


def _item(row: Mapping[str, Any], answer: int, number: int | None, status: str) -> Item:
    """The row without what its cell and answer know already; tolerant, for rows come from files."""
    text, measured, score = row.get("text"), row.get("measured"), row.get("score")
    passed, formal = row.get("passed"), row.get("formal")
    violations, flags = row.get("violations"), row.get("flags")
    return Item(
        answer=answer,
        number=number,
        text=text if isinstance(text, str) else "",
        status=sys.intern(status),
        passed=passed if isinstance(passed, bool) else None,
        formal=formal if isinstance(formal, bool) else None,
        score=float(score) if isinstance(score, int | float) else None,
        measured=measured if isinstance(measured, int | str) else None,
        reason=sys.intern(str(row.get("reason") or "")),
        flags=tuple(sys.intern(str(f)) for f in flags) if isinstance(flags, list) else (),
        spans=tuple(
            (v["start"], v["end"])
            for v in (violations if isinstance(violations, list) else ())
            if isinstance(v, dict) and isinstance(v.get("start"), int) and isinstance(v.get("end"), int)
        ),
    )


def family_of(task: str) -> str:
    """The family of a task of the benchmark; empty where there is no such task."""
    from oulibench.constraints import get_constraint
    from oulibench.errors import UnknownTaskError

    try:
        return get_constraint(task).family
    except UnknownTaskError:
        return ""


def _whole(value: object) -> int | None:
    """`value` as a whole number, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None
