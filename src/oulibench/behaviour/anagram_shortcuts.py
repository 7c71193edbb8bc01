"""Do models take shortcuts in anagrams?

The paper's case: words of the source are swapped instead of its letters. The checker names the shortcuts in a verdict's
flags: `word_shuffle` (the source's words in another order), `same_letters` (the source itself), `unknown_words` (the
letters fit, the words are no words). Beside them: answers that carry over most of the source's words and change the
rest, which no checker takes for anagrams but which show the same habit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from oulibench.errors import TextError
from oulibench.text import letters, normalise, words

TASKS: Final = ("word_anagram", "sentence_anagram")
MOSTLY: Final = 0.8
"""From this share of words taken over from the source, an answer counts as carried over."""


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Counts among the answers to anagrams.

    Attributes:
        shuffled: the source's words in another order.
        same: the source itself.
        non_words: the letters fit, but not all words are Italian.
        carried_over: most words taken from the source, others changed; none of the above.
        examples: source and answer.
    """

    items: int
    shuffled: int
    same: int
    non_words: int
    carried_over: int
    examples: tuple[tuple[str, str], ...]


def measure_shortcuts(answers: Iterable[tuple[str, str, tuple[str, ...]]], shown: int = 10) -> Shortcuts:
    """Count over (source, answer, flags of the verdict)."""
    items = 0
    found: Counter[str] = Counter()
    examples: dict[tuple[str, str], None] = {}
    for source, answer, flags in answers:
        items += 1
        kind = _kind(source, answer, flags)
        if kind:
            found[kind] += 1
        if kind in ("word_shuffle", "carried_over") and len(examples) < shown:
            examples[source, answer] = None
    return Shortcuts(
        items,
        found["word_shuffle"],
        found["same_letters"],
        found["unknown_words"],
        found["carried_over"],
        tuple(examples),
    )


def _kind(source: str, answer: str, flags: tuple[str, ...]) -> str | None:
    for flag in ("word_shuffle", "same_letters", "unknown_words"):
        if flag in flags:
            return flag
    try:
        given, taken = ([letters(w) for w in words(normalise(text))] for text in (source, answer))
    except TextError:
        return None
    shared = (Counter(given) & Counter(taken)).total()
    if len(given) > 1 and len(taken) > 1 and shared >= MOSTLY * len(taken):
        return "carried_over"
    return None
