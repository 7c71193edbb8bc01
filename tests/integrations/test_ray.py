"""A Ray cluster gives what this machine gives, byte for byte, whatever dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from oulibench.cli import main
from oulibench.errors import DataError
from oulibench.files import Part, PartWork, Shard, local_engine, read_parts
from oulibench.scoring import Totals, score_block

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")
pq = pytest.importorskip("pyarrow.parquet")

import pyarrow as pa  # noqa: E402

from oulibench.engines.ray import map_sources, ray_engine  # noqa: E402

GOOD = {"task": "lipogram", "target": "e", "text": "Oggi vado in montagna"}
GOLDEN = Path("tests/golden")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """One cluster of this machine for all; the engine takes the one that is there."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]  # our transforms' module
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=200_000_000,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}},
    )
    yield
    ray.shutdown()


def write_lines(path: Path, rows: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """All tasks, texts and responses, lines and tables; a large file; and what is broken."""
    folder = tmp_path / "in"
    verdicts = read_lines(GOLDEN / "verdicts.jsonl")
    assert len({row["task"] for row in verdicts}) == 11
    write_lines(folder / "verdicts.jsonl", verdicts)
    write_lines(folder / "deep" / "responses.jsonl", [{**r, "n": 3} for r in read_lines(GOLDEN / "responses.jsonl")])
    voices = read_lines(GOLDEN / "voice_sentences_dev.jsonl")
    rows = [{"task": "voice", "target": "passive", "text": row["text"]} for row in voices]
    rows += [{"task": "word_order", "target": "SVO", "text": row["text"]} for row in voices]
    pq.write_table(pa.Table.from_pylist(rows), folder / "syntax.parquet", row_group_size=50)
    large = [{**GOOD, "id": i, "text": f"Riga {i} {'con' if i % 2 else 'senza'}"} for i in range(20_000)]
    large[7_777] = {**GOOD, "task": "no such task"}
    write_lines(folder / "large.jsonl", large)
    (folder / "cut.parquet").write_bytes((folder / "syntax.parquet").read_bytes()[:-9])
    (folder / "bad.jsonl").write_bytes(b"no json\n" + json.dumps(GOOD).encode() + b"\n\xff\n")
    return folder


def test_a_cluster_gives_what_this_machine_gives(
    cluster: None, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(inputs), "-o", str(tmp_path / "here"), "-j", "1"]) == 1
    here = capsys.readouterr().err
    assert main(["score", str(inputs), "-o", str(tmp_path / "there"), "--engine", "ray"]) == 1
    there = capsys.readouterr().err
    assert there == here
    assert f"{inputs / 'large.jsonl'}:7778: Unknown task" in here
    assert f"{inputs / 'cut.parquet'}: cannot be read" in here
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert sorted(contents(tmp_path / "there")) == [
        "_manifest.jsonl",
        "bad.jsonl",
        "deep/responses.jsonl",
        "large.jsonl",
        "syntax.parquet",
        "verdicts.jsonl",
    ]
    shutil.copy(inputs / "syntax.parquet", inputs / "cut.parquet")
    assert main(["score", str(inputs), "-o", str(tmp_path / "there"), "--engine", "ray"]) == 1  # of its bad lines
    assert "5 of 6 files were done already" in capsys.readouterr().err
    assert (tmp_path / "there" / "cut.parquet").read_bytes() == (tmp_path / "there" / "syntax.parquet").read_bytes()


