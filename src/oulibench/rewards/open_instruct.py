"""A verifier for open-instruct (RLVR, GRPO): `register()` before training, and rows whose `dataset` is `oulibench`.

open-instruct finds its verifiers as the subclasses of `VerifierFunction` (open_instruct/ground_truth_utils.py), makes
one of each with the configuration that its class asks for, and calls it for rows whose column `dataset` holds its name:
`verifier.async_call(tokenized_prediction=…, prediction=…, label=…, query=…, rollout_state=…)`, `label` being the column
`ground_truth`. Versions without `rollout_state` are served, too.

The label is a JSON object (see `ground_truth`): the row of `oulibench.rewards.score_completions` less its completion.
open-instruct is no package of an index and none of ours: `Verifier` works without it wherever that interface is spoken.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from oulibench.errors import DataError, MissingExtraError, UnknownTaskError
from oulibench.jsonl import dump_line
from oulibench.rewards.core import explain_row
from oulibench.rewards.gates import DEFAULT_GATES, Gates

NAME: Final = "oulibench"
"""The verifier's name: what the column `dataset` of its rows holds."""


@dataclass
class VerificationResult:
    """What a verifier answers, where open-instruct's own class is not at hand.

    Attributes:
        score: the reward, in [0, 1].
        cost: in dollars; none here.
        reasoning: the verdict's reason, or the gates that closed.
    """

    score: float
    cost: float = 0.0
    reasoning: str | None = None


class VerifierConfig:
    """The configuration of a verifier that has none: it takes nothing from the trainer's arguments."""

    @classmethod
    def from_args(cls, *sources: object) -> VerifierConfig:
        return cls()


class Verifier:
    """A verifier as open-instruct calls them; its settings are those of its class (see `register`)."""

    gates: ClassVar[Gates | None] = DEFAULT_GATES
    strict: ClassVar[bool] = False
    policy: ClassVar[Mapping[str, Any] | None] = None
    result: ClassVar[Any] = VerificationResult
    weight: float = 1.0
    name: str = NAME

    def __init__(self, verifier_config: object = None) -> None:
        self.verifier_config = verifier_config

    @classmethod
    def get_config_class(cls) -> type:
        return VerifierConfig

    def __call__(
        self,
        tokenized_prediction: Sequence[int],
        prediction: str,
        label: str | Mapping[str, Any],
        query: str | None = None,
        rollout_state: Mapping[str, Any] | None = None,
    ) -> Any:
        """The reward of `prediction`; what the model was asked (`query`) must not be copied.

        Raises:
            DataError, TargetError, PolicyError, UnknownTaskError: the label makes no sense.
        """
        wanted = _read_label(label)
        row = {**wanted, "completion": prediction, "prompt": query}
        found = explain_row(row, self.gates, self.strict, self.policy)
        if found.reward is None:
            raise UnknownTaskError(f"The label's task {wanted['task']!r} is none of the benchmark's.")
        return self.result(score=found.reward, reasoning=found.why)

    async def async_call(
        self,
        tokenized_prediction: Sequence[int],
        prediction: str,
        label: str | Mapping[str, Any],
        query: str | None = None,
        rollout_state: Mapping[str, Any] | None = None,
    ) -> Any:
        """`__call__` in a thread, so that the trainer's loop goes on."""
        return await asyncio.to_thread(self, tokenized_prediction, prediction, label, query, rollout_state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name}, weight={self.weight})"


def _read_label(label: object) -> Mapping[str, Any]:
    if isinstance(label, str):
        try:
            label = json.loads(label)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, too
            raise DataError(f"The ground truth is no JSON ({error}). Write it with ground_truth(…).") from error
    if not isinstance(label, Mapping) or "task" not in label:
        raise DataError(f'The ground truth is an object such as {{"task": "lipogram", "target": "e"}}, not {label!r}.')
    return label


def ground_truth(
    task: str,
    target: object = None,
    *,
    n: int | None = None,
    demonstrations: Iterable[str] = (),
    policy: Mapping[str, Any] | None = None,
) -> str:
    """The column `ground_truth` of a row: what the verifier needs to know, as JSON."""
    label: dict[str, Any] = {"task": task, "target": target}
    if n is not None:
        label["n"] = n
    if shown := list(demonstrations):
        label["demonstrations"] = shown
    if policy:
        label["policy"] = dict(policy)
    return dump_line(label).decode("utf-8").rstrip("\n")


def rlvr_row(
    task: str,
    target: object,
    prompt: str,
    *,
    n: int | None = None,
    demonstrations: Iterable[str] = (),
    policy: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A row of a data set for open-instruct's RLVR: `messages`, `ground_truth`, `dataset`."""
    return {
        "messages": [{"role": "user", "content": prompt}],
        "ground_truth": ground_truth(task, target, n=n, demonstrations=demonstrations, policy=policy),
        "dataset": NAME,
    }


def register(
    *,
    gates: Gates | None = DEFAULT_GATES,
    strict: bool = False,
    policy: Mapping[str, Any] | None = None,
    name: str = NAME,
    weight: float = 1.0,
) -> type[Verifier]:
    """Make a verifier with these settings known to open-instruct; call it before `build_all_verifiers`.

    Returns:
        The class, a subclass of open-instruct's `VerifierFunction`.

    Raises:
        MissingExtraError: open-instruct cannot be imported.
    """
    try:
        from open_instruct import ground_truth_utils  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingExtraError(
            f"open-instruct cannot be imported ({error}); it is installed from its repository, allenai/open-instruct."
        ) from error
    settings = {"gates": gates, "strict": strict, "policy": policy, "name": name, "weight": weight}
    settings["result"] = ground_truth_utils.VerificationResult
    made: type[Verifier] = type("OuLiBenchVerifier", (Verifier, ground_truth_utils.VerifierFunction), settings)
    _REGISTERED.append(made)  # a class remembers its subclasses weakly
    return made


_REGISTERED: list[type[Verifier]] = []
