"""Writing results into a run folder: `results.json`, `results.md`, `results.csv`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oulibench.errors import DataError
from oulibench.results.formats import csv_table, markdown_table, one_line, plain_table
from oulibench.results.table import COLUMNS, Bookkeeping, Result, lines_of, notes_of
from oulibench.version import __version__


def terminal(results: Sequence[Result], books: Bookkeeping, dataset: str | None = None) -> str:
    """The table, its notes and the totals, and the dataset that was asked from, for a terminal."""
    if not results:
        return "No answers yet: there is nothing to show."
    parts = [plain_table(COLUMNS, lines_of(results))]
    parts += [one_line(note) for note in notes_of(results)]
    parts.append(one_line(books.in_words()))
    if dataset:
        parts.append(one_line(dataset))
    return "\n".join([parts[0], "", *parts[1:]])


@dataclass(frozen=True, slots=True)
class Extra:
    """A further table of a run: what it is called, its columns and lines for people, its numbers, its notes."""

    name: str
    title: str
    columns: Sequence[str]
    lines: Sequence[Sequence[str]]
    fields: Sequence[dict[str, Any]]
    notes: Sequence[str] = ()

    def terminal(self) -> str:
        return "\n".join([f"{self.title}:", plain_table(self.columns, self.lines), *map(one_line, self.notes)])


def as_json(
    results: Sequence[Result],
    books: Bookkeeping,
    signatures: dict[str, int],
    extras: Sequence[Extra] = (),
    dataset: str | None = None,
) -> dict[str, Any]:
    """The table as JSON-ready data, with what decided it."""
    return {
        "oulibench": __version__,
        "results": [r.fields() for r in results],
        "totals": {
            "received": books.received,
            "scored": books.scored,
            "failed": books.failed,
            "without_items": books.empty,
            "passed": books.passed,
            "truncated": books.truncated,
            "errors": books.errors,
            "repeated": books.repeated,
            "statuses": books.statuses,
            "adds_up": books.adds_up,
        },
        "dataset": dataset,
        "signatures": signatures,
        **{extra.name: list(extra.fields) for extra in extras},
    }


def as_markdown(
    results: Sequence[Result], books: Bookkeeping, extras: Sequence[Extra] = (), dataset: str | None = None
) -> str:
    from oulibench.results.formats import markdown_escape

    def listed(notes: Sequence[str]) -> str:
        return "".join(f"- {markdown_escape(note)}\n" for note in notes)

    notes = [*notes_of(results), books.in_words(), *([dataset] if dataset else [])]
    parts = [f"{markdown_table(COLUMNS, lines_of(results))}\n{listed(notes)}"]
    for extra in extras:
        table = markdown_table(extra.columns, extra.lines)
        parts.append(
            f"\n{markdown_escape(extra.title)}\n\n{table}" + (f"\n{listed(extra.notes)}" if extra.notes else "")
        )
    return "".join(parts)


def as_csv(results: Sequence[Result]) -> str:
    """Every field of every line, for a spreadsheet."""
    rows = [{**r.fields(), "statuses": json.dumps(r.statuses)} for r in results]
    header = tuple(rows[0]) if rows else ("model", "task", "shots")
    return csv_table(header, [[row[key] for key in header] for row in rows])


def write_results(
    folder: Path,
    results: Sequence[Result],
    books: Bookkeeping,
    signatures: dict[str, int],
    extras: Sequence[Extra] = (),
    dataset: str | None = None,
) -> list[Path]:
    """Write the three files, and one CSV for each further table; returns their paths.

    Args:
        results, books, extras: what the tables show.
        signatures: verdicts by what decided them.
        dataset: what the run asked from (`Run.dataset`).

    Raises:
        DataError: the folder cannot be written.
    """
    data = as_json(results, books, signatures, extras, dataset)
    texts = {
        "results.json": json.dumps(data, ensure_ascii=False, indent=2) + "\n",
        "results.md": as_markdown(results, books, extras, dataset),
        "results.csv": as_csv(results),
        **{f"{extra.name}.csv": csv_table(extra.columns, extra.lines) for extra in extras},
    }
    return [write_text(folder / name, text) for name, text in texts.items()]


def write_text(path: Path, text: str) -> Path:
    """Write a file whole or not at all; what UTF-8 cannot hold is replaced.

    Raises:
        DataError: it cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(text.encode("utf-8", "replace"))
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    return path