def _workers() -> list[int]:
    """The actors that score."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and b"ray::MapWorker" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_children(child)]
    return found


@pytest.mark.parametrize("which", [lambda pid: [pid], _children], ids=["actor", "its process"])
def test_a_worker_that_is_killed_loses_nothing(
    which: Callable[[int], list[int]], cluster: None, inputs: Path, tmp_path: Path
) -> None:
    shards = [Shard.of("large.jsonl", inputs / "large.jsonl", tmp_path / "large.jsonl")]
    expected = b"".join(p.block.output for p in local_engine(1)(shards, read_parts, PartWork(score_block)))
    output: list[bytes] = []
    killed: list[int] = []
    for part in ray_engine(workers=2)(shards, read_parts, PartWork(_slowly)):
        output.append(part.block.output)
        if not killed:
            for worker in _workers()[:1]:
                killed = which(worker)
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
    assert killed
    assert b"".join(output) == expected


def _slowly(rows: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    time.sleep(0.2)
    return score_block(rows)


def _die_on_eleven(rows: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    if any(row.get("id") == 11 for row in rows):
        os._exit(9)
    return score_block(rows)


def test_a_row_that_kills_its_worker_fails_alone(cluster: None, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [{**GOOD, "id": i} for i in range(9, 13)])
    parts = list(map_sources([Shard.of("in.jsonl", source, None)], read_parts, PartWork(_die_on_eleven), workers=1))
    totals = sum((part.block.totals for part in parts), Totals())
    assert totals == Totals(received=4, scored=3, failed=1, rows=4, passed=3)
    assert [problem.line for part in parts for problem in part.block.problems] == [3]


def _raise(part: Part) -> Iterator[Part]:
    raise DataError("as planned")


def test_what_reading_raises_is_raised(cluster: None, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="as planned"):
        list(map_sources([Part(Shard("", tmp_path, None, (0, 0)))], _raise, PartWork(score_block)))


def test_a_cluster_mines_what_this_machine_mines(
    cluster: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    sentences = ["Il mare dorme.", "Dormo solo.", "Ogni notte un gatto canta piano.", "È raro Dora: è.", "Oro."]
    for name in ("a", "b"):
        lines = [f"{sentences[i % 5]} {name.upper()}{'o' * (i % 7)} mio{'i' * (i % 3)} va." for i in range(20_000)]
        (corpus / f"{name}.txt").write_text("\n".join(lines), "utf-8")
    arguments = ["mine", str(corpus), "--task", "lipogram", "--target", "e", "--target", "u", "--per-target", "4"]
    found = {}
    for name, options in {"here": ["-j", "1"], "there": ["--engine", "ray"]}.items():
        assert main([*arguments, *options, "--seed", "3", "-o", str(tmp_path / name)]) == 0
        found[name] = (tmp_path / name).read_bytes(), capsys.readouterr().err
    assert found["here"] == found["there"]
    assert found["here"][0].count(b"\n") == 8


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:10001", "nowhere.invalid:6379", "nonsense"])
def test_a_cluster_that_is_not_there_is_missed_at_once(address: str, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [GOOD])
    command = [sys.executable, "-m", "oulibench", "score", str(source), "--engine", "ray", "--address", address]
    start = time.monotonic()
    called = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert called.returncode == 2
    assert called.stderr.strip().startswith("oulibench score: ")
    assert "cluster" in called.stderr.lower()
    assert "Traceback" not in called.stderr
    assert time.monotonic() - start < 20


def test_a_cluster_that_this_machine_remembers_but_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    began = time.monotonic()
    shard = Shard.of("a", Path(__file__), None)
    with pytest.raises(DataError, match=r"No Ray cluster at '127\.0\.0\.1:9'"):
        list(map_sources([shard], read_parts, PartWork(score_block), address="auto"))
    assert time.monotonic() - began < 30


def test_a_cluster_of_its_own_ends_with_the_command(inputs: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "oulibench", "score", str(inputs / "verdicts.jsonl"), "--engine", "ray"]
    called = subprocess.run([*command, "--workers", "1"], capture_output=True, timeout=300)
    assert called.returncode == 0, called.stderr.decode()
    assert main(["score", str(inputs / "verdicts.jsonl"), "-o", str(tmp_path / "out.jsonl")]) == 0
    assert called.stdout == (tmp_path / "out.jsonl").read_bytes()
    assert " + failed 0; " in called.stderr.decode()
