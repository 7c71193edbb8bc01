"""The report's tables: built once, written as HTML, Markdown, CSV and LaTeX.

A table holds values with what decides how they look (best of their column, not assessable, an interval); each format
shows them in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from oulibench.behaviour.code_switching import UNCERTAIN
from oulibench.behaviour.copying import THRESHOLD
from oulibench.results.analysis import Analysis
from oulibench.results.breakdown import FAMILIES, TASKS
from oulibench.results.conventions import PARSED
from oulibench.results.formats import Bold, csv_table, latex_escape, markdown_table
from oulibench.results.habits import Habits
from oulibench.results.intervals import Interval
from oulibench.results.labels import Labels
from oulibench.results.runs import different_datasets
from oulibench.results.tally import CellKey
from oulibench.results.wordings import columns_of

Kind = Literal["text", "rate", "number", "count", "p"]
NOT_ASSESSABLE = "†"
FEW = "°"
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Entry:
    """One place of a table.

    Attributes:
        value: text or number; None where there is nothing.
        kind: how a number is shown: a rate in [0, 1], a number with decimals, a count, a p-value.
        heat: whether its size is shown as a colour (0 white to 1 full).
        best: the best of its column.
        mark: a sign after the value that a note explains.
    """

    value: str | float | int | None
    kind: Kind = "text"
    interval: Interval | None = None
    heat: bool = False
    best: bool = False
    mark: str = ""

    @property
    def shown(self) -> str:
        if self.value is None:
            return NOTHING
        if isinstance(self.value, str):
            return self.value
        if self.kind == "p":
            return "< .001" if self.value < 0.001 else f"{self.value:.3f}"
        if self.kind == "count":
            return f"{self.value:,}"
        text = f"{self.value:.3f}" if self.kind == "rate" else f"{self.value:.2f}"
        return text[1:] if text in ("-0.000", "-0.00") else text.replace("-", "−")

    @property
    def range(self) -> str:
        """The interval, short; empty where there is none."""
        if self.interval is None or self.interval.low is None or self.interval.high is None:
            return ""
        limits = f"[{self.interval.low:.3f}, {self.interval.high:.3f}]".replace("-", "−")
        return limits + (FEW if self.interval.few else "")


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        name: its file name and anchor.
        caption: what it shows, one sentence or two.
        groups: for each row, what separates it from the next ones (a rule is drawn where it changes).
    """

    name: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    groups: tuple[str, ...] = ()

    def markdown(self, intervals: bool = False) -> str:
        return markdown_table(self.header, [[_plain(entry, intervals) for entry in row] for row in self.rows])

    def csv(self) -> str:
        """Numbers in full; a column with intervals is followed by its limits."""
        ranged = [any(row[i].interval for row in self.rows) for i in range(len(self.header))]
        header: list[str] = []
        for name, has in zip(self.header, ranged, strict=True):
            header += [name, f"{name} low", f"{name} high"] if has else [name]
        lines: list[list[object]] = []
        for row in self.rows:
            line: list[object] = []
            for entry, has in zip(row, ranged, strict=True):
                line.append(_rounded(entry.value))
                if has:
                    limits = entry.interval
                    line += [_rounded(limits.low), _rounded(limits.high)] if limits else [None, None]
            lines.append(line)
        return csv_table(header, lines)

    def latex(self, intervals: bool = False) -> str:
        """A booktabs `tabular` to `\\input`; the numbers' columns to the right, the best ones bold."""
        right = [all(not isinstance(row[i].value, str) for row in self.rows) for i in range(len(self.header))]
        lines = [
            f"% {latex_escape(self.title)}. Needs \\usepackage{{booktabs}} and \\usepackage[T1]{{fontenc}}.",
            f"\\begin{{tabular}}{{{''.join('r' if r else 'l' for r in right)}}}",
            "\\toprule",
            " & ".join(latex_escape(h) for h in self.header) + r" \\",
            "\\midrule",
        ]
        for number, row in enumerate(self.rows):
            if number and self.groups and self.groups[number] != self.groups[number - 1]:
                lines.append("\\midrule")
            lines.append(" & ".join(_latex(entry, intervals) for entry in row) + r" \\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


def _plain(entry: Entry, intervals: bool) -> str:
    shown = f"{entry.shown}{entry.mark}{' ' + entry.range if intervals and entry.range else ''}"
    return Bold(shown) if entry.best else shown


_LATEX_MARKS = {
    NOT_ASSESSABLE: r"\textsuperscript{\dag}",
    FEW: r"\textsuperscript{\textdegree}",
    "*": r"\textsuperscript{*}",
}


def _latex(entry: Entry, intervals: bool) -> str:
    shown = "--" if entry.value is None else latex_escape(entry.shown)
    if entry.best:
        shown = f"\\textbf{{{shown}}}"
    shown += "".join(_LATEX_MARKS.get(mark, "") for mark in entry.mark)
    if intervals and entry.range:
        shown += f" {{\\scriptsize {latex_escape(entry.range.rstrip(FEW))}}}"
        shown += _LATEX_MARKS[FEW] if entry.range.endswith(FEW) else ""
    return shown


def mark_best(rows: Sequence[tuple[Entry, ...]], columns: Iterable[int]) -> list[tuple[Entry, ...]]:
    """The rows with the highest rate of each of these columns marked; not where it is 0, nor where all are equal."""
    marked = [list(row) for row in rows]
    for column in columns:
        values = [
            row[column].value for row in rows if row[column].mark != NOT_ASSESSABLE and row[column].value is not None
        ]
        numbers = [v for v in values if isinstance(v, int | float)]
        if len(numbers) < 2 or not max(numbers) or max(numbers) == min(numbers):
            continue
        for row in marked:
            if row[column].value == max(numbers) and row[column].mark != NOT_ASSESSABLE:
                row[column] = replace(row[column], best=True)
    return [tuple(row) for row in marked]


# --- the tables --------------------------------------------------------------------------------------------------


def all_tables(analysis: Analysis, labels: Labels) -> list[Table]:
    """Every table that has rows, in the order of the report."""
    builders: tuple[Callable[[Analysis, Labels], Table], ...] = (
        main_table,
        details_table,
        length_table,
        difficulty_table,
        target_table,
        comparison_table,
        wording_table,
        convention_table,
        published_table,
        form_table,
        copying_table,
        language_table,
        repetition_table,
        shortcut_table,
        palindrome_table,
        reflection_table,
    )
    return [table for build in builders if (table := build(analysis, labels)).rows]


def main_table(analysis: Analysis, labels: Labels) -> Table:
    """Systems × tasks, one row per system and number of demonstrations, with the averages."""
    by_key = {CellKey(r.system, r.task, r.shots): r for r in analysis.results}
    averages = {(a.system, a.shots, a.over): a for a in analysis.averages}
    overs = [o for o in (TASKS, FAMILIES) if any(a.over == o for a in analysis.averages)]
    rows: list[tuple[Entry, ...]] = []
    groups: list[str] = []
    for shots in analysis.shots:
        block = []
        for system in analysis.systems:
            if not any(key.system == system and key.shots == shots for key in analysis.cells):
                continue
            row = [Entry(system), Entry(shots, "count")]
            for task in analysis.tasks:
                key = CellKey(system, task, shots)
                row.append(
                    Entry(by_key[key].sr, "rate", analysis.intervals[key], heat=True, mark=_assessable(analysis, key))
                    if key in by_key
                    else Entry(None, "rate")
                )
            for over in overs:
                average = averages.get((system, shots, over))
                row.append(
                    Entry(average.value, "rate", average.interval, heat=True) if average else Entry(None, "rate")
                )
            block.append(tuple(row))
        rows += mark_best(block, range(2, 2 + len(analysis.tasks) + len(overs)))
        groups += [str(shots)] * len(block)
    header = [labels.column("model"), labels.column("shots")]
    header += [labels.task(t) for t in analysis.tasks] + [labels.over(o) for o in overs]
    return Table("main", labels.section("main"), labels.text("main"), tuple(header), tuple(rows), tuple(groups))


def _assessable(analysis: Analysis, key: CellKey) -> str:
    habits = analysis.habits.get(key)
    return NOT_ASSESSABLE if habits and habits.copying and not habits.copying.assessable else ""


def _where(key: CellKey, labels: Labels) -> tuple[Entry, Entry, Entry]:
    return Entry(key.system), Entry(labels.task(key.task)), Entry(key.shots, "count")


def _where_header(labels: Labels) -> tuple[str, str, str]:
    return labels.column("model"), labels.column("task"), labels.column("shots")


def _per_cell(
    analysis: Analysis,
    labels: Labels,
    name: str,
    title: str,
    caption: str,
    columns: Sequence[str],
    row: Callable[[CellKey], Sequence[Entry] | None],
) -> Table:
    """A table with one row per cell; a cell without the measurement has none."""
    rows, groups = [], []
    for key in analysis.cells:
        entries = row(key)
        if entries is not None:
            rows.append((*_where(key, labels), *entries))
            groups.append(key.system)
    header = (*_where_header(labels), *(labels.column(c) for c in columns))
    return Table(name, title, caption, header, tuple(rows), tuple(groups))


def details_table(analysis: Analysis, labels: Labels) -> Table:
    by_key = {CellKey(r.system, r.task, r.shots): r for r in analysis.results}

    def row(key: CellKey) -> Sequence[Entry]:
        r = by_key[key]
        formal = r.formal / r.items if r.items else None
        return (
            Entry(r.items, "count"),
            Entry(r.sr, "rate", analysis.intervals[key], heat=True, mark=_assessable(analysis, key)),
            Entry(r.yield_, "rate"),
            Entry(r.passed_per_requested, "rate", heat=True),
            Entry(r.unique_sr, "rate", heat=True),
            Entry(formal, "rate", heat=True),
        )

    columns = ("n", "sr", "yield", "passed_per_requested", "unique_sr", "formal_sr")
    resamples, seed = analysis.settings.resamples, analysis.settings.seed
    caption = labels.text("intervals", resamples=resamples, seed=seed)
    return _per_cell(analysis, labels, "details", labels.section("main"), caption, columns, row)


def length_table(analysis: Analysis, labels: Labels) -> Table:
    def row(key: CellKey) -> Sequence[Entry] | None:
        fit = analysis.fits.get(key)
        if fit is None:
            return None
        numbers = (fit.items.value, fit.means.value, fit.mean_error, fit.mean_absolute_error, fit.slope)
        return [Entry(number, "number") for number in numbers]

    columns = ("rho_items", "rho_means", "mean_error", "mae", "slope")
    return _per_cell(analysis, labels, "length", labels.section("length"), labels.text("fits"), columns, row)


def difficulty_table(analysis: Analysis, labels: Labels) -> Table:
    header = (*_where_header(labels), *(labels.column(c) for c in ("level", "answers", "n", "sr")))
    rows = [
        (
            *_where(p.key, labels),
            Entry(p.value, "count"),
            Entry(p.answers, "count"),
            Entry(p.items, "count"),
            Entry(p.sr, "rate", p.interval, heat=True),
        )
        for p in analysis.difficulty
    ]
    groups = [f"{p.key.system}/{p.key.task}" for p in analysis.difficulty]
    title = labels.section("difficulty")
    return Table("difficulty", title, labels.text("difficulty"), header, tuple(rows), tuple(groups))


def target_table(analysis: Analysis, labels: Labels) -> Table:
    header = (*_where_header(labels), *(labels.column(c) for c in ("target", "answers", "n", "sr")))
    rows = [
        (
            *_where(p.key, labels),
            Entry(NOTHING if p.value is None else str(p.value)),
            Entry(p.answers, "count"),
            Entry(p.items, "count"),
            Entry(p.sr, "rate", p.interval, heat=True),
        )
        for p in analysis.targets
    ]
    groups = [f"{p.key.system}/{p.key.task}" for p in analysis.targets]
    return Table("targets", labels.column("target"), labels.text("difficulty"), header, tuple(rows), tuple(groups))


def comparison_table(analysis: Analysis, labels: Labels) -> Table:
    several = len(analysis.shots) > 1

    def side(of: tuple[str, int]) -> str:
        return f"{of[0]}, {of[1]} {labels.ui['demonstrations']}" if several else of[0]

    rows, groups = [], []
    for comparison in analysis.comparisons:
        for d in comparison.tasks:
            rows.append(
                (
                    Entry(side(comparison.first)),
                    Entry(side(comparison.second)),
                    Entry(labels.task(d.task)),
                    Entry(d.first, "rate"),
                    Entry(d.second, "rate"),
                    Entry(d.difference, "rate", d.interval, best=d.p_holm is not None and d.p_holm < 0.05),
                    Entry(d.pairs, "count"),
                    Entry(d.p, "p"),
                    Entry(d.p_holm, "p"),
                )
            )
            groups.append(f"{comparison.first}/{comparison.second}")
    columns = ("first", "second", "task", "first", "second", "difference", "pairs", "p", "p_holm")
    header = [labels.column(c) for c in columns]
    header[3], header[4] = f"SR {header[3].lower()}", f"SR {header[4].lower()}"
    title = labels.section("comparisons")
    return Table("comparisons", title, labels.text("comparisons"), tuple(header), tuple(rows), tuple(groups))


def wording_table(analysis: Analysis, labels: Labels) -> Table:
    """SR under each wording, its spread, and the wording chosen on half of the targets, judged on the other half."""
    wordings = columns_of(analysis.wordings)
    rows, groups = [], []
    for s in analysis.wordings:
        rates = {r.wording: r for r in s.rates}
        judged = s.choice.judged if s.choice else None
        default = s.choice.default if s.choice else None
        asked = [(r.sr, r.interval) if (r := rates.get(w)) else (None, None) for w in wordings]
        rows.append(
            (
                Entry(s.model),
                Entry(labels.task(s.task)),
                Entry(s.shots, "count"),
                *(Entry(sr, "rate", interval, heat=True) for sr, interval in asked),
                Entry(s.spread, "rate"),
                Entry(s.deviation, "rate"),
                Entry(s.choice.wording if s.choice else s.reason),
                Entry(judged.sr if judged else None, "rate", judged.interval if judged else None, heat=True),
                Entry(default.sr if default else None, "rate", default.interval if default else None, heat=True),
                Entry(s.choice.gain if s.choice else None, "rate"),
            )
        )
        groups.append(s.model)
    last = ("spread", "deviation", "chosen", "sr_chosen", "sr_default", "gain")
    header = (*_where_header(labels), *(f"SR {w}" for w in wordings), *(labels.column(c) for c in last))
    caption = labels.text("wordings", seed=analysis.settings.seed)
    return Table("wordings", labels.section("wordings"), caption, header, tuple(rows), tuple(groups))


def convention_table(analysis: Analysis, labels: Labels) -> Table:
    columns = ("convention", "n", "sr", "changed")
    header = (*_where_header(labels), *(labels.column(c) for c in columns))
    rows = [
        (
            *_where(c.key, labels),
            Entry(c.convention),
            Entry(c.items, "count", mark="*" if c.sampled else ""),
            Entry(c.sr, "rate", heat=True),
            Entry(c.changed, "count"),
        )
        for c in analysis.conventions
    ]
    groups = [f"{c.key.system}/{c.key.task}" for c in analysis.conventions]
    caption = labels.text("conventions", parsed=PARSED)
    return Table("conventions", labels.section("conventions"), caption, header, tuple(rows), tuple(groups))


def published_table(analysis: Analysis, labels: Labels) -> Table:
    """Published figures; where one of the systems is the model in question, its own figure and the difference."""
    source = analysis.published
    by_key = {CellKey(r.system, r.task, r.shots): r.sr for r in analysis.results}
    by_key |= {CellKey(a.system, "average", a.shots): a.value for a in analysis.averages if a.over == TASKS}
    by_key_rho = {key: fit.items.value for key, fit in analysis.fits.items()}
    own: dict[str, list[str]] = {}
    for system, model in analysis.counterparts.items():
        own.setdefault(model, []).append(system)
    rows, groups = [], []
    for figure in source.figures:
        for system in sorted(own.get(figure.model, [])) or [""]:
            values = by_key if figure.measure == "sr" else by_key_rho
            here = values.get(CellKey(system, figure.task, figure.shots))
            name = labels.over(TASKS) if figure.task == "average" else labels.task(figure.task)
            rows.append(
                (
                    Entry(figure.model + (f" ({system})" if len(own.get(figure.model, [])) > 1 else "")),
                    Entry(name),
                    Entry(figure.shots, "count"),
                    Entry(figure.value, "rate", heat=True),
                    Entry(figure.printed),
                    Entry(here, "rate", heat=here is not None),
                    Entry(None if here is None else here - figure.value, "rate"),
                    Entry(figure.note),
                )
            )
            groups.append(figure.task)
    columns = ("model", "task", "shots", "published", "printed", "own", "difference", "note")
    caption = labels.text("published", authors=source.authors, title=source.title, venue=source.venue, note=source.note)
    if not analysis.counterparts:
        caption += " " + labels.text("no_counterpart")
    header = tuple(labels.column(c) for c in columns)
    return Table("published", labels.section("published"), caption, header, tuple(rows), tuple(groups))


# --- behaviour ---


def form_table(analysis: Analysis, labels: Labels) -> Table:
    def row(key: CellKey) -> Sequence[Entry]:
        f = _habits(analysis, key).form
        counts = (f.answers, f.exact, f.fewer, f.more, f.remarks, f.refused, f.empty, f.unreadable + f.unclosed)
        return [Entry(n, "count") for n in (*counts, f.truncated, f.errors)]

    columns = (
        "answers",
        "as_asked",
        "fewer",
        "more",
        "remarks",
        "refused",
        "empty",
        "unreadable",
        "truncated",
        "errors",
    )
    return _per_cell(analysis, labels, "form", labels.panel("form"), labels.text("form"), columns, row)


def _habits(analysis: Analysis, key: CellKey) -> Habits:
    return analysis.habits[key]


def copying_table(analysis: Analysis, labels: Labels) -> Table:
    def row(key: CellKey) -> Sequence[Entry] | None:
        c = _habits(analysis, key).copying
        if c is None or not c.items:
            return None
        return (
            Entry(c.items, "count"),
            Entry(c.exact / c.items, "rate", heat=True),
            Entry(c.near / c.items, "rate", heat=True),
            Entry(c.sr_with, "rate", mark="" if c.assessable else NOT_ASSESSABLE),
            Entry(c.sr_without, "rate"),
            Entry(labels.ui["yes" if c.assessable else "no"]),
        )

    columns = ("n", "copies", "near_copies", "sr", "sr_without_copies", "assessable")
    caption = labels.text("copying", threshold=round(THRESHOLD))
    return _per_cell(analysis, labels, "copying", labels.panel("copying"), caption, columns, row)


def language_table(analysis: Analysis, labels: Labels) -> Table:
    def row(key: CellKey) -> Sequence[Entry] | None:
        found = _habits(analysis, key).languages
        if not found.items:
            return None
        return (
            Entry(found.items, "count"),
            Entry(found.foreign / found.items, "rate", heat=True),
            Entry(found.counts.get(UNCERTAIN, 0) / found.items, "rate"),
        )

    columns = ("n", "foreign", "uncertain")
    title, caption = labels.panel("languages"), labels.text("languages")
    return _per_cell(analysis, labels, "languages", title, caption, columns, row)


def repetition_table(analysis: Analysis, labels: Labels) -> Table:
    def row(key: CellKey) -> Sequence[Entry] | None:
        r = _habits(analysis, key).repetition
        if not r.items:
            return None
        return (
            Entry(r.items, "count"),
            Entry(r.exact, "rate", heat=True),
            Entry(r.near, "rate", heat=True),
            Entry(r.distinct_1, "rate"),
            Entry(r.distinct_2, "rate"),
            Entry(r.self_similarity, "rate", heat=True),
            Entry(_counted(r.openings)),
            Entry(_counted(r.words)),
        )

    columns = ("n", "exact", "near", "distinct_1", "distinct_2", "self_similarity", "openings", "words")
    caption = labels.text("repetition")
    return _per_cell(analysis, labels, "repetition", labels.panel("repetition"), caption, columns, row)


def _counted(pairs: Sequence[tuple[str, int]], most: int = 3) -> str:
    return ", ".join(f"{what[:40]} ({n})" for what, n in pairs[:most])


def shortcut_table(analysis: Analysis, labels: Labels) -> Table:
    def row(key: CellKey) -> Sequence[Entry] | None:
        s = _habits(analysis, key).shortcuts
        if s is None or not s.items:
            return None
        counts = (s.shuffled, s.same, s.non_words, s.carried_over)
        return [Entry(s.items, "count"), *(Entry(n / s.items, "rate", heat=True) for n in counts)]

    columns = ("n", "shuffled", "same", "non_words", "carried_over")
    caption = labels.text("shortcuts")
    return _per_cell(analysis, labels, "shortcuts", labels.panel("shortcuts"), caption, columns, row)


def palindrome_table(analysis: Analysis, labels: Labels) -> Table:
    def row(key: CellKey) -> Sequence[Entry] | None:
        p = _habits(analysis, key).palindromes
        if p is None:
            return None
        share = p.known / p.passed if p.passed else None
        return Entry(p.passed, "count"), Entry(p.known, "count"), Entry(share, "rate", heat=True)

    columns = ("passed", "known", "known")
    table = _per_cell(
        analysis, labels, "palindromes", labels.panel("palindromes"), labels.text("palindromes"), columns, row
    )
    return replace(table, header=(*table.header[:-1], f"{table.header[-1]} / {labels.column('passed').lower()}"))


def reflection_table(analysis: Analysis, labels: Labels) -> Table:
    """What models say about their own texts, against the checker and against the request."""
    rows, groups = [], []
    for a in analysis.self_assessments:
        rows.append(
            (
                *_where(a.key, labels),
                Entry(labels.ui.get(f"conversation_{a.conversation}", a.conversation)),
                Entry(a.asked, "count"),
                Entry(a.unreadable_share, "rate"),
                Entry(a.accuracy, "rate", a.interval, heat=True),
                Entry(a.absolute_error, "number"),
                Entry(a.bias, "number"),
                Entry(a.claimed_share, "rate"),
                Entry(a.complied_share, "rate"),
                Entry(a.over_claiming, "rate", heat=True),
                Entry(a.under_claiming, "rate", heat=True),
            )
        )
        groups.append(a.key.system)
    columns = (
        "conversation",
        "asked",
        "unreadable",
        "accuracy",
        "mae",
        "bias",
        "claimed",
        "complied",
        "over_claiming",
        "under_claiming",
    )
    header = (*_where_header(labels), *(labels.column(c) for c in columns))
    title = labels.panel("self_assessment")
    return Table("self_assessment", title, labels.text("self_assessment"), header, tuple(rows), tuple(groups))


def notes(analysis: Analysis, labels: Labels, requests: Mapping[str, tuple[int, int]]) -> list[str]:
    """What a reader must know before the numbers: what failed, what cannot be assessed, what is undefined, which run is
    incomplete (`requests`: run → answers stored, answers expected)."""
    found = [
        labels.text("incomplete", run=run, answers=f"{have:,}", requests=f"{want:,}")
        for run, (have, want) in requests.items()
        if have < want
    ]
    if which := different_datasets(analysis.runs, labels.text("dataset_unknown")):
        found.insert(0, labels.text("datasets_differ", which=which))
    for r in analysis.results:
        where = {"model": r.system, "task": labels.task(r.task), "shots": r.shots}
        copying = analysis.habits[CellKey(r.system, r.task, r.shots)].copying
        if copying and not copying.assessable:
            found.append(labels.text("not_assessable", share=f"{copying.share:.0%}", **where))
        if r.spearman and r.spearman.value is None:
            found.append(labels.text("undefined", reason=r.spearman.reason, **where))
        if r.failed:
            found.append(labels.text("failed_items", n=r.failed, **where))
    return found
