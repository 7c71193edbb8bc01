"""Gates: what a text must be, besides keeping its constraint, to be worth a reward.

A verdict answers one question, and a policy that is trained on it finds the cheapest text with the right answer: one
word without an «e», a letter over and over, the list of prepositions. A gate closes on such texts, and their reward is
0. Gates decide no verdict and no figure of the benchmark; they are there for training alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from oulibench.behaviour.known_palindromes import traditional
from oulibench.behaviour.repetition import function_words
from oulibench.constraints import AnyConstraint
from oulibench.constraints.lexical import lexicon_of, vet_words
from oulibench.policy import Policy
from oulibench.text import fold, letters, words

GateName = Literal["min_words", "max_words", "repetition", "copying", "italian"]


class ClosedGate(NamedTuple):
    """A gate that closed on a text, and why, for a person."""

    gate: GateName
    why: str


@dataclass(frozen=True, slots=True)
class Gates:
    """Thresholds; None (or 0 words) leaves a gate open.

    Attributes:
        min_words: fewest words of a text.
        max_words: most words of a text.
        repetition: largest share of content words that occurred before in the text.
        copying: largest share of a text's words taken over from the prompt or a demonstration, or of a palindrome's
            letters that stand in traditional palindromes.
        italian: smallest share of Italian words.
    """

    min_words: int = 3
    max_words: int | None = 150
    repetition: float | None = 0.4
    copying: float | None = 0.7
    italian: float | None = 0.75


DEFAULT_GATES: Final = Gates()


class Shown(NamedTuple):
    """What the model was shown: word lists of its prompt and of the demonstrations."""

    prompt: tuple[str, ...]
    demonstrations: tuple[tuple[str, ...], ...]


def closed_gates(
    content: str, constraint: AnyConstraint, target: object, policy: Policy, gates: Gates, shown: Shown
) -> tuple[ClosedGate, ...]:
    """The gates that close on normalised `content`, which answers `constraint` with the parsed `target`."""
    if gates.max_words and len(content) > 50 * gates.max_words:
        return (ClosedGate("max_words", f"{len(content):,} characters, more than {gates.max_words} words have."),)
    found = words(fold(content))
    n = len(found)
    fewest = min(gates.min_words, _fewest(constraint, target))
    if n < fewest:
        return (ClosedGate("min_words", f"{n} of at least {fewest} words."),)
    most = gates.max_words and max(gates.max_words, 2 * _fewest(constraint, target, 0))
    if most and n > most:
        return (ClosedGate("max_words", f"{n} words, more than {most}."),)
    closed = []
    if gates.repetition is not None and (share := repeated_share(found)) > gates.repetition:
        closed.append(ClosedGate("repetition", f"{share:.0%} of the content words occurred before."))
    if gates.copying is not None:
        share = copied_share(found, shown)
        if constraint.name == "palindrome":
            share = max(share, traditional_share(found))
        if share > gates.copying:
            closed.append(ClosedGate("copying", f"{share:.0%} of it stands in the prompt, an example or a known text."))
    if gates.italian is not None:
        share = vet_words(content, policy, lexicon_of(constraint.language), most_names=0.67).known_share
        if share < gates.italian:
            closed.append(ClosedGate("italian", f"{share:.0%} of the words are Italian."))
    return tuple(closed)


def _fewest(constraint: AnyConstraint, target: object, otherwise: int = 1_000_000) -> int:
    """The words of the shortest text that the target allows; `otherwise` where it says nothing of length."""
    if constraint.name == "word_length" and isinstance(target, int):
        return target
    if constraint.name == "char_length" and isinstance(target, int):
        return max(1, target // 8)
    if constraint.name == "acrostic" and isinstance(target, str):
        return len(target)
    if constraint.name in ("word_anagram", "sentence_anagram"):
        return 1
    return otherwise


def repeated_share(found: Sequence[str]) -> float:
    """The share of the content words among folded words that occurred before."""
    content = [word for word in found if word not in function_words()]
    return 1 - len(set(content)) / len(content) if content else float(len(found) > 5)


def copied_share(found: Sequence[str], shown: Shown) -> float:
    """The share of folded words taken over from the prompt (in runs of four) or from one demonstration."""
    share = 0.0
    if len(found) >= 4 and shown.prompt:
        runs = _runs(shown.prompt)
        share = sum(run in runs for run in zip(found, found[1:], found[2:], found[3:], strict=False)) / (len(found) - 3)
    counted = Counter(found)
    for demonstration in shown.demonstrations:
        longer = max(len(found), len(demonstration))
        if longer:
            share = max(share, (counted & Counter(demonstration)).total() / longer)
    return share


@lru_cache(maxsize=256)
def _runs(prompt: tuple[str, ...]) -> frozenset[tuple[str, str, str, str]]:
    return frozenset(zip(prompt, prompt[1:], prompt[2:], prompt[3:], strict=False))


def traditional_share(found: Sequence[str]) -> float:
    """The share of the letters that stand in traditional palindromes."""
    known = traditional()
    spelled = [letters(word) for word in found]
    total = covered = start = 0
    total = sum(map(len, spelled))
    while start < len(spelled):
        for end in range(min(len(spelled), start + 20), start, -1):
            run = "".join(spelled[start:end])
            if run in known:
                covered += len(run)
                start = end
                break
        else:
            start += 1
    return covered / total if total else 0.0
