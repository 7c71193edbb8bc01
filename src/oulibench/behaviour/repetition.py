"""How much does a model repeat itself?

Definitions:

- **exact duplicates**: share of items whose words (see `text_key`) occurred before among the answers to the same
  target.
- **near duplicates**: share of items that are no exact duplicates, but whose words, in alphabetical order, have a
  similarity of `NEAR` or more (rapidfuzz's `fuzz.ratio`) to those of an earlier item: other word order, a changed word.
- **distinct-n**: different n-grams of words over all n-grams (Li et al. 2016). Falls as the number of items rises:
  compare it between runs of one size only.
- **self-similarity**: mean similarity (0 to 1) of two different items of the same target.
- **openings**: the first two words of the items, counted.

The pairwise measures look at no more than `MOST` items of a target, evenly spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from oulibench.behaviour.duplicates import text_key
from oulibench.language import ITALIAN

NEAR: Final = 90.0
MOST: Final = 200
SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class Repetition:
    """Repetition among the items of a cell. Rates are None where there is nothing to compare.

    Attributes:
        items: how many texts there are.
        compared: how many of them the pairwise measures looked at.
        openings, words: the most frequent ones with their counts; function words are left out of `words`.
        examples: pairs of near duplicates.
    """

    items: int
    compared: int
    exact: float | None
    near: float | None
    distinct_1: float | None
    distinct_2: float | None
    self_similarity: float | None
    openings: tuple[tuple[str, int], ...]
    words: tuple[tuple[str, int], ...]
    examples: tuple[tuple[str, str], ...]


def measure_repetition(groups: Iterable[Sequence[str]]) -> Repetition:
    """Measure groups of texts; each group answers one target."""
    from rapidfuzz import fuzz, process

    items = compared = exact = near = pairs = 0
    similarity = 0.0
    unigrams: Counter[str] = Counter()
    bigrams: Counter[tuple[str, str]] = Counter()
    openings: Counter[str] = Counter()
    examples: list[tuple[str, str]] = []
    for group in groups:
        keys = [text_key(text) for text in group]
        items += len(keys)
        exact += len(keys) - len(set(keys))
        for key in keys:
            tokens = key.split()
            unigrams.update(tokens)
            bigrams.update(pairwise(tokens))
            openings[" ".join(tokens[:2])] += 1
        chosen = spread(range(len(keys)), MOST)
        compared += len(chosen)
        if len(chosen) < 2:
            continue
        some = [keys[i] for i in chosen]
        as_written = process.cdist(some, some, scorer=fuzz.ratio)
        pairs += len(some) * (len(some) - 1)
        similarity += (float(as_written.sum(dtype=float)) - float(as_written.trace(dtype=float))) / 100
        first: dict[str, int] = {}
        for key, i in zip(some, chosen, strict=True):
            first.setdefault(key, i)
        by_words = [" ".join(sorted(key.split())) for key in first]
        places = list(first.values())
        alike = process.cdist(by_words, by_words, scorer=fuzz.ratio, score_cutoff=NEAR)
        for later in range(1, len(places)):
            earlier = alike[later, :later]
            if earlier.any():
                near += 1
                if len(examples) < SHOWN:
                    examples.append((group[places[int(earlier.argmax())]], group[places[later]]))
    total_1, total_2 = unigrams.total(), bigrams.total()
    content = [(word, n) for word, n in unigrams.items() if word not in function_words()]
    return Repetition(
        items=items,
        compared=compared,
        exact=exact / items if items else None,
        near=near / compared if compared else None,
        distinct_1=len(unigrams) / total_1 if total_1 else None,
        distinct_2=len(bigrams) / total_2 if total_2 else None,
        self_similarity=similarity / pairs if pairs else None,
        openings=tuple((o, n) for o, n in _by_count(openings.items()) if n > 1)[:SHOWN],
        words=tuple((w, n) for w, n in _by_count(content) if n > 1)[:SHOWN],
        examples=tuple(examples),
    )


def _by_count(counted: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Most frequent first; equals in alphabetical order, so that the list is the same every time."""
    return sorted(counted, key=lambda pair: (-pair[1], pair[0]))


def spread(everything: Sequence[int], most: int) -> list[int]:
    """At most `most` of the elements, evenly spread, in order."""
    if len(everything) <= most:
        return list(everything)
    return [everything[i * len(everything) // most] for i in range(most)]


@cache
def function_words() -> frozenset[str]:
    """Italian articles, prepositions, pronouns, conjunctions and auxiliaries, folded."""
    lines = ITALIAN.data("function_words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
