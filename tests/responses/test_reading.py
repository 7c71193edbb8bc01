"""What is read out of a response, against a table worked out by hand, and what holds for every response."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oulibench.responses import READER_VERSION, Reading, read_response
from oulibench.text import normalise

GOLDEN = Path(__file__).parent.parent / "golden" / "responses.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]


def texts(reading: Reading) -> list[str]:
    return [item.text for item in reading.items]


def test_the_table_is_whole() -> None:
    assert len(CASES) >= 120
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert len({case["task"] for case in CASES}) == 11
    assert {case["status"] for case in CASES} == {
        "ok",
        "refusal",
        "no_response",
        "unclosed_reasoning",
        "unreadable",
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden(case: dict[str, Any]) -> None:
    reading = read_response(
        case["response"],
        task=case["task"],
        target=case["target"],
        requested=case["requested"],
        unit=case["unit"],
    )
    assert (reading.status, texts(reading)) == (case["status"], case["items"]), reading.steps
    assert [item.number for item in reading.items] == list(range(1, len(reading.items) + 1))
    assert reading.status == "ok" or reading.steps, "a response without items says why"


def test_every_step_is_recorded() -> None:
    reading = read_response(
        "<think>conto</think>Certo! Ecco:\n\n1. **noce → ceno** (5 lettere)\n\nSpero ti sia utile!",
        task="word_anagram",
        target="noce",
        requested=1,
    )
    assert texts(reading) == ["ceno"]
    assert reading.items[0].raw == "1. **noce → ceno** (5 lettere)"
    assert [note.split(" «")[0] for note in reading.items[0].notes] == [
        "list mark",
        "emphasis",
        "gloss",
        "right of arrow",
    ]
    assert any("reasoning" in step for step in reading.steps)
    assert any("Certo!" in step and "Spero" in step for step in reading.steps)


def test_empty_refused_and_wrong_are_told_apart() -> None:
    answers = ("", "Mi dispiace, non posso aiutarti.", "Questa frase non ha cinque parole giuste.", "Ecco le frasi:")
    assert [read_response(a, task="word_length", target=5, requested=5).status for a in answers] == [
        "no_response",
        "refusal",
        "ok",
        "unreadable",
    ]


def test_version_is_a_string() -> None:
    assert READER_VERSION


SENTENCES = [
    "Il gatto dorme.",
    "20 persone aspettano il treno.",
    "«Vieni qui», disse Marco.",
    "Perché no?",
    "L'amico di Anna è un po' stanco.",
    "Mi dispiace per il ritardo.",
    "Non posso aiutarti oggi.",
    "Certo, verrò anch'io!",
    "Ecco il treno.",
    "Spero che tu stia bene.",
    "Ho visto Marco (il fratello di Anna).",
    "Mio zio – un medico – vive qui.",
    "Il maestro disse così:",
    "Ho 3,5 chili di mele e 1.000 noci.",
    "Il sig. Rossi abita a Roma. Suo figlio no.",
    "A. Manzoni scrisse un romanzo.",
    "I promessi sposi sono famosi.",
    "Le frasi che scrivo sono queste.",
    "Nota: il treno parte alle otto.",
    "È sera…",
    "Mangio la pizza",
    "E domani che cosa faremo?",
    "Car* tutt*, buongiorno!",
    "Vorrei tre mele, due pere; poi basta.",
    "Tutti gridarono: «Viva la Repubblica!»",
]
MARKS = [
    lambda i, t: f"{i}. {t}",
    lambda i, t: f"{i}) {t}",
    lambda i, t: f"**{i}.** {t}",
    lambda i, t: f"Frase {i}: {t}",
    lambda i, t: f"- {t}",
    lambda i, t: f"* {t}",
    lambda i, t: f"{i}. «{t}»" if t[0] not in "«" and t[-1] != "»" else f"{i}. {t}",
]


@given(items=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=12), mark=st.sampled_from(MARKS))
@settings(max_examples=300, deadline=None)
def test_sentences_come_out_of_a_list_as_they_went_in(items: list[str], mark: Any) -> None:
    if mark in MARKS[4:6]:  # among bullets, a note is a note
        items = [t for t in items if not t.startswith("Nota:")] or ["Il gatto dorme."]
    response = "\n".join(mark(i, t) for i, t in enumerate(items, start=1))
    assert texts(read_response(response, task="word_length", target=5, requested=len(items))) == items


WORD = st.text(st.sampled_from("abcdefghilmnopqrstuvzàèéìòù"), min_size=1, max_size=9)


@given(
    items=st.lists(
        st.lists(WORD, min_size=2, max_size=12).map(lambda ws: " ".join(ws).capitalize() + "."), min_size=1, max_size=9
    )
)
@settings(max_examples=300, deadline=None)
def test_any_words_come_out_of_a_numbered_list(items: list[str]) -> None:
    items = [normalise(t) for t in items]
    response = "\n".join(f"{i}. {t}" for i, t in enumerate(items, start=1))
    assert texts(read_response(response, task="lipogram", target="e", requested=len(items))) == items


@given(st.text(max_size=400), st.sampled_from(["word_length", "word_anagram", "acrostic", "palindrome", None]))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_explained(response: str, task: str | None) -> None:
    if "\x00" in response:
        return
    reading = read_response(response, task=task, target="noce", requested=5)
    assert (reading.status == "ok") == bool(reading.items)
    assert reading.items or reading.steps
    assert all(item.text.strip() and any(c.isalnum() for c in item.text) for item in reading.items)


FRAGMENTS = [
    "1. ", "2) ", "- ", "* ", "**", "*", "_", "«", "»", "\"", "(", ")", "5 parole", "→", "noce", "ceno", ": ",
    "\n", "\n\n", " ", "Ecco ", "le frasi", "Certo!", "Il gatto dorme.", "|", "---", "```", "<think>",
    "</think>", "[", "]", "{", "}", "\"frase\"", ",", "Nota:", "# ", "Mi dispiace, ", "non posso ", "<br>",
    "<li>", "S - ", "O - ", "`", "\\", "Frase 1", "…", "Spero che ", "1️⃣", "​", "\r\n",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join),
    st.sampled_from(["word_length", "word_anagram", "sentence_anagram", "acrostic", "palindrome"]),
    st.sampled_from([None, 1, 5]),
    st.sampled_from(["sentence", "stanza"]),
)
@settings(max_examples=600, deadline=None)
def test_any_mixture_of_marks_is_read_or_explained(response: str, task: str, requested: int | None, unit: Any) -> None:
    reading = read_response(response, task=task, target="so", requested=requested, unit=unit)
    assert (reading.status == "ok") == bool(reading.items)
    assert reading.items or reading.steps
    assert reading == read_response(response, task=task, target="so", requested=requested, unit=unit)
