"""Reward functions for TRL: `GRPOTrainer(reward_funcs=[constraint_reward], …)`.

TRL calls a reward function with keyword arguments: `prompts`, `completions` (texts, or lists of messages where prompts
are messages), `completion_ids`, every other column of the data set, and its own state; it takes a list of floats, with
None where the function has nothing to say. The columns read here are those of `oulibench.rewards.prompts.dataset_rows`:
`task`, `target`, `n`, `demonstrations`, `policy`; all others are left alone. Rewards are those of
`oulibench.rewards.score_completions`.

Nothing of TRL is imported: the functions work in any trainer that calls them this way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from oulibench.constraints import get_constraint
from oulibench.errors import DataError
from oulibench.rewards.core import score_completions
from oulibench.rewards.gates import DEFAULT_GATES, Gates

Text = str | Sequence[Mapping[str, Any]]
"""A prompt or a completion: a text, or messages."""

_OPENING: Final = "<think>"


@dataclass(frozen=True)
class ConstraintReward:
    """A reward function for TRL; made by `make_reward`. An object rather than a closure, so that it can be pickled.

    Attributes:
        task: the task whose rows it rewards; None for all.
        gates, strict, policy, processes: as in `oulibench.rewards.score_completions`.
        reasoning: whether completions begin within the model's reasoning, the prompt having opened it.
        name: what TRL's logs call it.
    """

    task: str | None = None
    gates: Gates | None = DEFAULT_GATES
    strict: bool = False
    policy: Mapping[str, Any] | None = None
    processes: int = 1
    reasoning: bool = False
    name: str = "constraint_reward"

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(
        self,
        prompts: Sequence[Text],
        completions: Sequence[Text],
        task: Sequence[str | None] | None = None,
        target: Sequence[object] | None = None,
        n: Sequence[int | None] | None = None,
        demonstrations: Sequence[Sequence[str] | None] | None = None,
        policy: Sequence[Mapping[str, Any] | None] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """The reward of each completion, in [0, 1]; None where the row's task is another, or none of ours.

        Raises:
            DataError: the data set has no column `task`, and the function is for no task in particular.
            TargetError, PolicyError, DataError: a row is set up wrongly.
        """
        count = len(completions)
        if task is None and self.task is None:
            raise DataError(
                'The data set has no column "task". Make it with oulibench.rewards.prompts.dataset_rows, or name the '
                'task of all rows: make_reward("lipogram").'
            )
        tasks: Sequence[str | None] = [self.task] * count if task is None else task
        columns_read = (
            prompts,
            completions,
            tasks,
            target or [None] * count,
            n or [None] * count,
            demonstrations or [None] * count,
            policy or [None] * count,
        )
        rows = [
            {
                "task": name if self.task in (None, name) else None,
                "target": wanted,
                "completion": self._opened(answer_text(completion)),
                "n": asked,
                "prompt": prompt_text(prompt),
                "demonstrations": shown or (),
                "policy": conventions,
            }
            for prompt, completion, name, wanted, asked, shown, conventions in zip(*columns_read, strict=True)
        ]
        return score_completions(rows, self.gates, self.strict, self.policy, self.processes)

    def _opened(self, answer: str) -> str:
        """An answer with the tag that the prompt took from it, so that reasoning cut off is not read as an answer."""
        return f"{_OPENING}{answer}" if self.reasoning and _OPENING not in answer else answer


def make_reward(
    task: str | None = None,
    *,
    gates: Gates | None = DEFAULT_GATES,
    strict: bool = False,
    policy: Mapping[str, Any] | None = None,
    processes: int = 1,
    reasoning: bool = False,
    name: str | None = None,
) -> ConstraintReward:
    """A reward function for `reward_funcs`.

    Args:
        task: the task whose rows it rewards, so that each task has a curve of its own in the logs; other rows get None.
            All tasks for None. Where the data set has no column `task`, all rows are of this one.
        gates: thresholds against gaming; None opens all gates.
        strict: 1 for a text that satisfies its constraint and 0 for any other, instead of partial scores.
        policy: conventions other than the defaults (see `oulibench.policy.Policy`), such as the parser.
        processes: over how many processes to spread the verdicts.
        reasoning: for models whose chat template opens the reasoning (`<think>`) in the prompt, so that completions
            only close it: what is not closed is no answer. Where the model itself writes both tags, it is not needed.
        name: what the logs call it. Two functions of one trainer need two names. By default it says what was chosen:
            `lipogram_reward`, `constraint_reward_strict`, `constraint_reward_ungated` …

    Raises:
        UnknownTaskError: there is no such task.
    """
    if task is not None:
        get_constraint(task)
    default = f"{task or 'constraint'}_reward{'_strict' if strict else ''}{'_ungated' if gates is None else ''}"
    return ConstraintReward(task, gates, strict, policy, processes, reasoning, name or default)


constraint_reward: Final = make_reward()
"""Partial scores behind the default gates, for rows of any task."""


def answer_text(completion: Text) -> str:
    """What the model answered: a text as it is; of messages, the last of the model's own (what it says between calls of
    tools is no answer). Of content in parts, the parts that are text.
    """
    if isinstance(completion, str):
        return completion
    own = [message for message in completion if message.get("role", "assistant") == "assistant"]
    return _content(own[-1]) if own else ""


def prompt_text(prompt: Text) -> str:
    """All that the model was shown, as one text."""
    return prompt if isinstance(prompt, str) else "\n".join(map(_content, prompt))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = [part for part in content or () if isinstance(part, Mapping) and part.get("type", "text") == "text"]
    return "".join(text for part in parts if isinstance(text := part.get("text"), str))
