"""The difficulty of each target, read off a word-frequency list and the lexicon; prints targets.toml.

    python training/targets/measure.py > src/oulibench/data/it/targets.toml

The word-frequency list is that of wordfreq (Italian, «large»). Running words are its entries of Latin letters, weighted
by their frequency and folded. Deterministic. choices.toml says which targets, syntax_counts.toml holds treebank counts.
"""

from __future__ import annotations

import sys
import tomllib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import factorial, log2, log10, prod
from pathlib import Path
from typing import Any

from wordfreq import get_frequency_dict, zipf_frequency

from oulibench.lexicon import load_lexicon
from oulibench.text import letters

HERE = Path(__file__).parent
COMMON = 3.3
"""Zipf frequency of a common word: about two occurrences in a million words."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A target: `strain` is what orders the targets of a task, easiest first, and puts them into five classes."""

    target: int | str | None
    difficulty: int
    why: str
    strain: float
    solution: str | None = None


@dataclass(frozen=True, slots=True)
class RunningWords:
    """Shares of running words. `holding[c]`: those that hold the letter c; `beginning[c]`: those that begin with it."""

    holding: dict[str, float]
    beginning: dict[str, float]
    mean_letters: float


@cache
def running_words() -> RunningWords:
    holding: dict[str, float] = defaultdict(float)
    beginning: dict[str, float] = defaultdict(float)
    total = length = 0.0
    for word, frequency in get_frequency_dict("it", "large").items():
        read = letters(word)
        if not read.isalpha() or not read.isascii():
            continue
        total += frequency
        length += frequency * len(read)
        beginning[read[0]] += frequency
        for letter in set(read):
            holding[letter] += frequency
    return RunningWords(
        {c: n / total for c, n in holding.items()}, {c: n / total for c, n in beginning.items()}, length / total
    )


def arrangements(text: str) -> int:
    """Number of different orders of the letters of `text`."""
    read = letters(text)
    return factorial(len(read)) // prod(factorial(n) for n in Counter(read).values())


# --- one function a task: target → (strain, why); the bounds of the five classes of strain stand in CLASSES ---


def word_length(target: int) -> tuple[float, str]:
    n = target * running_words().mean_letters
    return (
        target,
        f"{target} words to count, about {n:.0f} letters at {running_words().mean_letters:.2f} a running word.",
    )


def char_length(target: int) -> tuple[float, str]:
    n = target / running_words().mean_letters
    return target, f"{target} letters to count, about {n:.0f} words at {running_words().mean_letters:.2f} letters each."


def lipogram(target: str) -> tuple[float, str]:
    share = running_words().holding[target]
    without = 100 * (1 - share) ** 10
    why = f"{100 * share:.1f}% of running words hold it; ten at random do without it {without:.2g}% of the time."
    return 100 * share, why


def inverse_lipogram(target: str) -> tuple[float, str]:
    share = running_words().holding[target]
    return 100 * (1 - share), f"{100 * share:.1f}% of running words hold it, so {100 * (1 - share):.1f}% are barred."


def tautogram(target: str) -> tuple[float, str]:
    share = running_words().beginning[target]
    return -log2(share), f"{100 * share:.2f}% of running words begin with it."


def word_anagram(target: str) -> tuple[float, str]:
    found = load_lexicon("it").anagrams(target)
    common = sum(zipf_frequency(word, "it", "large") >= COMMON for word in found)
    if not common:
        raise ValueError(f"«{target}» has no common word for an anagram")
    orders = arrangements(target)
    solutions = f"{len(found)} is another word" if len(found) == 1 else f"{len(found)} are other words"
    why = f"{len(target)} letters in {orders:,} orders, of which {solutions} ({common} common)."
    return log10(orders / len(found)), why


def sentence_anagram(target: str) -> tuple[float, str]:
    n = len(letters(target))
    return n, f"{n} letters in {arrangements(target):.1e} orders; one solution at least is a natural sentence."


def acrostic(target: str) -> tuple[float, str]:
    share = running_words().beginning
    bits = sum(-log2(share[c]) for c in target)
    rarest = min(target, key=lambda c: share[c])
    rare = f"the rarest is «{rarest}» ({100 * share[rarest]:.2f}%)"
    why = f"{len(target)} initials, {bits:.1f} bits at the shares of running words; {rare}."
    return bits, why


def _counted(task: str, target: str) -> tuple[float, str]:
    counts = tomllib.loads((HERE / "syntax_counts.toml").read_text("utf-8"))[task]
    share = counts[target] / sum(counts.values())
    what = "main clauses" if task == "voice" else "main clauses with a subject and an object"
    return -log2(share), f"{100 * share:.1f}% of the {sum(counts.values()):,} {what} of edited prose in treebanks."


MEASURES: dict[str, Callable[[Any], tuple[float, str]]] = {
    "word_length": word_length,
    "char_length": char_length,
    "voice": lambda target: _counted("voice", target),
    "word_order": lambda target: _counted("word_order", target),
    "lipogram": lipogram,
    "inverse_lipogram": inverse_lipogram,
    "tautogram": tautogram,
    "word_anagram": word_anagram,
    "sentence_anagram": sentence_anagram,
    "acrostic": acrostic,
}

# Where the classes 2, 3, 4 and 5 begin, in the unit of the task's strain (named on the right).
CLASSES: dict[str, tuple[float, float, float, float]] = {
    "word_length": (10, 15, 20, 25),  # words
    "char_length": (40, 60, 80, 100),  # letters
    "voice": (1, 2, 4, 6),  # bits of the share
    "word_order": (1, 4.5, 5.5, 6.5),  # bits of the share
    "lipogram": (5, 15, 30, 40),  # per cent of running words that hold it
    "inverse_lipogram": (57, 60, 70, 76),  # per cent of running words that are barred
    "tautogram": (3.5, 4, 5, 6),  # bits of the share
    "word_anagram": (1.3, 2.3, 3.3, 4.3),  # decimal logarithm of orders per solution
    "sentence_anagram": (12, 14, 16, 18),  # letters
    "acrostic": (16, 24, 32, 40),  # bits
}


def entries(task: str) -> list[Entry]:
    """The targets of a task, easiest first."""
    if task == "palindrome":
        why = "Palindromes have no target: the length is the writer's to choose."
        return [Entry(None, 5, why, 0.0)]
    found = []
    for choice in tomllib.loads((HERE / "choices.toml").read_text("utf-8"))[task]:
        target, solution = (choice["target"], choice["solution"]) if isinstance(choice, dict) else (choice, None)
        strain, why = MEASURES[task](target)
        found.append(Entry(target, 1 + bisect_right(CLASSES[task], strain), why, strain, solution))
    return sorted(found, key=lambda e: e.strain)


def as_toml() -> Iterator[str]:
    """The lines of targets.toml."""
    yield "# The targets of the benchmark, easiest first: `difficulty` from 1 to 5, comparable within a task only, and"
    yield "# `why`, the figure it was read off. Written by training/targets/measure.py out of choices.toml beside it."
    for task in (*list(MEASURES)[:-1], "palindrome", "acrostic"):
        for entry in entries(task):
            yield f"\n[[{task}]]"
            if entry.target is not None:
                yield f"target = {_quoted(entry.target)}"
            yield f"difficulty = {entry.difficulty}"
            yield f"why = {_quoted(entry.why)}"
            if entry.solution is not None:
                yield f"solution = {_quoted(entry.solution)}"


def _quoted(value: int | str) -> str:
    assert not isinstance(value, str) or not set(value) & {'"', "\\"}
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    sys.stdout.write("\n".join(as_toml()) + "\n")
