"""The benchmark's table: success rates per system, task and number of demonstrations.

Definitions:

- **SR**: passed / items: the share of the produced texts that satisfy the constraint (the paper's success rate). Items
  that could not be scored stay in the denominator.
- **yield**: items / texts asked for; above 1 where a model wrote more than it was asked for.
- **passed/asked**: items that passed among the first n of each answer / texts asked for.
- **unique SR**: the same as SR with repeated texts counted once (same target, same words; the first one counts).
- **rho**: Spearman's rank correlation of obtained on requested length, over items, for the quantitative tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from oulibench.constraints import task_names
from oulibench.results.correlation import Coefficient, spearman
from oulibench.results.tally import Cell, CellKey


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table. Rates are None where their denominator is 0 or unknown.

    Attributes:
        answers: responses received, errors and refusals included.
        requested: texts asked for in all; None where the rows do not say.
        items: texts read out of the answers; items = scored + failed.
        failed: items, or whole answers, that could not be scored.
        unique: different texts.
        statuses: rows by status.
        spearman: None for tasks that are not quantitative.
    """

    system: str
    task: str
    family: str
    shots: int
    answers: int
    requested: int | None
    items: int
    scored: int
    failed: int
    passed: int
    passed_in_time: int
    formal: int
    unique: int
    unique_passed: int
    truncated: int
    errors: int
    statuses: dict[str, int]
    spearman: Coefficient | None

    @property
    def sr(self) -> float | None:
        return rate(self.passed, self.items)

    @property
    def yield_(self) -> float | None:
        return rate(self.items, self.requested)

    @property
    def passed_per_requested(self) -> float | None:
        return rate(self.passed_in_time, self.requested)

    @property
    def unique_sr(self) -> float | None:
        return rate(self.unique_passed, self.unique)

    def fields(self) -> dict[str, Any]:
        """JSON-ready, in a fixed order."""
        rho = self.spearman
        return {
            "model": self.system,
            "task": self.task,
            "family": self.family,
            "shots": self.shots,
            "answers": self.answers,
            "requested": self.requested,
            "n": self.items,
            "scored": self.scored,
            "scoring_failed": self.failed,
            "passed": self.passed,
            "sr": _rounded(self.sr),
            "yield": _rounded(self.yield_),
            "passed_per_requested": _rounded(self.passed_per_requested),
            "unique": self.unique,
            "unique_sr": _rounded(self.unique_sr),
            "formal_sr": _rounded(rate(self.formal, self.items)),
            "spearman": _rounded(rho.value) if rho else None,
            "spearman_undefined": rho.reason if rho and rho.value is None else None,
            "truncated": self.truncated,
            "errors": self.errors,
            "statuses": self.statuses,
        }


def rate(part: int, whole: int | None) -> float | None:
    """`part / whole`; None where that makes no sense."""
    return part / whole if whole else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def result_of(cell: Cell) -> Result:
    """The table's line on one cell."""
    answers = cell.answers
    requested = None if any(a.requested is None for a in answers) else sum(a.requested or 0 for a in answers)
    items, failed = sum(a.items for a in answers), sum(a.failed for a in answers)
    failed_items = sum(a.failed for a in answers if a.items)
    return Result(
        system=cell.key.system,
        task=cell.key.task,
        family=cell.family,
        shots=cell.key.shots,
        answers=len(answers),
        requested=requested,
        items=items,
        scored=items - failed_items,
        failed=failed,
        passed=sum(a.passed for a in answers),
        passed_in_time=sum(a.passed_in_time for a in answers),
        formal=sum(a.formal for a in answers),
        unique=len(cell.unique),
        unique_passed=sum(cell.unique.values()),
        truncated=sum(a.truncated for a in answers),
        errors=sum(a.error for a in answers),
        statuses=dict(sorted(cell.statuses.items())),
        spearman=spearman(cell.requested, cell.obtained) if cell.family == "quantitative" else None,
    )


