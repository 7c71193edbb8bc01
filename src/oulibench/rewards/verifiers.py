"""A taskset for verifiers (`verifiers.v1`): `vf-eval oulibench-verifiers`, and training with what builds on it.

The taskset's rows are requests of the benchmark, or (unless said otherwise) prompts with targets to train on; rewards
are those of `oulibench.rewards`. An episode is one answer to one prompt: the harness asks the model from within this
process and the environment needs no sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from oulibench.constraints.base import Wording
from oulibench.errors import DataError, MissingExtraError
from oulibench.rewards.core import Explanation, explain
from oulibench.rewards.gates import DEFAULT_GATES, Gates
from oulibench.rewards.prompts import training_requests
from oulibench.suite import Request, build_requests, load_suite

try:
    import verifiers.v1 as vf
    from openai import AsyncOpenAI
    from pydantic import Field
except ImportError as error:
    raise MissingExtraError("The taskset needs verifiers: pip install 'oulibench[verifiers]'") from error


class OuLiBenchData(vf.TaskData):
    """A request, as it stands in traces: see `oulibench.suite.Request`."""

    task: str
    target: int | str | None = None
    difficulty: int = 0
    n: int = 1
    policy: dict[str, Any] = Field(default_factory=dict)
    demonstrations: tuple[str, ...] = ()


class OuLiBenchTaskConfig(vf.TaskConfig):
    """How answers are rewarded (`--env.taskset.task.*`)."""

    strict: bool = False
    """1 for a text that satisfies its constraint and 0 for any other, instead of partial scores."""
    gates: Gates | None = DEFAULT_GATES
    """Thresholds against gaming; null opens all gates."""


class OuLiBenchTask(vf.Task[OuLiBenchData, vf.State, OuLiBenchTaskConfig]):
    """One prompt, and the reward of an answer to it."""

    @property
    def key(self) -> str:
        """The request's id: the same in every version of the data set."""
        return str(self.data.id)

    @vf.reward
    async def constraint(self, trace: vf.Trace) -> float:
        """The reward: partial scores (or passes) behind gates, averaged over the texts asked for."""
        return self._explain(trace, self.config.gates, self.config.strict).reward or 0.0

    @vf.metric
    async def success_rate(self, trace: vf.Trace) -> dict[str, float]:
        """The share of the texts asked for that satisfy the constraint, whatever the gates say, and the share of those
        given on which a gate closed.
        """
        found = self._explain(trace, self.config.gates, strict=True)
        passed = sum(text.passed is True for text in found.texts)
        closed = sum(bool(text.closed) for text in found.texts)
        return {"success_rate": passed / found.asked, "gated": closed / (len(found.texts) or 1)}

    def _explain(self, trace: vf.Trace, gates: Gates | None, strict: bool) -> Explanation:
        data = self.data
        return explain(
            data.task,
            trace.last_reply,
            data.target,
            n=data.n,
            prompt=data.prompt_text,
            demonstrations=data.demonstrations,
            gates=gates,
            strict=strict,
            policy=data.policy,
        )


class OuLiBenchConfig(vf.TasksetConfig):
    """Which prompts there are (`--env.taskset.*`)."""

    id: str = "oulibench-verifiers"
    split: Literal["training", "benchmark"] = "training"
    """`training`: targets that the benchmark does not ask for. `benchmark`: the benchmark's own requests, to evaluate;
    a model trained on them can no longer be evaluated with OuLiBench."""
    tasks: list[str] | None = None
    """Names of tasks; null for all (of the split)."""
    wordings: list[Wording] = Field(["explicit"])
    """How prompts are worded."""
    n: int | None = Field(None, ge=1)
    """Texts asked for in one prompt; null for one (training) or what the suite says (benchmark)."""
    suite: str = "single"
    """The suite of the benchmark's requests."""
    shots: list[int] | None = None
    """Numbers of demonstrations in the benchmark's requests; null for the suite's."""
    system: bool = False
    """Whether a system message precedes."""
    task: OuLiBenchTaskConfig = OuLiBenchTaskConfig()


class OuLiBenchTaskset(vf.Taskset[OuLiBenchTask, OuLiBenchConfig]):
    """Prompts of OuLiBench, one task each."""

    def load(self) -> Iterator[OuLiBenchTask]:
        """The prompts of the split, by wording, task and target."""
        for request in self._requests():
            yield OuLiBenchTask(_data(request), self.config.task)

    def _requests(self) -> list[Request]:
        config = self.config
        if config.split == "training":
            if config.shots not in (None, [0]):
                raise DataError("Prompts to train on have no demonstrations: shots belong to the split benchmark.")
            return training_requests(config.tasks, config.n or 1, config.wordings, system=config.system)
        suite = load_suite(config.suite)
        return [
            request
            for wording in config.wordings
            for request in build_requests(suite, config.tasks, config.shots, wording, config.n, system=config.system)
        ]


def _data(request: Request) -> OuLiBenchData:
    return OuLiBenchData(
        id=request.id,
        name=request.id,
        prompt=request.prompt,
        system_prompt=request.system,
        task=request.task,
        target=request.target,
        difficulty=request.difficulty,
        n=request.n,
        policy=request.policy,
        demonstrations=request.demonstrations,
    )


class OneAnswerHarness(vf.Harness[vf.HarnessConfig]):
    """Asks once and is done. It runs in this process: the harnesses of verifiers install a program first."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """One chat completion, through the endpoint that records it."""
        system, prompt = self.resolve_text_prompt(data)
        messages: list[Any] = [{"role": "user", "content": prompt or ""}]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class OuLiBenchEnvConfig(vf.SingleAgentEnvConfig):
    """One agent, without a sandbox: nothing but this process runs."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class OuLiBenchEnv(vf.Env[OuLiBenchEnvConfig]):
    """The taskset with the runtime that it needs: none."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """One answer."""
        await agents.agent.run(task)
