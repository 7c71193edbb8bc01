"""Which gates close on what: each example is made for one gate, and honest texts open them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.rewards import golden_rows, honest_rows

from oulibench.constraints import get_constraint
from oulibench.rewards import DEFAULT_GATES, Gates, explain, reward, score_completions
from oulibench.suite import demonstrations


def closed(task: str, text: str, target: object = None, **more: Any) -> tuple[str, ...]:
    return explain(task, text, target, **more).closed


@pytest.mark.parametrize(
    ("task", "target", "text", "gates"),
    [
        ("lipogram", "e", "Sassolino.", ("min_words",)),
        ("lipogram", "e", "Sassolino bianco.", ("min_words",)),
        ("palindrome", None, "Anna", ("min_words",)),
        ("palindrome", None, "Anna, Anna.", ("repetition", "copying")),
        ("lipogram", "e", "Il gatto salta, il gatto salta, il gatto salta.", ("repetition",)),
        ("lipogram", "z", "Il gatto dorme. Il gatto dorme.", ("repetition",)),
        ("lipogram", "z", "a a a a a", ("repetition",)),
        # What policies learned in training, before this was looked at.
        ("lipogram", "f", "Del case del mai del acqua del quindici del castagno.", ("repetition",)),
        ("word_length", 11, "della casa della casa ma della sveglie della tardi della figlia", ("repetition",)),
        ("palindrome", None, "I topi non avevano nipoti.", ("copying",)),
        ("palindrome", None, "Ala, osso, ala!", ("copying",)),
        ("palindrome", None, "O i topi non avevano nipoti, o!", ("copying",)),
        ("word_length", 7, "The little dog sleeps under our table.", ("italian",)),
        ("lipogram", "e", "Blorf gnaccu trosto sbingo.", ("italian",)),
        ("lipogram", "e", "Blorf Gnaccu Trosto Sbingo.", ("italian",)),
        ("word_length", 5, "10 20 30 40 50", ("italian",)),
        ("lipogram", "e", "Il gatto dorm* ((((((((((((((((((((((((", ("italian",)),
        ("lipogram", "p", "Gatto, casa, divano, finestra, mare, luna, sole.", ("italian", "syntax")),
        ("lipogram", "z", "di che la per con dalla sulla ogni", ("italian", "syntax")),
        ("lipogram", "z", "Il gatto, la casa, un divano, i mari, la luna.", ("syntax",)),
        ("lipogram", "z", "Gatto casa divano mare di.", ("syntax",)),
        ("char_length", 20, "aaaaaaaaaaaaaaaaaaaa", ("min_words",)),
    ],
)
def test_a_trick_closes_its_gate(task: str, target: object, text: str, gates: tuple[str, ...]) -> None:
    assert set(gates) <= set(closed(task, text, target))
    assert reward(task, text, target) == 0.0


def test_a_common_word_may_occur_often() -> None:
    assert closed("lipogram", "Il padre e il figlio guardano il mare.", "z") == ()


def test_very_long_texts() -> None:
    long = " ".join(f"parola{i}" for i in range(151))
    assert closed("lipogram", long, "e", gates=Gates(italian=None, syntax=None)) == ("max_words",)
    assert closed("lipogram", long, "e", gates=Gates(3, 151, italian=None, syntax=None)) == ()
    assert "max_words" in closed("lipogram", "x" * 100_000, "e")
    # A target that asks for more than the gate allows is heard.
    assert closed("word_length", long, 151, gates=Gates(italian=None, syntax=None)) == ()


def test_short_texts_that_the_target_asks_for() -> None:
    assert reward("word_length", "Piove.", 1) == 1.0
    assert reward("word_length", "Piove forte.", 2) == 1.0
    assert reward("word_anagram", "conte", "tecno") == reward("word_anagram", "conte", "tecno", gates=None)
    assert reward("acrostic", "Siamo ottimisti.", "so") == 1.0


def test_a_gate_that_is_off_stays_open() -> None:
    text = "Blorf gnaccu trosto sbingo."
    assert closed("lipogram", text, "e", gates=Gates(italian=None, syntax=None)) == ()
    assert closed("lipogram", "Sassolino.", "e", gates=Gates(min_words=0, italian=None, syntax=None)) == ()
    assert closed("lipogram", "Sassolino.", "e", gates=None) == ()


# --- copying ---


SHOWN = [d.text for d in demonstrations("word_length", 10, 5)]


def test_demonstrations_back() -> None:
    for text in SHOWN:
        assert closed("word_length", text, 10, demonstrations=SHOWN) == ("copying",)
        assert "copying" in closed("word_length", text.upper().rstrip("."), 10, demonstrations=SHOWN)
        assert reward("word_length", text, 10, demonstrations=[]) == 1.0  # not shown: honest
        assert reward("word_length", text, 10, demonstrations=[d for d in SHOWN if d != text]) == 1.0
    known = demonstrations("word_length", 10, 1)[0]
    assert closed("word_length", known.text, 10, demonstrations=[known.id]) == ("copying",)  # by its id
    assert closed("word_length", f"{SHOWN[0]} {SHOWN[1]}", 20, demonstrations=SHOWN) == ("copying",)


def test_a_demonstration_with_a_word_changed() -> None:
    changed = SHOWN[0].split()
    changed[4] = "verdi"
    assert "copying" in closed("word_length", " ".join(changed), 10, demonstrations=SHOWN)


def test_the_prompt_back() -> None:
    for task in ("lipogram", "word_length", "voice", "acrostic"):
        constraint = get_constraint(task)
        target = constraint.targets()[0].value
        for wording in ("explicit", "terse", "technical"):
            prompt = constraint.prompt(target, 1, wording)
            assert "copying" in closed(task, prompt, target)  # the benchmark's own prompts are known anyway
    mine = "Componga per cortesia un pensiero sul mare d'inverno senza adoperare la quinta lettera."
    assert "copying" in closed("lipogram", mine, "z", prompt=mine)
    assert closed("lipogram", "Il mare d'inverno mi mette malinconia.", "z", prompt=mine) == ()


def test_a_demonstration_that_stands_in_the_prompt() -> None:
    prompt = f"Scrivi una frase di 10 parole. Esempio: {SHOWN[0]}"
    assert closed("word_length", SHOWN[0], 10, prompt=prompt) == ("copying",)


# --- honest texts ---


def test_gates_hardly_ever_close_on_honest_texts() -> None:
    """Shares measured over all of them by benchmarks/rewards.py --gates are in docs/rewards.md; here, every fourth."""
    rows = honest_rows()[::4]
    with_gates, without = score_completions(rows), score_completions(rows, None)
    lost = [r["completion"] for r, a, b in zip(rows, with_gates, without, strict=True) if a != b]
    assert len(rows) > 100
    assert len(lost) <= 0.03 * len(rows), lost
    cheap = score_completions(honest_rows(), Gates(syntax=None))
    open_ = score_completions(honest_rows(), None)
    assert [r for r, a, b in zip(honest_rows(), cheap, open_, strict=True) if a != b] == []


def test_golden_texts_of_three_words_and_more_keep_their_reward() -> None:
    rows = [r for r in golden_rows() if r["task"] in ("voice", "lipogram", "word_length", "char_length")]
    rows = [r for r in rows if len(str(r["completion"]).split()) >= 3][::2]
    cheap, open_ = score_completions(rows, Gates(syntax=None)), score_completions(rows, None)
    lost = [r["completion"] for r, a, b in zip(rows, cheap, open_, strict=True) if a != b]
    assert len(rows) > 200
    assert len(lost) <= 0.01 * len(rows), lost


def test_default_gates_are_what_the_docs_say() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rewards.md").read_text("utf-8")
    for name, value in json.loads(json.dumps({f: getattr(DEFAULT_GATES, f) for f in DEFAULT_GATES.__slots__})).items():
        assert f"| `{name}` | {value} |" in page.replace("−", "-")
