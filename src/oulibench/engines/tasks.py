"""The benchmark's tasks for Inspect AI: dataset, solver, scorer and metrics.

    inspect eval oulibench/lipogram --model openai/gpt-4o-mini -T suite=quick -T shots=5

An answer is stored in the log before anything is read out of it; what the scorer stores beside it is made of the answer
alone and can be made again at any time (`oulibench report`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Model,
    ModelOutput,
    get_model,
    get_model_info,
)
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    ScoreReducer,
    Target,
    Value,
    metric,
    score_reducer,
    scorer,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from oulibench.constraints import get_constraint
from oulibench.constraints.base import Wording
from oulibench.engines.models import is_reasoning
from oulibench.jsonl import Row
from oulibench.policy import Policy
from oulibench.results.runs import items_of
from oulibench.results.table import Result, result_of
from oulibench.results.tally import tally
from oulibench.suite import Request, build_requests, fingerprint, load_suite, token_limit
from oulibench.suite.dataset import dataset_record
from oulibench.suite.requests import REASONING_TOKENS

TRUNCATED: Final = ("max_tokens", "model_length")
"""Stop reasons of an answer that was cut off."""


def benchmark_task(
    task: str,
    suite: str = "paper",
    shots: int = 0,
    wording: Wording = "explicit",
    n: int | None = None,
    limit: int | None = None,
    epochs: int | None = None,
    system: bool = False,
    seed: int | None = None,
    max_tokens: int | None = None,
    policy: dict[str, Any] | None = None,
    demonstrations: str | None = None,
) -> Task:
    """One task of a suite with one number of demonstrations.

    Args:
        suite: which targets, and the defaults of what follows.
        shots: demonstrations shown; tasks without demonstrations take 0 only.
        wording: how the prompts are worded.
        n: texts asked for in one prompt.
        limit: at most so many targets.
        epochs: how often each request is asked.
        system: whether a system message precedes.
        seed: of the first epoch; epoch e is asked with `seed + e - 1`. None asks without a seed of ours.
        max_tokens: token limit of an answer; None sizes it to what is asked (`oulibench.suite.token_limit`).
        policy: conventions of the checks, such as `{"words": "graphic"}`.
        demonstrations: path of a file of demonstrations to show instead of the built-in ones.

    Raises:
        OuLiBenchError, ValueError: what was given makes no benchmark; the message says why.
    """
    constraint = get_constraint(task)
    if shots and not constraint.few_shot:
        raise ValueError(f"The task {task} has no demonstrations: shots is 0.")
    conventions = Policy.from_mapping(policy)
    file = Path(demonstrations) if demonstrations is not None else None
    requests = build_requests(load_suite(suite), [task], [shots], wording, n, limit, epochs, conventions, system, file)
    return Task(
        dataset=MemoryDataset([_sample(r) for r in requests], name=f"{task}-{suite}"),
        solver=ask(seed=seed, max_tokens=max_tokens),
        scorer=verdicts(),
        epochs=Epochs(requests[0].epochs, pooled()),
        metadata={"sha256": fingerprint(requests), "dataset": dataset_record(file)},
    )


def _sample(request: Request) -> Sample:
    messages: list[ChatMessage] = [ChatMessageUser(content=request.prompt)]
    if request.system:
        messages.insert(0, ChatMessageSystem(content=request.system))
    return Sample(
        id=request.id,
        input=messages,
        target="" if request.target is None else str(request.target),
        metadata={**request.fields(), "token_limit": token_limit(request)},
    )


@solver
def ask(seed: int | None = None, max_tokens: int | None = None) -> Solver:
    """One call, with the epoch's seed and a token limit sized to what is asked."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        limit = max_tokens or _limit_for(get_model(), state.metadata["token_limit"])
        if seed is None:
            return await generate(state, max_tokens=limit)
        return await generate(state, max_tokens=limit, seed=seed + state.epoch - 1)

    return solve


def _limit_for(model: Model, limit: int) -> int:
    """`limit` for what is to be read, more for a model that reasons, and no more than the model can write at all."""
    info = get_model_info(model)
    if is_reasoning(str(model)) or (info is not None and info.reasoning):
        limit += REASONING_TOKENS
    return min(limit, info.output_tokens) if info is not None and info.output_tokens else limit


