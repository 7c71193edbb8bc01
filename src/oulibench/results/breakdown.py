"""Success rates by difficulty, by target, by family, and the averages over tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from oulibench.results.intervals import Interval, Settings, macro_interval, success_interval
from oulibench.results.table import rate, task_rank
from oulibench.results.tally import Answer, Cell, CellKey


@dataclass(frozen=True, slots=True)
class Part:
    """The success rate on a part of a cell: one difficulty level, or one target."""

    key: CellKey
    value: int | str | None
    answers: int
    items: int
    passed: int
    interval: Interval

    @property
    def sr(self) -> float | None:
        return rate(self.passed, self.items)

    def fields(self, name: str) -> dict[str, Any]:
        return {
            "model": self.key.system,
            "task": self.key.task,
            "shots": self.key.shots,
            name: self.value,
            "answers": self.answers,
            "n": self.items,
            "passed": self.passed,
            "sr": None if self.sr is None else round(self.sr, 6),
            "interval": self.interval.fields(),
        }


def by_difficulty(cell: Cell, settings: Settings) -> list[Part]:
    """One part per difficulty level, easiest first; answers without a level are left out."""
    levels: dict[int, list[Answer]] = defaultdict(list)
    for answer in cell.answers:
        if answer.difficulty is not None:
            levels[answer.difficulty].append(answer)
    return [_part(cell.key, level, answers, settings) for level, answers in sorted(levels.items())]


def by_target(cell: Cell, settings: Settings) -> list[Part]:
    """One part per target, in the order of difficulty, then of the rows."""
    targets: dict[int | str | None, list[Answer]] = defaultdict(list)
    for answer in sorted(cell.answers, key=lambda a: a.difficulty or 0):
        targets[answer.target].append(answer)
    return [_part(cell.key, target, answers, settings) for target, answers in targets.items()]


def _part(key: CellKey, value: int | str | None, answers: Sequence[Answer], settings: Settings) -> Part:
    return Part(
        key,
        value,
        len(answers),
        sum(a.items for a in answers),
        sum(a.passed for a in answers),
        success_interval(answers, settings, *key, value),
    )


@dataclass(frozen=True, slots=True)
class Average:
    """A mean of success rates over tasks, in which a task counts the same however many items it has.

    Attributes:
        over: what it is the mean of: `tasks` (the paper's average), `families` (the mean of the families' means),
            `few-shot tasks` (those that the system has with every number of demonstrations, which is what a few-shot
            curve may compare), or a family's name.
        tasks: the tasks that went in; a task without items has no rate and is left out.
    """

    system: str
    shots: int
    over: str
    tasks: tuple[str, ...]
    value: float
    interval: Interval

    def fields(self) -> dict[str, Any]:
        return {
            "model": self.system,
            "shots": self.shots,
            "over": self.over,
            "tasks": list(self.tasks),
            "average": round(self.value, 6),
            "interval": self.interval.fields(),
        }


TASKS: Final = "tasks"
FAMILIES: Final = "families"
FEW_SHOT_TASKS: Final = "few-shot tasks"


def averages(cells: Mapping[CellKey, Cell], settings: Settings) -> list[Average]:
    """All averages of every system with every number of demonstrations."""
    found: list[Average] = []
    for system in sorted({key.system for key in cells}):
        own = {key: cell for key, cell in cells.items() if key.system == system}
        shots = sorted({key.shots for key in own})
        common = set.intersection(*({key.task for key in own if key.shots == k} for k in shots))
        for k in shots:
            here = [own[key] for key in sorted(own, key=lambda key: task_rank(key.task)) if key.shots == k]
            full = [cell for cell in here if any(a.items for a in cell.answers)]
            families = dict.fromkeys(cell.family for cell in full)
            groups = {TASKS: full, FAMILIES: full if len(families) > 1 else []}
            groups[FEW_SHOT_TASKS] = [c for c in full if c.key.task in common] if len(shots) > 1 else []
            groups |= {family: [c for c in full if c.family == family] for family in families}
            found += [_average(system, k, over, group, settings) for over, group in groups.items() if group]
    return found


def _average(system: str, shots: int, over: str, cells: Sequence[Cell], settings: Settings) -> Average:
    sizes = Counter(cell.family for cell in cells)
    weights = [1 / (len(sizes) * sizes[c.family]) if over == FAMILIES else 1 / len(cells) for c in cells]
    value = sum(
        w * sum(a.passed for a in c.answers) / sum(a.items for a in c.answers)
        for w, c in zip(weights, cells, strict=True)
    )
    interval = macro_interval([c.answers for c in cells], weights, settings, system, shots, over)
    return Average(system, shots, over, tuple(c.key.task for c in cells), value, interval)
