"""COLLIE's constraints (collie-bench), put together from its own levels, transformations, relations and reductions.

COLLIE's words come from NLTK's `word_tokenize`, which splits sentences with a model that has to be downloaded first.
Where that model is not installed, COLLIE is given the same word tokenizer without the splitting into sentences: it is
quicker so, and none of the verdicts of docs/peers.md is another.
"""

from __future__ import annotations

from importlib import import_module
from string import ascii_lowercase
from typing import Any

from benchmarks.peers import Check, Target

from oulibench.text import fold, letters

_nltk: Any = import_module("nltk")
_collie: Any = import_module("collie.constraints")

NAME = "COLLIE"
DISTRIBUTIONS = ("collie-bench", "nltk")
HOW = {
    "word_length": "`Count()` of words, `==` N",
    "word_length, graphic": "`Count()` of words, `==` N",
    "char_length": "`Count()` of characters, `==` N",
    "lipogram": "characters, `not in` a list: the letter and its accented forms (*e è é ê*)",
    "inverse_lipogram": "`ForEach` word, the letter `in` it, all",
    "tautogram": "`ForEach(Position(0))` of each word, `==` the letter, all",
    "acrostic": "`ForEach(Position(0))` of each word, `==` the list of letters, all",
    "word_anagram": "for each of 26 letters: characters `==` it, exactly as often as in the source",
    "sentence_anagram": "for each of 26 letters: characters `==` it, exactly as often as in the source",
}

ACCENTED = {"a": "àáâ", "e": "èéê", "i": "ìíî", "o": "òóô", "u": "ùúû"}
"""The accented letters of Italian spelling, which a user of COLLIE can list."""


def sentence_model() -> bool:
    """Whether NLTK's model for splitting sentences is installed."""
    try:
        _nltk.data.find("tokenizers/punkt_tab/english/")
    except LookupError:
        return False
    return True


if not sentence_model():
    _collie.word_tokenize = _nltk.tokenize.NLTKWordTokenizer().tokenize


def _constraint(level: str, transformation: Any, relation: str, **more: Any) -> Any:
    return _collie.Constraint(
        target_level=_collie.TargetLevel(level),
        transformation=transformation,
        relation=_collie.Relation(relation),
        **more,
    )


def express(rule: str, target: Target) -> Check | None:
    constraint, wanted = _build(rule, target)
    return None if constraint is None else lambda text: constraint.check(text, wanted)


def _build(rule: str, target: Target) -> tuple[Any, Any]:
    """COLLIE's constraint and the value it is checked against."""
    every = _collie.Reduction("all")
    match rule:
        case "word_length" | "word_length, graphic":
            return _constraint("word", _collie.Count(), "=="), int(target or 0)
        case "char_length":
            return _constraint("character", _collie.Count(), "=="), int(target or 0)
        case "lipogram":
            letter = fold(str(target))
            return _constraint("character", _collie.ForEach(...), "not in"), [letter, *ACCENTED.get(letter, "")]
        case "inverse_lipogram":
            return _constraint("word", _collie.ForEach(...), "in", reduction=every), fold(str(target))
        case "tautogram" | "acrostic":
            initials = _constraint(
                "character",
                _collie.ForEach(_collie.Position(0)),
                "==",
                input_level=_collie.InputLevel("word"),
                reduction=every,
            )
            return initials, fold(str(target)) if rule == "tautogram" else list(fold(str(target)))
        case "word_anagram" | "sentence_anagram":
            source = letters(str(target))
            times = [_collie.Reduction("exactly", source.count(letter)) for letter in ascii_lowercase]
            counts = [_constraint("character", _collie.ForEach(...), "==", reduction=exactly) for exactly in times]
            return _collie.All(*counts), list(ascii_lowercase)
    return None, None
