"""The report's figures: drawn once with matplotlib, written as SVG and PDF, and put into the page in its own colours.

The same data give the same bytes: no dates, ids derived from the figure's name, text kept as text.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oulibench.results.analysis import Analysis
from oulibench.results.breakdown import FEW_SHOT_TASKS
from oulibench.results.formats import one_line
from oulibench.results.intervals import Interval
from oulibench.results.labels import Labels
from oulibench.results.tally import CellKey
from oulibench.results.wordings import columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1b1f24"
FAINT: Final = "#d4d8dd"
# Distinguishable for all kinds of colour vision (Okabe & Ito 2008, darkened for white paper); markers and dashes tell
# the systems apart without colour.
PALETTE: Final = ("#0072b2", "#d55e00", "#00876c", "#b5548f", "#8a6d00", "#3a86c8", "#6b4fa0", "#5b6770")
_MARKERS: Final = "osD^vPX*"
_DASHES: Final = ("-", "--", "-.", ":")
_LONGEST_NAME: Final = 44
_COLUMNS: Final = 4


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished figure.

    Attributes:
        svg, pdf: the files' content.
        alternative: what the figure shows, for those who do not see it.
    """

    name: str
    alternative: str
    svg: str
    pdf: bytes

    @property
    def inline(self) -> str:
        """The SVG for the page: its colours are the page's, so that it follows light and dark."""
        body = self.svg[self.svg.index("<svg") :]
        for number, colour in enumerate(PALETTE):
            body = body.replace(colour, f"var(--s{number})")
        body = body.replace(INK, "var(--ink)").replace(FAINT, "var(--line)")
        # It shrinks with the page, but its letters never grow beyond those of the text around it.
        width = re.search(r'<svg[^>]*? width="([\d.]+)pt"', body)
        body = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", body, count=1)
        body = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", body, count=1)
        if width:
            body = body.replace("<svg", f'<svg style="max-width: {float(width[1]) * 1.75:.0f}px"', 1)
        # Ids are prefixed, so that two figures on a page do not share any.
        body = re.sub(r'\bid="', f'id="{self.name}-', body)
        return re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{self.name}-", body)


def all_figures(analysis: Analysis, labels: Labels) -> list[Drawing]:
    """Every figure that has something to show, in the order of the report."""
    builders: tuple[tuple[str, str, Callable[[Analysis, Labels], Figure | None]], ...] = (
        ("few_shot", "few_shot", few_shot_figure),
        ("length", "length", length_figure),
        ("difficulty", "difficulty", difficulty_figure),
        ("wordings", "wording_figure", wording_figure),
    )
    drawings = []
    with _style():
        for name, text, build in builders:
            figure = build(analysis, labels)
            if figure is not None:
                drawings.append(_finish(name, labels.text(text), figure))
    return drawings


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    settings: Any = {  # matplotlib types the keys as literals
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "text.parse_math": False,  # a model's name may hold a dollar sign
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.frameon": False,
        "lines.linewidth": 1.5,
        "lines.markersize": 4.5,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _finish(name: str, alternative: str, figure: Figure) -> Drawing:
    import matplotlib as mpl

    svg, pdf = io.StringIO(), io.BytesIO()
    figure.draw_without_rendering()  # lays the panels out; once is enough for both files
    figure.set_layout_engine("none")
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None})
    return Drawing(name, alternative, svg.getvalue(), pdf.getvalue())


