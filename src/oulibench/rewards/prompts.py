"""What to train on: the benchmark's prompts, with targets that are not the benchmark's.

A model trained on the targets that it is later evaluated on has seen the test: its figures say nothing any more. So the
prompts for training come from a list of other targets (data/it/training_targets.toml), and a data set that asks for a
target of the benchmark is made only where that is said in so many words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from oulibench.constraints import AnyConstraint, get_constraint, task_names
from oulibench.constraints.base import TargetSpec, Wording
from oulibench.errors import DataError
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.suite import Request, Suite, build_requests

_SUITE: Final = Suite(name="training", about="targets to train on, none of them the benchmark's", n=1, shots=(0,))


def training_tasks() -> tuple[str, ...]:
    """The tasks with targets to train on: the others have no targets but the benchmark's."""
    return tuple(task for task in task_names() if training_targets(task))


def training_targets(task: str) -> tuple[TargetSpec, ...]:
    """Targets of `task` that the benchmark does not ask for, as far as there are any. Their difficulty is not measured
    and stands as 0.

    Raises:
        UnknownTaskError: there is no such task.
        DataError: the data file names a target of the benchmark.
    """
    constraint = get_constraint(task)
    values = constraint.language.table("training_targets.toml").get(task, [])
    known = _benchmark(constraint)
    if both := [value for value in values if constraint.parse_target(value) in known]:
        raise DataError(f"Targets of {task} stand both in training_targets.toml and in the benchmark: {both}.")
    return tuple(TargetSpec(value, 0, "a target to train on") for value in values)


def _benchmark(constraint: AnyConstraint) -> set[Any]:
    return {constraint.parse_target(spec.value) for spec in constraint.targets()}


def training_requests(
    tasks: Iterable[str] | None = None,
    n: int = 1,
    wordings: Sequence[Wording] = ("explicit",),
    policy: Policy = DEFAULT_POLICY,
    system: bool = False,
) -> list[Request]:
    """Prompts to train on, without demonstrations: as the benchmark words them, with targets of their own.

    Args:
        tasks: names of tasks; all of `training_tasks` for None.
        n: texts asked for in one prompt.
        wordings: the wordings that each target is asked for in.
        policy: the conventions that completions are checked under.
        system: whether a system message precedes.

    Raises:
        UnknownTaskError: there is no such task.
        DataError: a task has no targets but the benchmark's.
    """
    names = training_tasks() if tasks is None else tuple(tasks)
    targets = {task: training_targets(task) for task in names}
    if closed := [task for task in names if not targets[task]]:
        raise DataError(
            f"{', '.join(closed)} cannot be trained on without training on the benchmark: there are no other targets. "
            f"Tasks with other targets: {', '.join(training_tasks())}. If you mean it, take the benchmark's own "
            "requests (oulibench.suite.build_requests) and say benchmark_targets=True."
        )
    return [
        request
        for wording in wordings
        for request in build_requests(
            _SUITE, names, wording=wording, n=n, policy=policy, system=system, targets=targets
        )
    ]


def benchmark_requests(requests: Iterable[Request]) -> list[Request]:
    """Those of `requests` that ask for a target of the benchmark."""
    known = {task: _benchmark(get_constraint(task)) for task in task_names()}
    return [r for r in requests if get_constraint(r.task).parse_target(r.target) in known.get(r.task, set())]


def refuse_benchmark(requests: Iterable[Request]) -> None:
    """See to it that nothing is trained on what the benchmark asks for.

    Raises:
        DataError: a request asks for a target of the benchmark.
    """
    if leaked := benchmark_requests(requests):
        shown = ", ".join(dict.fromkeys(f"{r.task} {r.target or ''}".strip() for r in leaked[:5]))
        raise DataError(
            f"{len(leaked)} prompts ask for targets of the benchmark ({shown} …). A model trained on them can no "
            "longer be evaluated with OuLiBench. Take oulibench.rewards.prompts.training_requests(), or, for data "
            "that only evaluates, say benchmark_targets=True."
        )


def dataset_rows(
    requests: Iterable[Request], conversational: bool = True, benchmark_targets: bool = False
) -> list[dict[str, Any]]:
    """Requests as rows for `datasets.Dataset.from_list`: `prompt` and the columns that the reward functions read.

    Targets are strings (or null), since a column has one type. `demonstrations` and `policy` are there only where some
    request has them.

    Args:
        conversational: prompts as lists of messages, for models with a chat template; else as plain texts.
        benchmark_targets: whether rows may ask for what the benchmark asks for. Only data that evaluates may.

    Raises:
        DataError: a request asks for a target of the benchmark, and `benchmark_targets` is not set.
    """
    requests = list(requests)
    if not benchmark_targets:
        refuse_benchmark(requests)
    rows: list[dict[str, Any]] = [
        {
            "prompt": _messages(request) if conversational else _text(request),
            "id": request.id,
            "task": request.task,
            "target": None if request.target is None else str(request.target),
            "n": request.n,
        }
        for request in requests
    ]
    if any(request.demonstrations for request in requests):
        rows = [{**row, "demonstrations": list(r.demonstrations)} for row, r in zip(rows, requests, strict=True)]
    if any(request.policy for request in requests):
        rows = [{**row, "policy": r.policy or None} for row, r in zip(rows, requests, strict=True)]
    return rows


def _messages(request: Request) -> list[dict[str, str]]:
    user = {"role": "user", "content": request.prompt}
    return [user] if request.system is None else [{"role": "system", "content": request.system}, user]


def _text(request: Request) -> str:
    # A line end of its own, or a base model goes on with the request instead of answering it.
    return f"{request.prompt}\n" if request.system is None else f"{request.system}\n\n{request.prompt}\n"
