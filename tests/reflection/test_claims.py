"""What an answer claims: a table written by hand, and answers that must not break the reading."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench.constraints import task_names
from oulibench.language import ITALIAN
from oulibench.policy import Policy
from oulibench.reflection import Property, property_of, question_on, read_claim, reflects
from oulibench.reflection.numbers import MOST, numbers_in_words
from oulibench.scoring import check
from oulibench.text import WORD_POLICIES

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "golden" / "claims.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c['task']}: {c['answer'][:40]}" for c in CASES])
def test_claim(case: dict[str, Any]) -> None:
    found = read_claim(case["answer"], case["task"], case["text"])
    assert found == case["claim"]
    assert type(found) is type(case["claim"])


def test_numerals() -> None:
    spelt = numbers_in_words()
    for word, number in {
        "zero": 0, "uno": 1, "dieci": 10, "diciannove": 19, "venti": 20, "ventuno": 21, "ventun": 21, "ventotto": 28,
        "trentatré": 33, "trentatre": 33, "cento": 100, "centootto": 108, "centotto": 108, "duecentoventi": 220,
        "mille": 1000, "milleuno": 1001, "duemilatrecentoquarantacinque": 2345, "novemilanovecentonovantanove": 9999,
    }.items():  # fmt: skip
        assert spelt[word] == number
    assert set(spelt.values()) == set(range(MOST + 1))
    for wrong in ("ventiuno", "trentaotto", "un", "una", "millecento mila"):
        assert wrong not in spelt


@given(
    st.integers(0, 999_999), st.sampled_from(["{}", "{} parole", "Ci sono {} parole.", "La risposta è {}.", "**{}**"])
)
def test_a_number_that_is_said_is_read(number: int, frame: str) -> None:
    assert read_claim(frame.format(number), "word_length", "Il gatto dorme.") == number


@given(st.sampled_from([t for t in task_names() if reflects(t)]), st.text(max_size=80), st.text(max_size=40))
def test_no_answer_breaks_the_reading(task: str, answer: str, text: str) -> None:
    read_claim(answer, task, text)


@pytest.mark.parametrize(
    "piece", ["«", "1 ", "sì/", "soggetto ", "S-", "(", "non è ", "<think>", "a.", "cento", "\n", ". "]
)
def test_long_answers_are_read_in_no_time(piece: str) -> None:
    start = time.perf_counter()
    for task in ("word_length", "lipogram", "voice", "word_order", "acrostic"):
        read_claim(piece * (3_900 // len(piece)), task, "Il gatto dorme.")
        read_claim(piece * 200_000, task, "Il gatto dorme.")
    assert time.perf_counter() - start < 5


# --- questions and truth -----------------------------------------------------------------------------------------

TARGETS: dict[str, Any] = {
    "word_length": 5,
    "char_length": 20,
    "voice": "active",
    "word_order": "SVO",
    "lipogram": "e",
    "inverse_lipogram": "e",
    "tautogram": "m",
    "word_anagram": "noce",
    "sentence_anagram": "Amo Roma",
    "palindrome": None,
    "acrostic": "sole",
}


@pytest.mark.parametrize("task", task_names())
def test_every_task_has_a_question_that_quotes_the_text(task: str) -> None:
    question = question_on("Parole {strane} e «citate».", task, TARGETS[task])
    assert "Parole {strane} e «citate»." in question
    assert re.search(r"Rispondi (soltanto|con)", question)
    assert "{text}" not in question
    assert "{target}" not in question


def test_the_question_says_what_the_policy_counts() -> None:
    asked = [question_on("L'amico dorme.", "word_length", 3, Policy(words=words)) for words in WORD_POLICIES]
    assert len(set(asked)) == len(WORD_POLICIES)
    assert "vale due parole" in asked[0]
    assert "vale una parola" in asked[1]


@pytest.mark.parametrize(
    ("task", "target", "text", "expected"),
    [
        ("word_length", 5, "L'amico dorme.", Property(3, 5)),
        ("char_length", 12, "L'amico dorme.", Property(11, 12)),
        ("lipogram", "e", "Vado via.", Property(False, False)),
        ("lipogram", "e", "Perché no?", Property(True, False)),
        ("inverse_lipogram", "e", "Bene, certe sere.", Property(True, True)),
        ("inverse_lipogram", "e", "Il mare.", Property(False, True)),
        ("tautogram", "m", "Maria mangia mele.", Property(True, True)),
        ("tautogram", "m", "Maria e Marco.", Property(False, True)),
        ("word_anagram", "noce", "ceno", Property(True, True)),
        # Letters are what the question is about: the source has its own letters, though it passes no anagram.
        ("word_anagram", "noce", "noce", Property(True, True)),
        ("word_anagram", "noce", "cene", Property(False, True)),
        ("palindrome", None, "Anna", Property(True, True)),
        ("palindrome", None, "xyzzyx", Property(True, True)),
        ("palindrome", None, "Anno", Property(False, True)),
        ("acrostic", "sole", "Sara odia le erbe.", Property("sole", "sole")),
        ("acrostic", "sole", "Sara odia le api.", Property("sola", "sole")),
        ("voice", "passive", "Marco scrive la lettera.", Property("active", "passive")),
        ("word_order", "SVO", "Luca mangia la mela.", Property("SVO", "SVO")),
        ("word_length", 5, "", Property(0, 5)),
        ("lipogram", "e", "...", None),
        ("palindrome", None, "123", None),
        ("word_order", "SVO", "Piove.", None),
    ],
)
def test_property(task: str, target: Any, text: str, expected: Property | None) -> None:
    assert property_of(task, target, check(task, text, target).fields()) == expected


def test_sentences_that_differ_have_no_one_voice() -> None:
    verdict = {"passed": False, "formal": False, "measured": "mixed"}
    assert property_of("voice", "active", verdict) is None
    assert property_of("voice", "active", {**verdict, "measured": None}) is None
    assert property_of("lipogram", "e", {"passed": None, "measured": None, "formal": None}) is None


def test_the_questions_stand_in_the_data() -> None:
    assert set(ITALIAN.table("reflection.toml")["tasks"]) == set(task_names())