def results_of(cells: Iterable[Cell]) -> list[Result]:
    """The table's lines in the order of reading: system, task (the benchmark's order), shots."""
    return [result_of(cell) for cell in sorted(cells, key=lambda cell: reading_order(cell.key))]


def reading_order(key: CellKey) -> tuple[str, int, str, int]:
    return key.system, task_rank(key.task), key.task, key.shots


def task_rank(task: str) -> int:
    """The place of a task in the benchmark's order; unknown ones come last."""
    names = task_names()
    return names.index(task) if task in names else len(names)


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """Whether anything was lost on the way.

    Attributes:
        received: rows read.
        scored: items with a verdict.
        failed: items and answers that could not be scored.
        empty: answers that hold no item (refusals, errors, …).
        repeated: rows whose answer and item number had been read before; they are counted like the others.
    """

    received: int
    scored: int
    failed: int
    empty: int
    passed: int
    statuses: dict[str, int]
    truncated: int
    errors: int
    repeated: int

    @property
    def adds_up(self) -> bool:
        return self.received == self.scored + self.failed + self.empty

    def in_words(self) -> str:
        parts = [f"received {self.received:,} rows = scored {self.scored:,} + failed {self.failed:,}"]
        if self.empty:
            parts[0] += f" + answers without items {self.empty:,}"
        others = {s: n for s, n in self.statuses.items() if s != "ok"}
        if others:
            parts.append("statuses: " + ", ".join(f"{s} {n:,}" for s, n in others.items()))
        if self.truncated:
            parts.append(f"{self.truncated:,} answers cut off by the token limit")
        if self.errors:
            parts.append(f"{self.errors:,} calls failed")
        if self.repeated:
            parts.append(f"{self.repeated:,} rows repeat an item that was read before")
        if not self.adds_up:
            parts.append("THIS DOES NOT ADD UP: the rows contradict themselves")
        return "; ".join(parts)


def bookkeeping(cells: Iterable[Cell]) -> Bookkeeping:
    """The totals over all cells, counted apart from the lines of the table."""
    received = scored = failed = empty = passed = truncated = errors = repeated = 0
    statuses: Counter[str] = Counter()
    for cell in cells:
        received += cell.rows
        repeated += cell.repeated
        statuses += cell.statuses
        for answer in cell.answers:
            failed += answer.failed
            scored += answer.items - (answer.failed if answer.items else 0)
            empty += answer.empty
            passed += answer.passed
            truncated += answer.truncated
            errors += answer.error
    return Bookkeeping(
        received, scored, failed, empty, passed, dict(sorted(statuses.items())), truncated, errors, repeated
    )


COLUMNS: Final = ("model", "task", "shots", "n", "SR", "yield", "passed/asked", "unique SR", "rho")
"""The table's columns for people; `Result.fields` has all of them."""


def lines_of(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """The cells of the table for people, one tuple a line, in the order of `COLUMNS`."""
    return [
        (
            r.system,
            r.task,
            str(r.shots),
            str(r.items),
            shown(r.sr),
            shown(r.yield_),
            shown(r.passed_per_requested),
            shown(r.unique_sr),
            "" if r.spearman is None else shown(r.spearman.value),
        )
        for r in results
    ]


def shown(value: float | None) -> str:
    """A rate with three decimals; a dash where it is undefined."""
    return "–" if value is None else f"{value:.3f}"


def notes_of(results: Sequence[Result]) -> list[str]:
    """What a reader must know beside the numbers: why a correlation is undefined, where something failed."""
    notes = []
    for r in results:
        where = f"{r.system}, {r.task}, {r.shots} shots"
        if r.spearman and r.spearman.value is None:
            notes.append(f"{where}: rho is undefined: {r.spearman.reason}")
        if r.failed:
            notes.append(f"{where}: {r.failed} could not be scored (they count as not passed)")
    return notes
