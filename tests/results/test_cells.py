"""Conventions side by side, demonstrations found again, remarks, names of systems: on rows that a reader can follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.results.make_runs import Fake, invented_demonstrations, response_rows, write_run

from oulibench.results.answers import StoredAnswers
from oulibench.results.conventions import conventions_of
from oulibench.results.habits import habits_of
from oulibench.results.runs import Run, open_run, rebuild_items
from oulibench.results.systems import system_names, tally_runs
from oulibench.results.tally import Cell, CellKey


def cells_of(folder: Path, rows: list[dict[str, Any]]) -> tuple[Run, dict[CellKey, Cell], StoredAnswers]:
    run = open_run(write_run(folder, rows))
    rebuild_items(run)
    names = system_names([run])
    return run, tally_runs([run], names, keep_items=True), StoredAnswers([run], names)


def answered(task: str, target: object, *responses: str, n: int = 1, **more: Any) -> list[dict[str, Any]]:
    base = {"model": "m", "task": task, "target": target, "n": n, "shots": 0, "wording": "explicit", "epoch": 1}
    return [{**base, "id": f"{task}/{i}", "response": r, **more} for i, r in enumerate(responses)]


def test_how_much_the_counting_of_words_decides(tmp_path: Path) -> None:
    """Six orthographic words, four graphic ones; the other sentence has three of either."""
    rows = answered("word_length", 6, "C'è un po' d'acqua.") + answered("word_length", 3, "Il gatto dorme.", id="b")
    _, cells, _ = cells_of(tmp_path, rows)
    (cell,) = cells.values()
    found = {c.convention: (c.passed, c.items, c.changed) for c in conventions_of(cell, parse=False)}
    assert found == {"words: orthographic": (2, 2, 0), "words: graphic": (1, 2, 1)}


def test_strict_against_formal(tmp_path: Path) -> None:
    rows = answered("palindrome", None, "Anna", "I topi non avevano nipoti.", "Xyzzyx", "La casa")
    _, cells, _ = cells_of(tmp_path, rows)
    (cell,) = cells.values()
    found = {c.convention: c.passed for c in conventions_of(cell, parse=False)}
    assert found["formal"] == 3, "three read the same both ways"
    assert found["names: accept"] > found["names: reject"], "Anna is a name"


def test_demonstrations_are_found_in_the_prompt(tmp_path: Path) -> None:
    demonstrations = invented_demonstrations()
    rows = list(
        response_rows(Fake("m", copying=1.0, repeating=0.0), ("word_length",), (5,), n=6, demonstrations=demonstrations)
    )
    _, cells, stored = cells_of(tmp_path, rows)
    (cell,) = cells.values()
    ids = cell.answers[0].demonstrations
    assert stored.demonstrations("word_length", cell.answers[0].target, ids) == dict(
        demonstrations["word_length", cell.answers[0].target][:5]
    )
    copying = habits_of(cell, stored.demonstrations).copying
    assert copying is not None
    assert copying.share == 1.0
    assert not copying.assessable
    assert copying.sr_without is None, "nothing is left without the copies"


def test_demonstrations_that_nobody_knows_are_said_to_be_unknown(tmp_path: Path) -> None:
    rows = answered("lipogram", "e", "Oggi vado via.", shots=5, demonstrations=["x", "y"], prompt="Scrivi.")
    _, cells, stored = cells_of(tmp_path, rows)
    (cell,) = cells.values()
    copying = habits_of(cell, stored.demonstrations).copying
    assert copying is not None
    assert (copying.items, copying.unknown, copying.share) == (0, 1, None)


def test_text_beside_the_items_is_noticed(tmp_path: Path) -> None:
    rows = answered(
        "lipogram",
        "e",
        "Ecco le frasi:\n\n1. Oggi vado via.\n2. Domani torno.",
        "1. Oggi vado via.\n2. Domani torno.",
        "1. Oggi vado via.\n2. Domani torno.\n\nSpero che ti siano utili!",
        n=2,
    )
    _, cells, stored = cells_of(tmp_path, rows)
    (cell,) = cells.values()
    assert stored.remarks["m"] == {("lipogram/0", 1): True, ("lipogram/1", 1): False, ("lipogram/2", 1): True}
    assert habits_of(cell, stored.demonstrations, stored.remarks["m"]).form.remarks == 2


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ([{"temperature": 0.2}, {"temperature": 0.9}], {"m (a)", "m (b)"}),
        ([{"created": "yesterday"}, {"created": "today"}], {"m (a)", "m (b)"}),  # the same was asked twice
    ],
)
def test_runs_of_one_model_stay_apart(tmp_path: Path, settings: list[dict[str, Any]], names: set[str]) -> None:
    runs = []
    for name, given in zip("ab", settings, strict=True):
        run = open_run(write_run(tmp_path / name, answered("lipogram", "e", "Oggi vado via."), **given))
        rebuild_items(run)
        runs.append(run)
    assert set(system_names(runs).values()) == names


def test_wordings_of_one_model_stay_apart(tmp_path: Path) -> None:
    rows = answered("lipogram", "e", "Oggi vado via.") + answered("lipogram", "e", "Vado.", wording="terse")
    _, cells, _ = cells_of(tmp_path, rows)
    assert {key.system for key in cells} == {"m [explicit]", "m [terse]"}
