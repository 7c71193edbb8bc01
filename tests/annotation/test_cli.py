"""The commands, from drawing a sample to agreement and exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oulibench.annotation.store import Rating, Store, now, read_links
from oulibench.cli import main

VALUES = {"grammaticality": 5, "coherence": 4, "appropriateness": 3}


def annotate(run: Path, *options: str) -> int:
    return main(["annotate", str(run), "--no-serve", *options])


@pytest.fixture
def drawn(run: Path) -> Path:
    assert (
        annotate(run, "--annotators", "anna,bruno", "--adjudicators", "carla", "--per-cell", "2", "--overlap", "1") == 0
    )
    return run


def test_a_sample_is_drawn_once_and_gone_on_with(drawn: Path, capsys: Any) -> None:
    first = read_links(drawn / "annotation")
    assert annotate(drawn) == 0
    out = capsys.readouterr().out
    assert all(f"http://127.0.0.1:8741/r/{token}" in out for token in first.values())
    assert annotate(drawn) == 0
    assert annotate(drawn, "--per-cell", "2", "--annotators", "anna,bruno") == 0
    assert read_links(drawn / "annotation") == first
    assert annotate(drawn / "annotation") == 0


@pytest.mark.parametrize(
    "options",
    [["--per-cell", "3"], ["--annotators", "x"], ["--seed", "1"], ["--tasks", "lipogram"], ["--scheme", "yes-no"]],
)
def test_other_settings_do_not_silently_do_nothing(drawn: Path, options: list[str], capsys: Any) -> None:
    assert annotate(drawn, *options) == 2
    assert "--out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--annotators"),
        (["--annotators", "a", "--per-cell", "0"], "at least one"),
        (["--annotators", "a", "--overlap", "2"], "share"),
        (["--annotators", "a,a"], "called 'a'"),
        (["--annotators", "a/b"], "name"),
        (["--annotators", "a", "--tasks", "lipogramm"], "Known tasks"),
        (["--annotators", "a", "--scheme", "none.toml"], "five-points"),
    ],
)
def test_calls_that_make_no_sense(run: Path, options: list[str], message: str, capsys: Any) -> None:
    assert annotate(run, *options) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_is_no_run(tmp_path: Path, capsys: Any) -> None:
    assert annotate(tmp_path, "--annotators", "a") == 2
    assert "items.jsonl" in capsys.readouterr().err
    assert not (tmp_path / "annotation").exists()


def test_several_runs_into_one_folder(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "items.jsonl").write_bytes((run / "items.jsonl").read_bytes().replace(b'"alfa"', b'"delta"'))
    out = tmp_path / "quality"
    assert main(["annotate", str(run), str(other), "--out", str(out), "--annotators", "a", "--no-serve"]) == 0
    with Store(out) as store:
        models = {o.cell[0] for unit in store.units() for o in unit.occurrences}
        assert models == {"alfa", "beta", "gamma", "delta"}
        texts = [(unit.task, unit.text) for unit in store.units()]
        assert len(texts) == len(set(texts))


def test_joining_later_and_new_links(drawn: Path) -> None:
    before = read_links(drawn / "annotation")
    assert annotate(drawn, "--add-annotator", "dora") == 0
    assert annotate(drawn, "--new-links") == 0
    after = read_links(drawn / "annotation")
    assert set(after) == {"anna", "bruno", "carla", "dora"}
    assert not set(before.values()) & set(after.values())
    with Store(drawn) as store:
        assert store.progress("dora").total == store.progress("anna").total
        orders = [[store.unit_at(name, i) for i in range(1, 11)] for name in ("anna", "dora")]
        assert orders[0] != orders[1]


def rate_all(run: Path) -> None:
    with Store(run) as store:
        store.save_all(
            [
                Rating(person, unit.id, {**VALUES, "coherence": 1 + (i + shift) % 5}, time=now())
                for person, shift in (("anna", 0), ("bruno", 0))
                for i, unit in enumerate(store.units())
            ]
        )
        unit = store.units()[0].id
        store.save(Rating("bruno", unit, {**VALUES, "coherence": 5}, time=now()))


def test_agreement_in_words_and_as_json(drawn: Path, capsys: Any) -> None:
    pytest.importorskip("krippendorff")
    rate_all(drawn)
    capsys.readouterr()
    assert main(["agreement", str(drawn), "--draws", "50"]) == 0
    words = capsys.readouterr().out
    assert "all ratings are alike" in words  # grammaticality: everybody gave everything a five
    assert "Most disputed" in words
    assert "anna 5/1/3; bruno 5/5/3" in words
    assert main(["agreement", str(drawn), "--json", "--draws", "50"]) == 0
    data = json.loads(capsys.readouterr().out)
    coherence = next(m for m in data["agreement"] if m["dimension"] == "coherence" and m["task"] is None)
    assert coherence["alpha"]["value"] > 0.9
    assert len(data["disputed"]) == 1
    assert data["disputed"][0]["spread"] == 4
    assert main(["agreement", str(drawn / "nowhere")]) == 2


@pytest.mark.parametrize("kind", ["csv", "jsonl", "history", "items"])
def test_tables_go_to_standard_output_or_a_file(drawn: Path, tmp_path: Path, kind: str, capfdbinary: Any) -> None:
    rate_all(drawn)
    capfdbinary.readouterr()
    assert main(["export", "annotation", str(drawn), "--to", kind]) == 0
    printed = capfdbinary.readouterr().out
    path = tmp_path / "new" / "file"
    assert main(["export", "annotation", str(drawn), "--to", kind, "-o", str(path)]) == 0
    assert path.read_bytes() == printed
    assert printed.count(b"\n") > 10
    assert not list(path.parent.glob("*.part"))


def test_projects_for_other_tools(drawn: Path, tmp_path: Path, capsys: Any) -> None:
    rate_all(drawn)
    assert main(["export", "annotation", str(drawn), "--to", "potato"]) == 2
    capsys.readouterr()
    for kind, names in (("label-studio", {"tasks.json", "config.xml"}), ("potato", {"items.jsonl", "config.yaml"})):
        assert main(["export", "annotation", str(drawn), "--to", kind, "-o", str(tmp_path / kind)]) == 0
        assert {p.name for p in (tmp_path / kind).iterdir()} == names
    tasks = json.loads((tmp_path / "label-studio" / "tasks.json").read_text())
    assert all("annotations" not in task for task in tasks)
    options = ["--to", "label-studio", "-o", str(tmp_path / "rated"), "--with-ratings"]
    assert main(["export", "annotation", str(drawn), *options]) == 0
    assert len(json.loads((tmp_path / "rated" / "tasks.json").read_text())[0]["annotations"]) == 2


def test_a_busy_port_is_said_to_be_busy(drawn: Path, capsys: Any) -> None:
    import socket

    pytest.importorskip("uvicorn")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["annotate", str(drawn), "--port", str(taken.getsockname()[1])]) == 2
    assert "--port" in capsys.readouterr().err
