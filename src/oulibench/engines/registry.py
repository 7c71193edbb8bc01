"""What Inspect AI finds under the entry point `oulibench`: the benchmark's tasks, and the provider `local`.

Tasks registered with OuLiBench by other packages are here too; nothing is named twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from inspect_ai import Task, task
from inspect_ai.model import ModelAPI, modelapi

from oulibench.constraints import task_names
from oulibench.constraints.base import Wording
from oulibench.engines.tasks import benchmark_task


def _define(name: str) -> Callable[..., Task]:
    @task(name=name)
    def define(
        suite: str = "paper",
        shots: int = 0,
        wording: Wording = "explicit",
        n: int | None = None,
        limit: int | None = None,
        epochs: int | None = None,
        system: bool = False,
        seed: int | None = None,
        max_tokens: int | None = None,
        policy: dict[str, Any] | str | None = None,
        demonstrations: str | None = None,
    ) -> Task:
        conventions = json.loads(policy) if isinstance(policy, str) else policy
        return benchmark_task(
            name, suite, shots, wording, n, limit, epochs, system, seed, max_tokens, conventions, demonstrations
        )

    return define


TASKS: Final[dict[str, Callable[..., Task]]] = {name: _define(name) for name in task_names()}


@modelapi(name="local")
def local() -> type[ModelAPI]:
    """GGUF models in this process; the module that loads them is imported when one is asked for."""
    from oulibench.engines.local import LocalModel

    return LocalModel
