"""The report's folder: the page, the tables, the figures, every number as JSON, the rows as Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from oulibench.annotation.section import quality_sections
from oulibench.errors import DataError, MissingExtraError
from oulibench.results.analysis import Analysis, analyse
from oulibench.results.answers import StoredAnswers
from oulibench.results.figures import all_figures
from oulibench.results.intervals import Settings
from oulibench.results.labels import load_labels
from oulibench.results.page import MOST_ITEMS, render_page
from oulibench.results.parquet import write_parquet
from oulibench.results.reflection import read_claims
from oulibench.results.runs import Run
from oulibench.results.store import write_text
from oulibench.results.systems import system_names, tally_runs
from oulibench.results.tables import all_tables
from oulibench.results.wordings import wording_groups

PAGE: Final = "report.html"
_NEEDED: Final = ("numpy", "scipy", "statsmodels", "rapidfuzz", "lingua", "jinja2", "matplotlib", "pyarrow")


def need_extra() -> None:
    """Make sure that the extra `report` is installed.

    Raises:
        MissingExtraError: a library is missing; the message names it and the command that installs it.
    """
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise MissingExtraError(
            f"The page, the figures and the statistics need {', '.join(missing)}: pip install 'oulibench[report]'. "
            "The table alone needs nothing: oulibench report --table DIR."
        )


def write_report(
    runs: Sequence[Run],
    folder: Path,
    *,
    settings: Settings | None = None,
    language: str = "en",
    languages: Sequence[str] = ("it", "en"),
    parse: bool = True,
    intervals_in_tables: bool = False,
    most_items: int = MOST_ITEMS,
    aliases: Mapping[str, str] | None = None,
    left_out: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Analysis:
    """Write the report on runs whose items are there.

    Args:
        runs: what to report.
        folder: where to write `report.html`, `report.json`, `items.parquet`, `tables/` and `figures/`.
        settings: seed and resamples of intervals and tests.
        language: language of the page: `en` or `it`.
        languages: languages that the models' texts are told apart in.
        parse: whether to compute counting conventions that need the parser.
        intervals_in_tables: whether Markdown and LaTeX tables show intervals.
        most_items: rows that the page's item browser holds.
        aliases: model → the name to show it under; models with one name are one model.
        left_out: names of runs that were asked for but hold no answers, for the page's notes.
        progress: told what is being done.

    Raises:
        MissingExtraError: the extra `report` is not installed.
        DataError: a file cannot be read or written.
    """
    need_extra()
    labels = load_labels(language)
    progress("reading")
    names = system_names(runs, aliases)
    stored = StoredAnswers(runs, names)
    cells = tally_runs(runs, names, keep_items=True)
    analysis = analyse(
        runs,
        cells,
        stored.demonstrations,
        settings or Settings(),
        remarks=stored.remarks,
        languages=languages,
        parse=parse,
        wordings=wording_groups(runs, names),
        claims=[claim for number, run in enumerate(runs) for claim in read_claims(run, names, number)],
        progress=progress,
    )
    progress("tables")
    tables = all_tables(analysis, labels)
    for table in tables:
        write_text(folder / "tables" / f"{table.name}.md", table.markdown(intervals_in_tables))
        write_text(folder / "tables" / f"{table.name}.csv", table.csv())
        write_text(folder / "tables" / f"{table.name}.tex", table.latex(intervals_in_tables))
    progress("figures")
    figures = all_figures(analysis, labels)
    for figure in figures:
        write_text(folder / "figures" / f"{figure.name}.svg", figure.svg)
        _write_bytes(folder / "figures" / f"{figure.name}.pdf", figure.pdf)
    quality = quality_sections([run.folder for run in runs], "it" if language == "it" else "en", parse=parse)
    for number, section in enumerate(quality, 1):
        write_text(folder / "tables" / f"quality-{number}.md", section.markdown)
        write_text(folder / "tables" / f"quality-{number}.tex", section.latex)
    progress("page")
    page = render_page(analysis, labels, tables, figures, stored.incomplete, most_items, quality, left_out)
    write_text(folder / PAGE, page)
    write_text(folder / "report.json", json.dumps(analysis.fields(), ensure_ascii=False, indent=1) + "\n")
    progress("rows")
    write_parquet(analysis.cells, folder / "items.parquet")
    return analysis


def _write_bytes(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
