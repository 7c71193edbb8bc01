"""The commands, as a user calls them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from oulibench.cli import COMMANDS, main

ROWS = [
    {"task": "lipogram", "target": "e", "text": "Oggi vado in montagna", "id": 1},
    {"task": "palindrome", "target": None, "text": "Il gatto", "id": 2},
]


def write(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["lipogram", "e", "Oggi vado in montagna"], 0),
        (["lipogram", "e", "Perché"], 1),
        (["word_length", "5", "Il gatto dorme sul divano."], 0),
        (["palindrome", "null", "Aceto nell'enoteca"], 0),
        (["palindrome", "Aceto nell'enoteca"], 0),
        (["word_length", "4", "C'è un po' d'acqua", "--words", "graphic"], 0),
        (["lipogram", "i", "Notte cupa", "--min-words", "5"], 1),
        (["lipogramm", "e", "x"], 2),
        (["word_length", "zero", "x"], 2),
        (["lipogram", "e"], 2),
    ],
)
def test_check_answers_in_words_and_by_exit_code(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *arguments]) == code
    shown = capsys.readouterr()
    if code == 2:
        assert shown.err
        assert not shown.out
    else:
        assert shown.out.startswith("PASSED: " if code == 0 else "NOT PASSED: ")
        assert "signature: task:" in shown.out


@pytest.mark.parametrize("output", ["", "."])
@pytest.mark.parametrize("command", [["score"], ["extract"], ["parse"]])
def test_what_is_no_file_is_not_written(
    command: list[str], output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in"
    source.touch()
    output = output and str(tmp_path)
    assert main([*command, str(source), "-o", output]) == 2
    assert capsys.readouterr().err.startswith(f"oulibench {command[0]}: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"task": "lipogram", "target": "e", "text": "Oggi"}\n' * 2_000, "utf-8")
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "oulibench", "score", str(source)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("oulibench score: No space left on device")
    assert "Traceback" not in done.stderr


def test_check_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lipogram", "e", "Perché no", "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["violations"] == [{"word": "Perché", "start": 0, "end": 6}]


def test_score_writes_rows_and_tells_the_totals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = write(tmp_path / "in.jsonl", [*ROWS]), tmp_path / "out.jsonl"
    assert main(["score", str(source), "-o", str(target)]) == 0
    assert [(r["id"], r["passed"]) for r in read(target)] == [(1, True), (2, False)]
    assert "received 2 lines = scored 2 + failed 0; 2 rows written, 1 passed" in capsys.readouterr().err


def test_score_names_file_and_line_of_what_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.jsonl", [ROWS[0], "no object", {"task": "boh"}])
    assert main(["score", str(source), "-o", str(tmp_path / "out.jsonl")]) == 1
    errors = capsys.readouterr().err
    assert f"{source}:2: " in errors
    assert f"{source}:3: Unknown task 'boh'" in errors
    assert len(read(tmp_path / "out.jsonl")) == 2


def test_score_never_overwrites_what_it_reads(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [*ROWS])
    assert main(["score", str(source), "-o", str(source)]) == 2
    assert len(read(source)) == 2


def test_a_file_that_is_not_there_is_a_bad_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl: No such file" in capsys.readouterr().err


def test_extract_gives_items_and_status(tmp_path: Path) -> None:
    source = write(
        tmp_path / "in.jsonl",
        [
            {"task": "lipogram", "target": "e", "response": "Ecco due frasi:\n\n1. Oggi vado via.\n2. Dormo.", "id": 1},
            {"task": "lipogram", "response": ""},
        ],
    )
    target = tmp_path / "out.jsonl"
    assert main(["extract", str(source), "-o", str(target)]) == 0
    first, second = read(target)
    assert (first["items"], first["status"], first["id"]) == (["Oggi vado via.", "Dormo."], "ok", 1)
    assert (second["items"], second["status"]) == ([], "no_response")


def test_tasks_as_json_is_what_the_benchmark_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "--json"]) == 0
    tasks = json.loads(capsys.readouterr().out)
    assert [t["task"] for t in tasks] == [
        "word_length",
        "char_length",
        "voice",
        "word_order",
        "lipogram",
        "inverse_lipogram",
        "tautogram",
        "word_anagram",
        "sentence_anagram",
        "palindrome",
        "acrostic",
    ]
    for task in tasks:
        difficulties = [t["difficulty"] for t in task["targets"]]
        assert difficulties == sorted(difficulties), task["task"]
        assert difficulties
        assert all(t["why"] and t["prompt"] for t in task["targets"])


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"$ oulibench {command}" in capsys.readouterr().out


def test_the_package_imports_nothing_heavy() -> None:
    code = "import sys, oulibench; oulibench.check('lipogram', 'Oggi', 'e'); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "onnxruntime", "inspect_ai", "pandas", "scipy", "torch", "multiprocessing"}
    assert not heavy & set(shown.stdout.split())


def test_an_unknown_command_is_a_bad_call() -> None:
    with pytest.raises(SystemExit) as stop:
        main(["canta"])
    assert stop.value.code == 2
