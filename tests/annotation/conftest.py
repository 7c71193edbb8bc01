"""A run folder made of sentences written for these tests, scored by the constraints themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oulibench.annotation.sampling import Sample, Settings, draw
from oulibench.annotation.scheme import load_scheme
from oulibench.annotation.store import Store, create_store
from oulibench.constraints import get_constraint
from oulibench.jsonl import dump_line, read_jsonl
from oulibench.scoring import score_row

SENTENCES = Path(__file__).with_name("sentences.jsonl")
Row = dict[str, Any]


def make_rows() -> list[Row]:
    """Item rows as a run has them."""
    numbers: dict[tuple[Any, ...], int] = {}
    rows = []
    for given in read_jsonl(SENTENCES):
        task, target = given["task"], given["target"]
        request = f"{task}/{target}/0/explicit"
        number = numbers[given["model"], request] = numbers.get((given["model"], request), 0) + 1
        family = get_constraint(task).family
        meta = {"id": request, "epoch": 1, "item": number, "family": family, "difficulty": 2, "shots": 0}
        rows += score_row({**given, **meta})
    return rows


@pytest.fixture(scope="session")
def rows() -> list[Row]:
    return make_rows()


@pytest.fixture
def run(tmp_path: Path, rows: list[Row]) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "items.jsonl").write_bytes(b"".join(map(dump_line, rows)))
    return folder


@pytest.fixture
def sample(rows: list[Row]) -> Sample:
    return draw(rows, Settings(per_cell=3, overlap=1.0, seed=7), ["anna", "bruno"])


@pytest.fixture
def store(tmp_path: Path, sample: Sample) -> Store:
    return create_store(tmp_path / "ratings", sample, load_scheme(), {"seed": 7}, ["carla"])
