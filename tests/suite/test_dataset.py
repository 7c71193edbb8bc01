"""The benchmark as a dataset: what its tables hold, what its checksum sees, and how its folder comes about."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oulibench
from oulibench.cli import main
from oulibench.constraints import _REGISTERED, benchmark_tasks, get_constraint, register
from oulibench.constraints.base import WORDINGS, TargetSpec, Wording
from oulibench.constraints.lipogram import Lipogram
from oulibench.errors import DataError
from oulibench.jsonl import read_jsonl
from oulibench.language import Language
from oulibench.suite import Suite, build_requests, demonstrations, load_suite, suite_names
from oulibench.suite.dataset import CANARY, DATASET_VERSION, Dataset, build_dataset, checksum, dataset_record

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
yaml = pytest.importorskip("yaml")

from oulibench.suite.publication import (  # noqa: E402
    MANIFEST,
    SUMS,
    card_text,
    dataset_files,
    table_names,
    write_folder,
)

PACKAGE = Path(oulibench.__file__).parent


@pytest.fixture(scope="module")
def paper() -> Dataset:
    return build_dataset(load_suite("paper"))


@pytest.fixture(scope="module")
def files(paper: Dataset) -> dict[str, bytes]:
    return dataset_files(paper)


# --- tables ------------------------------------------------------------------------------------------------------


def test_prompts_are_what_a_run_asks(paper: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    """As the dry run of a run shows them, prompt for prompt."""
    rows = list(paper.prompts)
    for wording in WORDINGS:
        assert main(["run", "--suite", "paper", "--wording", wording, "--dry-run"]) == 0
        shown = capsys.readouterr().out.split("models    ")[0]
        found = re.findall(
            r"^--- (.+?)  \(n (\d+), at most .*?\)\n(.*?)\n\n(?=--- |\Z)", shown, re.MULTILINE | re.DOTALL
        )
        mine = [(row["id"], str(row["n"]), row["prompt"]) for row in rows if row["wording"] == wording]
        assert mine == found
        assert len(mine) == 208  # 26 targets with 0, 5, 10 and 15 demonstrations, 104 with none


def test_every_suite_is_asked_as_its_requests_say() -> None:
    for name in suite_names():
        wording: Wording = "terse"
        requests = build_requests(load_suite(name), benchmark_tasks(), wording=wording, system=True)
        dataset = build_dataset(load_suite(name), wordings=[wording], system=True)
        for row, request in zip(dataset.prompts, requests, strict=True):
            fields = {**request.fields(), "system": request.system, "prompt": request.prompt}
            same = {key: row[key] for key in fields if key in row and key != "target"}
            assert same == {key: value for key, value in fields.items() if key in same}
            assert get_constraint(request.task).parse_target(row["target"]) == request.target
            assert row["system"]


def test_targets_are_text_and_all_there(paper: Dataset) -> None:
    assert [t["target"] for t in paper.targets if t["task"] == "word_length"] == ["5", "10", "15", "20", "25", "30"]
    assert [t["target"] for t in paper.targets if t["task"] == "palindrome"] == [None]
    assert {t["unit"] for t in paper.targets if t["task"] == "word_anagram"} == {"word"}
    known = {(name, str(s.value)): s for name in benchmark_tasks() for s in get_constraint(name).targets()}
    rows = {(row["task"], str(row["target"])): row for row in paper.targets}
    assert set(rows) == set(known)
    assert all((rows[key]["difficulty"], rows[key]["why"]) == (s.difficulty, s.why) for key, s in known.items())
    assert {(row["task"], row["target"]) for row in paper.prompts} == {(r["task"], r["target"]) for r in paper.targets}


def test_demonstrations_are_those_that_prompts_show(paper: Dataset) -> None:
    texts = {row["id"]: row["text"] for row in paper.demonstrations}
    assert len(texts) == len(paper.demonstrations)
    shown = [row for row in paper.prompts if row["shots"]]
    assert shown
    for row in shown:
        assert len(row["demonstrations"]) == row["shots"]
        lines = row["prompt"].split("\n")
        start = lines.index(f"1. {texts[row['demonstrations'][0]]}")
        for number, id_ in enumerate(row["demonstrations"], 1):
            assert lines[start + number - 1] == f"{number}. {texts[id_]}"
    first = [row["text"] for row in paper.demonstrations if (row["task"], row["target"]) == ("lipogram", "e")]
    assert tuple(first[:5]) == tuple(d.text for d in demonstrations("lipogram", "e", 5))


def test_templates_make_the_prompts(paper: Dataset) -> None:
    templates = {(row["task"], row["wording"]): row for row in paper.wordings if row["policy"] is None}
    assert set(templates) == {(task, wording) for task in benchmark_tasks() for wording in WORDINGS}
    for row in paper.prompts:
        if row["task"] in ("lipogram", "tautogram", "palindrome", "sentence_anagram") and row["shots"] == 0:
            template = templates[row["task"], row["wording"]]["one" if row["n"] == 1 else "many"]
            assert template.format(n=row["n"], target=row["target"]) == row["prompt"]
    lines = [row for row in paper.wordings if row["policy"] == "acrostic: lines"]
    assert {row["wording"] for row in lines} == set(WORDINGS)
    assert all("poesie" in row["many"] for row in lines)


def test_every_row_carries_the_canary(paper: Dataset) -> None:
    for name in table_names():
        assert paper.rows(name)
        assert {row["canary"] for row in paper.rows(name)} == {CANARY}


# --- the checksum ------------------------------------------------------------------------------------------------

CHECKSUMS = {
    "1.0.0": "fa669d6c09e888472074495d87d21fdac010762691c6859464d4d955dd531bc0",
}
"""What each version asks. Another checksum is another benchmark: it needs another DATASET_VERSION, a line here and one
in CHANGELOG.md."""


def test_a_change_of_what_is_asked_is_a_new_version() -> None:
    assert checksum() == CHECKSUMS[DATASET_VERSION]


def changed_package(folder: Path, change: Callable[[Path], None]) -> tuple[str, float]:
    """The checksum, and the seconds it took, of a copy of the package with some files changed."""
    copy = folder / "oulibench"
    skipped = shutil.ignore_patterns("__pycache__", "parser", "lexicon", "static", "*.onnx", "*.marisa")
    shutil.copytree(PACKAGE, copy, ignore=skipped)
    for code in ("lexicon", "syntax"):  # the code of these names, not the data
        shutil.copytree(PACKAGE / code, copy / code, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    change(copy)
    code = (
        "import time, oulibench.constraints as c, oulibench.suite.dataset as d\n"
        "start = time.perf_counter(); print(d.checksum(), time.perf_counter() - start, d.__file__)"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONHASHSEED": "random",
        "LC_ALL": "C",
        "TZ": "Asia/Tokyo",
    }
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    digest, seconds, file = said.stdout.split()
    assert Path(file).is_relative_to(folder)
    return digest, float(seconds)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def reformat(package: Path) -> None:
    """Comments, line ends, quotes, the order of keys and of tables: nothing that anybody is asked."""
    for path in (package / "suites.toml", *package.rglob("data/it/*.toml"), package / "data" / "suites.toml"):
        if path.is_file():
            text = "# a comment\n\n" + path.read_text(encoding="utf-8").replace("\n\n", "\n# another\n\n\n")
            path.write_bytes(text.replace("\n", "\r\n").encode())
    for path in package.rglob("demonstrations/*.jsonl"):
        rows = [dict(reversed(row.items())) for row in read_jsonl(path)]
        path.write_text("\n\n".join(json.dumps(row, indent=None, ensure_ascii=True) for row in rows), encoding="utf-8")


def explain(package: Path) -> None:
    edit(package / "data" / "it" / "targets.toml", 'why = "5 words', 'why = "Five words')
    edit(package / "data" / "suites.toml", 'about = "every target', 'about = "each target')


@pytest.mark.parametrize("change", [reformat, explain])
def test_formatting_and_explanations_do_not_count(tmp_path: Path, change: Callable[[Path], None]) -> None:
    digest, seconds = changed_package(tmp_path, change)
    assert digest == checksum()
    assert seconds < 2  # less than a tenth of a second on an idle machine


def swap_demonstrations(package: Path) -> None:
    path = package / "data" / "it" / "demonstrations" / "lipogram.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[1], lines[0], *lines[2:]]), encoding="utf-8")


def in_data(name: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda package: edit(package / "data" / name, old, new)


@pytest.mark.parametrize(
    "change",
    [
        in_data("it/prompts.toml", "un lipogramma in", "un  lipogramma in"),
        in_data("it/prompts.toml", "Sei un madrelingua", "Sei una madrelingua"),
        in_data("it/targets.toml", 'target = "z"\ndifficulty = 1', 'target = "z"\ndifficulty = 2'),
        in_data("it/targets.toml", "target = 15\n", "target = 16\n"),
        in_data("it/demonstrations/palindrome.jsonl", "A sera la resa.", "A sera, la resa."),
        in_data("suites.toml", "n = 50", "n = 40"),
        swap_demonstrations,
        lambda package: edit(package / "suite" / "requests.py", '"\\n".join(', '"\\n\\n".join('),
        lambda package: edit(package / "constraints" / "word_length.py", '{target} parole"', '{target} vocaboli"'),
    ],
    ids=["wording", "system", "difficulty", "target", "demonstration", "suite", "order", "assembly", "template"],
)
def test_what_is_asked_counts(tmp_path: Path, change: Callable[[Path], None]) -> None:
    digest, _ = changed_package(tmp_path, change)
    assert re.fullmatch("[0-9a-f]{64}", digest)
    assert digest != checksum()


def test_demonstrations_of_ones_own_are_named_by_their_content(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    row = {"id": "1", "task": "lipogram", "target": "e", "text": "Vado al lago."}
    file.write_text(json.dumps(row) + "\n")
    record = dataset_record(file)
    assert {key: record[key] for key in ("version", "checksum")} == dataset_record()
    file.write_text("\n" + json.dumps(dict(reversed(row.items()))).replace(",", ", ") + "\n\n")
    assert dataset_record(file) == record
    file.write_text(json.dumps({**row, "text": "Vado al mare."}) + "\n")
    assert dataset_record(file)["demonstrations"] != record["demonstrations"]
    file.write_text('{"id": "1", "task": "lipogram", "target": "e", "text": "\\ud800"}\n')
    with pytest.raises(DataError, match="cannot be written as UTF-8"):
        dataset_record(file)
    with pytest.raises(DataError, match=r"missing\.jsonl"):
        dataset_record(tmp_path / "missing.jsonl")


# --- suites, tasks and languages of one's own --------------------------------------------------------------------


class Dialect(Language):
    """A language whose data files lie somewhere else."""

    def data(self, *path: str) -> Any:
        return Path(self.name).joinpath(*path)


class OtherLipogram(Lipogram):
    name = "lipogram_else"

    def targets(self) -> tuple[TargetSpec, ...]:
        return (TargetSpec("q", 1, "rare | <b>"), TargetSpec("a", 5, ""))


@pytest.fixture
def other_task(tmp_path: Path) -> Any:
    data = tmp_path / "data"
    (data / "demonstrations").mkdir(parents=True)
    (data / "prompts.toml").write_text(
        '[lipogram_else.explicit]\none = "No {target}."\nmany = "{n}, no {target}."\n'
        '[format.sentence]\none = "One line."\nmany = "{n} lines."\n'
        '[demonstrations]\nintro = "{n}:"\nintro_one = "1:"\nafter_one = "New."\nafter_many = "{n} new."\n'
        'after_one_of_one = "New."\nafter_many_of_one = "{n} new."\n[system]\ntext = "S"\n'
    )
    shown = {"id": "x", "task": "lipogram_else", "target": "q", "text": "Ünlü 🦊 \u2028 text"}
    (data / "demonstrations" / "lipogram_else.jsonl").write_text(json.dumps(shown) + "\n")
    register(lambda: OtherLipogram(Dialect("xx", str(data), "abcdefghijklmnopqrstuvwxyz")), "lipogram_else")
    yield "lipogram_else"
    _REGISTERED.pop("lipogram_else")
    from oulibench.constraints import _LOADED

    _LOADED.pop("lipogram_else", None)


def test_registered_tasks_stay_out_unless_they_are_named(other_task: str) -> None:
    assert other_task not in {row["task"] for row in build_dataset(load_suite("quick")).prompts}
    with pytest.raises(ValueError, match="has no wording 'terse'"):
        build_dataset(load_suite("quick"), [other_task], [0])


def test_a_suite_a_task_and_a_language_of_ones_own(other_task: str, tmp_path: Path) -> None:
    odd = "../«odd»: {x} |\n---\n# ${y} 🦊 \u2028"
    suite = Suite(name=odd, about="for *nobody*\n---\n", n=2, shots=(0, 1), targets=1)
    dataset = build_dataset(suite, [other_task, "voice"], wordings=["explicit"])
    assert [row["prompt"] for row in dataset.prompts[:2]] == [
        "2, no q. 2 lines.",
        "2, no q. 2 lines.\n\n1:\n1. Ünlü 🦊 \u2028 text\n\n2 new.",
    ]
    assert dataset.languages == ("xx", "it")
    content = dataset_files(dataset)
    write_folder(content, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    front, body = card.removeprefix("---\n").split("\n---\n\n", 1)
    assert yaml.safe_load(front)["language"] == ["xx", "it"]
    assert yaml.safe_load(front)["multilinguality"] == ["multilingual"]
    assert "\n---\n" not in body
    assert {Path(name).parts[0] for name in content} == {"data", "jsonl", *(n for n in content if "/" not in n)}
    rows = list(read_jsonl(tmp_path / "out" / "jsonl" / "prompts.jsonl"))
    assert rows == pq.read_table(tmp_path / "out" / "data" / "prompts.parquet").to_pylist()
    assert rows[0]["suite"] == odd
    assert checksum() == CHECKSUMS[DATASET_VERSION]


def test_a_number_that_fits_no_column_is_an_error() -> None:
    dataset = build_dataset(load_suite("quick"), ["palindrome"], n=3_000_000_000)
    with pytest.raises(DataError, match="The table prompts of the dataset cannot be written"):
        dataset_files(dataset)


# --- files -------------------------------------------------------------------------------------------------------


def test_parquet_and_json_lines_hold_the_tables(paper: Dataset, files: dict[str, bytes]) -> None:
    for name in table_names():
        table = pq.read_table(pa.BufferReader(files[f"data/{name}.parquet"]))
        rows = list(paper.rows(name))
        assert table.to_pylist() == rows
        assert [json.loads(line) for line in files[f"jsonl/{name}.jsonl"].decode().splitlines()] == rows
        assert table.schema.names == list(rows[0])


def test_the_card_describes_the_tables(paper: Dataset, files: dict[str, bytes]) -> None:
    card = files["README.md"].decode()
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["license"] == ["apache-2.0", "cc0-1.0"]
    assert front["language"] == ["it"]
    assert [c["config_name"] for c in front["configs"] if c.get("default")] == ["prompts"]
    for config, info in zip(front["configs"], front["dataset_info"], strict=True):
        name = config["config_name"]
        assert config["data_files"] == [{"split": "test", "path": f"data/{name}.parquet"}]
        assert [f["name"] for f in info["features"]] == list(paper.rows(name)[0])
        assert info["splits"][0]["num_examples"] == len(paper.rows(name))
        for feature in info["features"]:
            assert f"| `{feature['name']}` |" in card
    assert card.endswith(card_text(paper))
    for said in (CANARY, checksum(), "CC0", "Apache License 2.0", "@inproceedings"):
        assert said in card
    assert not re.search(r"\$\{?\w", card)


def test_checksums_of_files(files: dict[str, bytes]) -> None:
    listed = {path: digest for digest, path in (line.split("  ") for line in files[SUMS].decode().splitlines())}
    assert set(listed) == set(files) - {SUMS}
    assert all(hashlib.sha256(files[path]).hexdigest() == digest for path, digest in listed.items())
    metadata = json.loads(files["croissant.json"])
    for entry in metadata["distribution"]:
        assert listed[entry["contentUrl"]] == entry["sha256"]


def test_exporting_elsewhere_gives_the_same_bytes(tmp_path: Path, files: dict[str, bytes]) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "oulibench", "export", "dataset", "a folder/città"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    folder = tmp_path / "a folder" / "città"
    assert {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()} == files
    assert checksum().encode() in done.stdout
    assert b"624 prompts" in done.stderr


# --- the folder --------------------------------------------------------------------------------------------------

SMALL = ["--suite", "quick", "--tasks", "palindrome", "--wording", "explicit"]


def export(folder: Path, *options: str) -> int:
    return main(["export", "dataset", str(folder), *SMALL, *options])


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_an_export_takes_the_place_of_an_export_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    assert export(folder) == 0
    first = snapshot(folder)
    assert export(folder) == 0
    assert "in place of an older export" in capsys.readouterr().err
    assert snapshot(folder) == first
    assert export(folder, "--n", "2") == 0
    assert snapshot(folder)["jsonl/prompts.jsonl"] != first["jsonl/prompts.jsonl"]
    (folder / "jsonl" / "targets.jsonl").unlink()  # nothing is lost by replacing what is gone
    assert export(folder) == 0
    assert snapshot(folder) == first
    assert [p.name for p in tmp_path.iterdir()] == ["set"]


def test_nothing_of_anybody_elses_is_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "set"
    assert export(folder) == 0

    def refused(message: str) -> None:
        before = snapshot(folder)
        capsys.readouterr()
        assert export(folder) == 2
        assert message in capsys.readouterr().err
        assert snapshot(folder) == before
        assert [p.name for p in tmp_path.iterdir()] == ["set"]

    (folder / ".git").mkdir()
    refused("added or changed since: .git")
    (folder / ".git" / "config").write_text("mine")
    refused("added or changed since: .git/config")
    shutil.rmtree(folder / ".git")
    card = (folder / "README.md").read_bytes()
    (folder / "README.md").write_bytes(card + b"\nMine.\n")
    refused("added or changed since: README.md")
    (folder / "README.md").write_bytes(card)
    (folder / "link").symlink_to(tmp_path)
    refused("added or changed since: link")
    (folder / "link").unlink()
    (folder / MANIFEST).write_text("[]")
    refused("is no export of this command")
    (folder / MANIFEST).unlink()
    refused("is no export of this command")


def test_folders_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert export(file) == 2
    assert "is a file" in capsys.readouterr().err
    assert export(file / "below") == 2
    assert f"{file} is a file" in capsys.readouterr().err
    assert export(tmp_path / ("x" * 300)) == 2
    assert "File name too long" in capsys.readouterr().err
    (tmp_path / "circle").symlink_to("circle")
    assert export(tmp_path / "circle") == 2
    assert "cannot be written: " in capsys.readouterr().err
    (tmp_path / "circle").unlink()
    monkeypatch.chdir(tmp_path)
    assert export(Path()) == 2
    assert "the folder you are in" in capsys.readouterr().err
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    if not os.access(locked, os.W_OK):  # the superuser may write anywhere
        assert export(locked / "set") == 2
        assert "Permission denied" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "locked"]


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert export(tmp_path / "link") == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / SUMS).is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_fills_up_leaves_what_was_there(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "set"
    if there:
        assert export(folder) == 0
    before = snapshot(tmp_path)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from oulibench.cli import main; sys.exit(main(['export', 'dataset', 'set']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "set cannot be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(tmp_path) == before
    assert folder.exists() == there


def test_an_export_that_cannot_be_moved_in_gives_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]
) -> None:
    folder = tmp_path / "set"
    assert export(folder) == 0
    before = snapshot(folder)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(DataError, match="Input/output error"):
        write_folder(files, folder)
    assert snapshot(folder) == before
    assert [p.name for p in tmp_path.iterdir()] == ["set"]


def test_bad_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for options, message in (
        (["--suite", "../paper"], "There is no suite '../paper'. Known suites: paper, quick, single"),
        (["--suite", ""], "There is no suite ''"),
        (["--tasks", "lipogramm"], "Unknown task 'lipogramm'"),
        (["--shots", "999"], "fewer than the 999 asked for"),
        (["--shots", "-1"], "at least 0"),
        (["--n", "0"], "n is at least 1"),
        (["--url", "example.org"], "--url is an address such as"),
        (["--url", "http://[::1"], "--url is an address such as"),
    ):
        assert main(["export", "dataset", str(tmp_path / "set"), *options]) == 2, options
        assert message in capsys.readouterr().err, options
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export(tmp_path / "set") == 2
    assert "pip install 'oulibench[dataset]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
