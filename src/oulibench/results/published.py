"""Figures that others have published, to be shown beside one's own and never mixed into them.

A source is two files under `data/published/`: a CSV with one figure a line (as a number, as printed, with a note where
the print is in doubt) and a TOML with its title and the names by which its models are known.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from oulibench.errors import DataError

PAPER: Final = "clic-it-2025"
AVERAGE: Final = "average"
"""The task name under which a source's average over tasks stands."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One published number.

    Attributes:
        measure: `sr` or `spearman`.
        printed: as the source prints it.
        note: what is in doubt; empty where nothing is.
    """

    model: str
    task: str
    shots: int
    measure: str
    value: float
    printed: str
    note: str


@dataclass(frozen=True, slots=True)
class Range:
    """A published range whose values are not told apart by model or number of demonstrations."""

    measure: str
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    shots: tuple[int, ...]
    low: float
    high: float
    printed: str


@dataclass(frozen=True, slots=True)
class Source:
    """A publication with figures."""

    name: str
    title: str
    authors: str
    venue: str
    note: str
    figures: tuple[Figure, ...]
    ranges: tuple[Range, ...]
    aliases: Mapping[str, Sequence[Sequence[str]]]

    @property
    def models(self) -> list[str]:
        """Its models, in its order."""
        return list(self.aliases)

    def figure(self, model: str, task: str, shots: int, measure: str = "sr") -> Figure | None:
        """The figure for a model of the source; None where there is none."""
        wanted = (model, task, shots, measure)
        return next((f for f in self.figures if (f.model, f.task, f.shots, f.measure) == wanted), None)

    def counterpart(self, model: str) -> str | None:
        """Which of the source's models one's own model is, by its name; None where none fits, or more than one."""
        name = model.lower()
        fits = [
            known
            for known, alternatives in self.aliases.items()
            if any(all(part in name for part in parts) for parts in alternatives)
        ]
        return fits[0] if len(fits) == 1 else None


@cache
def load_source(name: str = PAPER) -> Source:
    """A source of published figures.

    Raises:
        DataError: there is no such source, or its files are damaged.
    """
    folder = files("oulibench").joinpath("data", "published")
    try:
        about = tomllib.loads(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
        lines = csv.DictReader(folder.joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines())
        figures = tuple(
            Figure(
                r["model"], r["task"], int(r["shots"]), r["measure"], float(r["value"]), r["printed"], r["note"] or ""
            )
            for r in lines
        )
        ranges = tuple(
            Range(
                r["measure"],
                tuple(r["tasks"]),
                tuple(r["models"]),
                tuple(r["shots"]),
                r["low"],
                r["high"],
                r["printed"],
            )
            for r in about.get("ranges", [])
        )
        return Source(
            name, about["title"], about["authors"], about["venue"], about["note"], figures, ranges, about["models"]
        )
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"The published figures {name!r} cannot be read: {error}") from error
