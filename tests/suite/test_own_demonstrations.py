"""Few-shot prompts with demonstrations of one's own."""

import json
from pathlib import Path

import pytest

from oulibench.cli import main
from oulibench.errors import DataError
from oulibench.suite import build_requests, demonstrations, load_suite

OWN: list[dict[str, object]] = [
    {"id": f"mine/{i}", "task": "lipogram", "target": "e", "text": text, "source": "somewhere"}
    for i, text in enumerate(
        ("Oggi vado al lago.", "Domani tornano i gatti.", "Qui fa caldo.", "Non so chi sia.", "Andiamo!")
    )
]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_they_are_shown_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "own.jsonl", OWN)
    shown = demonstrations("lipogram", "E", 3, file=file)
    assert [d.text for d in shown] == ["Oggi vado al lago.", "Domani tornano i gatti.", "Qui fa caldo."]
    suite = load_suite("quick")
    with pytest.raises(DataError, match="There are 0 demonstrations for the target"):
        build_requests(suite, ["lipogram"], [5], demonstrations_file=file)  # the suite has other letters, too


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{**OWN[0], "task": "lipogramm"}], r"own\.jsonl:1: Unknown task"),
        ([OWN[0], OWN[0]], r"own\.jsonl:2: the id 'mine/0' stands there twice"),
        ([{**OWN[0], "target": 5}], r"own\.jsonl:1: The target of lipogram"),
        ([{"id": "x"}], r"own\.jsonl:1: a demonstration has no task, target, text"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, rows: list[dict[str, object]], says: str) -> None:
    with pytest.raises(DataError, match=says):
        demonstrations("lipogram", "e", 1, file=write(tmp_path / "own.jsonl", rows))


def test_run_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    letters = ["z", "s", "e"]  # the targets of the suite
    file = write(
        tmp_path / "own.jsonl",
        [{**row, "id": f"{letter}/{i}", "target": letter} for letter in letters for i, row in enumerate(OWN)],
    )
    arguments = ["run", "--tasks", "lipogram", "--shots", "5", "--demonstrations", str(file), "--dry-run"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.count("Domani tornano i gatti.") == len(letters)
    assert main([*arguments[:6], str(tmp_path / "missing.jsonl"), "--dry-run"]) == 2
    assert "missing.jsonl: No such file" in capsys.readouterr().err
