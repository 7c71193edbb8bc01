"""The dataset folder, opened by the libraries that it is made for: `datasets` and `mlcroissant`, without a network."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from oulibench.cli import main
from oulibench.jsonl import read_jsonl
from oulibench.suite import build_requests, load_suite
from oulibench.suite.dataset import checksum

pytest.importorskip("pyarrow")

TABLES = {"prompts": 208, "targets": 130, "demonstrations": 559, "wordings": 15}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "oulibench-it"
    assert (
        main(["export", "dataset", str(path), "--wording", "explicit", "--url", "https://example.org/oulibench"]) == 0
    )
    return path


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    return datasets


def rows_of(folder: Path, table: str) -> list[dict[str, Any]]:
    return list(read_jsonl(folder / "jsonl" / f"{table}.jsonl"))


@pytest.mark.parametrize("table", TABLES)
def test_datasets_loads_every_table(
    folder: Path, datasets: Any, tmp_path: Path, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    datasets.utils.logging.enable_propagation()
    with caplog.at_level(logging.WARNING):
        loaded = datasets.load_dataset(str(folder), table, split="test", cache_dir=str(tmp_path / "cache"))
    assert "card" not in caplog.text  # it would say so where it cannot use the metadata of the card
    rows = rows_of(folder, table)
    assert loaded.to_list() == rows
    assert loaded.num_rows >= TABLES[table]
    assert loaded.info.splits["test"].num_examples == len(rows)
    for name, feature in loaded.features.items():
        kind = "list" if name == "demonstrations" else getattr(feature, "dtype", None)
        assert kind == ("int32" if isinstance(rows[0][name], int) else "list" if name == "demonstrations" else "string")


@pytest.mark.parametrize("table", TABLES)
def test_datasets_loads_the_json_lines(folder: Path, datasets: Any, tmp_path: Path, table: str) -> None:
    file = str(folder / "jsonl" / f"{table}.jsonl")
    loaded = datasets.load_dataset("json", data_files=file, split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.to_list() == rows_of(folder, table)


def test_prompts_come_first_and_are_what_is_asked(folder: Path, datasets: Any, tmp_path: Path) -> None:
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))  # no table named
    assert list(loaded) == ["test"]
    requests = build_requests(load_suite("paper"))
    assert loaded["test"]["prompt"][:] == [request.prompt for request in requests]
    few = loaded["test"].filter(lambda row: row["shots"] == 15 and row["family"] == "syntactic")
    assert {row["task"] for row in few} == {"voice"}


def test_answers_beside_the_rows_can_be_scored(folder: Path, datasets: Any, tmp_path: Path) -> None:
    """The round trip that the card promises."""
    loaded = datasets.load_dataset(str(folder), "prompts", split="test", cache_dir=str(tmp_path / "cache"))
    chosen = loaded.filter(lambda row: row["task"] in ("word_length", "palindrome") and row["shots"] == 0)
    answered = chosen.map(lambda row: {"response": "1. Anna.\n2. Il gatto dorme sul divano."})
    answered.to_json(str(tmp_path / "answers.jsonl"))
    assert main(["score", str(tmp_path / "answers.jsonl"), "-o", str(tmp_path / "verdicts.jsonl")]) == 0
    verdicts = {(r["task"], r["target"], r["item"]): r["passed"] for r in read_jsonl(tmp_path / "verdicts.jsonl")}
    assert verdicts["word_length", "5", 2] is True
    assert verdicts["word_length", "10", 2] is False
    assert verdicts["palindrome", None, 2] is False
    assert len(verdicts) == 2 * 7


def test_croissant_is_valid_and_gives_the_records(folder: Path) -> None:
    mlc = pytest.importorskip("mlcroissant")
    dataset = mlc.Dataset(jsonld=folder / "croissant.json")
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    metadata = dataset.metadata
    assert (metadata.name, str(metadata.version), metadata.url) == (
        "OuLiBench",
        "1.0.0",
        "https://example.org/oulibench",
    )
    assert checksum() in metadata.description
    for table in TABLES:
        rows = rows_of(folder, table)
        records = [{key.split("/")[1]: _text(value) for key, value in r.items()} for r in dataset.records(table)]
        assert records == rows


def _text(value: Any) -> Any:
    """Croissant gives text as bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, list):
        return [_text(one) for one in value]
    return value


def test_croissant_is_of_the_form_of_version_1(folder: Path) -> None:
    mlc = pytest.importorskip("mlcroissant")
    given = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert given["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    again = mlc.Dataset(jsonld=folder / "croissant.json").metadata.to_json()
    assert given["@context"] == again["@context"]
    assert [f["@id"] for f in given["distribution"]] == [f["@id"] for f in again["distribution"]]


def test_hugging_face_reads_the_card(folder: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    data = hub.DatasetCard.load(folder / "README.md").data
    assert (data.language, data.license) == (["it"], ["apache-2.0", "cc0-1.0"])
    assert (data.task_categories, data.size_categories) == (["text-generation"], ["n<1K"])
    assert data.config_names is None  # the tables are named under `configs`
    assert [config["config_name"] for config in data.configs] == list(TABLES)
