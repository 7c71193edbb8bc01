"""How much does the wording of the request decide, and what is the best wording worth?

The success rate under each wording, and its spread over wordings. The best of several wordings looks better than it is
when it is chosen and judged on the same answers. So the targets are split: the wording is chosen on one half of them,
and its success rate is that on the other half, beside that of the default wording there.

Definitions:

- **spread**: highest − lowest success rate; and the standard deviation over wordings (n − 1)
- **halves**: targets in the order of difficulty and, within a level, of a hash of seed, task and target, taken
  alternately: the halves hold as many targets of each level as can be, and differ by at most one in all
- **choice**: the wording with the highest success rate on the first half; of equal ones the default, then the first in
  order
"""

from __future__ import annotations

import hashlib
import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from oulibench.constraints.base import WORDINGS
from oulibench.results.intervals import Interval, Settings, success_interval
from oulibench.results.runs import Run
from oulibench.results.systems import Part, decisive
from oulibench.results.table import rate, shown, task_rank
from oulibench.results.tally import Answer, Cell, CellKey

DEFAULT: Final[str] = WORDINGS[0]

Systems = Mapping[str, str]
"""Wording → the system that was asked in it; one model, one run or several with the same settings."""


@dataclass(frozen=True, slots=True)
class WordingRate:
    """The success rate under one wording, on some targets."""

    wording: str
    answers: int
    items: int
    passed: int
    interval: Interval | None

    @property
    def sr(self) -> float | None:
        return rate(self.passed, self.items)

    def fields(self) -> dict[str, Any]:
        return {
            "wording": self.wording,
            "answers": self.answers,
            "n": self.items,
            "passed": self.passed,
            "sr": _rounded(self.sr),
            "interval": self.interval.fields() if self.interval else None,
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """A wording chosen on one half of the targets and judged on the other.

    Attributes:
        chosen_on, judged_on: numbers of targets.
        seen: the success rate that it was chosen by.
        judged: its success rate on the other half.
        default: the default wording's success rate there; None where the default was not asked.
    """

    wording: str
    chosen_on: int
    judged_on: int
    seen: float
    judged: WordingRate
    default: WordingRate | None

    @property
    def gain(self) -> float | None:
        """Over the default, on the half that nothing was chosen on."""
        if self.default is None or self.judged.sr is None or self.default.sr is None:
            return None
        return self.judged.sr - self.default.sr

    def fields(self) -> dict[str, Any]:
        return {
            "wording": self.wording,
            "targets_chosen_on": self.chosen_on,
            "targets_judged_on": self.judged_on,
            "sr_chosen_by": _rounded(self.seen),
            "judged": self.judged.fields(),
            "default": self.default.fields() if self.default else None,
            "gain": _rounded(self.gain),
        }


@dataclass(frozen=True, slots=True)
class WordingStudy:
    """One model on one task with one number of demonstrations, in several wordings.

    Attributes:
        model: the model's name, with its run's where several runs were made with other settings.
        choice: None where there is none; `reason` says why.
    """

    model: str
    task: str
    shots: int
    rates: tuple[WordingRate, ...]
    choice: Choice | None
    reason: str | None

    @property
    def spread(self) -> float | None:
        rates = [r.sr for r in self.rates if r.sr is not None]
        return max(rates) - min(rates) if len(rates) > 1 else None

    @property
    def deviation(self) -> float | None:
        rates = [r.sr for r in self.rates if r.sr is not None]
        return statistics.stdev(rates) if len(rates) > 1 else None

    def fields(self) -> dict[str, Any]:
        """JSON-ready, in a fixed order."""
        return {
            "model": self.model,
            "task": self.task,
            "shots": self.shots,
            "wordings": [r.fields() for r in self.rates],
            "spread": _rounded(self.spread),
            "standard_deviation": _rounded(self.deviation),
            "choice": self.choice.fields() if self.choice else None,
            "choice_undefined": self.reason,
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


# --- which systems are one model in several wordings -------------------------------------------------------------


def wording_groups(runs: Sequence[Run], names: Mapping[Part, str]) -> dict[str, Systems]:
    """Label → the systems that differ in the wording alone, for every model that was asked in several.

    Where one wording was asked twice, nobody knows which answers belong together: the runs are then looked at one by
    one.
    """
    alike: dict[tuple[str, str], dict[str, dict[str, set[int]]]] = {}
    for (number, model, wording), system in names.items():
        settings = repr(sorted(decisive(runs[number]).items()))
        wordings = alike.setdefault((model, settings), defaultdict(dict))
        wordings[wording].setdefault(system, set()).add(number)
    groups: list[tuple[str, Systems, set[int]]] = []
    for (model, _), wordings in alike.items():
        numbers = {n for systems in wordings.values() for ns in systems.values() for n in ns}
        together = all(len(systems) == 1 for systems in wordings.values())
        for part in [numbers] if together else [{n} for n in sorted(numbers)]:
            systems: Systems = {w: s for w, found in wordings.items() for s, ns in found.items() if ns & part}
            if len(systems) > 1 and all(systems != other for _, other, _ in groups):
                groups.append((model, {w: systems[w] for w in sorted(systems, key=wording_rank)}, part))
    models = [model for model, _, _ in groups]
    labelled: dict[str, Systems] = {}
    for model, systems, part in groups:
        runs_named = ", ".join(runs[n].name for n in sorted(part))
        label = model if models.count(model) == 1 else f"{model} ({runs_named})"
        while label in labelled:
            label += "′"
        labelled[label] = systems
    return labelled


def wording_rank(wording: str) -> tuple[int, str]:
    """The order of wordings: the benchmark's own first, as they stand there."""
    known: tuple[str, ...] = WORDINGS
    return (known.index(wording) if wording in known else len(known)), wording


# --- the study ---------------------------------------------------------------------------------------------------


def wording_studies(
    cells: Mapping[CellKey, Cell], groups: Mapping[str, Systems], settings: Settings | None, seed: int = 0
) -> list[WordingStudy]:
    """The studies of all models, tasks and numbers of demonstrations that were asked in several wordings.

    Args:
        cells: the counted rows.
        groups: what `wording_groups` found.
        settings: seed and resamples of the intervals; None computes none (they need the extra `report`).
        seed: of the split into halves.
    """
    studies = []
    for model, systems in sorted(groups.items()):
        places = {(key.task, key.shots) for key in cells if key.system in systems.values()}
        for task, shots in sorted(places, key=lambda place: (task_rank(place[0]), *place)):
            by_wording = {w: cells[key] for w, s in systems.items() if (key := CellKey(s, task, shots)) in cells}
            if len(by_wording) > 1:
                studies.append(study(model, by_wording, settings, seed))
    return studies


def study(model: str, cells: Mapping[str, Cell], settings: Settings | None = None, seed: int = 0) -> WordingStudy:
    """The study of one task: `cells` by wording, at least one."""
    key = next(iter(cells.values())).key
    name = (model, key.task, key.shots)
    rates = tuple(_rate(wording, cell.answers, settings, "wording", *name) for wording, cell in cells.items())
    choice = _choose(cells, settings, seed, name)
    if isinstance(choice, str):
        return WordingStudy(*name, rates, None, choice)
    return WordingStudy(*name, rates, choice, None)


def halves(targets: Mapping[str, int | None], task: str, seed: int) -> tuple[frozenset[str], frozenset[str]]:
    """The targets (with their difficulty) to choose on, and those to judge on."""

    def rank(target: str) -> tuple[int, bytes]:
        digest = hashlib.sha256(f"{seed}/{task}/{target}".encode("utf-8", "replace")).digest()
        return targets[target] or 0, digest

    ordered = sorted(targets, key=rank)
    return frozenset(ordered[::2]), frozenset(ordered[1::2])


def _choose(
    cells: Mapping[str, Cell], settings: Settings | None, seed: int, name: tuple[str, str, int]
) -> Choice | str:
    """The choice, or why there is none."""
    asked = [{repr(a.target): a.difficulty for a in cell.answers} for cell in cells.values()]
    common = {target: level for target, level in asked[0].items() if all(target in other for other in asked[1:])}
    if len(common) < 2:
        return "one target only" if common else "no target in all wordings"
    first, second = halves(common, name[1], seed)
    seen = {w: rate for w, cell in cells.items() if (rate := _rate(w, _on(cell, first), None).sr) is not None}
    if not seen:
        return "no text to choose by"
    best = min(seen, key=lambda wording: (-seen[wording], wording != DEFAULT, wording_rank(wording)))
    judged = _rate(best, _on(cells[best], second), settings, "judged", *name)
    default = None
    if DEFAULT in cells:
        default = _rate(DEFAULT, _on(cells[DEFAULT], second), settings, "judged", *name)
    return Choice(best, len(first), len(second), seen[best], judged, default)


def _on(cell: Cell, targets: Collection[str]) -> list[Answer]:
    return [answer for answer in cell.answers if repr(answer.target) in targets]


def _rate(wording: str, answers: Sequence[Answer], settings: Settings | None, *name: object) -> WordingRate:
    return WordingRate(
        wording,
        len(answers),
        sum(a.items for a in answers),
        sum(a.passed for a in answers),
        success_interval(answers, settings, *name, wording) if settings else None,
    )


# --- for people --------------------------------------------------------------------------------------------------


def columns_of(studies: Sequence[WordingStudy]) -> list[str]:
    """The wordings of these studies, in order."""
    return sorted({r.wording for s in studies for r in s.rates}, key=wording_rank)


def lines_of(studies: Sequence[WordingStudy]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and lines of the table for a terminal."""
    wordings = columns_of(studies)
    header = ("model", "task", "shots", *(f"SR {w}" for w in wordings), "max − min", "sd", "chosen", "SR", "SR default")
    lines = []
    for s in studies:
        rates = {r.wording: r.sr for r in s.rates}
        choice = s.choice
        lines.append(
            (
                s.model,
                s.task,
                str(s.shots),
                *(shown(rates.get(w)) for w in wordings),
                shown(s.spread),
                shown(s.deviation),
                choice.wording if choice else "–",
                shown(choice.judged.sr if choice else None),
                shown(choice.default.sr if choice and choice.default else None),
            )
        )
    return header, lines


def notes_of(studies: Sequence[WordingStudy]) -> list[str]:
    """Where no wording could be chosen, and why."""
    return [f"{s.model}, {s.task}, {s.shots} shots: no wording is chosen: {s.reason}" for s in studies if s.reason]
