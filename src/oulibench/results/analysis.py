"""Everything that is known about one or more runs, computed once: what tables, figures and the page are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oulibench.results.breakdown import Average, Part, averages, by_difficulty, by_target
from oulibench.results.comparison import Comparison, compare
from oulibench.results.conventions import Convention, conventions_of
from oulibench.results.correlation import LengthFit, length_fit
from oulibench.results.habits import Demonstrations, Habits, habits_of
from oulibench.results.intervals import Interval, Settings, success_interval
from oulibench.results.published import Source, load_source
from oulibench.results.reflection import Claim, SelfAssessment, self_assessments
from oulibench.results.runs import Run, by_dataset
from oulibench.results.table import Bookkeeping, Result, bookkeeping, reading_order, results_of, task_rank
from oulibench.results.tally import Cell, CellKey
from oulibench.results.wordings import Systems, WordingStudy, wording_studies
from oulibench.version import __version__

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one or more runs show.

    Attributes:
        cells: the counted rows, in reading order; items are kept.
        counterparts: system → the published model it is, where its name says so.
    """

    runs: tuple[Run, ...]
    settings: Settings
    cells: Mapping[CellKey, Cell]
    results: tuple[Result, ...]
    books: Bookkeeping
    intervals: Mapping[CellKey, Interval]
    averages: tuple[Average, ...]
    difficulty: tuple[Part, ...]
    targets: tuple[Part, ...]
    fits: Mapping[CellKey, LengthFit]
    comparisons: tuple[Comparison, ...]
    conventions: tuple[Convention, ...]
    habits: Mapping[CellKey, Habits]
    published: Source
    counterparts: Mapping[str, str]
    signatures: Mapping[str, int]
    wordings: tuple[WordingStudy, ...] = ()
    self_assessments: tuple[SelfAssessment, ...] = ()

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(key.system for key in self.cells))

    @property
    def tasks(self) -> list[str]:
        return sorted({key.task for key in self.cells}, key=lambda task: (task_rank(task), task))

    @property
    def shots(self) -> list[int]:
        return sorted({key.shots for key in self.cells})

    def result(self, system: str, task: str, shots: int) -> Result | None:
        wanted = CellKey(system, task, shots)
        return next((r for r in self.results if (r.system, r.task, r.shots) == wanted), None)

    def average(self, system: str, shots: int, over: str) -> Average | None:
        return next((a for a in self.averages if (a.system, a.shots, a.over) == (system, shots, over)), None)

    def fields(self) -> dict[str, Any]:
        """JSON-ready: every number that the report shows."""
        return {
            "oulibench": __version__,
            "runs": [{"name": run.name, "settings": dict(run.settings)} for run in self.runs],
            "intervals": {"level": 0.95, "resamples": self.settings.resamples, "seed": self.settings.seed},
            "results": [
                {**r.fields(), "interval": self.intervals[CellKey(r.system, r.task, r.shots)].fields()}
                for r in self.results
            ],
            "averages": [a.fields() for a in self.averages],
            "difficulty": [p.fields("difficulty") for p in self.difficulty],
            "targets": [p.fields("target") for p in self.targets],
            "length": [{"model": k.system, "task": k.task, "shots": k.shots, **_fit(f)} for k, f in self.fits.items()],
            "comparisons": [
                {"first": c.first, "second": c.second, "tasks": [d.fields() for d in c.tasks]} for c in self.comparisons
            ],
            "conventions": [c.fields() for c in self.conventions],
            "behaviour": [h.fields() for h in self.habits.values()],
            "wordings": [s.fields() for s in self.wordings],
            "self_assessment": [a.fields() for a in self.self_assessments],
            "datasets": [{"dataset": line, "runs": names} for line, names in by_dataset(self.runs).items()],
            "signatures": dict(self.signatures),
        }


