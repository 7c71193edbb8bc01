"""`oulibench run` against a server on this machine: everything is asked once, stored, and told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.engines.fake_server import FakeServer, Reply

from oulibench.cli import main

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

MODEL = "openai-api/lab/fake"
FILES = ("responses.jsonl", "items.jsonl", "results.json", "results.md", "results.csv")


def run(server: FakeServer, out: Path, *options: str) -> int:
    base = ["run", "--model", MODEL, "--model-base-url", server.url, "--out", str(out)]
    return main([*base, "--max-connections", "4", "--max-retries", "1", *options])


def rows(out: Path, name: str = "responses.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / name).read_text(encoding="utf-8").splitlines()]


SMALL = ("--tasks", "lipogram", "palindrome", "--shots", "0", "2", "--n", "2", "--limit", "2")


def test_run_twice_asks_once_and_reports_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer() as server:
        assert run(server, tmp_path, *SMALL) == 0
        first = {name: (tmp_path / name).read_bytes() for name in FILES}
        table = capsys.readouterr().out
        # lipogram: 2 targets × 2 numbers of shots; palindrome: 1 target × 2
        assert len(server.calls) == 6
        assert len(set(server.prompts())) == 6
        assert run(server, tmp_path, *SMALL) == 0
        assert len(server.calls) == 6
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == first
    again = capsys.readouterr()
    assert again.out == table
    assert "nobody is asked" in again.err
    assert "6 calls = answered 6 + failed 0" in again.err


def test_what_is_stored(tmp_path: Path) -> None:
    with FakeServer() as server:
        run(server, tmp_path, *SMALL, "--seed", "7", "--temperature", "0.5", "--system")
    asked = {call["messages"][-1]["content"]: call for call in server.calls}
    stored = rows(tmp_path)
    assert [r["id"] for r in stored][-2:] == ["palindrome/-/0/explicit", "palindrome/-/2/explicit"]
    for row in stored:
        call = asked[row["prompt"]]
        assert call["messages"][0]["role"] == "system"
        assert (call["seed"], call["temperature"]) == (7, 0.5)
        assert row["response"] == "1. Il mondo gira.\n2. Vado al porto."
        assert (row["model"], row["n"], row["epoch"], row["suite"]) == (MODEL, 2, 1, "quick")
        assert (row["stop_reason"], row["truncated"], row["error"]) == ("stop", False, None)
        assert (row["input_tokens"], row["output_tokens"]) == (10, 20)
        assert len(row["demonstrations"]) == row["shots"]
        assert ("Non ripetere gli esempi" in row["prompt"]) == (row["shots"] > 0)
    items = rows(tmp_path, "items.jsonl")
    assert len(items) == 12
    assert [i["text"] for i in items[:2]] == ["Il mondo gira.", "Vado al porto."]
    assert not any("response" in i or "prompt" in i for i in items)
    settings = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert (settings["seed"], settings["temperature"], settings["system"]) == (7, 0.5, True)
    assert (settings["requests"], settings["calls"], settings["tasks"]) == (6, 6, ["lipogram", "palindrome"])


def test_rate_limits_errors_and_broken_json_are_tried_again(tmp_path: Path) -> None:
    def trouble(body: dict[str, Any], nth: int) -> Reply:
        """Each prompt meets one trouble first, each its own."""
        if nth > 0:
            return Reply(delay=0.05)
        return [
            Reply(status=429, headers={"Retry-After": "1"}),
            Reply(status=500),
            Reply(raw=b'{"choices": [{"mess'),
            Reply(delay=1.0),
        ][(len(server.calls) - 1) % 4]

    with FakeServer(trouble) as server:
        assert run(server, tmp_path, "--tasks", "lipogram", "--shots", "0", "--n", "2") == 0
    assert [r["error"] for r in rows(tmp_path)] == [None, None, None]
    assert len(server.calls) == 6  # three prompts, three troubles


def test_failed_calls_are_told_kept_and_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--tasks", "word_length", "--shots", "0", "--n", "2")
    with FakeServer() as server:
        server.behaviour = lambda body, nth: (
            Reply(status=400) if "da 5 parole" in body["messages"][-1]["content"] else Reply()
        )
        assert run(server, tmp_path, *options) == 1
        err = capsys.readouterr().err
        assert "3 calls = answered 2 + failed 1" in err
        assert "status 400" in err
        failed = [r for r in rows(tmp_path) if r["error"]]
        assert [r["target"] for r in failed] == [5]
        assert [i["status"] for i in rows(tmp_path, "items.jsonl") if i["target"] == 5] == ["no_response"]
        before = len(server.calls)
        server.behaviour = lambda body, nth: Reply()
        assert run(server, tmp_path, *options) == 0
        assert [p for p in server.prompts()[before:] if "da 5 parole" not in p] == []
        assert len(server.calls) == before + 1
    assert [r["error"] for r in rows(tmp_path)] == [None, None, None]


def test_an_answer_that_was_cut_off_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(lambda body, nth: Reply("1. Il mondo gira.\n2. Vado al", finish_reason="length")) as server:
        run(server, tmp_path, "--tasks", "palindrome", "--shots", "0", "--max-tokens", "33")
    assert server.calls[0]["max_tokens"] == 33
    row = rows(tmp_path)[0]
    assert (row["truncated"], row["stop_reason"]) == (True, "max_tokens")
    assert "cut off by the token limit" in capsys.readouterr().err


def test_another_run_in_the_same_folder_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ("--tasks", "palindrome", "--shots", "0")
    with FakeServer() as server:
        run(server, tmp_path, *one)
        capsys.readouterr()
        assert run(server, tmp_path, *one, "--temperature", "0.3", "--wording", "terse") == 2
        err = capsys.readouterr().err
        assert 'wording: "explicit" there, "terse" now' in err
        assert "temperature: null there, 0.3 now" in err
        assert "seed" not in err
        assert len(server.calls) == 1
        # how answers are fetched may change
        assert run(server, tmp_path, *one, "--max-connections", "2", "--timeout", "30") == 0
        assert len(server.calls) == 1


def test_config_repeats_a_run(tmp_path: Path) -> None:
    with FakeServer() as server:
        run(server, tmp_path / "a", *SMALL, "--seed", "3", "--wording", "terse", "--words", "graphic")
        first = sorted(json.dumps(call, sort_keys=True) for call in server.calls)
        server.calls.clear()
        assert main(["run", "--config", str(tmp_path / "a" / "run.json"), "--out", str(tmp_path / "b")]) == 0
        assert sorted(json.dumps(call, sort_keys=True) for call in server.calls) == first
    a, b = (json.loads((tmp_path / x / "run.json").read_text(encoding="utf-8")) for x in "ab")
    assert {**a, "created": 0} == {**b, "created": 0}
    assert b["policy"] == {"words": "graphic"}


def test_every_epoch_has_its_seed_and_is_scored(tmp_path: Path) -> None:
    with FakeServer(lambda body, nth: Reply("Il mondo gira." if body["seed"] == 5 else "Ecco.")) as server:
        options = ("--tasks", "lipogram", "--shots", "0", "--limit", "1", "--suite", "single", "--epochs", "3")
        run(server, tmp_path, *options, "--seed", "4")
    assert sorted(call["seed"] for call in server.calls) == [4, 5, 6]
    stored = rows(tmp_path)
    assert [(r["epoch"], r["response"]) for r in stored] == [(1, "Ecco."), (2, "Il mondo gira."), (3, "Ecco.")]
    assert len(rows(tmp_path, "items.jsonl")) == 3


def test_dry_run_asks_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer() as server:
        assert run(server, tmp_path / "out", *SMALL, "--dry-run") == 0
        assert server.calls == []
    assert not (tmp_path / "out").exists()
    out = capsys.readouterr().out
    assert "calls     6" in out
    assert "--- lipogram/" in out
    assert "Ecco 2 esempi:" in out
    assert "nobody was asked" in out


def test_bad_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, message in (
        (["--tasks", "lipogramm"], "Unknown task 'lipogramm'"),
        (["--suite", "large"], "Known suites: paper, quick, single"),
        (["--model", "gpt-77"], "There is no model 'gpt-77'"),
        (["--shots", "999", "--tasks", "lipogram"], "fewer than the 999 asked for"),
        (["--n", "0"], "The setting n is a whole number from 1"),
        (["--model", "nowhere/model", "--tasks", "palindrome"], "nowhere"),
        (["--model", "local/missing.gguf", "--tasks", "palindrome"], "There is no model file missing.gguf"),
        (["--model-arg", "api_key=x"], "Keys do not go into the settings"),
        (["--model-base-url", "host/v1"], "begins with http:// or https://"),
    ):
        assert main(["run", *options, "--out", str(tmp_path / "x")]) == 2, options
        assert message in capsys.readouterr().err, options


def test_killed_half_way_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    options = ["--tasks", "word_length", "--shots", "0", "--n", "2", "--suite", "paper", "--max-connections", "1"]
    with FakeServer(lambda body, nth: Reply(delay=0.5)) as server:
        command = [sys.executable, "-m", "oulibench", "run", "--model", MODEL, "--model-base-url", server.url]
        process = subprocess.Popen(
            [*command, "--out", str(tmp_path), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 300
        while server.answered < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.25)  # within the fourth call
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed_after = len(server.calls)
        assert killed_after >= 3
        server.behaviour = lambda body, nth: Reply()
        assert run(server, tmp_path, *options) == 0
    asked_twice = len(server.calls) - len(set(server.prompts()))
    # the call that was under way had no answer to keep; one more may have had its answer on the way to the disk
    assert asked_twice <= 2
    assert killed_after < len(set(server.prompts())) == len(rows(tmp_path))
    assert all(r["error"] is None for r in rows(tmp_path))
