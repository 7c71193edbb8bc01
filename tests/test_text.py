"""Words, letters and characters."""

import json
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench.errors import TextError
from oulibench.text import (
    MAX_CHARACTERS,
    count_characters,
    fold,
    graphic_words,
    initial,
    letters,
    normalise,
    source_offsets,
    without_list_mark,
    word_spans,
    words,
)

GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "golden/words.jsonl").read_text("utf-8").splitlines()]

# Characters that checkers stumble over, often enough that properties meet them.
ODD = (
    "aàÀáeèÈéiìoòuùnñsßıİſ'’ʼ′‘`´-‐–—…«»“”\"().,;:!?/&@_*#0123 ﬁæœøаеоΑο😀①²½ªº\t\r\n"
    "\u0301\u0300\u0308\u200b\u200d\u00ad\u00a0\u202f\ufeff\ufe0f\u20e3\u2028"
)
any_text = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"], exclude_characters="\0")))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["text"][:30])
def test_words_of_golden_texts(case: dict[str, Any]) -> None:
    normal = normalise(case["text"])
    assert words(normal) == case["orthographic"]
    if case["graphic"] is not None:
        assert len(graphic_words(normal)) == case["graphic"]


@given(any_text)
def test_normalisation_is_idempotent(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(any_text)
def test_composed_and_decomposed_text_read_the_same(text: str) -> None:
    composed, decomposed = (normalise(unicodedata.normalize(form, text)) for form in ("NFC", "NFD"))
    assert composed == decomposed


@given(any_text)
def test_the_apostrophes_form_decides_nothing(text: str) -> None:
    plain = normalise(text.replace("’", "'"))
    assert plain == normalise(text.replace("'", "’"))


@given(any_text)
def test_spans_point_at_their_words(text: str) -> None:
    normal = normalise(text)
    spans = word_spans(normal)
    assert [normal[w.start : w.end] for w in spans] == [w.form for w in spans] == words(normal)
    assert all(a.end <= b.start for a, b in pairwise(spans))


@given(any_text)
def test_every_word_holds_a_letter_or_digit(text: str) -> None:
    assert all(any(c.isalnum() for c in word) for word in words(normalise(text)))


@given(any_text)
def test_source_offsets_cover_the_given_text(text: str) -> None:
    normal = normalise(text)
    offsets = source_offsets(text)
    assert len(offsets) == len(normal) + 1
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(text)


@given(any_text)
def test_letters_are_folded_once_and_for_all(text: str) -> None:
    folded = letters(text)
    assert letters(folded) == folded


def test_source_offsets_point_into_the_given_text() -> None:
    given_text = "Perche\u0301 l\u200b’altro"
    normal = normalise(given_text)
    assert normal == "Perché l'altro"
    offsets = source_offsets(given_text)
    assert given_text[offsets[0] : offsets[6]] == "Perche\u0301"
    assert given_text[offsets[9] : offsets[14]] == "altro"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("È", "e"),
        ("Milano", "milano"),
        ("ñ", "n"),
        ("Straße", "strasse"),
        ("ŒUVRE", "oeuvre"),
        ("ﬁne", "fine"),
        ("à è ì ò ù", "a e i o u"),
        ("саsа", "casa"),
        ("𝐜𝐚𝐬𝐚", "casa"),
        ("İı", "ii"),
        ("ａｂ", "ab"),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(normalise(text)) == folded


@pytest.mark.parametrize(
    ("word", "first"), [("«Amica", "a"), ("'ndrangheta", "n"), ("È", "e"), ("3,5", "3"), ("—", "")]
)
def test_initials(word: str, first: str) -> None:
    assert initial(word) == first


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("1. Il gatto", "Il gatto"),
        ("12) Il gatto", "Il gatto"),
        ("(3) Il gatto", "Il gatto"),
        ("- Il gatto", "Il gatto"),
        ("• Il gatto", "Il gatto"),
        ("b) Il gatto", "Il gatto"),
        ("iv) Il gatto", "Il gatto"),
        ("20 persone", "20 persone"),
        ("1.000 euro", "1.000 euro"),
        ("A. Manzoni scrisse", "A. Manzoni scrisse"),
        ("1990. Un anno", "1990. Un anno"),
        ("-5 gradi", "-5 gradi"),
        ("1.", "1."),
    ],
)
def test_list_marks(text: str, content: str) -> None:
    assert without_list_mark(text) == content


@pytest.mark.parametrize(
    ("text", "count"), [("Mangio la pizza", 13), ("l'amica", 6), ("3,5 €", 2), ("😀", 0), ("è", 1)]
)
def test_characters(text: str, count: int) -> None:
    assert count_characters(normalise(text)) == count


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a\0b", "NUL byte at position 1"),
        ("a\ud800", "U+D800"),
        ("a" * (MAX_CHARACTERS + 1), "1,000,001"),
        (None, "NoneType"),
    ],
)
def test_damaged_text_is_refused_by_name(text: object, says: str) -> None:
    with pytest.raises(TextError, match=says.replace("+", r"\+")):
        normalise(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "run", ["'", "a.", "a-", "1,", "a@", "a\u0301", "www.", "a_", "1'", "no.", "-.a", "S-.", "a__", "_1+", "A+."]
)
def test_long_runs_take_linear_time(run: str) -> None:
    words(normalise(run * 200_000))  # a quadratic pattern would not come back
