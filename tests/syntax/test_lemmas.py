"""Lemmas, and the pieces the network reads words in."""

from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench.syntax.lemmas import Lemmatiser, apply, script_for
from oulibench.syntax.pieces import LONGEST_WORD, MARK, UNKNOWN, Pieces, encoder_form

LEMMAS = Lemmatiser(Path(str(resources.files("oulibench") / "data/it/parser/lemmas.marisa")))


@pytest.mark.parametrize(
    ("form", "upos", "lemma"),
    [
        ("mangiano", "VERB", "mangiare"),
        ("mangiato", "VERB", "mangiare"),
        ("finiscono", "VERB", "finire"),
        ("prese", "VERB", "prendere"),
        ("è", "AUX", "essere"),
        ("Avrebbero", "AUX", "avere"),
        ("case", "NOUN", "casa"),
        ("uomini", "NOUN", "uomo"),
        ("città", "NOUN", "città"),
        ("perché", "SCONJ", "perché"),
        ("belle", "ADJ", "bello"),
        ("gli", "DET", "il"),
        ("l'", "DET", "il"),
        ("l’", "DET", "il"),
        ("dam", "VERB", "dare"),
        ("andar", "VERB", "andare"),
        ("Roma", "PROPN", "Roma"),
        ("1.000", "NUM", "1.000"),
        # not in any dictionary: by their endings
        ("sblindavano", "VERB", "sblindare"),
        ("googlato", "VERB", "googlare"),
        ("gattoscopie", "NOUN", "gattoscopia"),
        ("supercazzolezioni", "NOUN", "supercazzolezione"),
    ],
)
def test_lemma(form: str, upos: str, lemma: str) -> None:
    assert LEMMAS.lemma(form, upos) == lemma


def test_what_the_lexicon_knows_a_form_by() -> None:
    assert {"S", "V"} <= LEMMAS.known_as("porta")
    assert LEMMAS.known_as("sblindavano") == frozenset()
    assert LEMMAS.lookup("porta", "VERB") == "portare"
    assert LEMMAS.lookup("sblindavano", "VERB") is None


@given(st.text(max_size=12), st.text(max_size=12))
def test_scripts_do_what_they_say(form: str, lemma: str) -> None:
    if "\n" not in lemma and not lemma[:1].isdigit():
        assert apply(script_for(form, lemma), form) == lemma


PIECES = Pieces(
    ["<s>", "<pad>", "</s>", "<unk>", "▁ca", "sa", "▁casa", "▁", "c", "a", "s"],
    [0, 0, 0, 0, -4, -4, -7, -3, -5, -5, -5],
)


def test_the_likeliest_segmentation_wins() -> None:
    assert PIECES.segment("casa") == (6,)  # -7 beats -4 - 4
    assert PIECES.segment("casasa") == (6, 5)
    assert PIECES.segment("z") == (7, UNKNOWN)


@given(st.text(max_size=80))
def test_words_are_never_without_pieces(form: str) -> None:
    assert 1 <= len(PIECES.segment(form)) <= len(MARK + encoder_form(form)) + 1
    assert len(encoder_form(form)) <= LONGEST_WORD


def test_spellings_that_are_one_for_the_network() -> None:
    assert encoder_form("l’") == encoder_form("l'") == "l'"
    assert encoder_form("perche\u0301") == "perché"
