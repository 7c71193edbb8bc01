"""IFEval's instructions, from if-verifiable. Several instructions hold together, as in IFEval's prompts.

A blank response follows no instruction there: the evaluation says so, not the checkers, and so does this module. The
verdicts are IFEval's strict ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from string import ascii_lowercase
from typing import Any

from benchmarks.peers import Check, Target

from oulibench.text import fold, letters

_ifeval: Any = import_module("if_verifiable.ifeval.instructions")

NAME = "IFEval"
DISTRIBUTIONS = ("if-verifiable", "nltk")
HOW = {
    "word_length": "`number_words` at least N and less than N + 1",
    "word_length, graphic": "`number_words` at least N and less than N + 1",
    "lipogram": "`letter_frequency` of the letter less than 1 (it takes a–z alone)",
    "word_anagram": "`letter_frequency` of each of 26 letters, at least and less than",
    "sentence_anagram": "`letter_frequency` of each of 26 letters, at least and less than",
}
AT_LEAST, LESS_THAN = "at least", "less than"


def express(rule: str, target: Target) -> Check | None:
    match rule:
        case "word_length" | "word_length, graphic":
            n = int(target or 0)
            return following([_words(n, AT_LEAST), _words(n + 1, LESS_THAN)])
        case "lipogram":
            return following([_letter(fold(str(target)), 1, LESS_THAN)])
        case "word_anagram" | "sentence_anagram":
            source = letters(str(target))
            exactly = [(letter, source.count(letter)) for letter in ascii_lowercase]
            return following(
                [
                    *(_letter(letter, count + 1, LESS_THAN) for letter, count in exactly),
                    *(_letter(letter, count, AT_LEAST) for letter, count in exactly if count),
                ]
            )
    return None


def following(instructions: Sequence[Any]) -> Check:
    """Whether a response that is not blank follows all `instructions`."""
    checks = [instruction.check_following for instruction in instructions]
    return lambda text: bool(text.strip()) and all(check(text) for check in checks)


def _words(n: int, relation: str) -> Any:
    instruction = _ifeval.NumberOfWords("")
    instruction.build_description(num_words=n, relation=relation)
    return instruction


def _letter(letter: str, frequency: int, relation: str) -> Any:
    instruction = _ifeval.LetterFrequencyChecker("")
    instruction.build_description(letter=letter, let_frequency=frequency, let_relation=relation)
    return instruction
