"""Suites: which targets, how many texts and how many demonstrations make a benchmark (data/suites.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from oulibench.constraints.base import TargetSpec
from oulibench.errors import DataError


@dataclass(frozen=True, slots=True)
class Suite:
    """A named benchmark.

    Attributes:
        about: what it is for, in one line.
        n: texts asked for in one prompt.
        shots: numbers of demonstrations, ascending.
        targets: how many targets per task; None for all.
        epochs: how often each request is asked.
        per_task: task → values of `n`, `shots`, `targets`, `epochs` that hold for it alone.
    """

    name: str
    about: str
    n: int
    shots: tuple[int, ...]
    targets: int | None = None
    epochs: int = 1
    per_task: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def n_of(self, task: str) -> int:
        """Texts asked for in one prompt of `task`."""
        return int(self.per_task.get(task, {}).get("n", self.n))

    def epochs_of(self, task: str) -> int:
        """How often each request of `task` is asked."""
        return int(self.per_task.get(task, {}).get("epochs", self.epochs))

    def shots_of(self, task: str) -> tuple[int, ...]:
        """Numbers of demonstrations that `task` is asked with, where it has demonstrations."""
        return tuple(self.per_task.get(task, {}).get("shots", self.shots))

    def choose(self, task: str, targets: tuple[TargetSpec, ...]) -> tuple[TargetSpec, ...]:
        """The targets of this suite among all those of `task`: spread evenly, the first and the last among them."""
        wanted = self.per_task.get(task, {}).get("targets", self.targets)
        if wanted is None or wanted >= len(targets):
            return targets
        last = len(targets) - 1
        return tuple(targets[round(i * last / max(1, wanted - 1))] for i in range(wanted))


_KEYS: Final = {"about", "n", "shots", "targets", "epochs", "per_task"}


@cache
def suite_data() -> dict[str, Any]:
    """The data file, parsed.

    Raises:
        DataError: it is missing or is no TOML.
    """
    try:
        return tomllib.loads(files("oulibench").joinpath("data", "suites.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"The data file suites.toml cannot be read: {error}") from error


def suite_names() -> tuple[str, ...]:
    """The names of all suites."""
    return tuple(suite_data()["suites"])


def load_suite(name: str) -> Suite:
    """The suite called `name`.

    Raises:
        DataError: there is none; the message names those that there are.
    """
    table = suite_data()["suites"].get(name)
    if table is None:
        raise DataError(f"There is no suite {name!r}. Known suites: {', '.join(suite_names())}.")
    if unknown := set(table) - _KEYS:
        raise DataError(f"The suite {name} in suites.toml has unknown keys: {', '.join(sorted(unknown))}.")
    return Suite(name=name, **{**table, "shots": tuple(sorted(table["shots"]))})
