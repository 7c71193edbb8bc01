"""Runs that are reported together: which are one row, which are not and why, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.results.make_runs import Fake, response_rows, write_run

from oulibench.cli import main
from oulibench.results.runs import open_run, rebuild_items
from oulibench.results.systems import system_names
from oulibench.results.together import remarks

DATASET = {"version": "1.0.0", "checksum": "abc"}


def run(folder: Path, model: str = "vllm/lab/m", task: str = "lipogram", shots: int = 0, **settings: Any) -> Path:
    rows = [{**row, "model": model} for row in response_rows(Fake("x", 0.5), (task,), (shots,), n=2)]
    write_run(folder, rows, **settings)
    rebuild_items(open_run(folder))
    return folder


def names_and_remarks(*folders: Path, aliases: dict[str, str] | None = None) -> tuple[set[str], list[str]]:
    runs = [open_run(folder) for folder in folders]
    return set(system_names(runs, aliases).values()), remarks(runs, aliases)


def test_jobs_on_other_ports_are_one_model_and_nothing_is_said(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / f"s{shots}", shots=shots, model_base_url=f"http://127.0.0.1:{8000 + shots}/v1")
        for shots in (0, 5)
    ]
    assert names_and_remarks(*folders) == ({"vllm/lab/m"}, [])


def test_one_name_on_several_hosts_is_one_model_and_that_is_said(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / f"s{shots}", shots=shots, model_base_url=f"http://node{shots}:8000/v1") for shots in (0, 5)
    ]
    names, said = names_and_remarks(*folders)
    assert names == {"vllm/lab/m"}
    assert said == ["vllm/lab/m was asked at node0, node5: taken for one model, since its name is the same."]


def test_the_same_asked_twice_is_shown_apart_and_named(tmp_path: Path) -> None:
    names, said = names_and_remarks(run(tmp_path / "a"), run(tmp_path / "b"))
    assert names == {"vllm/lab/m (a)", "vllm/lab/m (b)"}
    (line,) = said
    assert line.startswith("vllm/lab/m in a and b: the same settings, and both were asked lipogram with 0 shots.")


def test_tasks_without_demonstrations_asked_by_two_jobs_are_named(tmp_path: Path) -> None:
    """--shots 0 and --shots 5 over all tasks: both ask those that have no demonstrations."""
    folders = []
    for shots in (0, 5):
        rows = [*response_rows(Fake("m", 0.5), ("lipogram",), (shots,)), *response_rows(Fake("m", 0.5), ("tautogram",))]
        folders.append(write_run(tmp_path / f"s{shots}", rows, shots=[shots]))
        rebuild_items(open_run(folders[-1]))
    names, said = names_and_remarks(*folders)
    assert len(names) == 2
    assert len(said) == 1
    assert "both were asked tautogram with 0 shots. They" in said[0]


def test_other_settings_are_named(tmp_path: Path) -> None:
    folders = [run(tmp_path / f"seed{seed}", seed=seed, temperature=0.5 + seed / 2) for seed in (0, 1)]
    names, said = names_and_remarks(*folders)
    assert names == {"vllm/lab/m (seed0)", "vllm/lab/m (seed1)"}
    differing = "seed: 0 and 1, temperature: 0.5 and 1.0"
    assert said == [f"vllm/lab/m in seed0 and seed1: other settings ({differing}), so they are shown apart."]


def test_each_run_that_stands_apart_is_named_once(tmp_path: Path) -> None:
    said = names_and_remarks(*(run(tmp_path / f"seed{seed}", seed=seed) for seed in range(4)))[1]
    assert [line.split(":")[0] for line in said] == [f"vllm/lab/m in seed{i} and seed{i + 1}" for i in range(3)]


def test_wordings_are_no_surprise(tmp_path: Path) -> None:
    folders = []
    for wording in ("explicit", "terse"):
        rows = list(response_rows(Fake("m", 0.5), ("lipogram",), (0,), wording=wording))
        folders.append(write_run(tmp_path / wording, rows, wording=wording))
        rebuild_items(open_run(folders[-1]))
    assert names_and_remarks(*folders) == ({"m [explicit]", "m [terse]"}, [])


def test_models_that_may_be_one_are_named_and_an_alias_makes_them_one(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", "hf/lab/M"), run(tmp_path / "b", "vllm/lab/m", shots=5)
    names, said = names_and_remarks(a, b)
    assert names == {"hf/lab/M", "vllm/lab/m"}
    assert said == ["hf/lab/M and vllm/lab/m are shown apart. If they are one model: --alias vllm/lab/m=hf/lab/M"]
    assert names_and_remarks(a, b, aliases={"vllm/lab/m": "hf/lab/M"}) == ({"hf/lab/M"}, [])
    assert names_and_remarks(a, b, aliases={"vllm/lab/m": "m", "hf/lab/M": "m"}) == ({"m"}, [])


def test_an_alias_does_not_average_what_was_asked_twice(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", "hf/lab/m"), run(tmp_path / "b", "vllm/lab/m")
    names, said = names_and_remarks(a, b, aliases={"hf/lab/m": "m", "vllm/lab/m": "m"})
    assert names == {"m (a)", "m (b)"}
    assert said[0].startswith("m in a and b: the same settings, and both were asked lipogram with 0 shots.")


def test_versions_are_named_where_the_prompts_may_differ(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", oulibench="0.1.0"), run(tmp_path / "b", shots=5, oulibench="0.2.0")
    names, said = names_and_remarks(a, b)
    assert names == {"vllm/lab/m"}
    assert said == [
        "The answers were collected by several versions of oulibench (0.1.0: a; 0.2.0: b). All are checked by the "
        "present one, but their prompts may differ."
    ]
    same = [
        run(tmp_path / f"d{shots}", shots=shots, oulibench=f"0.{shots}.0", dataset=DATASET) for shots in (0, 5)
    ]  # the dataset's checksum says that the prompts are the same
    assert names_and_remarks(*same) == ({"vllm/lab/m"}, [])


def test_what_is_missing_is_left_out_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = run(tmp_path / "good")
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / "run.json").write_text("{}", encoding="utf-8")
    (tmp_path / "other").mkdir()
    broken = run(tmp_path / "broken", task="tautogram")
    (broken / "run.json").write_text('{"seed": ', encoding="utf-8")
    paths = [good, *(tmp_path / name for name in ("killed", "never", "other", "broken"))]
    assert main(["report", "--table", *map(str, paths), "-j", "1"]) == 1
    shown = capsys.readouterr()
    assert "lipogram" in shown.out
    left_out = [line for line in shown.err.splitlines() if line.startswith("left out: ")]
    assert len(left_out) == 4
    for line, message in zip(
        left_out, ("killed holds a run whose answers are not written out yet", "never is not there", "other is no run",
                   "broken/run.json cannot be read"), strict=True
    ):  # fmt: skip
        assert message in line


def test_nothing_to_report_and_the_same_run_twice_are_bad_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = run(tmp_path / "good")
    assert main(["report", "--table", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    err = capsys.readouterr().err
    assert "a is not there" in err
    assert "b is not there" in err
    assert main(["report", "--table", str(good), str(tmp_path / "good" / ".." / "good")]) == 2
    assert "are the same run" in capsys.readouterr().err


@pytest.mark.parametrize("alias", ["m", "=m", "m=", "a=b a=c"])
def test_bad_aliases_are_refused(tmp_path: Path, alias: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = [word for pair in alias.split() for word in ("--alias", pair)]
    assert main(["report", "--table", str(run(tmp_path / "good")), *options]) == 2
    assert "--alias" in capsys.readouterr().err


def test_the_merged_report_has_one_row_per_model_task_and_shots(tmp_path: Path) -> None:
    folders = [run(tmp_path / f"s{shots}", shots=shots, model_base_url=f"http://[::1]:{shots}/v1") for shots in (0, 5)]
    folders.append(run(tmp_path / "hf", "hf/lab/m", "palindrome"))
    missing = tmp_path / "missing"
    call = ["report", *map(str, (*folders, missing)), "-o", str(tmp_path / "report"), "--no-parse", "-j", "1"]
    assert main([*call, "--alias", "hf/lab/m=m", "--alias", "vllm/lab/m=m"]) == 1
    numbers = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert [(r["model"], r["task"], r["shots"]) for r in numbers["results"]] == [
        ("m", "lipogram", 0),
        ("m", "lipogram", 5),
        ("m", "palindrome", 0),
    ]
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert f"{missing} is not part of this report: it holds no answers." in page
