"""IFBench's instructions, from if-verifiable. As in `benchmarks.peers.ifeval`, a blank response follows none.

if-verifiable asks NLTK for models when IFBench is imported. None of the instructions used here needs one, and nothing
is downloaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.peers import Check, Target
from benchmarks.peers.ifeval import following

_nltk: Any = import_module("nltk")
_download = _nltk.download
_nltk.download = lambda *_args, **_options: False
try:
    _ifbench: Any = import_module("if_verifiable.ifbench.instructions")
finally:
    _nltk.download = _download

NAME = "IFBench"
DISTRIBUTIONS = ("if-verifiable", "nltk")
HOW = {
    "word_length": "`word_count_range` from N to N",
    "word_length, graphic": "`word_count_range` from N to N",
    "palindrome, one word": "`words:palindrome` asks for ten one-word palindromes: the word, ten times",
}


def express(rule: str, target: Target) -> Check | None:
    match rule:
        case "word_length" | "word_length, graphic":
            instruction = _ifbench.WordCountRangeChecker("")
            instruction.build_description(min_words=int(target or 0), max_words=int(target or 0))
            return following([instruction])
        case "palindrome, one word":
            instruction = _ifbench.PalindromeChecker("")
            instruction.build_description()
            ten = following([instruction])
            return lambda text: ten(" ".join([text] * 10))
    return None
