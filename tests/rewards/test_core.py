"""Rewards: worked out by hand from the definitions of scores, and properties that hold for any batch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oulibench.constraints import get_constraint, task_names
from oulibench.errors import DataError, MissingExtraError, PolicyError, TargetError
from oulibench.rewards import DEFAULT_GATES, Gates, explain, reward, score_completions
from oulibench.suite import demonstrations

CHEAP = Gates(syntax=None)


def row(task: str, target: object, completion: str, **more: Any) -> dict[str, Any]:
    return {"task": task, "target": target, "completion": completion, **more}


def test_a_text_that_passes_earns_one() -> None:
    assert reward("word_length", "Il gatto dorme sul divano.", 5) == 1.0
    assert reward("lipogram", "Il gatto magro salta sul divano.", "e") == 1.0
    assert reward("voice", "Il gatto dorme sul divano.", "active") == 1.0
    assert reward("voice", "Il gatto dorme sul divano.", "passive") == 0.0


def test_partial_scores_and_strict() -> None:
    # Five words found, ten asked for.
    assert reward("word_length", "Il gatto dorme sul divano.", 10) == 0.5
    assert reward("word_length", "Il gatto dorme sul divano.", 10, strict=True) == 0.0
    # One word in five holds the letter: 4/5 over 1 + 1.
    assert reward("lipogram", "Il gatto dorme sul divano.", "e") == pytest.approx(0.4)


def test_rows_of_other_tasks_have_no_reward() -> None:
    rows = [
        row("gsm8k", None, "42"),
        row("word_length", 5, "Il gatto dorme sul divano."),
        {"completion": "ciao"},
        {"task": None, "completion": "ciao"},
        {"task": ["lipogram"], "completion": "ciao"},
    ]
    assert score_completions(rows) == [None, 1.0, None, None, None]
    assert score_completions([]) == []


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (row("lipogram", "troppo", "ciao"), TargetError),
        (row("word_length", None, "ciao"), TargetError),
        (row("word_length", 5, "ciao", n=0), DataError),
        (row("word_length", 5, "ciao", policy={"parole": "molte"}), PolicyError),
        (row("word_length", 5, "ciao", policy={"parser": "stanza"}), PolicyError),
        (row("word_length", 5, None), DataError),  # type: ignore[arg-type]
        (row("word_length", 5, [{"role": "assistant", "content": "ciao"}]), DataError),  # type: ignore[arg-type]
        (row("word_length", 5, "ciao", prompt=3), DataError),
        (row("word_length", 5, "ciao", demonstrations="una frase"), DataError),
        ({"task": "word_length", "target": 5}, DataError),
    ],
)
def test_a_row_that_is_set_up_wrongly_is_an_error_that_names_it(broken: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="Row 1: "):
        score_completions([row("word_length", 5, "Il gatto dorme sul divano."), broken])


def test_a_parser_that_is_not_there_is_an_error_not_a_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(MissingExtraError, match="stanza"):
        score_completions([row("voice", "active", "Il gatto dorme.")], None, policy={"parser": "stanza"})
    with pytest.raises(DataError):
        score_completions([row("voice", "active", "Il gatto dorme.")], None, policy={"parser": "udpipe:/no/such/model"})


HOSTILE = [
    "",
    " \n ",
    "a\x00b",
    "Il gatto \ud800 dorme",
    "a" * 10_000_000,
    "parola " * 20_000,
    "<think>" * 1_000,
    "\u200b" * 5_000,
    "(" * 500,
    "il gatto dorme " + "(" * 400,
    "e\u0301" * 3_000 + "!",
    "🙂" * 500,
]


@pytest.mark.parametrize("task", task_names())
@pytest.mark.parametrize("gates", [DEFAULT_GATES, CHEAP, None])
def test_no_completion_raises(task: str, gates: Gates | None) -> None:
    target = get_constraint(task).targets()[0].value
    rows = [row(task, target, text, n=n) for text in HOSTILE for n in (None, 1)]
    for found in score_completions(rows, gates):
        assert found is not None
        assert 0.0 <= found <= (1.0 if gates is None else 0.0)


def test_a_reasoning_model_is_rewarded_on_its_answer() -> None:
    good, bad = "Il gatto dorme sul divano.", "Il gatto dorme."
    for thoughts in (
        f"<think>{bad} Conto: tre.</think>\n\n",
        "[THINK]boh[/THINK]",
        "Conto le parole: 5.\n</think>\n\n",
    ):
        assert reward("word_length", thoughts + good, 5) == 1.0
        assert reward("word_length", thoughts + good, 5, n=1) == 1.0
    assert reward("word_length", f"<think>{good}</think>", 5) == 0.0
    assert reward("word_length", f"<think>{good}", 5) == 0.0
    assert explain("word_length", f"<think>{good}", 5).reason == "The answer stops within its reasoning."
    assert reward("word_length", f"<think>{good}</think>{bad}", 5) == pytest.approx(3 / 5)


def test_the_answer_is_read_where_a_number_of_texts_is_asked_for() -> None:
    one = "Ecco la frase richiesta:\n\n«Il gatto dorme sul divano.»"
    assert reward("word_length", one, 5, n=1) == 1.0
    assert reward("word_length", one, 5) != 1.0  # all of it is the text
    three = "1. Il gatto dorme sul divano.\n2. Marco compra il pane fresco.\n3. La nonna cucina la pasta."
    assert reward("word_length", three, 5, n=3) == 1.0
    assert reward("word_length", three, 5, n=6) == 0.5  # three are missing
    assert reward("word_length", three, 5, n=1) == 1.0
    # A fourth text of ten words scores one half: (1 + 1 + 1 + 1/2) / 4, since more than asked for count, too.
    ten = "Domani mattina andremo tutti insieme al mare con gli amici."
    assert reward("word_length", f"{three}\n4. {ten}", 5, n=3) == pytest.approx(3.5 / 4)


def test_a_repeated_answer_earns_once() -> None:
    again = "\n".join(f"{i}. Il gatto dorme sul divano." for i in range(1, 6))
    assert reward("word_length", again, 5, n=5) == pytest.approx(1 / 5)
    assert reward("word_length", again, 5, n=5, gates=None) == 1.0
    assert explain("word_length", again, 5, n=5).closed == ("repetition",)


def test_policies_of_the_call_and_of_the_row() -> None:
    text = "C'è un po' d'acqua fresca."  # seven orthographic words, five graphic ones
    assert reward("word_length", text, 5) == pytest.approx(5 / 7)
    assert reward("word_length", text, 5, policy={"words": "graphic"}) == 1.0
    rows = [row("word_length", 5, text, policy={"words": "graphic", "names": None}), row("word_length", 5, text)]
    assert score_completions(rows) == [1.0, pytest.approx(5 / 7)]


def test_an_explanation_agrees_with_the_reward_and_says_why() -> None:
    found = explain("lipogram", "Sassolino.", "e")
    assert (found.reward, found.score, found.closed) == (0.0, 1.0, ("min_words",))
    assert "[min_words]" in found.why
    assert explain("gsm8k", "42").reward is None
    text = explain("lipogram", "Il gatto dorme sul divano.", "e").texts[0]
    assert (text.passed, text.closed) == (False, ())
    assert "«dorme»" in text.reason


TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from([d.text for d in demonstrations("word_length", 10, 10)]),
    st.lists(st.sampled_from(["il", "gatto", "la", "casa", "e", "dorme", "di", "notte", "mentre", "Anna"])).map(
        " ".join
    ),
)


def rows_of(task: str, i: int, text: str, n: int | None) -> dict[str, Any]:
    targets = [t.value for t in get_constraint(task).targets()]
    return row(task, targets[i % len(targets)], text, n=n)


ANY_ROW = st.builds(
    rows_of,
    st.sampled_from([task for task in task_names() if not get_constraint(task).parses()]),
    st.integers(0, 50),
    TEXTS,
    st.sampled_from([None, None, 1, 2]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ANY_ROW, max_size=8), st.randoms())
def test_rewards_lie_between_zero_and_one_and_know_no_order(rows: list[dict[str, Any]], random: Any) -> None:
    found = score_completions(rows, CHEAP)
    assert all(value is not None and 0.0 <= value <= 1.0 for value in found)
    order = list(range(len(rows)))
    random.shuffle(order)
    assert score_completions([rows[i] for i in order], CHEAP) == [found[i] for i in order]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY_ROW)
def test_a_strict_reward_is_one_where_all_passes_and_no_gate_closes(given_row: dict[str, Any]) -> None:
    strict = score_completions([given_row], CHEAP, strict=True)[0]
    args = (given_row["task"], given_row["completion"], given_row["target"])
    found = explain(*args, n=given_row["n"], gates=CHEAP)
    passed = [text.passed and not text.closed for text in found.texts]
    assert (strict == 1.0) == (all(passed) and len(passed) == found.asked)
    assert found.reward == score_completions([given_row], CHEAP)[0]
    for text in found.texts:  # gates take away, and never give
        assert text.reward in (0.0, text.score)


def test_two_processes_give_the_same_floats() -> None:
    rows: list[dict[str, Any]] = []
    for task in task_names():
        for spec in get_constraint(task).targets()[:3]:
            rows.extend(row(task, spec.value, text) for text in ("Il gatto dorme sul divano.", "Anna", "", "a\x00"))
    rows.insert(7, row("gsm8k", None, "42"))
    assert score_completions(rows, processes=2) == score_completions(rows)


@pytest.mark.parametrize("as_module", [False, True])
def test_processes_do_not_run_the_script_again(as_module: bool, tmp_path: Path) -> None:
    """Scripts that train have no guard: what they do must not be done in every process."""
    script = """
print("begins", flush=True)
from oulibench.constraints import register
from oulibench.constraints.lipogram import Lipogram
from oulibench.rewards import score_completions
row = {"task": "lipogram", "target": "e", "completion": "Il gatto magro salta sul divano."}
print(score_completions([row] * 8, processes=2) == [1.0] * 8)
class Mine(Lipogram):
    name = "mine"
register(Mine, "mine")
print(score_completions([{**row, "task": "mine"}] * 8, gates=None, processes=2) == [1.0] * 8)
print(__spec__ is not None and __file__)
"""
    (tmp_path / "train.py").write_text(script, "utf-8")
    call = ["-m", "train"] if as_module else ["train.py"]
    done = subprocess.run([sys.executable, *call], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    file = str(tmp_path / "train.py") if as_module else "False"
    assert done.stdout.splitlines() == ["begins", "True", "True", file]


def test_an_error_in_another_process_names_the_row() -> None:
    rows = [row("word_length", 5, "Il gatto dorme sul divano.")] * 40 + [row("word_length", "molte", "ciao")]
    with pytest.raises(TargetError, match="Row 40: "):
        score_completions(rows, processes=2)
