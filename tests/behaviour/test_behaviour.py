"""Behaviour: each measurement on texts of which a reader knows the answer."""

from __future__ import annotations

import pytest

from oulibench.behaviour.anagram_shortcuts import measure_shortcuts
from oulibench.behaviour.code_switching import UNCERTAIN, guess_languages
from oulibench.behaviour.compliance import FormOfAnswer, measure_form
from oulibench.behaviour.copying import find_copies
from oulibench.behaviour.duplicates import text_key
from oulibench.behaviour.known_palindromes import measure_known, traditional
from oulibench.behaviour.repetition import function_words, measure_repetition, spread
from oulibench.constraints import get_constraint
from oulibench.errors import DataError

# --- the same answer ---


@pytest.mark.parametrize(
    "same",
    ["il gatto è qui", "1. Il gatto è qui!", "IL GATTO E\u0300 QUI", "«Il gatto è qui»", "Il\u00a0gatto  e qui"],
)
def test_the_same_words_are_one_text(same: str) -> None:
    assert text_key(same) == text_key("Il gatto è qui.")


@pytest.mark.parametrize("other", ["Il gatto qui è", "Il gatto", "", "...", "\ud800"])
def test_other_words_are_another_text(other: str) -> None:
    assert text_key(other) != text_key("Il gatto è qui.")


# --- copying ---


def test_copies_word_for_word_and_nearly() -> None:
    shown = ["Il gatto dorme sul divano.", "La nonna prepara il pranzo."]
    texts = [
        "3. il gatto dorme sul divano!",  # the same words
        "Un gatto dorme sul divano.",  # one article changed
        "Il cane abbaia nel cortile.",  # the same pattern, other words
        "La nonna prepara la cena.",
        "",
    ]
    found = find_copies(texts, shown)
    assert [c is not None for c in found] == [True, True, False, False, False]
    assert found[0] is not None
    assert found[0].exact
    assert found[0].demonstration == shown[0]
    assert found[1] is not None
    # 22 of 25 letters and spaces stay in both: the normalised indel similarity is 2 × 23 / (25 + 25).
    assert found[1].similarity == pytest.approx(92.0)


def test_without_demonstrations_nothing_is_a_copy() -> None:
    assert find_copies(["Ciao a tutti."], []) == [None]


def test_a_short_palindrome_is_a_copy_only_when_equal() -> None:
    assert [c is not None for c in find_copies(["Anna", "Onna", "osso"], ["Anna", "Otto"])] == [True, False, False]


# --- code-switching ---

ITALIAN_LETTER_PLAY = [
    "I topi non avevano nipoti",
    "Anna ama",
    "Aceto nell'enoteca",
    "È corta e atroce",
    "Ora per me lo video",
    "O mordo tua nuora o aro un autodromo",
    "Ai lati d'Italia",
    "Eran i mesi di seminare",
    "radar",
    "ingegni",
    "osso",
    "Moro ama",
    "ceno",
    "ramo",
    "Splende il sole",
]


@pytest.mark.parametrize("letter_play", [True, False])
@pytest.mark.parametrize("text", ITALIAN_LETTER_PLAY)
def test_italian_palindromes_and_anagrams_are_never_foreign(text: str, letter_play: bool) -> None:
    (guess,) = guess_languages([text], letter_play=letter_play)
    assert guess.language in ("it", UNCERTAIN)


@pytest.mark.parametrize("text", ["12345", "", "...", "?!", "😀", "\ud800", "42 17 8"])
def test_what_is_no_language_is_uncertain(text: str) -> None:
    (guess,) = guess_languages([text])
    assert guess.language == UNCERTAIN


@pytest.mark.parametrize("text", ["level", "noon", "mom", "Madam I'm Adam"])
def test_short_letter_play_is_uncertain(text: str) -> None:
    (guess,) = guess_languages([text], letter_play=True)
    assert guess.language == UNCERTAIN


@pytest.mark.parametrize(
    ("text", "letter_play"),
    [
        ("The cat is sleeping on the sofa", False),
        ("Here are five sentences without the letter e", False),
        ("Was it a car or a cat I saw?", True),
        ("Do geese see God", True),
    ],
)
def test_english_is_english(text: str, letter_play: bool) -> None:
    (guess,) = guess_languages([text], letter_play=letter_play)
    assert guess.language == "en"


@pytest.mark.parametrize(
    "text",
    ["Il weekend faccio shopping online", "Il computer va in tilt", "La gatta mangia il pesce", "Oggi vado al bar"],
)
def test_italian_with_loan_words_is_italian(text: str) -> None:
    (guess,) = guess_languages([text])
    assert guess.language == "it"


def test_other_languages_are_an_option() -> None:
    spanish = "Los niños juegan todas las tardes después del colegio"
    (guess,) = guess_languages([spanish], languages=("it", "en", "es"))
    assert guess.language == "es"
    with pytest.raises(DataError, match="does not know xx"):
        guess_languages(["The dogs were barking at night"], languages=("it", "xx"))


