"""The taskset as verifiers loads it, and real episodes with the embedded model through `oulibench serve`."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verifiers.v1")

import verifiers.v1 as vf
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

from oulibench.engines.gguf import EMBEDDED_NAME, model_path
from oulibench.errors import DataError, MissingExtraError
from oulibench.rewards import Gates, reward
from oulibench.rewards.prompts import training_requests
from oulibench.suite import build_requests, load_suite

SENTENCE = "Il mare è bello"  # 4 words, 3 of which hold an e


def environment(**taskset: Any) -> Any:
    return vf.load_environment(vf.resolve_env_config({"taskset": {"id": "oulibench-verifiers", **taskset}}))


def test_targets_to_train_on_are_what_it_gives_unasked() -> None:
    """Not the benchmark's: nobody trains on those by leaving an option out."""
    tasks = list(environment().taskset)
    expected = training_requests()
    assert [(t.data.id, t.data.prompt, t.data.target) for t in tasks] == [(r.id, r.prompt, r.target) for r in expected]
    assert len({task.key for task in tasks}) == len(tasks) > 90


def test_the_benchmark_is_there_to_evaluate() -> None:
    tasks = list(environment(split="benchmark", suite="quick", wordings=["terse"], system=True).taskset)
    expected = build_requests(load_suite("quick"), wording="terse", system=True)
    assert [(t.data.id, t.data.prompt, t.data.system_prompt, t.data.n, t.data.demonstrations) for t in tasks] == [
        (r.id, r.prompt, r.system, r.n, r.demonstrations) for r in expected
    ]


def test_views_of_verifiers_find_tasks_by_id() -> None:
    taskset = environment(tasks=["lipogram", "word_length"]).taskset
    assert [t.data.target for t in taskset.include(ids=["lipogram/t/0/explicit", "word_length/8/0/explicit"])] == [
        "t",
        8,
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ["voice"]}, "voice cannot be trained on"),
        ({"shots": [5]}, "shots belong to the split benchmark"),
        ({"split": "benchmark", "suite": "papr"}, "There is no suite 'papr'"),
    ],
)
def test_what_cannot_be_asked_for_says_so(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(environment(**options).taskset)


def test_at_least_one_text_is_asked_for() -> None:
    assert {task.data.n for task in environment(tasks=["acrostic"], n=3).taskset} == {3}
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        environment(n=0)


def test_nothing_but_this_process_is_needed() -> None:
    """By default verifiers rents a sandbox and installs a program in it; one answer needs neither."""
    config = vf.resolve_env_config({"taskset": {"id": "oulibench-verifiers"}})
    assert config.agent.runtime.type == "subprocess"
    assert config.agent_harnesses()["agent"].id == "oulibench-verifiers"


def scored(reply: str | None, target: Any = 5, *, task: dict[str, Any] | None = None, **data: Any) -> Any:
    """The trace of a reply, scored by verifiers."""
    one = next(iter(environment(tasks=["word_length"], task=task or {}).taskset)).with_data(target=target, **data)
    trace = vf.Trace(
        task=vf.TraceTask(type="OuLiBenchTask", data=one.data),
        agent=vf.AgentInfo(config=vf.AgentConfig(runtime=vf.SubprocessConfig())),
        nodes=[vf.MessageNode(message=vf.AssistantMessage(content=reply), sampled=True)],
    )
    asyncio.run(one.score(trace))
    return trace


def test_rewards_are_those_of_the_core() -> None:
    trace = scored(SENTENCE)  # 4 of 5 words
    assert (trace.reward, trace.metrics) == (0.8, {"success_rate": 0.0, "gated": 0.0})
    assert scored(SENTENCE, 4).metrics == {"success_rate": 1.0, "gated": 0.0}
    assert scored(SENTENCE, task={"strict": True}).reward == 0.0
    assert scored(SENTENCE, 4, task={"strict": True}).reward == 1.0
    assert scored(f"1. {SENTENCE}\n2. {SENTENCE} davvero", 4, n=2, task={"gates": None}).reward == pytest.approx(0.9)
    with pytest.raises(vf.TaskError, match="a whole number such as 5, not 'e'"):
        scored(SENTENCE, "e")


def test_gates_can_be_set_and_opened() -> None:
    shut = scored("No.", 2)
    assert (shut.reward, shut.metrics) == (0.0, {"success_rate": 0.0, "gated": 1.0})
    assert scored("No.", 2, task={"gates": None}).reward == 0.5
    assert scored("Uno due tre quattro", 4, task={"gates": {"max_words": 3, "repetition": None}}).reward == reward(
        "word_length", "Uno due tre quattro", 4, n=1, gates=Gates(max_words=3, repetition=None)
    )


@pytest.mark.parametrize("reply", [None, "", "<think>Quattro parole, ma quali", "\x00\ud800"])
def test_replies_that_say_nothing_earn_nothing(reply: str | None) -> None:
    trace = scored(reply)
    assert (trace.reward, trace.metrics["success_rate"]) == (0.0, 0.0)


def evaluate(url: str, folder: Path, limit: int) -> list[Any]:
    config = EvalConfig(
        env={"taskset": {"id": "oulibench-verifiers", "tasks": ["lipogram", "word_length"], "system": True}},
        model="smollm2",
        client={"type": "eval", "base_url": url},
        sampling={"temperature": 0.8, "seed": 1, "max_tokens": 24},
        select={"limit": limit, "shuffle": True, "seed": 3},
        push=False,
        rich=None,
        output_dir=folder,
    )
    return [trace for episode in asyncio.run(run_eval(config)) for trace in episode.traces]


@pytest.fixture
def server() -> Iterator[str]:
    pytest.importorskip("xllamacpp")
    try:
        model_path(EMBEDDED_NAME)
    except MissingExtraError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "oulibench", "serve", "--context", "1024", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("verifiers.v1.runtimes.subprocess.CACHE_DIR", tmp_path / "cache")


def test_a_model_is_asked_and_rewarded(server: str, tmp_path: Path) -> None:
    """The rewards in the traces are those of the replies in the traces."""
    traces = evaluate(server, tmp_path, limit=4)
    assert len(traces) == 4
    assert {trace.task.data.task for trace in traces} == {"lipogram", "word_length"}
    for trace in traces:
        assert trace.ok, trace.errors
        data = trace.task.data
        assert [message.role for message in trace.messages] == ["system", "user", "assistant"]
        assert trace.messages[1].content == data.prompt
        assert trace.last_reply
        assert trace.reward == reward(data.task, trace.last_reply, data.target, n=1, prompt=data.prompt)
        assert trace.metrics["success_rate"] == reward(
            data.task, trace.last_reply, data.target, n=1, gates=None, strict=True
        )
    assert len(list(tmp_path.glob("*/traces.jsonl"))) == 1


def test_a_server_that_is_not_there_gives_errors_and_no_rewards(tmp_path: Path) -> None:
    """A reward of 0 would be learnt from."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        (trace,) = evaluate(f"http://127.0.0.1:{unused.getsockname()[1]}/v1", tmp_path, limit=1)
    assert not trace.ok
    assert trace.last_error.type == "ProviderError"
    assert trace.rewards == {}
