"""Which frequent words beyond Morph-it are plausibly Italian: the rules of the tier `extended`.

wordfreq's list is full of names, foreign words and misspellings, so frequency alone admits nothing. A word enters when
it is attested *and* Italian word formation explains it out of words of Morph-it; the rest is chosen by hand
(additions.txt).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from training.lexicon.words import ARE_ENDINGS, HERE, VOWELS, Frequencies, Reading, entries, joined

LEAST_ZIPF = 1.3
"""Rarer words of wordfreq are mostly typing errors."""

_SUFFIXES = tuple(entries(HERE / "suffixes.txt"))

_PREFIXES = tuple(entries(HERE / "prefixes.txt"))
_DOUBLING = ("contro", "sopra", "sovra", "ra", "a")

# Endings of diminutives, augmentatives and superlatives, singular → plural.
_ALTERED = {
    "ino": "ini", "ina": "ine", "etto": "etti", "etta": "ette", "ello": "elli", "ella": "elle", "one": "oni",
    "ona": "one", "accio": "acci", "accia": "acce", "uccio": "ucci", "uccia": "ucce", "icino": "icini",
    "icina": "icine", "ettino": "ettini", "ettina": "ettine", "olino": "olini", "olina": "oline", "otto": "otti",
    "otta": "otte",
}  # fmt: skip


class Derivation:
    """The word formation rules over the forms of Morph-it."""

    def __init__(self, core: set[str], readings: dict[str, set[Reading]], frequencies: Frequencies) -> None:
        self._core = core
        self._frequencies = frequencies
        self._headwords = {
            form for form in core for r in readings[form] if r.lemma == form and r.part_of_speech in ("noun", "adj")
        }

    def extended(self, excluded: set[str]) -> dict[str, str]:
        """Attested word → the rule that admits it. `excluded` holds names and the like."""
        zipf, abroad = self._frequencies.zipf, self._frequencies.abroad
        attested = {
            word
            for word, value in self._frequencies.italian.items()
            if value >= LEAST_ZIPF
            and len(word) > 3
            and word.isalpha()
            and word[-1] in VOWELS
            and word not in self._core
            and word not in excluded
            and set(word) <= set("abcdefghijklmnopqrstuvwxyz" + VOWELS)
            and not re.search(r"(.)\1\1", word)
        }
        # A word that another language uses about as often is that language's word.
        italian = {word for word in attested if abroad(word) < zipf(word) - 0.3}
        rules: dict[str, Callable[[str], bool]] = {
            "inflection": self._is_inflection,
            "prefix": self._is_prefixed,
            "suffix": _has_learned_suffix,
            "altered": lambda word: self._is_altered(word, italian),
        }
        found: dict[str, str] = {}
        for word in sorted(italian):
            rule = next((name for name, holds in rules.items() if holds(word)), None)
            if rule is not None and not self._is_misspelt(word):
                found[word] = rule
        for word in self._verb_forms(italian):
            found.setdefault(word, "verb")
        return found

    def _is_misspelt(self, word: str) -> bool:
        """Whether `word` is a much more frequent word with an accent, a double letter or an h gone wrong."""
        zipf = self._frequencies.zipf(word)
        accents = str.maketrans("aeiou", "àèìòù")
        variants = {word[:-1] + word[-1].translate(accents)} if word[-1] in "aeiou" else set()
        for i in range(1, len(word)):
            if word[i] == word[i - 1]:
                variants.add(word[:i] + word[i + 1 :])
            elif word[i] not in VOWELS:
                variants.add(word[:i] + word[i] + word[i:])
            if word[i] == "i" and word[i - 1] in "cg":  # facie, caccie: no such spelling of the plural
                variants.add(word[:i] + word[i + 1 :])
        return any(v in self._core and self._frequencies.zipf(v) > zipf + 1.2 for v in variants)

    def _is_inflection(self, word: str) -> bool:
        """Plural or feminine of a headword of Morph-it. Masculines of feminines are left out: surnames are made so."""
        if len(word) < 5:
            return False
        stem, last = word[:-1], word[-1]
        if last == "a":
            return f"{stem}o" in self._headwords
        if last == "e":
            return f"{stem}a" in self._headwords and stem[-1] not in "cg"
        if last == "i":
            return (f"{stem}o" in self._headwords and stem[-1] not in "cg") or f"{stem}ista" in self._headwords
        return False

    def _is_prefixed(self, word: str) -> bool:
        return is_prefixed(word, self._core.__contains__)

    def _is_altered(self, word: str, italian: set[str]) -> bool:
        """Diminutive and the like of a noun or adjective. A plural counts only when its singular is attested too:
        *martinelli*, *baldoni* are surnames, *fornetti* has *fornetto* beside it."""
        for singular, plural in _ALTERED.items():
            for ending in (singular, plural):
                stem = word.removesuffix(ending)
                if stem == word or len(stem) < 3:
                    continue
                bare = stem[:-1] if stem.endswith("h") else stem
                if not any(bare + end in self._headwords for end in ("o", "a", "e", "io", "ia")):
                    continue
                zipf, one = self._frequencies.zipf, stem + singular
                if ending == singular or (one in italian and zipf(one) > zipf(word) - 0.3):
                    return True
        return False

    def _verb_forms(self, italian: set[str]) -> set[str]:
        """Attested forms of verbs in -are that Morph-it lacks and of which four forms at least are attested."""
        stems = {word[: -len(e)] for word in italian for e in ("are", "ato", "ando") if word.endswith(e)}
        found: set[str] = set()
        for stem in stems:
            if len(stem) < 4:
                continue
            forms = {joined(stem, ending) for ending in ARE_ENDINGS}
            known = {form for form in forms if form in italian or form in self._core}
            if len(known) >= 4 and (f"{stem}are" in known or {f"{stem}ato", f"{stem}ando"} <= known):
                found |= known & italian
        return found


def truncations(core: set[str], frequencies: Frequencies, excluded: set[str]) -> set[str]:
    """Frequent words that are words of `core` without their last vowel (*vien*)."""
    return {
        word
        for word, zipf in frequencies.italian.items()
        if zipf >= 2.5
        and len(word) > 3
        and word.isalpha()
        and word[-1] in "rnlm"
        and word not in core
        and word not in excluded
        and {f"{word}o", f"{word}e"} & core
        and frequencies.abroad(word) < zipf - 0.3
    }


def deverbal(infinitives: set[str]) -> set[str]:
    """Adjectives in -bile and nouns of agent of verbs: *licenziare* → *licenziabile, licenziatore, licenziatrice*."""
    found = set()
    for verb in infinitives:
        stem, vowel = verb[:-3], {"are": "a", "ere": "i", "ire": "i"}.get(verb[-3:])
        if vowel and len(stem) > 2:
            stem = stem[:-1] if vowel == "i" and stem[-1] == "i" else stem
            endings = ("bile", "bili", "tore", "tori", "trice", "trici")
            found |= {f"{stem}{vowel}{ending}" for ending in endings}
    return found


def completed_tenses(core: set[str], readings: dict[str, set[Reading]]) -> set[str]:
    """Futures in -rò and gerunds that the lookup lacks beside the rest of their tense (*prenderò*, *possedendo*)."""
    forms = {form for form in core if any(r.part_of_speech in ("verb", "aux") for r in readings[form])}
    found = {f"{form[:-1]}ò" for form in forms if form.endswith("rà") and f"{form[:-1]}anno" in forms}
    for form in forms:
        stem = form[:-2]
        if form.endswith(("ava", "eva", "iva")) and {f"{stem}vano", f"{stem}vamo"} <= forms:
            found.add(f"{stem[:-1]}endo" if stem.endswith("i") else f"{stem}ndo")
    return found - core


def is_prefixed(word: str, known: Callable[[str], bool]) -> bool:
    """Whether `word` is a productive prefix and a word for which `known` holds, long enough to be no accident."""
    for prefix in _PREFIXES:
        rest = word.removeprefix(prefix)
        if rest == word or len(rest) < (5 if len(prefix) < 3 else 4):
            continue
        if known(rest):
            return True
        if prefix in _DOUBLING and len(rest) > 5 and rest[0] == rest[1] and known(rest[1:]):
            return True
    return False


def _has_learned_suffix(word: str) -> bool:
    return len(word) >= 8 and any(word.endswith(suffix) and len(word) >= len(suffix) + 4 for suffix in _SUFFIXES)


def adverbs_in_mente(adjectives: set[str]) -> set[str]:
    """*lento* → *lentamente*, *facile* → *facilmente*, *veloce* → *velocemente*."""
    found = set()
    for word in adjectives:
        if word.endswith("o"):
            found.add(f"{word[:-1]}amente")
        elif re.search(f"[{VOWELS}][lr]e$", word):
            found.add(f"{word[:-1]}mente")
        elif word.endswith("e"):
            found.add(f"{word}mente")
    return found


def superlatives(adjectives: set[str]) -> set[str]:
    """*bello* → *bellissimo, -a, -i, -e*; *ricco* → *ricchissimo*."""
    stems = set()
    for word in adjectives:
        if word[-1] not in "oe":
            continue
        stem = word[:-1]
        stems.add(stem[:-1] if stem[-1] == "i" else f"{stem}h" if word[-1] == "o" and stem[-1] in "cg" else stem)
    return {f"{stem}issim{vowel}" for stem in stems if len(stem) > 2 for vowel in "oaie"}
