"""Lemmas: a lexicon of word forms by part of speech, and edit scripts by ending for words it does not hold.

An edit script is a number and a string: how many characters to cut from the end of the form, and what to add. The
trie's keys are `form<TAB>class + script` and `*ending<TAB>class + script`, where the class is one letter.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import marisa_trie

CLASSES = {
    "ADJ": "A", "ADP": "E", "ADV": "B", "AUX": "V", "CCONJ": "C", "DET": "D", "INTJ": "I", "NOUN": "S", "NUM": "N",
    "PRON": "P", "SCONJ": "C", "VERB": "V", "X": "X",
}  # fmt: skip
LONGEST_ENDING = 6
_KEPT = {"PROPN", "PUNCT", "SYM", "NUM", "X"}
_SCRIPT = re.compile(r"(\d+)(.*)")


@lru_cache(maxsize=100_000)
def plain(form: str) -> str:
    """The spelling the lexicon knows: composed characters, plain apostrophes, small letters."""
    return unicodedata.normalize("NFC", form).replace("’", "'").replace("ʼ", "'").replace("′", "'").lower()


def apply(script: str, form: str) -> str:
    match = _SCRIPT.fullmatch(script)
    if match is None:
        raise ValueError(f"{script!r} is no edit script")
    cut = int(match[1])
    return form[: len(form) - cut] + match[2]


def script_for(form: str, lemma: str) -> str:
    """The script that makes `lemma` out of `form`."""
    common = 0
    for a, b in zip(form, lemma, strict=False):
        if a != b:
            break
        common += 1
    return f"{len(form) - common}{lemma[common:]}"


class Lemmatiser:
    """Lemma of a form by part of speech; also tells which parts of speech the lexicon knows a form by."""

    def __init__(self, path: Path) -> None:
        self._trie = marisa_trie.Trie()
        self._trie.load(str(path))
        self._cached = lru_cache(maxsize=100_000)(self._lemma)

    def lemma(self, form: str, upos: str, feats: Mapping[str, str] | None = None) -> str:
        """The lemma. Names, numerals, marks and foreign words are their own; the rest are written small."""
        if upos == "PROPN" or upos == "PUNCT" or upos == "SYM":
            return form
        return self._cached(plain(form), upos)

    def known_as(self, form: str) -> frozenset[str]:
        """Letters of the classes (`CLASSES`) the lexicon knows a form by, none if it does not."""
        key = plain(form) + "\t"
        return frozenset(found[len(key)] for found in self._trie.keys(key))

    def lookup(self, form: str, upos: str) -> str | None:
        """The lexicon's lemma, or None."""
        word = plain(form)
        key = f"{word}\t{CLASSES.get(upos, 'X')}"
        found = self._trie.keys(key)
        return apply(found[0][len(key) :], word) if found else None

    def _lemma(self, word: str, upos: str) -> str:
        found = self.lookup(word, upos)
        if found is not None:
            return found
        if upos in _KEPT:
            return word
        letter = CLASSES.get(upos, "X")
        for size in range(min(LONGEST_ENDING, len(word) - 1), 0, -1):
            key = f"*{word[-size:]}\t{letter}"
            scripts = self._trie.keys(key)
            if scripts:
                return apply(scripts[0][len(key) :], word)
        return word
