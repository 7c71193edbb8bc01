"""The tasks as instructions of IFEval's kind: one class a task, in a registry such as IFEval and IFBench have.

    from if_verifiable.ifeval.instructions_registry import INSTRUCTION_DICT as theirs
    from oulibench.rewards.ifeval import INSTRUCTION_DICT
    theirs.update(INSTRUCTION_DICT)

Ids are `oulibench:lipogram` and so on. The description is the benchmark's own Italian prompt; a response follows where
it is read (`oulibench.responses`) as exactly the texts asked for and every one of them satisfies its constraint. These
are verdicts: no gate has a say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from oulibench.constraints import get_constraint, task_names
from oulibench.constraints.base import Wording
from oulibench.policy import Policy
from oulibench.rewards.core import explain

PREFIX: Final = "oulibench:"


class Instruction:
    """An instruction of one task; the methods are those that IFEval calls."""

    task: ClassVar[str]

    def __init__(self, instruction_id: str = "") -> None:
        self.id = instruction_id or f"{PREFIX}{self.task}"
        self._args: dict[str, Any] | None = None

    def build_description(
        self,
        *,
        target: Any = None,
        n: int = 1,
        wording: Wording = "explicit",
        policy: Mapping[str, Any] | None = None,
    ) -> str:
        """Set the instruction up and describe it: the Italian prompt for `n` texts with this target.

        Without a target the benchmark's easiest one is taken.

        Raises:
            TargetError, PolicyError: the target or the policy does not fit the task.
            ValueError: `n` is less than 1, or there is no such wording.
        """
        constraint = get_constraint(self.task)
        if target is None and (known := constraint.targets()):
            target = known[0].value
        self._args = {"target": constraint.parse_target(target), "n": int(n), "wording": wording, "policy": policy}
        return constraint.prompt(target, int(n), wording, Policy.from_mapping(policy))

    def get_instruction_args(self) -> dict[str, Any]:
        """The arguments that build this description again; those that are at their defaults are left out."""
        return {key: value for key, value in self._built().items() if value != _DEFAULTS[key]}

    def get_instruction_args_keys(self) -> list[str]:
        """The names of the arguments."""
        return list(_DEFAULTS)

    def check_following(self, value: str) -> bool:
        """Whether the response `value` follows the instruction. Never raises on a response, whatever is in it."""
        args = self._built()
        found = explain(self.task, value, args["target"], n=args["n"], gates=None, policy=args["policy"])
        return len(found.texts) == args["n"] and all(text.passed for text in found.texts)

    def _built(self) -> dict[str, Any]:
        if self._args is None:
            raise ValueError(f"{self.id}: build_description comes first; it says what is asked for.")
        return self._args


_DEFAULTS: Final[dict[str, Any]] = {"target": None, "n": 1, "wording": "explicit", "policy": None}


def instruction_class(task: str) -> type[Instruction]:
    """The class of a task's instructions.

    Raises:
        UnknownTaskError: there is no such task.
    """
    name = "".join(part.capitalize() for part in get_constraint(task).name.split("_"))
    return type(name, (Instruction,), {"task": task, "__module__": __name__, "__doc__": f"The task {task}."})


INSTRUCTION_DICT: Final[dict[str, type[Instruction]]] = {
    PREFIX + name: instruction_class(name) for name in task_names()
}
"""Id → class, for the tasks there are when this module is imported."""
INSTRUCTION_CONFLICTS: Final[dict[str, set[str]]] = {name: set(INSTRUCTION_DICT) for name in INSTRUCTION_DICT}
"""No two go together: each asks for a response that is its texts and nothing else."""
