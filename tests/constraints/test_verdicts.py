"""Verdicts: a table of cases worked out by hand, and what must hold for every text."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oulibench import check
from oulibench.constraints import get_constraint, task_names
from oulibench.constraints.base import WORDINGS, Wording
from oulibench.errors import PolicyError, TargetError, UnknownTaskError
from oulibench.policy import Policy
from oulibench.text import normalise

GOLDEN = [
    json.loads(line) for line in (Path(__file__).parents[1] / "golden/verdicts.jsonl").read_text("utf-8").splitlines()
]

SURFACE_TASKS = {
    "word_length": 5,
    "char_length": 20,
    "lipogram": "e",
    "inverse_lipogram": "a",
    "tautogram": "m",
    "word_anagram": "noce",
    "sentence_anagram": "Amo Roma",
    "palindrome": None,
    "acrostic": "sole",
}

TECHNICAL_NAMES = ("lipogramm", "tautogramm", "palindrom", "acrostic", "anagramm")
WORDS = "mamma mia mela è l'amica noce ceno Roma amo moro ama anna otto e la sete sale 3"
italian_like = st.one_of(
    st.text(st.sampled_from("aeiolnrtscdpmuvgèàùòìé'’ ,.-«»AEMNS\u0301\u200b\n1"), max_size=60),
    st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join),
)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: f"{c['task']}-{c['target']}-{c['text'][:25]}")
def test_golden_verdicts(case: dict[str, Any]) -> None:
    verdict = check(case["task"], case["text"], case["target"], **case.get("policy", {}))
    assert verdict.passed is case["passed"], verdict
    for field in ("measured", "formal"):
        if field in case:
            assert getattr(verdict, field) == case[field], verdict
    if "violations" in case:
        assert [v.form for v in verdict.violations] == case["violations"], verdict
    if "flags" in case:
        assert list(verdict.flags) == case["flags"], verdict


def test_every_task_has_cases_that_pass_and_cases_that_fail() -> None:
    for task in task_names():
        assert {case["passed"] for case in GOLDEN if case["task"] == task} == {True, False}, task


@pytest.mark.parametrize("task", SURFACE_TASKS)
@given(text=italian_like)
@settings(max_examples=150)
def test_what_holds_for_every_text(task: str, text: str) -> None:
    target = SURFACE_TASKS[task]
    verdict = check(task, text, target)
    assert 0 <= verdict.score <= 1
    assert (verdict.score == 1) is verdict.passed
    assert not verdict.passed or verdict.formal
    assert verdict.reason.endswith(".")
    assert list(verdict.flags) == sorted(set(verdict.flags))
    for violation in verdict.violations:
        assert normalise(text[violation.start : violation.end]).strip() == violation.form.strip()
    same = (unicodedata.normalize("NFD", text), unicodedata.normalize("NFC", text), text.replace("'", "’"))
    for variant in same:
        other = check(task, variant, target)
        assert (other.passed, other.score, other.measured, other.formal, other.flags) == (
            verdict.passed,
            verdict.score,
            verdict.measured,
            verdict.formal,
            verdict.flags,
        )


@pytest.mark.parametrize("task", SURFACE_TASKS)
@pytest.mark.parametrize("text", ["", " \n", "...", "«»", "😀", "--", "\u200b", "12 345", "١٢٣", "日本語"])
def test_text_without_a_word_never_passes(task: str, text: str) -> None:
    verdict = check(task, text, SURFACE_TASKS[task])
    assert not verdict.passed
    assert verdict.score == 0


@pytest.mark.parametrize(
    ("task", "target"),
    [
        ("word_length", 0),
        ("word_length", -1),
        ("word_length", True),
        ("word_length", 2.5),
        ("word_length", "cinque"),
        ("word_length", None),
        ("word_length", float("nan")),
        ("char_length", []),
        ("lipogram", "ab"),
        ("lipogram", ""),
        ("lipogram", 5),
        ("lipogram", "ж"),
        ("lipogram", ["e"]),
        ("tautogram", None),
        ("word_anagram", "due parole"),
        ("word_anagram", "a"),
        ("word_anagram", ""),
        ("sentence_anagram", "parola"),
        ("palindrome", "e"),
        ("palindrome", 0),
        ("acrostic", "a"),
        ("acrostic", "a1"),
        ("acrostic", {}),
    ],
)
def test_a_target_that_fits_no_task_is_an_error(task: str, target: object) -> None:
    with pytest.raises(TargetError):
        check(task, "Il gatto dorme", target)


def test_an_unknown_task_names_the_known_ones() -> None:
    with pytest.raises(UnknownTaskError, match=r"lipogramm.*word_length.*palindrome"):
        check("lipogramm", "Ciao", "e")


@pytest.mark.parametrize(
    "policy", [{"word": "graphic"}, {"words": "klingon"}, {"names": 1}, {"min_words": -1}, {"words": []}]
)
def test_an_unknown_policy_is_an_error(policy: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        check("lipogram", "Ciao", "e", **policy)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("C'è l'elefante", ["C'è", "l'elefante"]),
        ("dell'elefante", ["dell'", "elefante"]),
        ("dov'è un'altra erba", ["dov'è", "erba"]),
        ("'e' e l'", ["'e'", "e"]),
        ("l' erba", ["erba"]),
        ("pò'e", ["pò'e"]),
    ],
)
def test_lipograms_name_the_elided_form_that_an_offending_word_leans_on(text: str, named: list[str]) -> None:
    assert [v.form for v in check("lipogram", text, "e").violations] == named


@pytest.mark.parametrize("task", SURFACE_TASKS)
@pytest.mark.parametrize(
    "run", ["a'" + "x" * 99_998, "e'" * 50_000, "e " * 50_000, "noce " * 20_000, "x" * 99_999 + " e"]
)
def test_long_texts_take_linear_time(task: str, run: str) -> None:
    check(task, run, SURFACE_TASKS[task])  # a quadratic checker would not come back


def test_padding_a_lipogram_with_clean_words_earns_next_to_nothing() -> None:
    short = check("lipogram", "Il cane non va", "e").score
    long = check("lipogram", "Il cane non va " + "ora " * 1000, "e").score
    assert short < long <= 0.5


def test_fewer_violations_never_score_lower() -> None:
    scores = [check("lipogram", " ".join(["mela"] * bad + ["ora"] * (10 - bad)), "e").score for bad in range(11)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1
    assert scores[10] == 0


def test_length_scores_fall_on_both_sides_of_the_target() -> None:
    scores = [check("word_length", " ".join(["ora"] * n), 5).score for n in range(1, 40)]
    assert scores[4] == 1
    assert scores[:5] == sorted(scores[:5])
    assert scores[4:] == sorted(scores[4:], reverse=True)


def test_a_copied_source_earns_nothing() -> None:
    assert check("sentence_anagram", "Il sole splende", "Il sole splende.").score == 0
    assert check("sentence_anagram", "splende sole il", "Il sole splende.").score == 0
    assert check("sentence_anagram", "Il sole splenda", "Il sole splende.").score < 0.4


def test_signatures_name_what_decides() -> None:
    assert "words:graphic" in check("word_length", "Ciao", 1, words="graphic").signature
    assert "words:" not in check("lipogram", "Ciao", "e", words="graphic").signature
    assert "lexicon:" in check("palindrome", "Anna", None).signature
    assert check("lipogram", "Ciao", "e").signature == get_constraint("lipogram").signature(Policy())


def test_all_eleven_tasks_are_there() -> None:
    assert set(task_names()) >= {*SURFACE_TASKS, "voice", "word_order"}


@pytest.mark.parametrize("task", SURFACE_TASKS)
@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("n", [1, 50])
def test_prompts_name_their_target_and_number(task: str, wording: Wording, n: int) -> None:
    target = SURFACE_TASKS[task]
    prompt = get_constraint(task).prompt(target, n, wording)
    assert "{" not in prompt
    assert n == 1 or "50" in prompt
    if target is not None:
        assert str(target).lower() in prompt.lower()
    if wording != "technical":
        assert not any(
            name in prompt.lower() for name in ("lipogramm", "tautogramm", "palindrom", "acrostic", "anagramm")
        )


def test_the_paper_s_prompt_in_substance() -> None:
    assert (
        get_constraint("word_length")
        .prompt(5, 50)
        .startswith(
            "Genera 50 frasi in italiano, ciascuna composta esattamente da 5 parole. Escludi dal conto la punteggiatura"
        )
    )
    assert "1 parola." in get_constraint("word_length").prompt(1, 1)
