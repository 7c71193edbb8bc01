"""What needs no lm-evaluation-harness: the files in step with the benchmark, the path, counts and figures."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from scipy.stats import spearmanr

from oulibench.cli import main
from oulibench.constraints import task_names
from oulibench.engines.lm_eval import answers, tasks_folder
from oulibench.engines.lm_eval.generate import task_files
from oulibench.engines.lm_eval.samples import main as samples_main
from oulibench.scoring import score_row

GOLDEN = Path(__file__).parents[1] / "golden" / "responses.jsonl"


def document(task: str, target: object, n: int, name: str = "x") -> dict[str, Any]:
    """A document as the harness holds it: its columns have one type, so targets are strings."""
    family = {"word_length": "quantitative", "char_length": "quantitative"}.get(task, "stylistic")
    return {
        "id": name,
        "task": task,
        "family": family,
        "target": None if target is None else str(target),
        "difficulty": 1,
        "n": n,
        "shots": 0,
        "wording": "explicit",
        "suite": "paper",
        "demonstrations": [],
        "prompt": "…",
    }


def test_files_are_those_that_the_benchmark_makes() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in tasks_folder().glob("*.yaml")}
    assert written == task_files(), "run python -m oulibench.engines.lm_eval.generate"
    alone = {f"oulibench_{task}.yaml" for task in task_names()}
    assert len(alone) == 11
    assert alone <= set(written)
    # the paper gives 5, 10 and 15 examples, for lengths, voice, lipograms and palindromes
    shown = {f"oulibench_{t}_{k}shot.yaml" for t in ("word_length", "char_length", "voice", "lipogram", "palindrome")
             for k in (5, 10, 15)}  # fmt: skip
    groups = {f"oulibench{g}.yaml" for g in ("", "_quantitative", "_syntactic", "_stylistic")}
    assert set(written) == alone | shown | groups | {f"oulibench_{k}shot.yaml" for k in (5, 10, 15)}


def test_path_is_printed_without_the_harness() -> None:
    code = "import sys; sys.modules['lm_eval'] = None; from oulibench.cli import main; sys.exit(main(['lm-eval-path']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert (Path(done.stdout.strip()) / "oulibench.yaml").is_file()


def test_counts_and_figures_of_answers() -> None:
    five = answers.process_results(
        document("word_length", 5, 3, "a"),
        ["1. Il gatto dorme sul divano.\n2. Marco corre.\n\n3. La nonna cucina la pasta.\n4. Oggi il cielo è grigio."],
    )
    # four sentences of 5, 2, 5 and 5 words, three asked for
    assert five == {
        "sr": [3, 4],
        "passed_per_requested": [2, 3],
        "yield": [4, 3],
        "scoring_failed": 0,
        "spearman": [[5, 5], [5, 2], [5, 5], [5, 5]],
    }
    two = answers.process_results(document("word_length", 2, 3, "b"), ["1. Marco corre.\n2. Il mare luccica."])
    assert two["spearman"] == [[2, 2], [2, 3]]
    nothing = answers.process_results(document("word_length", 9, 3, "c"), [""])
    assert nothing == {
        "sr": [0, 0],
        "passed_per_requested": [0, 3],
        "yield": [0, 3],
        "scoring_failed": 0,
        "spearman": [],
    }
    all_three = [five, two, nothing]
    assert answers.pooled_rate([counts["sr"] for counts in all_three]) == pytest.approx(4 / 6)
    assert answers.pooled_rate([counts["passed_per_requested"] for counts in all_three]) == pytest.approx(3 / 9)
    assert answers.pooled_rate([counts["yield"] for counts in all_three]) == pytest.approx(6 / 9)
    rho = answers.pooled_spearman([counts["spearman"] for counts in all_three])
    assert rho == pytest.approx(spearmanr([5, 5, 5, 5, 2, 2], [5, 2, 5, 5, 2, 3]).statistic)
    assert answers.total([counts["scoring_failed"] for counts in all_three]) == 0
    assert math.isnan(answers.pooled_rate([nothing["sr"]]))
    assert math.isnan(answers.pooled_spearman([nothing["spearman"]]))
    assert math.isnan(answers.pooled_spearman([two["spearman"]]))  # one length was asked for
    assert "spearman" not in answers.process_results(document("palindrome", None, 1), ["Anna"])


def test_golden_responses_as_oulibench_score_sees_them(tmp_path: Path) -> None:
    golden = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    golden = [row for row in golden if isinstance(row["response"], str) and row["requested"] and "target" in row]
    assert len(golden) > 200
    counted: dict[str, list[dict[str, Any]]] = defaultdict(list)
    source, scored = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    with source.open("w", encoding="utf-8") as lines:
        for number, row in enumerate(golden):
            document_ = document(row["task"], row["target"], row["requested"], str(number))
            counted[row["task"]].append(answers.process_results(document_, [row["response"]]))
            given = {"answer": number, "task": row["task"], "target": row["target"], "n": row["requested"]}
            lines.write(json.dumps({**given, "response": row["response"]}) + "\n")
    assert main(["score", str(source), "-o", str(scored)]) in (0, 1)
    rows = [json.loads(line) for line in scored.read_text(encoding="utf-8").splitlines()]
    for task, counts in counted.items():
        mine = [row for row in rows if row["task"] == task]
        items = [row for row in mine if row["text"] is not None]
        requested = sum(row["requested"] for row in golden if row["task"] == task)
        passed = [row for row in items if row["passed"]]
        in_time = [row for row in passed if row["item"] <= row["n"]]
        assert answers.pooled_rate([c["sr"] for c in counts]) == pytest.approx(len(passed) / len(items)), task
        assert answers.pooled_rate([c["yield"] for c in counts]) == pytest.approx(len(items) / requested), task
        found = answers.pooled_rate([c["passed_per_requested"] for c in counts])
        assert found == pytest.approx(len(in_time) / requested), task
        if task == "word_length":
            pairs = [(float(row["target"]), row["measured"]) for row in items if row["measured"] is not None]
            rho = answers.pooled_spearman([c["spearman"] for c in counts])
            assert rho == pytest.approx(spearmanr([p[0] for p in pairs], [p[1] for p in pairs]).statistic, nan_ok=True)


@pytest.mark.parametrize(
    "response",
    [None, "", " \n\n ", 5, [], {}, float("nan"), b"x", "\ud800", "\x00", "<think>" + "a" * 1000, "1. " * 1_000],
    ids=lambda response: repr(response)[:12],
)
def test_hostile_answers_count_as_nothing_passed(response: object) -> None:
    for task, target in (("lipogram", "e"), ("voice", "passive"), ("word_length", 5), ("palindrome", None)):
        counts = answers.process_results(document(task, target, 5), [response])
        assert counts["sr"][0] == counts["passed_per_requested"][0] == 0
        assert counts["passed_per_requested"][1] == counts["yield"][1] == 5
        json.dumps(counts, allow_nan=False)


def test_huge_answer() -> None:
    counts = answers.process_results(document("lipogram", "e", 5), ["\n".join(["Il gatto dorme."] * 5_000)])
    assert counts["passed_per_requested"] == [0, 5]
    assert counts["sr"][0] == 0
    counts = answers.process_results(document("lipogram", "z", 5), ["\n".join(["Il gatto dorme."] * 500)])
    assert counts["passed_per_requested"] == [5, 5]  # writing more gains nothing
    assert counts["sr"][0] == counts["sr"][1] > 5


def test_answer_without_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER", "Nessun testo qui")
    assert answers.process_results(document("lipogram", "a", 5), ["Nessun testo qui"])["yield"] == [0, 5]
    assert answers.process_results(document("lipogram", "a", 5), ["Un testo qui"])["yield"] == [1, 5]
    assert answers.process_results(document("lipogram", "a", 5), [])["yield"] == [0, 5]


def test_reasoning_is_not_the_answer() -> None:
    reasoned = "<think>\nForse: Marco corre.\n\nNo.\n</think>\n\n1. Il gatto dorme sul divano."
    assert answers.process_results(document("word_length", 5, 1), [reasoned])["sr"] == [1, 1]
    unclosed = answers.process_results(document("word_length", 5, 1), ["<think>\n1. Il gatto dorme sul divano."])
    assert unclosed["yield"] == [0, 1]


def test_samples_become_rows(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    response = "1. Il gatto dorme sul divano.\n2. Marco corre."
    sample = {"doc_id": 0, "doc": document("word_length", 5, 2), "filtered_resps": [response], "resps": [[response]]}
    file = tmp_path / "samples_oulibench_word_length.jsonl"
    file.write_text(json.dumps(sample) + "\n", encoding="utf-8")
    assert samples_main([str(file), "--model", "m"]) == 0
    row = json.loads(capsysbinary.readouterr().out)
    assert (row["model"], row["response"], row["target"]) == ("m", response, "5")
    assert [scored["passed"] for scored in score_row(row)] == [True, False]
    out = tmp_path / "run" / "responses.jsonl"
    assert samples_main([str(file), "--model", "m", "-o", str(out)]) == 0
    assert main(["report", str(out.parent), "--table"]) == 0
    table = json.loads((out.parent / "results.json").read_text(encoding="utf-8"))
    assert json.dumps(table).count('"sr": 0.5') >= 1


@pytest.mark.parametrize("content", ["[]", "{}", '{"doc": {"id": "x"}, "filtered_resps": ["y"]}', '{"doc": 5}', "{"])
def test_other_files_are_no_samples(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_text(content + "\n", encoding="utf-8")
    assert samples_main([str(file)]) == 2
    assert str(file) in capsys.readouterr().err
