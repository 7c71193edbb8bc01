"""Which rows belong to one system, and what it is called when several runs are shown together.

A system is a model with a wording in a run. Runs of one model whose settings are the same and that asked different
things (zero-shot in one, few-shot in the other) are one system; runs with other settings, or that asked the same again,
stay apart and carry their run's name. Nothing is ever averaged over them in silence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from oulibench.results.runs import Run, read_items
from oulibench.results.tally import UNNAMED, Cell, CellKey, Tally

# Settings that say what was asked and when, not how a model answers.
_NOT_DECISIVE: Final = frozenset(
    {
        "format",
        "created",
        "finished",
        "oulibench",
        "tasks",
        "shots",
        "models",
        "model_base_url",  # where the model was, a free port of some node; what it was is its name
        "wording",
        "wordings",
        "requests",
        "calls",
        "sha256",
        "inspect_ai",
        "requests_sha256",
        "number_of_requests",
        "max_connections",
        "max_retries",
        "timeout",
        "reflect",
        "reflect_items",
        "reflect_in",
        "limit",
        "status",
    }
)

Part = tuple[int, str, str]
"""A run's number, a model, a wording."""


def part_of(run: int, row: Mapping[str, Any]) -> Part:
    return run, str(row.get("model") or UNNAMED), str(row.get("wording") or "")


def system_names(runs: Sequence[Run], aliases: Mapping[str, str] | None = None) -> dict[Part, str]:
    """The name of the system that each part belongs to.

    Args:
        runs: the runs shown together.
        aliases: model → the name to show it under; models with one name are one model.

    Raises:
        DataError: a file of scored rows cannot be read.
    """
    asked = asked_of(runs)
    wordings: dict[str, set[str]] = defaultdict(set)
    groups: dict[tuple[str, str], list[list[Part]]] = defaultdict(list)
    for part in sorted(asked):
        number, model, wording = part[0], (aliases or {}).get(part[1], part[1]), part[2]
        wordings[model].add(wording)
        for group in groups[model, wording]:
            if all(
                decisive(runs[other[0]]) == decisive(runs[number]) and not asked[other] & asked[part] for other in group
            ):
                group.append(part)
                break
        else:
            groups[model, wording].append([part])
    run_names = distinct_names([run.name for run in runs])
    names: dict[Part, str] = {}
    for (model, wording), apart in groups.items():
        for group in apart:
            name = f"{model} [{wording or 'no wording'}]" if len(wordings[model]) > 1 else model
            if len(apart) > 1:
                name += f" ({', '.join(run_names[part[0]] for part in group)})"
            names |= dict.fromkeys(group, name)
    return names


def asked_of(runs: Sequence[Run]) -> dict[Part, set[tuple[str, int]]]:
    """The tasks, each with a number of demonstrations, that each part was asked.

    Raises:
        DataError: a file of scored rows cannot be read.
    """
    asked: dict[Part, set[tuple[str, int]]] = defaultdict(set)
    for number, run in enumerate(runs):
        for row in read_items(run):
            shots = row.get("shots")
            asked[part_of(number, row)].add((str(row.get("task")), shots if isinstance(shots, int) else 0))
    return asked


def decisive(run: Run) -> dict[str, str]:
    """The settings of a run that decide how a model answers."""
    return {key: repr(value) for key, value in run.settings.items() if key not in _NOT_DECISIVE and value is not None}


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, with a number where one occurs twice."""
    return [name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}" for i, name in enumerate(names)]


def tally_runs(runs: Sequence[Run], names: Mapping[Part, str], keep_items: bool = False) -> dict[CellKey, Cell]:
    """The cells of all runs, their systems named (by `system_names`) so that none is mixed up with another."""
    counted = Tally(keep_items)
    for number, run in enumerate(runs):
        for row in read_items(run):
            counted.add(row, names[part_of(number, row)])
    return counted.cells
