"""The report as one HTML page that needs nothing but itself: no network, no server, no files beside it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from oulibench.annotation.section import Section
from oulibench.behaviour.repetition import spread
from oulibench.results.analysis import Analysis
from oulibench.results.figures import Drawing
from oulibench.results.habits import Habits
from oulibench.results.labels import Labels
from oulibench.results.runs import by_dataset
from oulibench.results.tables import NOTHING, Table, notes
from oulibench.results.tally import Item
from oulibench.scoring import SCORING_FAILED
from oulibench.version import __version__

MOST_ITEMS: Final = 100_000
"""Rows that the item browser holds; of more, an evenly spread sample is shown, and the page says so."""
_LONGEST_SHOWN: Final = 4_000
"""Characters of an item that the page shows: a text that ran away must not make the page unusable."""
_EXAMPLES_PER_CELL: Final = 3
_CELLS_WITH_EXAMPLES: Final = 24


def render_page(
    analysis: Analysis,
    labels: Labels,
    tables: Sequence[Table],
    figures: Sequence[Drawing],
    incomplete: Mapping[str, tuple[int, int]],
    most_items: int = MOST_ITEMS,
    quality: Sequence[Section] = (),
    left_out: Sequence[str] = (),
) -> str:
    """The page.

    Args:
        analysis: what is reported.
        labels: the page's language.
        tables: what `all_tables` made.
        figures: what `all_figures` made.
        incomplete: run → (answers stored, answers expected).
        most_items: how many rows the item browser holds.
        quality: what people and judges say of the texts.
        left_out: names of runs that hold no answers.
    """
    from jinja2 import DictLoader, Environment, StrictUndefined

    folder = files("oulibench.results.page")
    template = folder.joinpath("report.html.j2").read_text(encoding="utf-8")
    environment = Environment(
        loader=DictLoader({"report": template}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["soft"] = _soft
    by_name = {table.name: table for table in tables}
    names = {name: by_name.get(name) for name in _TABLES}
    total = sum(len(cell.items) for cell in analysis.cells.values())
    page = environment.get_template("report").render(
        labels=labels,
        ui=labels.ui,
        css=folder.joinpath("report.css").read_text(encoding="utf-8"),
        js=folder.joinpath("report.js").read_text(encoding="utf-8"),
        sections=_sections(names, {f.name for f in figures}, total, bool(quality)),
        quality=quality,
        tables=names if analysis.results else dict.fromkeys(_TABLES),
        figures={
            name: next((f for f in figures if f.name == name), None)
            for name in ("few_shot", "length", "difficulty", "wordings")
        },
        facts=_facts(analysis, labels),
        books=analysis.books.in_words(),
        notes=[*(labels.text("left_out", run=run) for run in left_out), *notes(analysis, labels, incomplete)],
        interval_note=labels.text("intervals", resamples=analysis.settings.resamples, seed=analysis.settings.seed),
        counterparts=analysis.counterparts,
        source=analysis.published,
        panels=_panels(analysis, labels, by_name),
        total_items=f"{total:,}" if total else "",
        shown_items=f"{min(total, most_items):,}",
        sampled=total > most_items,
        payload=pack(items_payload(analysis, labels, most_items)),
        runs=[{"name": run.name, "settings": _settings(run.settings)} for run in analysis.runs],
        datasets=[(line, ", ".join(names)) for line, names in by_dataset(analysis.runs).items() if line],
        signatures=list(analysis.signatures.items()),
        ui_json=_for_script(dict(labels.ui)),
        version=__version__,
    )
    return page.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


_TABLES: Final = (
    "main", "details", "length", "difficulty", "targets", "comparisons", "wordings", "conventions", "published",
    "form",
)  # fmt: skip


def _sections(tables: Mapping[str, Table | None], figures: set[str], total: int, quality: bool) -> list[str]:
    there = {
        "overview": True,
        "main": tables["main"],
        "few_shot": "few_shot" in figures,
        "length": tables["length"],
        "difficulty": tables["difficulty"],
        "comparisons": tables["comparisons"],
        "wordings": tables["wordings"],
        "conventions": tables["conventions"],
        "published": tables["main"],
        "behaviour": tables["form"],
        "quality": quality,
        "items": total,
        "settings": True,
    }
    return [name for name, shown in there.items() if shown]


def _facts(analysis: Analysis, labels: Labels) -> list[tuple[str, str]]:
    answers = sum(len(cell.answers) for cell in analysis.cells.values())
    items = analysis.books.scored + sum(r.items - r.scored for r in analysis.results)
    return [
        (labels.column("models"), str(len(analysis.systems))),
        (labels.column("tasks"), str(len(analysis.tasks))),
        (labels.column("shots"), ", ".join(map(str, analysis.shots)) or NOTHING),
        (labels.column("answers"), f"{answers:,}"),
        (labels.column("n"), f"{items:,}"),
        (labels.column("passed"), f"{analysis.books.passed:,}"),
    ]


def _settings(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (str(key), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in settings.items()
    ]


def _soft(text: str) -> Any:
    """`text`, escaped, with places where a long name may break."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=[/_:.@\-])(?=\w)", "<wbr>", str(escape(text)))) if len(text) > 12 else text  # noqa: S704