def answer_of(output: ModelOutput) -> tuple[str, str | None]:
    """What the model wrote, and the error that came in its place.

    Inspect AI puts a provider's refusal of a request (too long for the context, blocked by a filter) where the answer
    would be. The model wrote none of it, which shows in that no tokens were counted.
    """
    if not output.choices:
        return "", output.error
    if output.usage is None and output.stop_reason in ("model_length", "content_filter"):
        return "", output.error or output.completion or output.stop_reason
    return output.completion, output.error


# --- scoring -----------------------------------------------------------------------------------------------------


def answer_row(request: dict[str, Any], response: str, *, epoch: int, stop_reason: str | None) -> Row:
    """What scoring needs of an answer: the request's fields, and the answer."""
    kept = {key: request.get(key) for key in ("id", "task", "family", "target", "difficulty", "n", "shots", "policy")}
    return {**kept, "epoch": epoch, "truncated": stop_reason in TRUNCATED, "response": response}


@metric
def success_rate() -> Metric:
    """Passed / items: the paper's SR."""
    return _over_all_items(lambda result: result.sr)


@metric
def passed_per_requested() -> Metric:
    """Passed among the first n of each answer / texts asked for."""
    return _over_all_items(lambda result: result.passed_per_requested)


@metric
def yielded() -> Metric:
    """Items read / texts asked for."""
    return _over_all_items(lambda result: result.yield_)


@metric
def spearman() -> Metric:
    """Rank correlation of obtained on requested length; NaN for tasks without lengths."""
    return _over_all_items(lambda result: result.spearman.value if result.spearman else None)


def _over_all_items(value: Callable[[Result], float | None]) -> Metric:
    """A metric over all items of all answers; NaN where it is undefined.

    Inspect AI tells its present metrics from old ones by the annotation of `scores`.
    """

    def compute(scores: list[SampleScore]) -> Value:
        rows = [row for score in scores for row in (score.score.metadata or {}).get("items", ())]
        cells = list(tally({**row, "shots": 0} for row in rows).values())
        return _number(value(result_of(cells[0])) if cells else None)

    return compute


def _number(value: float | None) -> float:
    return math.nan if value is None else value


@scorer(metrics=[success_rate(), passed_per_requested(), yielded(), spearman()])
def verdicts() -> Scorer:
    """Every item of the answer with its verdict, in the score's metadata under `items`; never raises.

    The score's value is the share of items that passed, 0 where the answer holds none.
    """

    async def score(state: TaskState, target: Target) -> Score:
        text, _ = answer_of(state.output)
        row = answer_row(state.metadata, text, epoch=state.epoch, stop_reason=state.output.stop_reason)
        # In a thread, for reading and checking must not keep the next call waiting.
        items = (await anyio.to_thread.run_sync(items_of, [row]))[0]
        passed = sum(item["passed"] is True for item in items)
        produced = sum(item["item"] is not None for item in items)
        statuses = ", ".join(sorted({str(item["status"]) for item in items}))
        return Score(
            value=passed / produced if produced else 0.0,
            answer=text,
            explanation=f"{passed} of {produced} passed ({row['n']} asked for); status: {statuses}",
            metadata={"items": items},
        )

    return score


@score_reducer(name="oulibench_pooled")
def pooled() -> ScoreReducer:
    """All items of all epochs of a request together, so that rates are over texts and no epoch is lost."""

    def reduce(scores: list[Score]) -> Score:
        items = [_slim(row) for score in scores for row in (score.metadata or {}).get("items", ())]
        values = [score.as_float() for score in scores]
        return Score(value=sum(values) / len(values), metadata={"items": items})

    return reduce


_COUNTED: Final = ("id", "task", "family", "target", "n", "epoch", "item", "status", "passed", "formal", "measured")


def _slim(row: Row) -> Row:
    """What the metrics count of an item: the log holds the whole row once, with the answer that it belongs to."""
    return {key: row.get(key) for key in _COUNTED} | {"text": None if row.get("item") is None else ""}
