"""The tasks as Inspect AI finds them, the scorer and its metrics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import SampleScore, Score

from oulibench.constraints import task_names
from oulibench.engines.tasks import pooled, spearman, success_rate


def evaluate(folder: Path, task: str, answer: Any, **options: Any) -> EvalLog:
    """One task, by the name under which `inspect eval` knows it, answered by `answer(prompt, config)`."""

    def reply(messages: list[ChatMessage], tools: object, tool_choice: object, config: GenerateConfig) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", answer(messages[-1].text, config))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or a tokenizer is downloaded
        return output

    [log] = inspect_eval(
        task,
        model=get_model("mockllm/model", custom_outputs=reply, memoize=False),
        task_args=options,
        log_dir=str(folder),
        display="none",
        log_level="error",
        ctl_server=False,
    )
    return read_eval_log(log.location)


def metrics(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}


def test_lipogram_by_its_inspect_name(tmp_path: Path) -> None:
    # the suite quick asks for three letters; the texts below have no e, but have a, i, o and r
    answer = "1. Oggi vado in montagna.\n2. Luca mangia una mela.\n3. Sogno un porto."
    log = evaluate(tmp_path, "oulibench/lipogram", lambda *_: answer, suite="quick", shots=2, limit=1, n=4)
    assert log.status == "success"
    [sample] = log.samples or []
    assert "Ecco 2 esempi:" in str(sample.input)
    assert sample.scores is not None
    items = (sample.scores["verdicts"].metadata or {})["items"]
    assert [item["text"] for item in items] == [
        "Oggi vado in montagna.",
        "Luca mangia una mela.",
        "Sogno un porto.",
    ]
    letter = sample.metadata["target"]
    passed = sum(letter not in item["text"].lower() for item in items)
    assert [item["passed"] for item in items] == [letter not in item["text"].lower() for item in items]
    assert metrics(log)["success_rate"] == pytest.approx(passed / 3)
    assert metrics(log)["passed_per_requested"] == pytest.approx(passed / 4)
    assert metrics(log)["yielded"] == pytest.approx(3 / 4)
    assert math.isnan(metrics(log)["spearman"])


def test_lengths_over_epochs_are_pooled(tmp_path: Path) -> None:
    def answer(prompt: str, config: GenerateConfig) -> str:
        """As many words as were asked for in epoch 1 (seed 10), one more in epoch 2."""
        target = int(prompt.split("da ")[1].split()[0])
        return " ".join(["parola"] * (target + (config.seed or 0) - 10)) + "."

    log = evaluate(tmp_path, "oulibench/word_length", answer, suite="quick", n=1, epochs=2, seed=10)
    assert metrics(log)["success_rate"] == pytest.approx(0.5)
    # ranks of asked (5,5,15,15,30,30) and of found (5,6,15,16,30,31): with ties
    assert metrics(log)["spearman"] == pytest.approx(0.956, abs=0.001)


def test_an_answer_without_items_scores_nothing(tmp_path: Path) -> None:
    log = evaluate(tmp_path, "oulibench/palindrome", lambda *_: "", suite="quick")
    assert log.status == "success"
    assert math.isnan(metrics(log)["success_rate"])
    assert metrics(log)["yielded"] == 0


def test_every_task_of_the_benchmark_is_registered() -> None:
    from oulibench.engines.registry import TASKS

    assert tuple(TASKS) == task_names()


def test_metrics_survive_scores_without_items() -> None:
    bare = [SampleScore(score=Score(value=0.0))]
    assert math.isnan(success_rate()(bare))  # type: ignore[arg-type]
    assert math.isnan(spearman()([]))  # type: ignore[arg-type]
    assert pooled()([Score(value=1.0), Score(value=0.0)]).as_float() == 0.5
