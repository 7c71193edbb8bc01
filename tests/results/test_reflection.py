"""Self-assessment: a run folder made by hand, every figure worked out by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.results.make_runs import write_run

from oulibench.cli import main
from oulibench.results.intervals import Settings
from oulibench.results.reflection import SelfAssessment, read_claims, self_assessments
from oulibench.results.runs import open_run
from oulibench.results.systems import system_names

LENGTH = [  # text, answer: found 3, 4, 2, 3, 3, 3 where 3 was asked for
    ("Il gatto dorme.", "3"),  # right, and says that it complies
    ("Il gatto dorme ora.", "La frase contiene tre parole."),  # over-claims, by one too few
    ("Vado via.", "2"),  # right, and says that it does not comply
    ("La nonna canta.", "<think>sei?</think> 5 parole"),  # under-claims, by two too many
    ("Oggi piove molto.", "Non saprei."),
    ("Domani parto presto.", None),  # the call failed
]
LIPOGRAM = [  # does the letter e occur?
    ("Vado via.", "No."),  # right, complies
    ("Bene.", "No, non compare."),  # over-claims
    ("Certo.", "Sì"),  # right, does not comply
    ("…", "No"),  # no word: the checker finds nothing to be right or wrong about
]


def reflection(task: str, target: Any, item: int, text: str, answer: str | None, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{task}/{target}/0/explicit", "model": "m", "task": task, "target": target, "n": 6, "shots": 0,
        "wording": "explicit", "epoch": 1, "item": item, "text": text, "conversation": "separate", "prompt": "?",
        "response": answer or "", "error": None if answer else "status 500", **more,
    }  # fmt: skip


def answer_row(task: str, target: Any, texts: list[str]) -> dict[str, Any]:
    return {
        "id": f"{task}/{target}/0/explicit", "model": "m", "task": task, "target": target, "difficulty": 1,
        "n": len(texts), "shots": 0, "wording": "explicit", "epoch": 1, "prompt": "?", "error": None,
        "response": "\n".join(f"{i}. {text}" for i, text in enumerate(texts, 1)),
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    answers = [
        answer_row("word_length", 3, [text for text, _ in LENGTH]),
        answer_row("lipogram", "e", [text for text, _ in LIPOGRAM[:3]]),
    ]
    folder = write_run(tmp_path / "run", answers)
    rows = [reflection("word_length", 3, i, *pair) for i, pair in enumerate(LENGTH, 1)]
    rows += [reflection("lipogram", "e", i, *pair) for i, pair in enumerate(LIPOGRAM, 1)]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (folder / "reflections.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["report", "--table", str(folder)]) == 0
    return folder


def assessments(folder: Path, settings: Settings | None = None) -> list[SelfAssessment]:
    run = open_run(folder)
    return self_assessments(read_claims(run, system_names([run])), settings)


def test_figures_worked_out_by_hand(folder: Path) -> None:
    length, lipogram = assessments(folder)
    assert length.key == ("m", "word_length", 0)
    assert (length.asked, length.claims, length.unreadable, length.failed) == (6, 4, 1, 1)
    assert length.accuracy == 2 / 4
    assert length.unreadable_share == 1 / 5
    assert length.absolute_error == (0 + 1 + 0 + 2) / 4
    assert length.bias == (0 - 1 + 0 + 2) / 4
    assert length.claimed_share == 2 / 4, "texts 1 and 2 are said to have three words"
    assert length.complied_share == 2 / 4, "texts 1 and 4 have three words"
    assert length.over_claiming == 1 / 2, "of texts 2 and 3, text 2 is said to comply"
    assert length.under_claiming == 1 / 2, "of texts 1 and 4, text 4 is said not to comply"
    assert (lipogram.asked, lipogram.claims, lipogram.not_assessable) == (4, 3, 1)
    assert lipogram.accuracy == pytest.approx(2 / 3)
    assert (lipogram.claimed, lipogram.complied, lipogram.over, lipogram.under) == (2, 1, 1, 0)
    assert (lipogram.over_claiming, lipogram.under_claiming) == (1 / 2, 0)
    assert (lipogram.absolute_error, lipogram.bias) == (None, None)
    assert lipogram.examples == (("Bene.", "no ≠ sì"),)


def test_what_the_table_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert [(a["task"], a["accuracy"], a["over_claiming"]) for a in data["self_assessment"]] == [
        ("word_length", 0.5, 0.5),
        ("lipogram", 0.666667, 0.5),
    ]
    assert "over-claiming" in (folder / "results.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader((folder / "self_assessment.csv").open(encoding="utf-8")))
    assert [(r["task"], r["MAE"], r["bias"]) for r in rows] == [
        ("word_length", "0.750", "0.250"),
        ("lipogram", "–", "–"),
    ]
    claims = [json.loads(line) for line in (folder / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(c["status"], c["claim"], c["actual"], c["requested"], c["correct"]) for c in claims] == [
        ("ok", 3, 3, 3, True),
        ("ok", 3, 4, 3, False),
        ("ok", 2, 2, 3, True),
        ("ok", 5, 3, 3, False),
        ("unreadable", None, 3, 3, None),
        ("no_response", None, 3, 3, None),
        ("ok", False, False, False, True),
        ("ok", False, True, False, False),
        ("ok", True, True, False, True),
        ("not_assessable", None, None, None, None),
    ]
    main(["report", "--table", str(folder)])
    assert "Self-assessment" in capsys.readouterr().out


def test_a_damaged_line_is_named_and_the_rest_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "reflections.jsonl").open("a", encoding="utf-8") as lines:
        lines.write('{"task": "lipogram"\n{"task": "lipogram", "id": "x", "epoch": 1, "item": null, "text": "t"}\n')
    main(["report", "--table", str(folder)])
    err = capsys.readouterr().err
    assert "reflections.jsonl:11: " in err
    assert "reflections.jsonl:12: the row has no good 'item'" in err
    assert [a.asked for a in assessments(folder)] == [6, 4]


def test_hostile_rows_do_not_break_the_figures(folder: Path) -> None:
    rows = [
        reflection("no_such_task", 1, 1, "t", "3"),
        reflection("word_length", "many", 1, "t", "3"),
        reflection("word_length", 3, 1, "\ud800", "3"),
        reflection("word_length", 3, 1, "t", "\x00" * 10),
    ]
    (folder / "reflections.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    found = assessments(folder)
    assert sum(a.asked for a in found) == 4
    assert sum(a.claims for a in found) == 0
    assert sum(a.not_assessable for a in found) == 3
    assert sum(a.unreadable for a in found) == 1


def test_interval_of_independent_texts_is_wilsons(folder: Path) -> None:
    pytest.importorskip("statsmodels")
    rows = [reflection("word_length", 3, 1, *pair, id=f"word_length/{i}") for i, pair in enumerate(LENGTH[:4])]
    (folder / "reflections.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    (found,) = assessments(folder, Settings())
    # Wilson, 2 of 4: (.5 + z²/8 ± z sqrt(1/16 + z²/64)) / (1 + z²/4) with z = 1.959964
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.150036, 0.849964), abs=1e-5)


def test_texts_of_one_answer_alone_have_no_interval(folder: Path) -> None:
    length, _ = assessments(folder, Settings())
    assert length.interval is not None
    assert length.interval.low is None
    assert "one answer only" in str(length.interval.reason)


def test_the_report_shows_it(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("pyarrow")
    out = tmp_path / "report"
    assert main(["report", str(folder), "-o", str(out), "--language", "it", "--no-parse"]) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert 'id="table-self_assessment"' in page
    assert "Autovalutazione" in page
    assert "no ≠ sì" in page
    for name in ("self_assessment.md", "self_assessment.csv", "self_assessment.tex"):
        assert (out / "tables" / name).is_file()
    assert len(json.loads((out / "report.json").read_text(encoding="utf-8"))["self_assessment"]) == 2
