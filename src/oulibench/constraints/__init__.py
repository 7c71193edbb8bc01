"""The tasks of the benchmark, by name.

A constraint is one file here and one line in `_BUILT_IN`. Another package adds its own with `register`, or under the
entry point group `oulibench.constraints`; nothing else in OuLiBench needs to know.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final

from oulibench.constraints.base import Constraint
from oulibench.errors import UnknownTaskError

AnyConstraint = Constraint[Any]

_BUILT_IN: Final[dict[str, str]] = {
    "word_length": "oulibench.constraints.word_length:WordLength",
    "char_length": "oulibench.constraints.char_length:CharLength",
    "voice": "oulibench.constraints.voice:Voice",
    "word_order": "oulibench.constraints.word_order:WordOrder",
    "lipogram": "oulibench.constraints.lipogram:Lipogram",
    "inverse_lipogram": "oulibench.constraints.inverse_lipogram:InverseLipogram",
    "tautogram": "oulibench.constraints.tautogram:Tautogram",
    "word_anagram": "oulibench.constraints.word_anagram:WordAnagram",
    "sentence_anagram": "oulibench.constraints.sentence_anagram:SentenceAnagram",
    "palindrome": "oulibench.constraints.palindrome:Palindrome",
    "acrostic": "oulibench.constraints.acrostic:Acrostic",
}
_REGISTERED: dict[str, Callable[[], AnyConstraint]] = {}
ENTRY_POINT_GROUP: Final = "oulibench.constraints"


def register(factory: Callable[[], AnyConstraint], name: str) -> None:
    """Add a constraint under `name`; `factory` is called once, on first use.

    Raises:
        ValueError: the name is taken.
    """
    if name in _BUILT_IN or name in _REGISTERED:
        raise ValueError(f"There is a task {name!r} already.")
    _REGISTERED[name] = factory


def benchmark_tasks() -> tuple[str, ...]:
    """The names of the benchmark's own tasks, in their order: the same on every machine, whatever is registered."""
    return tuple(_BUILT_IN)


def task_names() -> tuple[str, ...]:
    """The names of all tasks: the benchmark's own in their order, then registered ones."""
    return (*_BUILT_IN, *_REGISTERED, *(e.name for e in _plugins() if e.name not in _REGISTERED))


def tasks_of_this_process() -> tuple[str, ...]:
    """The names of the tasks that were registered here, and that other processes need not know."""
    return tuple(_REGISTERED)


@cache
def _plugins() -> tuple[Any, ...]:
    return tuple(e for e in entry_points(group=ENTRY_POINT_GROUP) if e.name not in _BUILT_IN)


_LOADED: dict[str, AnyConstraint] = {}


def get_constraint(task: str) -> AnyConstraint:
    """The constraint called `task`.

    Raises:
        UnknownTaskError: there is none; the message names those that there are.
    """
    try:
        return _LOADED[task]
    except (KeyError, TypeError):
        constraint = _LOADED[task] = _load(task)
        return constraint


def _load(task: object) -> AnyConstraint:
    if isinstance(task, str):
        if location := _BUILT_IN.get(task):
            module, _, attribute = location.partition(":")
            return getattr(import_module(module), attribute)()  # type: ignore[no-any-return]
        if factory := _REGISTERED.get(task):
            return factory()
        for plugin in _plugins():
            if plugin.name == task:
                return plugin.load()()  # type: ignore[no-any-return]
    raise UnknownTaskError(f"Unknown task {task!r}. Known tasks: {', '.join(task_names())}.")