def test_guessing_twice_gives_the_same() -> None:
    texts = [*ITALIAN_LETTER_PLAY, "Tropa cneo xyz qwk", "The dogs were barking at night"]
    assert guess_languages(texts) == guess_languages(texts)
    assert guess_languages(texts[::-1]) == guess_languages(texts)[::-1]


# --- repetition ---


def test_repetition_counted_by_hand() -> None:
    group = ["Il gatto dorme.", "il gatto dorme!", "Dorme il gatto", "Piove forte"]
    found = measure_repetition([group])
    assert found.items == 4
    assert found.exact == 1 / 4
    assert found.near == 1 / 4, "the same words in another order"
    assert found.examples == (("Il gatto dorme.", "Dorme il gatto"),)
    assert found.distinct_1 == pytest.approx(5 / 11)  # il gatto dorme piove forte, of 3+3+3+2 words
    # bigrams: il gatto ×3, gatto dorme ×2, dorme il, piove forte: 4 different ones of 7
    assert found.distinct_2 == pytest.approx(4 / 7)
    assert found.openings == (("il gatto", 2),)
    assert found.words == (("dorme", 3), ("gatto", 3)), "articles are left out"


def test_the_same_text_for_another_target_is_no_duplicate() -> None:
    found = measure_repetition([["Il gatto dorme."], ["Il gatto dorme."]])
    assert found.exact == 0
    assert found.self_similarity is None, "no pair within a target"


def test_self_similarity_of_equal_and_of_unlike_texts() -> None:
    assert measure_repetition([["abc abc", "abc abc", "abc abc"]]).self_similarity == pytest.approx(1.0)
    assert measure_repetition([["aaaa", "bbbb"]]).self_similarity == pytest.approx(0.0)


def test_nothing_to_compare() -> None:
    found = measure_repetition([])
    assert (found.items, found.exact, found.near, found.distinct_1, found.self_similarity) == (
        0,
        None,
        None,
        None,
        None,
    )


def test_the_spread_sample_is_even_and_keeps_order() -> None:
    assert spread(range(10), 5) == [0, 2, 4, 6, 8]
    assert spread(range(3), 5) == [0, 1, 2]
    assert len(set(spread(range(1000), 200))) == 200


def test_function_words_are_folded_and_hold_no_content_words() -> None:
    assert {"il", "perche", "dell'", "piu"} <= function_words()
    assert not {"gatto", "casa", "sole"} & function_words()


# --- anagrams ---


def test_shortcuts_as_the_checker_flags_them() -> None:
    """The paper's own kind of example, through the real checker."""
    source = "Il sole splende."
    answers = ["Splende il sole.", "Il sole splende!", "Il sole splende forte", "La luna dorme"]
    constraint = get_constraint("sentence_anagram")
    found = measure_shortcuts((source, a, constraint.check(a, source).flags) for a in answers)
    assert (found.items, found.shuffled, found.same, found.carried_over) == (4, 1, 1, 0)
    longer = "Tre gatti in casa fanno rumore strepito"
    taken = "Strepito in casa fanno gatti tre rumori"
    found = measure_shortcuts([(longer, taken, constraint.check(taken, longer).flags)])
    assert (found.shuffled, found.carried_over) == (0, 1), "six of seven words are the source's"
    assert found.examples == ((longer, taken),)


def test_non_words_with_the_right_letters() -> None:
    constraint = get_constraint("word_anagram")
    found = measure_shortcuts(("roma", a, constraint.check(a, "roma").flags) for a in ("amor", "mrao", "Roma"))
    assert (found.non_words, found.same) == (1, 1)


# --- palindromes ---


def test_traditional_palindromes_are_found_by_letters_alone() -> None:
    assert "itopinonavevanonipoti" in traditional()
    found = measure_known(["I topi non avevano nipoti!", "2) i topi, non: avevano NIPOTI", "Oro rosso per oro"])
    assert (found.passed, found.known) == (3, 2)
    assert found.examples[0][1] == 2


# --- form ---


def test_form_of_answers() -> None:
    found = measure_form(
        [
            FormOfAnswer(50, 50, "ok", False, False, True),
            FormOfAnswer(50, 40, "ok", False, True, False),
            FormOfAnswer(50, 51, "ok", False, False, False),
            FormOfAnswer(None, 3, "ok", False, False, False),
            FormOfAnswer(50, 0, "refusal", False, False, False),
            FormOfAnswer(50, 0, "no_response", True, False, False),
            FormOfAnswer(50, 0, "unclosed_reasoning", False, True, False),
        ]
    )
    assert (found.exact, found.fewer, found.more) == (1, 1, 1)
    assert (found.refused, found.errors, found.empty, found.unclosed, found.truncated) == (1, 1, 0, 1, 2)
    assert found.remarks == 1


def test_remarks_are_unknown_where_one_answer_was_not_seen() -> None:
    assert measure_form([FormOfAnswer(1, 1, "ok", False, False, None)]).remarks is None
