"""Which dataset a run asked from: written at its start, shown with its results, told where runs differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.results.make_runs import Fake, response_rows, write_run

from oulibench.cli import main
from oulibench.engines.settings import differences, make_settings
from oulibench.results.labels import load_labels
from oulibench.results.runs import different_datasets, open_run
from oulibench.suite.dataset import DATASET_VERSION, checksum

FIRST = {"version": "1.0.0", "checksum": "a" * 64}
SECOND = {"version": "1.1.0", "checksum": "b" * 64}


def run(folder: Path, name: str, **settings: Any) -> Path:
    rows = response_rows(Fake(name, skill=0.5), ["lipogram"], [0], n=3)
    return write_run(folder / name, rows, models=[name], **settings)


def test_results_name_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(tmp_path, "one", dataset={**FIRST, "demonstrations": "c" * 64})
    assert main(["report", "--table", str(folder)]) == 0
    line = f"dataset:1.0.0|checksum:{'a' * 64}|demonstrations:{'c' * 64}"
    assert line in capsys.readouterr().out.splitlines()
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert results["dataset"] == line
    assert not any("a" * 64 in signature for signature in results["signatures"])  # verdicts do not rest on it
    assert f"checksum:{'a' * 64}" in (folder / "results.md").read_text(encoding="utf-8")


def test_runs_of_different_datasets_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = run(tmp_path, "one", dataset=FIRST), run(tmp_path, "two", dataset=SECOND)
    again, old = run(tmp_path, "again", dataset=FIRST), run(tmp_path, "old")
    for folders, told in (
        ([one, two], f"{'a' * 64} (one); dataset:1.1.0|checksum:{'b' * 64} (two)"),
        ([one, again, old], f"{'a' * 64} (one, again); unknown (old)"),
        ([one, again], ""),
        ([old], ""),
    ):
        assert main(["report", "--table", *map(str, folders)]) == 0
        notes = [line for line in capsys.readouterr().err.splitlines() if "the same dataset" in line]
        assert len(notes) == bool(told)
        assert told in "".join(notes)


def test_demonstrations_of_ones_own_make_another_dataset(tmp_path: Path) -> None:
    paths = [run(tmp_path, "one", dataset=FIRST), run(tmp_path, "two", dataset={**FIRST, "demonstrations": "c" * 64})]
    assert "demonstrations:ccc" in different_datasets([open_run(path) for path in paths], "?")


@pytest.mark.parametrize("dataset", [None, "1.0.0", [], {}, 7, {"version": 1, "checksum": {"a": []}}])
def test_settings_that_do_not_say(tmp_path: Path, dataset: Any) -> None:
    folder = run(tmp_path, "one", dataset=dataset)
    assert open_run(folder).dataset is None
    assert main(["report", "--table", str(folder)]) == 0
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["dataset"] is None


def test_the_report_shows_it(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("lingua")
    hostile = {"version": "<script>1</script>", "checksum": "*b*\n\x1b[31m"}
    folders = [run(tmp_path, "one", dataset=FIRST), run(tmp_path, "two", dataset=hostile)]
    options = ["--resamples", "100", "--no-parse", "-o", str(tmp_path / "report"), "--language", "it"]
    assert main(["report", *map(str, folders), *options]) == 0
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert f"<code>dataset:1.0.0|checksum:{'a' * 64}</code> (one)" in page
    assert "<script>1</script>" not in page
    assert load_labels("it").text("datasets_differ", which="").split(":")[0] in page
    numbers = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert numbers["datasets"][0] == {"dataset": f"dataset:1.0.0|checksum:{'a' * 64}", "runs": ["one"]}


# --- at the start of a run ---------------------------------------------------------------------------------------


def demonstrations_file(folder: Path) -> Path:
    file = folder / "own.jsonl"
    row = {"id": "mine", "task": "palindrome", "target": None, "text": "Anna"}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return file


def test_a_run_writes_it_into_its_settings(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from oulibench.engines.run import plan_run, write_settings

    settings = make_settings({"tasks": ["palindrome"], "shots": [0]})
    plan = plan_run(settings, settings.requests(), tmp_path / "run")
    assert plan.record["dataset"] == {"version": DATASET_VERSION, "checksum": checksum()}
    write_settings(plan)
    stored = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert stored["dataset"] == plan.record["dataset"]
    assert make_settings(stored) == settings
    # a folder of before goes on, as long as the prompts are the same
    del stored["dataset"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(stored), encoding="utf-8")
    again = plan_run(settings, settings.requests(), tmp_path / "run")
    assert again.record == plan.record

    own = make_settings({"tasks": ["palindrome"], "shots": [1], "demonstrations": str(demonstrations_file(tmp_path))})
    record = plan_run(own, own.requests(), tmp_path / "other").record["dataset"]
    assert set(record) == {"version", "checksum", "demonstrations"}


def test_other_prompts_are_told_with_the_dataset() -> None:
    old = {"oulibench": "0.1.0", "sha256": "1", "dataset": FIRST}
    new = {"oulibench": "0.2.0", "sha256": "2", "dataset": SECOND}
    [line] = differences(old, new)
    assert "0.1.0 with dataset 1.0.0 there, 0.2.0 with dataset 1.1.0 now" in line
    [line] = differences({"oulibench": "0.1.0", "sha256": "1"}, new)
    assert "0.1.0 there, 0.2.0 with dataset 1.1.0 now" in line
    assert differences(old, {**new, "sha256": "1"}) == []  # what differs is not asked in this run


def test_a_dry_run_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["run", "--tasks", "palindrome", "--shots", "1", "--dry-run"]
    assert main(options) == 0
    assert f"dataset   version {DATASET_VERSION}, checksum {checksum()}\n" in capsys.readouterr().out
    assert main([*options, "--demonstrations", str(demonstrations_file(tmp_path))]) == 0
    assert ", demonstrations " in capsys.readouterr().out


def test_the_logs_of_inspect_name_it(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from oulibench.engines.tasks import benchmark_task

    task = benchmark_task("palindrome", suite="quick")
    assert task.metadata is not None
    assert task.metadata["dataset"] == {"version": DATASET_VERSION, "checksum": checksum()}
    own = benchmark_task("palindrome", suite="quick", shots=1, demonstrations=str(demonstrations_file(tmp_path)))
    assert own.metadata is not None
    assert "demonstrations" in own.metadata["dataset"]
