"""The examples of few-shot prompts: frozen data, chosen by their order in the file and known by id.

There is no sampling, so no seed decides which examples a model sees, and the same examples in every run make copying
measurable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from oulibench.constraints import AnyConstraint, get_constraint
from oulibench.errors import DataError, OuLiBenchError
from oulibench.jsonl import Row, parse_line
from oulibench.language import ITALIAN, Language
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.text import letters, normalise


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A text that satisfies its task for its target, shown to a model as an example.

    Attributes:
        id: the name it is known by, unique in its task.
        target: the target in its canonical form.
    """

    id: str
    task: str
    target: int | str | None
    text: str


def demonstrations(
    task: str,
    target: object,
    shots: int,
    language: Language = ITALIAN,
    file: Path | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> tuple[Demonstration, ...]:
    """The first `shots` demonstrations of a task for a target, in their frozen order.

    Args:
        file: a file of demonstrations (as `oulibench mine` writes them) to take instead of the built-in ones.
        policy: where its conventions are other than the task's defaults, those that break the rule under it are left
            out: *L'amico dorme* shows three words to nobody who counts it as two.

    Raises:
        UnknownTaskError, TargetError: there is no such task, or the target fits it not.
        ValueError: `shots` is negative.
        DataError: there are fewer; the message says how many.
    """
    if shots < 0:
        raise ValueError(f"The number of demonstrations is at least 0, not {shots}.")
    constraint = get_constraint(task)
    wanted = constraint.parse_target(target)
    if shots == 0:
        return ()
    found = _built_in(task, language) if file is None else _of_file(file).get(task, {})
    there = found.get(wanted, ())
    under = ""
    conventions = _conventions(constraint, policy)
    if conventions:
        there = tuple(d for d in there if constraint.check(d.text, wanted, policy).passed)
        under = f" that satisfy it with {', '.join(conventions)}"
    if len(there) < shots:
        about = f"the target {wanted!r} of {task}" if wanted is not None else task
        raise DataError(f"There are {len(there)} demonstrations for {about}{under}, fewer than the {shots} asked for.")
    return there[:shots]


def all_demonstrations(task: str, language: Language = ITALIAN) -> tuple[Demonstration, ...]:
    """Every built-in demonstration of a task, in the frozen order; none where the task has none."""
    return tuple(d for of_target in _built_in(task, language).values() for d in of_target)


def _conventions(constraint: AnyConstraint, policy: Policy) -> list[str]:
    """What of a policy can break the rule that a demonstration was written under, as `key=value`."""
    return [
        f"{key}={getattr(policy, key)}"
        for key in (*constraint.policies, "min_words")
        if getattr(policy, key) != getattr(DEFAULT_POLICY, key)
    ]


_ByTarget = dict[int | str | None, tuple[Demonstration, ...]]


@cache
def _built_in(task: str, language: Language) -> _ByTarget:
    source = language.data("demonstrations", f"{task}.jsonl")
    if not source.is_file():
        return {}
    return _read_all(f"demonstrations/{task}.jsonl", source.read_bytes()).get(task, {})


@cache
def _of_file(file: Path) -> dict[str, _ByTarget]:
    try:
        return _read_all(str(file), file.read_bytes())
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}") from error


def _read_all(name: str, data: bytes) -> dict[str, _ByTarget]:
    """Demonstrations by task and target; in the order of the file."""
    grouped: dict[str, dict[int | str | None, list[Demonstration]]] = {}
    ids: set[tuple[str, str]] = set()
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                demonstration = _read(parse_line(line))
            except OuLiBenchError as error:
                raise DataError(f"{name}:{number}: {error}") from error
            if (demonstration.task, demonstration.id) in ids:
                raise DataError(f"{name}:{number}: the id {demonstration.id!r} stands there twice.")
            ids.add((demonstration.task, demonstration.id))
            grouped.setdefault(demonstration.task, {}).setdefault(demonstration.target, []).append(demonstration)
    return {task: {target: tuple(found) for target, found in targets.items()} for task, targets in grouped.items()}


def _read(row: Row) -> Demonstration:
    if missing := [key for key in ("id", "task", "target", "text") if key not in row]:
        raise DataError(f"a demonstration has no {', '.join(missing)}")
    if not isinstance(row["text"], str) or not row["text"].strip():
        raise DataError("a demonstration needs a text")
    constraint = get_constraint(row["task"])
    return Demonstration(str(row["id"]), constraint.name, constraint.parse_target(row["target"]), row["text"])


def overlaps(demonstration: Demonstration, target: object) -> bool:
    """Whether a demonstration is the text that the model is asked to work on, letter for letter."""
    return isinstance(target, str) and letters(normalise(target)) == letters(normalise(demonstration.text))
