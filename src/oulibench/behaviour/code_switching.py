"""Is a text in Italian?

The paper saw small models switch to English where a task gets hard. Two witnesses are heard: the share of words that
the Italian lexicon knows, and lingua's confidence among the languages looked for (Italian, English; others by option).
A text counts as foreign only when both say so and it is long enough; everything between is `uncertain`. Palindromes and
anagrams, whose odd words mislead every detector, need more words still. Nothing here decides a verdict, and nothing is
random: lingua's models are fixed with its version, which the extra `report` pins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from oulibench.errors import DataError, TextError
from oulibench.text import normalise, words

if TYPE_CHECKING:
    from lingua import LanguageDetector

LANGUAGES: Final = ("it", "en")
UNCERTAIN: Final = "uncertain"

ITALIAN_KNOWN: Final = 0.8
"""From this share of words known to the lexicon on, a text is Italian, whatever the detector thinks."""
FOREIGN_KNOWN: Final = 0.5
"""Up to this share of known words a text may be foreign (*a*, *in*, *no*, *are* are Italian words too)."""
FOREIGN_CONFIDENCE: Final = 0.3
"""Up to this confidence for Italian a text may be foreign."""


class Least(NamedTuple):
    """How much text a claim needs."""

    words: int
    letters: int


SENTENCE: Final = Least(3, 10)
LETTER_PLAY: Final = Least(4, 12)
"""For palindromes and anagrams."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What language a text seems to be in.

    Attributes:
        language: `it`, the code of another language, or `uncertain`.
        known: share of its words that the Italian lexicon knows.
        confidence: the detector's confidence for Italian; None where it was not asked.
    """

    language: str
    known: float
    confidence: float | None


def guess_languages(
    texts: Sequence[str], *, letter_play: bool = False, languages: Sequence[str] = LANGUAGES
) -> list[Guess]:
    """The language of each text.

    Args:
        texts: what a model wrote.
        letter_play: the texts are palindromes or anagrams.
        languages: ISO 639-1 codes the detector chooses from; Italian is always among them.

    Raises:
        DataError: the detector knows no such language.
    """
    from oulibench.lexicon import load_lexicon

    known = load_lexicon("it").is_known
    least = LETTER_PLAY if letter_play else SENTENCE
    found: dict[str, Guess] = {}
    doubtful: dict[str, float] = {}
    for text in dict.fromkeys(texts):
        share, enough = _witness(text, known, least)
        if share >= ITALIAN_KNOWN:
            found[text] = Guess("it", share, None)
        elif not enough:
            found[text] = Guess(UNCERTAIN, share, None)
        else:
            doubtful[text] = share
    for text, (confidence, best) in zip(doubtful, _detect(list(doubtful), languages), strict=True):
        found[text] = Guess(_decide(doubtful[text], confidence, best), doubtful[text], round(confidence, 3))
    return [found[text] for text in texts]


def _witness(text: str, known: Callable[[str], bool], least: Least) -> tuple[float, bool]:
    """The share of known words (−1 without words), and whether there is enough text to ask the detector."""
    try:
        found = [w for w in words(normalise(text)) if any(map(str.isalpha, w))]
    except TextError:
        return -1.0, False
    if not found:
        return -1.0, False
    enough = len(found) >= least.words and sum(sum(map(str.isalpha, w)) for w in found) >= least.letters
    return round(sum(map(known, found)) / len(found), 3), enough


def _decide(known: float, confidence: float, best: str) -> str:
    if known <= FOREIGN_KNOWN and confidence <= FOREIGN_CONFIDENCE and best != "it":
        return best
    if known > FOREIGN_KNOWN and confidence >= 1 - FOREIGN_CONFIDENCE:
        return "it"
    return UNCERTAIN


def _detect(texts: Sequence[str], languages: Sequence[str]) -> Iterable[tuple[float, str]]:
    """Confidence for Italian and the most likely language, per text."""
    if not texts:
        return []
    detector = _detector(tuple(sorted({*languages, "it"})))
    results = []
    for values in detector.compute_language_confidence_values_in_parallel([normalise(t) for t in texts]):
        by_code = {v.language.iso_code_639_1.name.lower(): v.value for v in values}
        results.append((by_code["it"], max(sorted(by_code), key=by_code.__getitem__)))
    return results


@cache
def _detector(languages: tuple[str, ...]) -> LanguageDetector:
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    known = {name.lower(): name for name in dir(IsoCode639_1) if len(name) == 2 and name.isupper()}
    if unknown := [code for code in languages if code not in known]:
        raise DataError(f"The language detector does not know {', '.join(unknown)}; it knows {', '.join(known)}.")
    if len(languages) < 2:
        raise DataError("The language detector needs a language to tell Italian from, such as en.")
    codes = [getattr(IsoCode639_1, known[code]) for code in languages]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*codes).build()
