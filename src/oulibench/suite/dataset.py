"""The benchmark as a dataset: its tables, its version, and the checksum by which a run says what it asked.

The tables are what `oulibench export dataset` writes (`oulibench.suite.publication` makes the files). The checksum
covers what decides what a model is asked and how its answers are grouped: tasks, targets and their difficulty,
wordings, demonstrations and their order, suites. It leaves out what only explains (comments, `why`, `about`) and what
only judges: verdicts have signatures of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

import orjson

from oulibench.constraints import AnyConstraint, benchmark_tasks, get_constraint
from oulibench.constraints.base import WORDINGS, Wording
from oulibench.errors import DataError
from oulibench.jsonl import Row, read_jsonl
from oulibench.policy import DEFAULT_POLICY, AcrosticPolicy, Policy
from oulibench.suite.demonstrations import all_demonstrations
from oulibench.suite.requests import Request, build_requests
from oulibench.suite.suites import Suite, suite_data
from oulibench.text import WORD_POLICIES

DATASET_VERSION: Final = "1.0.0"
"""Version of what the benchmark asks; rises whenever `checksum()` changes (CHANGELOG.md says what changed)."""
DATASET_DATE: Final = "2026-11-30"
"""When this version was made: in the data, not off the clock, so that an export is the same whenever it is made."""
CANARY: Final = "be54064a-db33-41dc-b0b5-f5f403408b8d"
"""A random identifier that stands in every row: where a model knows it, the benchmark was in its training data."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The benchmark as one suite asks it.

    Attributes:
        suite: what is asked: targets, texts per prompt, numbers of demonstrations.
        tasks: names of the tasks, in order.
        languages: ISO 639-1 codes.
        prompts, targets, demonstrations, wordings: the rows of the tables (`data/dataset/tables.toml` says what their
            columns mean). Targets are strings here, or None, since a column has one type.
    """

    suite: Suite
    tasks: tuple[str, ...]
    wording_names: tuple[Wording, ...]
    languages: tuple[str, ...]
    prompts: tuple[Row, ...]
    targets: tuple[Row, ...]
    demonstrations: tuple[Row, ...]
    wordings: tuple[Row, ...]

    def rows(self, table: str) -> tuple[Row, ...]:
        """The rows of the table of this name."""
        return {
            "prompts": self.prompts,
            "targets": self.targets,
            "demonstrations": self.demonstrations,
            "wordings": self.wordings,
        }[table]


def build_dataset(
    suite: Suite,
    tasks: Iterable[str] | None = None,
    shots: Iterable[int] | None = None,
    wordings: Sequence[Wording] = WORDINGS,
    n: int | None = None,
    system: bool = False,
) -> Dataset:
    """The tables of a suite.

    Args:
        suite: which targets, and the defaults of `n` and `shots`.
        tasks: names of tasks; the benchmark's own for None, and none that other packages have registered.
        shots: numbers of demonstrations; the suite's for None.
        wordings: how the prompts are worded.
        n: texts asked for in one prompt; the suite's for None.
        system: whether a system message goes with each prompt.

    Raises:
        UnknownTaskError: there is no such task.
        DataError, ValueError: as `build_requests` raises them.
    """
    names = tuple(dict.fromkeys(benchmark_tasks() if tasks is None else tasks))
    constraints = [get_constraint(name) for name in names]
    given = None if shots is None else tuple(shots)
    worded = tuple(dict.fromkeys(wordings))
    requests = [r for w in worded for r in build_requests(suite, names, given, w, n, system=system)]
    return Dataset(
        suite=suite,
        tasks=names,
        wording_names=worded,
        languages=tuple(dict.fromkeys(c.language.code for c in constraints)),
        prompts=_prompts(requests),
        targets=tuple(_with_canary(row) for c in constraints for row in _targets(c)),
        demonstrations=tuple(_with_canary(row) for c in constraints for row in _demonstrations(c)),
        wordings=tuple(_with_canary(row) for c in constraints for row in _wordings(c, worded)),
    )


def _prompts(requests: Iterable[Request]) -> tuple[Row, ...]:
    why = {}
    rows = []
    for request in requests:
        constraint = get_constraint(request.task)
        if request.task not in why:
            why[request.task] = {spec.value: spec.why for spec in constraint.targets()}
        row = {
            "id": request.id,
            "suite": request.suite,
            "task": request.task,
            "family": request.family,
            "target": _as_text(request.target),
            "difficulty": request.difficulty,
            "why": why[request.task][request.target],
            "n": request.n,
            "shots": request.shots,
            "epochs": request.epochs,
            "wording": request.wording,
            "system": request.system,
            "prompt": request.prompt,
            "demonstrations": list(request.demonstrations),
            "task_version": constraint.version,
        }
        rows.append(_with_canary(row))
    return tuple(rows)


def _targets(constraint: AnyConstraint) -> Iterable[Row]:
    for spec in constraint.targets():
        yield {
            "task": constraint.name,
            "family": constraint.family,
            "target": _as_text(spec.value),
            "difficulty": spec.difficulty,
            "why": spec.why,
            "unit": constraint.unit(),
            "task_version": constraint.version,
        }


def _demonstrations(constraint: AnyConstraint) -> Iterable[Row]:
    for shown in all_demonstrations(constraint.name, constraint.language):
        yield {"id": shown.id, "task": shown.task, "target": _as_text(shown.target), "text": shown.text}


def _wordings(constraint: AnyConstraint, wordings: Iterable[Wording]) -> Iterable[Row]:
    for wording in wordings:
        seen = set()
        for name, policy in _asking_policies(constraint):
            one, many = constraint.template(1, wording, policy), constraint.template(2, wording, policy)
            if (one, many) not in seen:
                seen.add((one, many))
                yield {"task": constraint.name, "wording": wording, "policy": name, "one": one, "many": many}


def _asking_policies(constraint: AnyConstraint) -> Iterable[tuple[str | None, Policy]]:
    """The default, and the conventions under which something else may be asked for, each with its name."""
    yield None, DEFAULT_POLICY
    for key, values in (("words", WORD_POLICIES), ("acrostic", get_args(AcrosticPolicy))):
        if key in constraint.policies:
            yield from ((f"{key}: {value}", Policy.from_mapping({key: value})) for value in values)


def _as_text(target: int | str | None) -> str | None:
    return None if target is None else str(target)


def _with_canary(row: Row) -> Row:
    return {**row, "canary": CANARY}


# --- which version of the benchmark ------------------------------------------------------------------------------


@cache
def checksum() -> str:
    """SHA-256 of what the benchmark asks, over its content: formatting and comments of the files do not count.

    It is the same on every machine and for every suite; tasks that other packages register do not change it. A sample
    of whole prompts is part of it, so that a change in how they are put together shows, too.
    """
    constraints = [get_constraint(name) for name in benchmark_tasks()]
    suites = suite_data()
    named = {name: {k: v for k, v in table.items() if k != "about"} for name, table in suites["suites"].items()}
    content = {
        "suites": {**suites, "suites": named},
        "wordings": {c.language.code: c.language.table("prompts.toml") for c in constraints},
        "targets": [[c.name, c.family, spec.value, spec.difficulty] for c in constraints for spec in c.targets()],
        "demonstrations": [row for c in constraints for row in _demonstrations(c)],
        "prompts": _sample_of_prompts(),
    }
    return hashlib.sha256(_canonical(content)).hexdigest()


def _sample_of_prompts() -> list[list[Any]]:
    """The first and the last target of each task in every form: one text and two, no demonstration, one and two."""
    asked = []
    for n in (1, 2):
        suite = Suite(name="sample", about="", n=n, shots=(0, 1, 2), targets=2)
        for wording in WORDINGS:
            asked += build_requests(suite, benchmark_tasks(), wording=wording, system=True)
    return [[r.id, r.n, r.system, r.prompt, list(r.demonstrations)] for r in asked]


def _canonical(content: object) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS)


def dataset_record(demonstrations_file: Path | None = None) -> dict[str, str]:
    """What a run's settings say of the dataset: `version` and `checksum`.

    Args:
        demonstrations_file: a file of demonstrations shown instead of the built-in ones; its content is named, too
            (`demonstrations`, a SHA-256), since its path says nothing of what is in it.

    Raises:
        DataError: the file cannot be read.
    """
    record = {"version": DATASET_VERSION, "checksum": checksum()}
    if demonstrations_file is not None:
        rows = [[row.get(key) for key in ("id", "task", "target", "text")] for row in read_jsonl(demonstrations_file)]
        try:
            record["demonstrations"] = hashlib.sha256(_canonical(rows)).hexdigest()
        except TypeError as error:  # a lone surrogate, or a number beyond 64 bits
            raise DataError(f"{demonstrations_file}: a value cannot be written as UTF-8 JSON: {error}") from error
    return record
