"""The rules that are compared, and the golden cases as cases of these rules.

A rule is a task of ours under one convention, without what only our benchmark asks: where a task also looks at the
lexicon, at shortcuts or at the length (`Verdict.formal` says what holds without them), the letters alone are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.peers import Target

from oulibench.constraints import get_constraint
from oulibench.policy import DEFAULT_POLICY, Policy

GOLDEN = Path(__file__).parents[2] / "tests/golden"


@dataclass(frozen=True, slots=True)
class Rule:
    """A task under a convention; with `formal`, what the letters alone must do."""

    task: str
    policy: Policy = DEFAULT_POLICY
    formal: bool = False


RULES: dict[str, Rule] = {
    "word_length": Rule("word_length"),
    "word_length, graphic": Rule("word_length", Policy(words="graphic")),
    "char_length": Rule("char_length"),
    "lipogram": Rule("lipogram", formal=True),
    "inverse_lipogram": Rule("inverse_lipogram", formal=True),
    "tautogram": Rule("tautogram", formal=True),
    "acrostic": Rule("acrostic"),
    "word_anagram": Rule("word_anagram", formal=True),
    "sentence_anagram": Rule("sentence_anagram", formal=True),
    "palindrome, one word": Rule("palindrome", formal=True),
}
"""What at least one peer can express. Of the palindromes only one-word ones: IFBench knows no others."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text, what is asked of it, and whether it does that."""

    rule: str
    target: Target
    text: str
    expected: bool


def ours(rule: str, target: Target, text: str) -> bool:
    """Our verdict on what the rule compares."""
    asked = RULES[rule]
    verdict = get_constraint(asked.task).check(text, target, asked.policy)
    return verdict.formal if asked.formal else verdict.passed


@cache
def golden_cases() -> tuple[Case, ...]:
    """The cases of tests/golden that are cases of a rule, each once."""
    return tuple(dict.fromkeys([*_verdicts(), *_words()]))


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with (GOLDEN / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _verdicts() -> Iterator[Case]:
    """verdicts.jsonl, but for conventions that no rule has and for shortcuts whose letters fit."""
    for row in _rows("verdicts.jsonl"):
        policy = row.get("policy", {})
        asked_beyond_the_rule = policy.get("min_words", 0) or policy.get("names")
        for name, rule in RULES.items():
            words = policy.get("words", "orthographic")
            if row["task"] != rule.task or words != rule.policy.words or policy.get("acrostic") == "lines":
                continue
            if name == "palindrome, one word" and not _is_long_word(row["text"]):
                continue
            if not rule.formal and (asked_beyond_the_rule or "spelled_out" in row.get("flags", ())):
                continue
            expected = row.get("formal", row["passed"]) if rule.formal else row["passed"]
            yield Case(name, row["target"], row["text"], expected)


def _is_long_word(text: str) -> bool:
    """Whether IFBench's palindromes can be asked of it: one word of five letters or more."""
    return len(text.split()) == 1 and sum(map(str.isalpha, text)) >= 5


def _words() -> Iterator[Case]:
    """words.jsonl: texts that have a word, but those whose number of graphic words is left open."""
    for row in _rows("words.jsonl"):
        if row["orthographic"] and row["graphic"] is not None:
            yield from count_cases(row["text"], len(row["orthographic"]), row["graphic"])


def count_cases(text: str, orthographic: int, graphic: int) -> Iterator[Case]:
    """Under both conventions, the number of words asked for, and another number asked for.

    The other number is that of the other convention where the two differ, and else one more.
    """
    yield Case("word_length", orthographic, text, True)
    yield Case("word_length", graphic if graphic != orthographic else orthographic + 1, text, False)
    yield Case("word_length, graphic", graphic, text, True)
    yield Case("word_length, graphic", orthographic if graphic != orthographic else graphic + 1, text, False)
