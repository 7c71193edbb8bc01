"""Run folders: what a run left behind, and the items that are made of it again, without asking anyone.

A folder holds `responses.jsonl` (the stored answers), `run.json` (the settings) and, made of them, `items.jsonl`
(verdicts) and `results.*` (the table). Everything right of the answers is pure and can be rebuilt at any time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from oulibench.errors import DataError
from oulibench.jsonl import Row, read_jsonl
from oulibench.scoring import Totals, process_lines, score_block, unjudged

RESPONSES: Final = "responses.jsonl"
ITEMS: Final = "items.jsonl"
SETTINGS: Final = "run.json"
_ONLY_IN_RESPONSES: Final = ("response", "prompt")


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder, or a lone file of scored rows.

    Attributes:
        name: a short name for people: the folder's (or file's) own.
        items: the file with the scored rows.
        responses: the file with the stored answers; None where there is none, so that items cannot be rebuilt.
        settings: what `run.json` says; empty where there is none.
    """

    name: str
    items: Path
    responses: Path | None
    settings: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        return self.items.parent

    @property
    def policy(self) -> dict[str, Any]:
        """The conventions that the run was scored under."""
        policy = self.settings.get("policy")
        return {k: v for k, v in policy.items() if v is not None} if isinstance(policy, Mapping) else {}

    @property
    def dataset(self) -> str | None:
        """The dataset that the run asked from, as one line like a signature; None where its settings do not say."""
        record = self.settings.get("dataset")
        if not isinstance(record, Mapping):
            return None
        named = {"dataset": "version", "checksum": "checksum", "demonstrations": "demonstrations"}
        found = {name: value for name, key in named.items() if isinstance(value := record.get(key), str)}
        return "|".join(f"{name}:{value}" for name, value in found.items()) or None


def open_run(path: Path) -> Run:
    """The run at `path`: a run folder, or a JSONL file that `oulibench score` wrote.

    Raises:
        DataError: there is nothing to report there; the message says what was looked for.
    """
    if path.is_file():
        return Run(path.stem, path, None, {})
    if not path.exists():
        raise DataError(f"{path} is not there: no run has written it.")
    if not path.is_dir():
        raise DataError(f"{path} is neither a run folder nor a file of scored rows.")
    responses, items = path / RESPONSES, path / ITEMS
    if not responses.is_file() and not items.is_file():
        if (path / SETTINGS).is_file():
            raise DataError(
                f"{path} holds a run whose answers are not written out yet: it is still going on, or was killed. "
                f"Where it was killed, the same command goes on with it, or «oulibench run --config "
                f"{path / SETTINGS} --out {path}»."
            )
        raise DataError(
            f"{path} is no run folder: it holds neither {RESPONSES} nor {ITEMS}. «oulibench run --out DIR» makes one."
        )
    name = path.name or path.resolve().name
    return Run(name, items, responses if responses.is_file() else None, _read_settings(path / SETTINGS))


def _read_settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if not isinstance(settings, dict):
        raise DataError(f"{path} must hold a JSON object with the run's settings.")
    return settings


def by_dataset(runs: Sequence[Run]) -> dict[str | None, list[str]]:
    """The names of the runs by the dataset they asked from (None where a run does not say); more than one entry means
    that the runs were not asked the same benchmark, or may not have been.
    """
    found: dict[str | None, list[str]] = {}
    for run in runs:
        found.setdefault(run.dataset, []).append(run.name)
    return found


def different_datasets(runs: Sequence[Run], unknown: str) -> str:
    """Which runs asked from which dataset, in words; empty where all asked from the same one, or none says.

    Args:
        unknown: what stands for the dataset of a run that does not say.
    """
    grouped = by_dataset(runs)
    if len(grouped) < 2:
        return ""
    return "; ".join(f"{line or unknown} ({', '.join(names)})" for line, names in grouped.items())


def items_of(rows: Sequence[Mapping[str, Any]], policy: Mapping[str, Any] | None = None) -> list[list[Row]]:
    """The item rows of each row of `responses.jsonl`; never raises.

    A call that the provider failed gives one row `no_response`, with `error` kept.
    """
    scored = iter(score_block([row for row in rows if not _call_failed(row)], policy))
    return [[_unanswered(row)] if _call_failed(row) else [_item_row(r) for r in next(scored)] for row in rows]


def _call_failed(row: Mapping[str, Any]) -> bool:
    return bool(row.get("error")) and not row.get("response")


def _unanswered(row: Mapping[str, Any]) -> Row:
    reason = "The model gave no answer: the call failed."
    return _item_row({**row, "item": None, "text": None, "status": "no_response", **unjudged(reason)})


def _item_row(row: Row) -> Row:
    if "item" not in row:  # a response that could not be read at all
        row = {**row, "item": None, "text": None}
    return {key: value for key, value in row.items() if key not in _ONLY_IN_RESPONSES}


def rebuild_items(
    run: Run,
    processes: int = 1,
    on_progress: Callable[[int], None] | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Totals:
    """Write `items.jsonl` anew from `responses.jsonl`; the old one stays until the new one is whole.

    Args:
        run: the run; it must have stored answers.
        processes: how many processes score.
        on_progress: called with the number of answers scored so far.
        on_problem: called with a line that names a bad line of the file, and why.

    Raises:
        DataError: the run has no stored answers, or the folder cannot be written.
    """
    if run.responses is None:
        raise DataError(f"{run.items} has no {RESPONSES} beside it: there is nothing to score again.")
    part = run.items.with_name(run.items.name + ".part")
    totals = Totals()
    transform = partial(items_of, policy=run.policy)
    try:
        with run.responses.open("rb") as source, part.open("wb") as target:
            for block in process_lines(source, transform, processes):
                target.write(block.output)
                totals += block.totals
                for problem in block.problems:
                    if on_problem:
                        on_problem(f"{run.responses}:{problem.line}: {problem.reason}")
                if on_progress:
                    on_progress(totals.received)
        part.replace(run.items)
    except OSError as error:
        raise DataError(f"{error.filename or run.folder}: {error.strerror}") from error
    return totals


def read_items(run: Run) -> Iterator[Row]:
    """The scored rows of a run, in order.

    Raises:
        DataError: a bad line, named by file and line.
    """
    return read_jsonl(run.items)
