"""The table of success rates: every number worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.results.make_runs import Fake, response_rows, write_run

from oulibench.cli import main
from oulibench.results.correlation import spearman
from oulibench.results.runs import items_of, open_run, rebuild_items
from oulibench.results.table import bookkeeping, result_of, results_of
from oulibench.results.tally import CellKey, tally


def row(text: str | None, passed: bool | None = True, **more: Any) -> dict[str, Any]:
    base = {"model": "m", "task": "word_length", "target": 3, "shots": 0, "id": "a", "epoch": 1, "n": 3, "item": 1}
    status = "ok" if text is not None else "refusal"
    return {**base, "text": text, "passed": passed, "formal": passed, "status": status, "measured": 3, **more}


def test_rates_of_a_cell_worked_out_by_hand() -> None:
    rows = [
        row("Il gatto dorme.", item=1),
        row("il gatto dorme!", item=2),  # the same words: one unique text
        row("La nonna canta sempre.", False, item=3, measured=4),
        row("Oggi piove molto.", item=4),  # a fourth where three were asked for
        row("Vado via.", False, id="b", target=2, item=1, measured=3),
        row(None, None, id="c", item=None, measured=None),
    ]
    (cell,) = tally(rows).values()
    result = result_of(cell)
    assert (result.answers, result.requested, result.items, result.passed) == (3, 9, 5, 3)
    assert result.sr == pytest.approx(3 / 5)
    assert result.yield_ == pytest.approx(5 / 9)
    assert result.passed_per_requested == pytest.approx(2 / 9), "the fourth sentence is beyond what was asked"
    assert (result.unique, result.unique_passed) == (4, 2)
    assert result.unique_sr == pytest.approx(2 / 4)
    assert result.statuses == {"ok": 5, "refusal": 1}


def test_an_item_that_could_not_be_scored_stays_in_the_denominator() -> None:
    rows = [row("Uno due tre."), row("x", None, item=2, status="scoring_failed")]
    (cell,) = tally(rows).values()
    result = result_of(cell)
    assert (result.items, result.scored, result.failed) == (2, 1, 1)
    assert result.sr == 0.5


def test_received_is_scored_and_failed_and_empty() -> None:
    rows = [
        row("Uno due tre."),
        row("x", None, item=2, status="scoring_failed"),
        row(None, None, id="b", item=None),
        row(None, None, id="c", item=None, status="scoring_failed"),
        row("Uno due tre."),  # the first row again
    ]
    books = bookkeeping(tally(rows).values())
    assert (books.received, books.scored, books.failed, books.empty, books.repeated) == (5, 2, 2, 1, 1)
    assert books.adds_up
    assert "scored 2 + failed 2 + answers without items 1" in books.in_words()


def test_a_contradictory_answer_does_not_add_up() -> None:
    """An answer that first had items and then a refusal counts both rows; nothing may get lost."""
    books = bookkeeping(tally([row("Uno due tre."), row(None, None, item=None)]).values())
    assert books.received == books.scored + books.failed + books.empty == 2


def test_spearman_uses_mid_ranks() -> None:
    # Ranks of the first: 1, 2.5, 2.5, 4; of the second: 1, 3, 3, 3. Pearson's r of the ranks:
    # deviations -1.5, 0, 0, 1.5 and -1.5, .5, .5, .5: r = (2.25 + .75) / sqrt(4.5 * 3) = 0.8164966
    found = spearman([1, 2, 2, 3], [10, 20, 20, 20])
    assert found.value == pytest.approx(3 / (4.5 * 3) ** 0.5)
    # The shortcut 1 - 6Σd²/(n(n²-1)) would give 1 - 6(0 + .25 + .25 + 1)/60 = 0.85.
    assert found.value != pytest.approx(0.85, abs=0.01)


@pytest.mark.parametrize(
    ("requested", "obtained", "why"),
    [
        ([5, 10, 15], [5, 5, 5], "all texts measure the same (5)"),
        ([5, 5], [4, 6], "only one value was asked for (5)"),
        ([], [], "there are no measured values"),
        ([5], [5], "1 pair of values is too few"),
    ],
)
def test_spearman_of_a_constant_series_is_undefined_with_the_reason(
    requested: list[float], obtained: list[float], why: str
) -> None:
    found = spearman(requested, obtained)
    assert found.value is None
    assert found.reason == why


def test_rows_without_ids_begin_a_new_answer_where_the_number_starts_again() -> None:
    rows = [{"task": "lipogram", "target": "e", "text": "t", "passed": True, "item": i} for i in (1, 2, 1, 2, 3)]
    (cell,) = tally(rows).values()
    assert [a.items for a in cell.answers] == [2, 3]
    assert result_of(cell).yield_ is None, "nobody knows how many were asked for"


def test_cells_stand_in_the_order_of_the_benchmark() -> None:
    rows = [row("Sì.", task=t, shots=s) for t in ("palindrome", "word_length", "zzz") for s in (5, 0)]
    assert [(r.task, r.shots) for r in results_of(tally(rows).values())] == [
        ("word_length", 0),
        ("word_length", 5),
        ("palindrome", 0),
        ("palindrome", 5),
        ("zzz", 0),
        ("zzz", 5),
    ]


def test_a_failed_call_is_no_response_and_keeps_its_error() -> None:
    (rows,) = items_of([{"task": "lipogram", "target": "e", "response": None, "error": "500", "prompt": "p"}])
    (only,) = rows
    assert (only["status"], only["error"], only["item"], only["passed"]) == ("no_response", "500", None, None)
    assert "prompt" not in only
    assert "response" not in only


def test_report_rebuilds_items_and_counts_a_damaged_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path / "run", list(response_rows(Fake("m", 1.0), ("lipogram",), (0,), n=2)))
    stored = (folder / "responses.jsonl").read_text(encoding="utf-8")
    (folder / "responses.jsonl").write_text(stored + "{damaged\n", encoding="utf-8")
    assert main(["report", "--table", str(folder), "-j", "1"]) == 1
    shown = capsys.readouterr()
    assert "responses.jsonl:4: " in shown.err
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert data["results"][0]["n"] == 6
    assert data["totals"]["adds_up"] is True
    assert (folder / "results.csv").is_file()
    assert (folder / "results.md").read_text(encoding="utf-8").startswith("| model |")


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", list(response_rows(Fake("m", 0.5), ("tautogram", "palindrome"), (0,))))
    contents = []
    for _ in range(2):
        rebuild_items(open_run(folder))
        contents.append((folder / "items.jsonl").read_bytes())
    assert contents[0] == contents[1]


def test_a_folder_that_is_no_run_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "neither responses.jsonl nor items.jsonl" in capsys.readouterr().err


def test_counting_keys() -> None:
    assert set(tally([row("Sì.")])) == {CellKey("m", "word_length", 0)}
