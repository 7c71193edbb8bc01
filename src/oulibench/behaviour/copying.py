"""Do models copy the demonstrations they were shown?

The paper saw two models repeat the few-shot examples nearly word for word and did not assess those runs. An item is a
copy where its words (see `text_key`) equal, or nearly equal, those of a demonstration in its own prompt: the normalised
indel similarity of rapidfuzz's `fuzz.ratio`, from 0 to 100, reaches `THRESHOLD`. Ninety leaves room for one changed
word of three letters in a sentence of six words, and no room for another sentence of the same pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oulibench.behaviour.duplicates import text_key

THRESHOLD: Final = 90.0
"""Similarity from which an item counts as a copy."""
NOT_ASSESSABLE: Final = 0.5
"""Share of copies above which a run says nothing about the constraint: the model repeated what it was shown."""


@dataclass(frozen=True, slots=True)
class Copy:
    """An item that repeats a demonstration.

    Attributes:
        demonstration: the text that was shown.
        similarity: 0 to 100; 100 where the words are the same.
    """

    demonstration: str
    similarity: float

    @property
    def exact(self) -> bool:
        return self.similarity == 100.0


def find_copies(texts: Sequence[str], demonstrations: Sequence[str], threshold: float = THRESHOLD) -> list[Copy | None]:
    """For each text the demonstration it copies, the most similar one; None where it is no copy."""
    if not texts or not demonstrations:
        return [None] * len(texts)
    from rapidfuzz import fuzz, process

    shown = [text_key(d) for d in demonstrations]
    keys = [text_key(t) for t in texts]
    different = list(dict.fromkeys(keys))
    similarity = process.cdist(different, shown, scorer=fuzz.ratio, score_cutoff=threshold)
    nearest = similarity.argmax(axis=1)
    found = {
        key: Copy(demonstrations[best], round(float(row[best]), 1)) if row[best] >= threshold and key else None
        for key, row, best in zip(different, similarity, nearest.tolist(), strict=True)
    }
    return [found[key] for key in keys]