def _for_script(data: object) -> str:
    """JSON that may stand in a `script` element: nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# --- behaviour panels --------------------------------------------------------------------------------------------


def _panels(analysis: Analysis, labels: Labels, tables: Mapping[str, Table]) -> list[dict[str, Any]]:
    panels = []
    for name in ("form", "copying", "languages", "repetition", "shortcuts", "palindromes", "self_assessment"):
        table = tables.get(name)
        if table is None:
            continue
        found = []
        by_key = [(key, _examples(name, habits)) for key, habits in analysis.habits.items()]
        if name == "self_assessment":
            by_key = [(a.key, list(a.examples)) for a in analysis.self_assessments]
        for key, pairs in by_key:
            if pairs:
                where = f"{key.system}, {labels.task(key.task)}, {key.shots} {labels.ui['demonstrations']}"
                found.append((where, pairs[:_EXAMPLES_PER_CELL]))
        panels.append(
            {
                "title": labels.panel(name),
                "table": table,
                "examples": [found[i] for i in spread(range(len(found)), _CELLS_WITH_EXAMPLES)],
                "between": "→" if name != "copying" else f"← {labels.ui['copied_from']}",
            }
        )
    return panels


def _examples(name: str, habits: Habits) -> list[tuple[str, str]]:
    if name == "copying" and habits.copying:
        return list(habits.copying.examples)
    if name == "languages":
        return [(text, code) for code, text in habits.languages.examples]
    if name == "repetition":
        return list(habits.repetition.examples)
    if name == "shortcuts" and habits.shortcuts:
        return list(habits.shortcuts.examples)
    if name == "palindromes" and habits.palindromes:
        return [(text, f"{n}×") for text, n in habits.palindromes.examples]
    return []


# --- the items, packed -------------------------------------------------------------------------------------------

_PASSED, _FAILED, _FORMAL, _UNSCORED, _NO_ITEM = 1, 0, 2, 3, 4


class _Index:
    """Values → numbers, each value once."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def __call__(self, value: str) -> int:
        return self.values.setdefault(value, len(self.values))


def items_payload(analysis: Analysis, labels: Labels, most: int = MOST_ITEMS) -> dict[str, Any]:
    """The rows of the item browser, column by column, every repeated string once."""
    texts, reasons, flags, statuses, targets = _Index(), _Index(), _Index(), _Index(), _Index()
    systems = {system: i for i, system in enumerate(analysis.systems)}
    tasks = {task: i for i, task in enumerate(analysis.tasks)}
    everything = [(key, item) for key, cell in analysis.cells.items() for item in cell.items]
    chosen = [everything[i] for i in spread(range(len(everything)), most)]
    cells = {key: i for i, key in enumerate(analysis.cells)}
    answers: dict[tuple[int, int], int] = {}
    answer_rows: list[tuple[int, int, int]] = []
    rows: dict[str, list[Any]] = {
        name: []
        for name in ("answer", "number", "text", "verdict", "status", "score", "measured", "reason", "flags", "spans")
    }
    for key, item in chosen:
        place = (cells[key], item.answer)
        if place not in answers:
            answers[place] = len(answers)
            answer = analysis.cells[key].answers[item.answer]
            target = NOTHING if answer.target is None else str(answer.target)
            answer_rows.append((cells[key], targets(target), answer.epoch))
        text = item.text if len(item.text) <= _LONGEST_SHOWN else item.text[:_LONGEST_SHOWN] + "…"
        rows["answer"].append(answers[place])
        rows["number"].append(item.number)
        rows["text"].append(texts(text))
        rows["verdict"].append(_verdict(item))
        rows["status"].append(statuses(item.status))
        rows["score"].append(None if item.score is None else round(item.score, 3))
        rows["measured"].append(_measured(item.measured))
        rows["reason"].append(reasons(item.reason))
        rows["flags"].append(flags(", ".join(item.flags)))
        rows["spans"].append([position for span in item.spans for position in span] or 0)
    return {
        "systems": list(systems),
        "tasks": [labels.task(task) for task in tasks],
        "cells": [(systems[k.system], tasks[k.task], k.shots) for k in cells],
        "answers": answer_rows,
        "targets": list(targets.values),
        "texts": list(texts.values),
        "reasons": list(reasons.values),
        "flags": list(flags.values),
        "statuses": list(statuses.values),
        "rows": rows,
    }


def _verdict(item: Item) -> int:
    if item.passed is None:
        return _UNSCORED if item.status == SCORING_FAILED else _NO_ITEM
    if item.passed:
        return _PASSED
    return _FORMAL if item.formal else _FAILED


def _measured(measured: int | str | None) -> int | str | None:
    return measured[:80] if isinstance(measured, str) else measured


def pack(data: object) -> str:
    """Data for a `script` element: JSON, gzipped (without a date, so that equal data give equal bytes), in base 64."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode("ascii")