def _grid(panels: int, width: float = 2.7, height: float = 2.3, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure with this many panels, row by row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(panels, _COLUMNS)
    rows = -(-panels // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)  # no window, whatever the user's backend
    axes = figure.subplots(rows, columns, squeeze=False, sharey=share_y).ravel().tolist()
    for spare in axes[panels:]:
        spare.set_visible(False)
    return figure, axes[:panels]


def _short(name: str, longest: int = _LONGEST_NAME) -> str:
    name = one_line(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _look(number: int) -> dict[str, Any]:
    return {
        "color": PALETTE[number % len(PALETTE)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _DASHES[(number // len(PALETTE)) % len(_DASHES)],
    }


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if len(entries) > 1:
        figure.legend(
            list(entries.values()), list(entries), loc="outside lower center", ncols=min(len(entries), 3), fontsize=8.5
        )


def _bars(value: float, interval: Interval | None) -> tuple[float, float]:
    if interval is None or interval.low is None or interval.high is None:
        return 0.0, 0.0
    return max(0.0, value - interval.low), max(0.0, interval.high - value)


def _curve(
    ax: Axes, points: Sequence[tuple[int, float, Interval | None]], number: int, name: str, spread: float
) -> None:
    """Points with their intervals, joined; moved aside a little, so that bars of several systems stay apart."""
    xs = [x + spread for x, _, _ in points]
    ys = [y for _, y, _ in points]
    bars = [_bars(y, interval) for _, y, interval in points]
    look = _look(number)
    ax.plot(xs, ys, label=_short(name), **look)
    ax.errorbar(
        xs, ys, yerr=[[b[0] for b in bars], [b[1] for b in bars]], fmt="none", ecolor=look["color"], elinewidth=0.9
    )


def few_shot_figure(analysis: Analysis, labels: Labels) -> Figure | None:
    """SR by number of demonstrations: a panel per task that was asked with more than one number, and their average."""
    shots_of: dict[str, set[int]] = {}
    for key in analysis.cells:
        shots_of.setdefault(key.task, set()).add(key.shots)
    rates = {CellKey(r.system, r.task, r.shots): r.sr for r in analysis.results}
    tasks = [
        task
        for task in analysis.tasks
        if len(shots_of[task]) > 1 and any(key.task == task and rate is not None for key, rate in rates.items())
    ]
    if not tasks:
        return None
    means = {(a.system, a.shots): a for a in analysis.averages if a.over == FEW_SHOT_TASKS}
    figure, axes = _grid(len(tasks) + bool(means), share_y=True)
    step = max(analysis.shots) / 60 / max(1, len(analysis.systems) - 1) * 2 if len(analysis.systems) > 1 else 0.0
    for ax, task in zip(axes, [*tasks, None], strict=False):
        for number, system in enumerate(analysis.systems):
            points: list[tuple[int, float, Interval | None]] = []
            for k in analysis.shots:
                if task is None:
                    if (system, k) in means:
                        points.append((k, means[system, k].value, means[system, k].interval))
                elif (rate := rates.get(CellKey(system, task, k))) is not None:
                    points.append((k, rate, analysis.intervals[CellKey(system, task, k)]))
            if points:
                _curve(ax, points, number, system, (number - (len(analysis.systems) - 1) / 2) * step)
        ax.set_title(labels.over(FEW_SHOT_TASKS) if task is None else one_line(labels.task(task)))
        ax.set_ylim(-0.03, 1.03)
        ax.set_xticks(analysis.shots)
        ax.set_xlabel(labels.ui["demonstrations"])
    axes[0].set_ylabel(labels.ui["success_rate"])
    _legend(figure, axes)
    return figure


def length_figure(analysis: Analysis, labels: Labels) -> Figure | None:
    """Obtained against requested length: a panel per quantitative task and system, fewest and most demonstrations."""
    import numpy as np

    panels = [
        (task, system)
        for task in analysis.tasks
        for system in analysis.systems
        if any(k.task == task and k.system == system and analysis.cells[k].obtained for k in analysis.fits)
    ]
    if not panels:
        return None
    figure, axes = _grid(len(panels), height=2.5)
    for ax, (task, system) in zip(axes, panels, strict=True):
        keys = [k for k in analysis.fits if (k.task, k.system) == (task, system) and analysis.cells[k].obtained]
        ends = [keys[0], keys[-1]] if len(keys) > 1 else keys
        largest = 0.0
        targets: set[float] = set()
        for number, key in enumerate(ends):
            wanted, found = np.asarray(analysis.cells[key].requested), np.asarray(analysis.cells[key].obtained)
            colour = PALETTE[number]
            asked = np.unique(wanted)
            targets |= set(asked.tolist())
            aside = (number - (len(ends) - 1) / 2) * (asked.max() - asked.min() + 1) * 0.018
            quantiles = np.array([np.quantile(found[wanted == t], [0.05, 0.25, 0.75, 0.95]) for t in asked])
            means = [found[wanted == t].mean() for t in asked]
            ax.vlines(asked + aside, quantiles[:, 0], quantiles[:, 3], color=colour, linewidth=0.8)
            ax.vlines(asked + aside, quantiles[:, 1], quantiles[:, 2], color=colour, linewidth=3)
            name = f"{key.shots} {labels.ui['demonstrations']}"
            ax.plot(asked + aside, means, linestyle="none", marker=_MARKERS[number], color=colour, label=name)
            largest = max(largest, float(asked.max()), float(quantiles[:, 3].max()))
        ax.plot([0, largest * 1.05], [0, largest * 1.05], color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
        ax.set_xlim(0, max(targets) * 1.08)
        ax.set_ylim(0, largest * 1.08)
        ax.set_title(f"{_short(labels.task(task), 28)}\n{_short(system, 28)}")
    for ax in axes[::_COLUMNS]:
        ax.set_ylabel(labels.ui["obtained"])
    for ax in axes[-_COLUMNS:]:
        ax.set_xlabel(labels.ui["requested"])
    _legend(figure, axes)
    return figure


def difficulty_figure(analysis: Analysis, labels: Labels) -> Figure | None:
    """SR by difficulty level with the fewest demonstrations: a panel per task that has more than one level."""
    fewest: dict[tuple[str, str], int] = {}
    for key in analysis.cells:
        fewest.setdefault((key.system, key.task), key.shots)
    parts = [p for p in analysis.difficulty if fewest[p.key.system, p.key.task] == p.key.shots and p.sr is not None]
    tasks = [t for t in analysis.tasks if len({p.value for p in parts if p.key.task == t}) > 1]
    if not tasks:
        return None
    figure, axes = _grid(len(tasks), share_y=True)
    step = 0.24 / max(1, len(analysis.systems) - 1) if len(analysis.systems) > 1 else 0.0
    for ax, task in zip(axes, tasks, strict=True):
        levels = sorted({int(p.value) for p in parts if p.key.task == task and isinstance(p.value, int)})
        for number, system in enumerate(analysis.systems):
            points: list[tuple[int, float, Interval | None]] = [
                (int(p.value), p.sr, p.interval)
                for p in parts
                if (p.key.task, p.key.system) == (task, system) and isinstance(p.value, int) and p.sr is not None
            ]
            if points:
                _curve(ax, points, number, system, (number - (len(analysis.systems) - 1) / 2) * step)
        ax.set_title(one_line(labels.task(task)))
        ax.set_ylim(-0.03, 1.03)
        ax.set_xticks(levels)
        ax.set_xlim(levels[0] - 0.4, levels[-1] + 0.4)
    for ax in axes[::_COLUMNS]:
        ax.set_ylabel(labels.ui["success_rate"])
    for ax in axes[-_COLUMNS:]:
        ax.set_xlabel(labels.column("level").lower())
    _legend(figure, axes)
    return figure


def wording_figure(analysis: Analysis, labels: Labels) -> Figure | None:
    """SR by wording with the fewest demonstrations: a panel per task that was asked in several wordings."""
    fewest: dict[tuple[str, str], int] = {}
    for study in analysis.wordings:
        place = (study.model, study.task)
        fewest[place] = min(study.shots, fewest.get(place, study.shots))
    studies = [s for s in analysis.wordings if fewest[s.model, s.task] == s.shots and s.spread is not None]
    if not studies:
        return None
    wordings = columns_of(studies)
    models = list(dict.fromkeys(s.model for s in studies))
    tasks = list(dict.fromkeys(s.task for s in studies))
    figure, axes = _grid(len(tasks), share_y=True)
    step = 0.4 / max(1, len(models) - 1) if len(models) > 1 else 0.0
    for ax, task in zip(axes, tasks, strict=True):
        for study in studies:
            if study.task != task:
                continue
            number = models.index(study.model)
            aside = (number - (len(models) - 1) / 2) * step
            points = [(wordings.index(r.wording) + aside, r.sr, r.interval) for r in study.rates if r.sr is not None]
            bars = [_bars(sr, interval) for _, sr, interval in points]
            ax.errorbar(
                [x for x, _, _ in points],
                [sr for _, sr, _ in points],
                yerr=[[b[0] for b in bars], [b[1] for b in bars]],
                label=_short(study.model),
                elinewidth=0.9,
                **{**_look(number), "linestyle": "none"},  # wordings have no order: nothing joins them
            )
        ax.set_title(one_line(labels.task(task)))
        ax.set_ylim(-0.03, 1.03)
        ax.set_xticks(range(len(wordings)), wordings)
        ax.set_xlim(-0.5, len(wordings) - 0.5)
    for ax in axes[::_COLUMNS]:
        ax.set_ylabel(labels.ui["success_rate"])
    _legend(figure, axes)
    return figure
