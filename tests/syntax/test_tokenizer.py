"""Tokens, syntactic words and sentences: tables by hand in golden/tokens.jsonl and golden/sentences.jsonl."""

import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench.syntax.lemmas import Lemmatiser
from oulibench.syntax.tokenizer import Surface, Tokenizer

GOLDEN = Path(__file__).parents[1] / "golden"
TOKENIZER = Tokenizer(Lemmatiser(Path(str(resources.files("oulibench") / "data/it/parser/lemmas.marisa"))))


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()]


def written(token: Surface) -> str:
    """As in the table: the token, and its words after bars when it holds several."""
    return "|".join((token.form, *(token.words if len(token.words) > 1 else ())))


@pytest.mark.parametrize("row", rows("tokens.jsonl"), ids=lambda row: str(row["text"]))
def test_tokens_and_words(row: dict[str, object]) -> None:
    assert [written(token) for token in TOKENIZER.words(str(row["text"]))] == row["tokens"]


@pytest.mark.parametrize("row", rows("sentences.jsonl"), ids=lambda row: repr(row["text"]))
def test_sentences(row: dict[str, object]) -> None:
    text = str(row["text"])
    assert [text[s[0].start : s[-1].end] for s in TOKENIZER.sentences(text)] == row["sentences"]


@pytest.mark.parametrize(
    ("form", "words"),
    [("Della", ("Di", "la")), ("DELLA", ("DI", "LA")), ("DAMMI", ("DAM", "MI")), ("Dell’", ("Di", "l’"))],
)
def test_words_keep_the_case_and_the_apostrophe(form: str, words: tuple[str, ...]) -> None:
    assert TOKENIZER.words(f"{form} casa")[0].words == words


@given(st.text(max_size=200))
def test_tokens_cover_all_that_is_no_white_space(text: str) -> None:
    """Tokens are in order, do not overlap, repeat the text, and leave out nothing a reader sees."""
    sentences = TOKENIZER.sentences(text)
    tokens = [token for sentence in sentences for token in sentence]
    at = 0
    for token in tokens:
        assert token.start >= at
        assert text[token.start : token.end] == token.form
        assert not any(c.isalnum() for c in text[at : token.start])
        assert token.words
        at = token.end
    assert not any(c.isalnum() for c in text[at:])
    assert all(sentences)
    assert [t.form for t in TOKENIZER.words(text)] == [t.form for t in tokens]


@pytest.mark.parametrize("unit", ["a", "'", ".", "-", "a-", "1.", "a.", "'a", "@", "\u0301", "A. ", "dei "])
def test_time_is_linear(unit: str) -> None:
    """100,000 characters of what makes patterns backtrack pass at once."""
    assert TOKENIZER.sentences(unit * (100_000 // len(unit)))
