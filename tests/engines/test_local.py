"""The embedded model: really run, on this machine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("xllamacpp")

from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput, get_model

from oulibench.cli import main
from oulibench.engines.gguf import default_threads, model_path
from oulibench.engines.local import close_servers
from oulibench.errors import DataError, OuLiBenchError


@pytest.fixture(autouse=True)
def embedded() -> None:
    try:
        model_path("smollm2")
    except OuLiBenchError as error:
        pytest.skip(str(error))


def ask(prompt: str, **config: object) -> ModelOutput:
    model = get_model("local/smollm2")
    return asyncio.run(
        model.generate([ChatMessageUser(content=prompt)], config=GenerateConfig(**config))  # type: ignore[arg-type]
    )


def test_one_seed_one_answer() -> None:
    prompt = "Write one short sentence about the sea."
    first = ask(prompt, seed=1, max_tokens=12)
    ask("Something else in between.", seed=2, max_tokens=4)
    assert ask(prompt, seed=1, max_tokens=12).completion == first.completion
    others = {ask(prompt, seed=seed, max_tokens=12, temperature=1.5).completion for seed in (2, 3, 4)}
    assert len(others) > 1


def test_token_limit_stop_and_chat_template() -> None:
    cut = ask("Count from 1 to 100.", max_tokens=5, temperature=0)
    assert cut.stop_reason == "max_tokens"
    assert cut.usage is not None
    assert cut.usage.output_tokens == 5
    # the template adds turns and a system message to the handful of tokens of the prompt itself
    assert cut.usage.input_tokens > 15
    stopped = ask("Repeat after me: one two three four", max_tokens=40, temperature=0, stop_seqs=["two"])
    assert "two" not in stopped.completion
    assert "<|im_" not in cut.completion + stopped.completion


def test_a_run_on_the_embedded_model_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["run", "--tasks", "palindrome", "--shots", "0", "--n", "1", "--max-tokens", "16", "--out", str(tmp_path)]
    assert main(call) == 0
    stored = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    table = capsys.readouterr().out
    assert "local/smollm2" in table
    assert main(call) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == stored
    again = capsys.readouterr()
    assert again.out == table
    assert "nobody is asked" in again.err
    # the same settings elsewhere give the same answers
    other = tmp_path / "other"
    close_servers()
    assert main([*call[:-1], str(other)]) == 0
    texts = [json.loads((folder / "responses.jsonl").read_bytes())["response"] for folder in (tmp_path, other)]
    assert texts[0] == texts[1] != ""


@pytest.mark.slow
def test_the_quick_suite_on_the_embedded_model(tmp_path: Path) -> None:
    assert main(["run", "--suite", "quick", "--out", str(tmp_path)]) == 0
    totals = json.loads((tmp_path / "results.json").read_bytes())["totals"]
    assert totals["adds_up"]
    assert totals["errors"] == 0


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no model file"):
        model_path(str(tmp_path / "none.gguf"))
    (tmp_path / "text.gguf").write_text("no model")
    with pytest.raises(DataError, match="is no GGUF file"):
        model_path(str(tmp_path / "text.gguf"))
    assert default_threads() >= 1
