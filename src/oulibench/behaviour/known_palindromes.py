"""Does a model compose palindromes or recite them? The share of answers that are traditional, by letters alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from oulibench.errors import DataError, TextError
from oulibench.language import ITALIAN
from oulibench.text import letters, normalise, without_list_mark

TASK: Final = "palindrome"
FILE: Final = "palindromes.txt"


@dataclass(frozen=True, slots=True)
class KnownPalindromes:
    """Counts among the answers that passed.

    Attributes:
        passed: palindromes that passed.
        known: those that stand in the list of traditional ones.
        examples: the traditional ones that were given, with how often.
    """

    passed: int
    known: int
    examples: tuple[tuple[str, int], ...]


def measure_known(passed: Iterable[str], shown: int = 10) -> KnownPalindromes:
    """Count among the texts of palindromes that passed.

    Raises:
        DataError: the list of traditional palindromes is missing.
    """
    known = traditional()
    total = 0
    given: Counter[str] = Counter()
    for text in passed:
        total += 1
        if (key := _key(text)) in known:
            given[known[key]] += 1
    return KnownPalindromes(total, given.total(), tuple(sorted(given.items(), key=lambda g: (-g[1], g[0]))[:shown]))


def _key(text: str) -> str:
    try:
        return letters(without_list_mark(normalise(text)))
    except TextError:
        return ""


@cache
def traditional() -> dict[str, str]:
    """The traditional palindromes: folded letters → as they are usually written."""
    try:
        lines = [line.strip() for line in ITALIAN.data(FILE).read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise DataError(f"The list of traditional palindromes ({FILE}) cannot be read: {error}") from error
    return {_key(line): line for line in lines if line and not line.startswith("#")}
