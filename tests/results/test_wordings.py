"""The wording study: rates and spread by hand, an honest choice, halves that share nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.results.make_runs import Fake, response_rows, write_run

from oulibench.cli import main
from oulibench.results.runs import open_run
from oulibench.results.systems import system_names
from oulibench.results.tally import Cell, CellKey, tally
from oulibench.results.wordings import halves, study, wording_groups

TARGETS = {5: 1, 10: 1, 15: 2, 20: 2}


def cell(wording: str, passed: Callable[[int], int], targets: dict[int, int] = TARGETS, items: int = 2) -> Cell:
    """Two texts for each target, of which so many passed."""
    rows: list[dict[str, Any]] = [
        {
            "model": f"m [{wording}]", "task": "word_length", "target": target, "difficulty": level, "shots": 0,
            "id": f"word_length/{target}/0/{wording}", "epoch": 1, "n": items, "item": item, "text": f"{target} {item}",
            "passed": item <= passed(target), "formal": item <= passed(target), "measured": 1, "status": "ok",
        }
        for target, level in targets.items()
        for item in range(1, items + 1)
    ]  # fmt: skip
    return tally(rows)[CellKey(f"m [{wording}]", "word_length", 0)]


def test_rates_spread_and_choice_worked_out_by_hand() -> None:
    cells = {
        "explicit": cell("explicit", lambda _: 1),  # 4 of 8
        "terse": cell("terse", lambda _: 2),  # 8 of 8
        "technical": cell("technical", lambda target: 2 if target == 5 else 0),  # 2 of 8
    }
    found = study("m", cells)
    assert [(r.wording, r.passed, r.items, r.sr) for r in found.rates] == [
        ("explicit", 4, 8, 0.5),
        ("terse", 8, 8, 1.0),
        ("technical", 2, 8, 0.25),
    ]
    assert found.spread == 0.75
    # mean 7/12; squared deviations 1/144, 25/144, 16/144; divided by 2: 42/288
    assert found.deviation == pytest.approx((42 / 288) ** 0.5)
    assert found.choice is not None
    assert (found.choice.wording, found.choice.seen, found.choice.judged.sr) == ("terse", 1.0, 1.0)
    assert found.choice.default is not None
    assert (found.choice.default.sr, found.choice.gain) == (0.5, 0.5)
    assert (found.choice.chosen_on, found.choice.judged_on) == (2, 2)
    assert found.choice.judged.items == 4


def test_what_shines_only_where_it_was_chosen_is_found_out() -> None:
    first, second = halves({repr(t): level for t, level in TARGETS.items()}, "word_length", 0)
    cells = {
        "explicit": cell("explicit", lambda _: 1),
        "terse": cell("terse", lambda target: 2 if repr(target) in first else 0),
    }
    found = study("m", cells)
    assert [r.sr for r in found.rates] == [0.5, 0.5]
    assert found.choice is not None
    assert (found.choice.wording, found.choice.seen, found.choice.judged.sr, found.choice.gain) == ("terse", 1, 0, -0.5)
    assert {repr(a.target) for a in cells["terse"].answers if a.passed} == first
    assert not first & second


def test_of_equal_wordings_the_default_is_chosen() -> None:
    found = study("m", {"terse": cell("terse", lambda _: 1), "explicit": cell("explicit", lambda _: 1)})
    assert found.choice is not None
    assert found.choice.wording == "explicit"
    assert found.choice.gain == 0
    assert found.spread == 0


def test_one_target_gives_no_choice_and_says_why() -> None:
    cells = {w: cell(w, lambda _: 1, {5: 1}) for w in ("explicit", "terse")}
    found = study("m", cells)
    assert found.choice is None
    assert found.reason == "one target only"
    assert found.spread == 0


def test_only_targets_that_all_wordings_were_asked_for_decide() -> None:
    cells = {"explicit": cell("explicit", lambda _: 2, {5: 1}), "terse": cell("terse", lambda _: 1)}
    found = study("m", cells)
    assert found.choice is None
    assert "one target only" in str(found.reason)


def test_where_nothing_was_written_nothing_is_chosen() -> None:
    silent = cell("terse", lambda _: 0)
    for answer in silent.answers:
        answer.items = 0
    found = study("m", {"technical": silent, "terse": silent})
    assert (found.choice, found.reason, found.spread) == (None, "no text to choose by", None)
    disjoint = {"explicit": cell("explicit", lambda _: 1, {5: 1}), "terse": cell("terse", lambda _: 1, {10: 1})}
    assert study("m", disjoint).reason == "no target in all wordings"


def test_without_the_default_there_is_no_gain() -> None:
    found = study("m", {"terse": cell("terse", lambda _: 1), "technical": cell("technical", lambda _: 2)})
    assert found.choice is not None
    assert (found.choice.wording, found.choice.default, found.choice.gain) == ("technical", None, None)


@given(st.dictionaries(st.text(max_size=5), st.none() | st.integers(1, 5), max_size=40), st.integers(0, 2**31))
def test_halves_share_nothing_and_are_alike(targets: dict[str, int | None], seed: int) -> None:
    first, second = halves(targets, "lipogram", seed)
    assert not first & second
    assert first | second == set(targets)
    assert 0 <= len(first) - len(second) <= 1
    for level in set(targets.values()) - {None}:
        of_level = {t for t, value in targets.items() if value == level}
        assert abs(len(first & of_level) - len(second & of_level)) <= 1
    assert halves(dict(reversed(targets.items())), "lipogram", seed) == (first, second)


def test_the_seed_moves_the_halves() -> None:
    targets = dict.fromkeys(map(str, range(20)), 1)
    assert len({halves(targets, "lipogram", seed) for seed in range(5)}) == 5


# --- runs --------------------------------------------------------------------------------------------------------


def wording_run(folder: Path, wordings: tuple[str, ...], seed: int = 0, **settings: Any) -> Path:
    rows = [
        row
        for skill, wording in zip((0.3, 0.9, 0.6), wordings, strict=False)
        for row in response_rows(Fake("m", skill), ("tautogram", "palindrome"), (0,), n=4, wording=wording, seed=seed)
    ]
    write_run(folder, rows, **settings)
    assert main(["report", "--table", str(folder)]) == 0
    return folder


def test_a_table_keeps_wordings_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = wording_run(tmp_path / "run", ("explicit", "terse"))
    out = capsys.readouterr().out
    assert "m [explicit]" in out
    assert "m [terse]" in out
    assert "no wording is chosen: one target only" in out
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert [r["n"] for r in data["results"]] == [12, 4, 12, 4]
    tautogram, palindrome = data["wordings"]
    by_system = {(r["model"], r["task"]): r["sr"] for r in data["results"]}
    assert [w["sr"] for w in tautogram["wordings"]] == [
        by_system["m [explicit]", "tautogram"],
        by_system["m [terse]", "tautogram"],
    ]
    assert palindrome["choice"] is None
    assert "one target only" in palindrome["choice_undefined"]
    assert (folder / "wordings.csv").is_file()


def test_one_wording_makes_no_study(tmp_path: Path) -> None:
    folder = wording_run(tmp_path / "run", ("explicit",))
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert "wordings" not in data
    assert {r["model"] for r in data["results"]} == {"m"}


def test_groups_over_runs(tmp_path: Path) -> None:
    a = wording_run(tmp_path / "a", ("explicit",), wording="explicit")
    b = wording_run(tmp_path / "b", ("terse",), wording="terse")
    other = wording_run(tmp_path / "c", ("technical",), wording="technical", temperature=0)
    runs = [open_run(path) for path in (a, b, other)]
    # Two runs that differ in the wording alone are one study; the third was asked at another temperature.
    assert wording_groups(runs, system_names(runs)) == {"m": {"explicit": "m [explicit]", "terse": "m [terse]"}}


def test_a_wording_asked_twice_is_looked_at_run_by_run(tmp_path: Path) -> None:
    runs = [open_run(wording_run(tmp_path / x, ("explicit", "terse"), seed)) for seed, x in enumerate("ab")]
    groups = wording_groups(runs, system_names(runs))
    assert groups == {
        "m (a)": {"explicit": "m [explicit] (a)", "terse": "m [terse] (a)"},
        "m (b)": {"explicit": "m [explicit] (b)", "terse": "m [terse] (b)"},
    }


def test_the_report_shows_it(tmp_path: Path) -> None:
    for library in ("jinja2", "matplotlib", "pyarrow", "statsmodels"):
        pytest.importorskip(library)
    folder = wording_run(tmp_path / "run", ("explicit", "terse", "technical"))
    out = tmp_path / "report"
    assert main(["report", str(folder), "-o", str(out), "--no-parse"]) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert 'id="table-wordings"' in page
    assert '<section id="wordings"' in page
    assert (out / "figures" / "wordings.svg").read_text(encoding="utf-8").count("technical") >= 2
    for suffix in ("md", "csv", "tex"):
        assert "terse" in (out / "tables" / f"wordings.{suffix}").read_text(encoding="utf-8")
    (study_, _) = json.loads((out / "report.json").read_text(encoding="utf-8"))["wordings"]
    assert all(w["interval"]["low"] <= w["sr"] <= w["interval"]["high"] for w in study_["wordings"])
