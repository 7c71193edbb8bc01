"""The quality section as the report takes it in: what there is of it in run folders, ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from oulibench.annotation.scheme import InterfaceLanguage
from oulibench.annotation.store import find_folder
from oulibench.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from oulibench.results.tables import Table


@dataclass(frozen=True, slots=True)
class Section:
    """One annotation as a part of the report.

    Attributes:
        made: how its numbers came about.
        tables: in the order in which they are to be read; judges after their agreement with people.
        scatter: adherence against quality, as an SVG in the page's colours; empty where there is nothing to show.
        scatter_title, scatter_caption: what it is.
        examples: the best and the worst texts, as HTML in which every text is escaped.
        markdown, latex: the whole section in these formats.
    """

    made: str
    tables: tuple[Table, ...]
    scatter: str
    scatter_title: str
    scatter_caption: str
    examples: str
    markdown: str
    latex: str


def quality_sections(
    runs: Sequence[Path], language: InterfaceLanguage = "en", *, seed: int = 0, draws: int = 1_000, parse: bool = True
) -> list[Section]:
    """The sections of the runs that hold ratings, in the runs' order.

    Raises:
        MissingExtraError: there are ratings, and the extra `annotate` is not installed.
        DataError: an annotation is damaged.
    """
    rated = [run for run in runs if _is_rated(run)]
    if not rated:
        return []
    try:
        from oulibench.annotation import summary
    except ImportError as error:
        raise MissingExtraError(f"{rated[0]} holds ratings: pip install 'oulibench[annotate]' ({error})") from error
    sections = []
    for run in rated:
        quality = summary.summarise(run, seed=seed, draws=draws, parse=parse)
        words = summary.summary_words(language)
        sections.append(
            Section(
                summary.made_sentence(quality, language),
                tuple(summary.quality_tables(quality, language)),
                summary.scatter(quality, language) if quality.points else "",
                words["trade"],
                words["trade_caption"],
                summary.examples_html(quality, language),
                summary.to_markdown(quality, language),
                summary.to_latex(quality, language),
            )
        )
    return sections


def _is_rated(run: Path) -> bool:
    try:
        find_folder(run)
    except DataError:
        return False
    return True