def _fit(fit: LengthFit) -> dict[str, Any]:
    return {
        "spearman_items": fit.items.value,
        "spearman_items_undefined": fit.items.reason,
        "spearman_means": fit.means.value,
        "spearman_means_undefined": fit.means.reason,
        "mean_error": fit.mean_error,
        "mean_absolute_error": fit.mean_absolute_error,
        "slope": fit.slope,
    }


def analyse(
    runs: Sequence[Run],
    cells: Mapping[CellKey, Cell],
    demonstrations: Demonstrations,
    settings: Settings,
    *,
    remarks: Mapping[str, Mapping[tuple[str, int], bool]] | None = None,
    languages: Sequence[str] = ("it", "en"),
    parse: bool = True,
    wordings: Mapping[str, Systems] | None = None,
    claims: Iterable[Claim] = (),
    progress: Progress = lambda _: None,
) -> Analysis:
    """Compute everything.

    Args:
        runs: where the rows came from.
        cells: the counted rows, with their items.
        demonstrations: finds the texts of demonstrations.
        settings: seed and number of resamples of intervals and tests.
        remarks: system → (request id, epoch) → whether the answer holds text beside its items.
        languages: languages that texts are told apart in.
        parse: whether conventions that need the parser are computed.
        wordings: label → the systems that are one model in several wordings.
        claims: what models say about their own texts.
        progress: told what is being done.
    """
    ordered = {key: cells[key] for key in sorted(cells, key=reading_order)}
    progress("intervals")
    intervals = {key: success_interval(cell.answers, settings, *key) for key, cell in ordered.items()}
    means = averages(ordered, settings)
    difficulty = [part for cell in ordered.values() for part in by_difficulty(cell, settings)]
    targets = [part for cell in ordered.values() for part in by_target(cell, settings)]
    fits = {k: length_fit(c.requested, c.obtained) for k, c in ordered.items() if c.family == "quantitative"}
    progress("comparisons")
    comparisons = [compare(ordered, a, b, settings) for a, b in what_to_compare(ordered, means)]
    progress("conventions")
    conventions = [c for cell in ordered.values() for c in conventions_of(cell, parse)]
    progress("behaviour")
    habits = {
        key: habits_of(cell, demonstrations, (remarks or {}).get(key.system), languages)
        for key, cell in ordered.items()
    }
    signatures: Counter[str] = Counter()
    for cell in ordered.values():
        signatures += cell.signatures
    published = load_source()
    counterparts = {s: c for s in {k.system for k in ordered} if (c := published.counterpart(s))}
    return Analysis(
        runs=tuple(runs),
        settings=settings,
        cells=ordered,
        results=tuple(results_of(ordered.values())),
        books=bookkeeping(ordered.values()),
        intervals=intervals,
        averages=tuple(means),
        difficulty=tuple(difficulty),
        targets=tuple(targets),
        fits=fits,
        comparisons=tuple(c for c in comparisons if c.tasks),
        conventions=tuple(conventions),
        habits=habits,
        published=published,
        counterparts=counterparts,
        signatures=dict(sorted(signatures.items())),
        wordings=tuple(wording_studies(ordered, wordings or {}, settings, settings.seed)),
        self_assessments=tuple(self_assessments(claims, settings)),
    )


def what_to_compare(
    cells: Mapping[CellKey, Cell], means: Sequence[Average]
) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    """Each number of demonstrations against the smallest of its system; each system against the one with the highest
    average over tasks among those with the same number. Not every pair with every other: the more tests, the less each
    of them can say.
    """
    columns = sorted({(key.system, key.shots) for key in cells})
    pairs = []
    for system in dict.fromkeys(system for system, _ in columns):
        shots = [k for s, k in columns if s == system]
        pairs += [((system, shots[0]), (system, k)) for k in shots[1:]]
    for k in sorted({shots for _, shots in columns}):
        here = [(a.value, a.system) for a in means if a.shots == k and a.over == "tasks"]
        if len(here) > 1:
            best = min(here, key=lambda pair: (-pair[0], pair[1]))[1]
            pairs += [((best, k), (system, k)) for _, system in sorted(here, reverse=True) if system != best]
    return pairs
