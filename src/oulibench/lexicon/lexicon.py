"""The Italian lexicon: tiers of words, and anagrams.

A word is known in one of two tiers. `core`: it stands in Morph-it, or is a verb form with clitic pronouns written onto
it. `extended`: it is used in Italian and explained by word formation (*antirughe*, *velocemente*), chosen by hand
(*etere*), a numeral, an abbreviation, a compound of known words, or a known word with a misspelt accent (*perchè*).

A name is no word of the lexicon (*Omar* is unknown), nor is a number in digits or an unaccented spelling (*perche*).
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal, cast, get_args

import marisa_trie

from oulibench.errors import DataError
from oulibench.lexicon.numerals import is_numeral
from oulibench.text import letters

Tier = Literal["core", "extended", "unknown"]

_DATA: Final = Path(__file__).parents[1] / "data"  # mapped into memory: a real folder, not a resource of a zip file

LONGEST_WORD: Final = 60
"""Longer strings are no words; the longest in use (numerals in letters, chemistry) have about 45 letters."""

_CACHED_WORDS: Final = 1 << 16
_CLITIC_LENGTHS: Final = range(2, 7)

_DIGIT = re.compile(r"\d")
_HYPHEN = re.compile("[-‐‑]")
_ACCENT_OF: Final = {"a": "à", "e": "éè", "i": "ì", "o": "ò", "u": "ù"}
_OTHER_ACCENT: Final = {"è": "é", "é": "è", "á": "à", "í": "ì", "ó": "ò", "ú": "ù", "â": "à", "ê": "é"}
_UNACCENTED: Final = str.maketrans("àáèéìíòóùú", "aaeeiioouu")


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words of a language. Immutable, safe to share between threads; made by `load_lexicon`.

    Attributes:
        language: code of the language.
        version: short name of the data, made of its content: the same version gives the same answers.
    """

    language: str
    version: str
    _folder: Path = field(repr=False)
    _words: dict[Tier, marisa_trie.Trie] = field(repr=False)
    _hosts: marisa_trie.Trie = field(repr=False)
    _attested: marisa_trie.Trie = field(repr=False)
    _clitics: Mapping[str, str] = field(repr=False)
    _special: Mapping[str, Tier] = field(repr=False)
    _prefixes: tuple[str, ...] = field(repr=False)
    _cached_tier: Callable[[str], Tier] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cached_tier", lru_cache(_CACHED_WORDS)(self._tier))

    def tier(self, word: str) -> Tier:
        """The tier of an orthographic word, as `oulibench.text.words` gives it; case does not matter."""
        return self._cached_tier(word) if len(word) <= LONGEST_WORD else "unknown"

    def is_known(self, word: str) -> bool:
        """Whether `word` is an Italian word: of the tier `core` or `extended`."""
        return self.tier(word) != "unknown"

    def in_source(self, word: str) -> bool:
        """Whether `word` stands in the vendored list of Morph-it itself: no rule and no addition counts."""
        return word.lower() in self._words["core"]

    def is_attested(self, word: str) -> bool:
        """Whether Italian texts hold `word`, of any tier: names and foreign words, too. Case does not matter."""
        return self.is_known(word) or word.lower() in self._attested

    def anagrams(self, word: str) -> list[str]:
        """All single words made of the letters of `word` (accents folded), in alphabetical order.

        Words that spell the same letters in the same order are left out (*papa* for *papà*). Verb forms with clitics
        are in; words that only a rule over spelling knows (numerals, compounds with a hyphen, elided forms) are not.
        """
        source = letters(word)
        if not source.isalpha() or len(source) > LONGEST_WORD:
            return []
        key = "".join(sorted(source))
        found = {w for name, trie in self._words.items() for w in self._of_letters(name, trie, key, strip=0)}
        available = Counter(key)
        for clitics, classes in self._clitics.items():
            used = Counter(clitics)
            if len(clitics) < len(key) and used <= available:
                rest = "".join(sorted((available - used).elements()))
                hosts = self._of_letters("hosts", self._hosts, rest, strip=1)
                found |= {host[:-1] + clitics for host in hosts if host[-1] in classes}
        return sorted(w for w in found if letters(w) != source)

    def count_anagrams(self, word: str) -> int:
        """Number of one-word anagrams of `word`: how many solutions an anagram of it has."""
        return len(self.anagrams(word))

    # --- tiers ---

    def _tier(self, word: str) -> Tier:
        word = unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).lower())
        try:
            return self._listed(word) or self._derived(word)
        except UnicodeEncodeError:  # a lone surrogate
            return "unknown"

    def _listed(self, word: str) -> Tier | None:
        """Tier of a word that stands in the data, or is a verb form in it with clitics."""
        if word in self._words["core"]:
            return "core"
        if word in self._special:
            return self._special[word]
        if self._has_clitics(word):
            return "core"
        return "extended" if word in self._words["extended"] else None

    def _has_clitics(self, word: str) -> bool:
        for length in _CLITIC_LENGTHS:
            classes = self._clitics.get(word[-length:])
            if classes is not None and len(word) > length + 1:
                host = word[:-length]
                if any(host + kind in self._hosts for kind in classes):
                    return True
        return False

    def _derived(self, word: str) -> Tier:
        """Tier of a word that only a rule over its spelling knows."""
        if _DIGIT.search(word) or len(word) < 2:
            return "unknown"
        if "'" in word:
            return self._with_apostrophe(word)
        if not word.isascii() and self._has_misspelt_accent(word):
            return "extended"
        if word.isalpha():
            return "extended" if is_numeral(word) or self._is_prefixed(word) else "unknown"
        if word.endswith("."):
            return self._special.get(word[:-1]) or self._listed(word[:-1]) or "unknown"
        return "extended" if self._is_compound(word) else "unknown"

    def _with_apostrophe(self, word: str) -> Tier:
        bare = word.strip("'")
        if word[-1] != "'" or not bare or "'" in bare:
            return self._tier(bare) if bare and "'" not in bare else "unknown"
        # perche', E': an apostrophe typed for an accent
        for accented in _ACCENT_OF.get(bare[-1], ""):
            if (tier := self._listed(bare[:-1] + accented)) is not None:
                return tier
        # quest', bell': the vowel dropped before another word
        if len(bare) > 2 and any(bare + vowel in self._words["core"] for vowel in "oaei"):
            return self._listed(bare) or "extended"
        return self._tier(bare) if len(bare) > 1 else "unknown"  # the end of a quotation

    def _has_misspelt_accent(self, word: str) -> bool:
        """*perchè*, *piú*: the other accent; *princípi*, *àncora*: an accent that need not be written; *principî*."""
        stem, last = word[:-1], word[-1]
        if last in _OTHER_ACCENT and self._listed(stem + _OTHER_ACCENT[last]) is not None:
            return True
        if last == "î":
            return self._listed(f"{stem}i") is not None
        plain = stem.translate(_UNACCENTED)
        changed = sum(a != b for a, b in zip(stem, plain, strict=True))
        return changed == 1 and last not in _OTHER_ACCENT and self._listed(plain + last) is not None

    def _is_prefixed(self, word: str) -> bool:
        core = self._words["core"]
        return any(word.startswith(p) and len(word) > len(p) + 4 and word[len(p) :] in core for p in self._prefixes)

    def _is_compound(self, word: str) -> bool:
        """*italo-americano*, *bambini/e*: parts that are known, or are known to stand before a hyphen."""
        first, slash, ending = word.partition("/")
        if slash:
            return len(first) > 1 and self.is_known(first) and (ending in ("a", "e", "i", "o") or self.is_known(ending))
        parts = _HYPHEN.split(word)
        if len(parts) < 2 or any(len(part) < 2 for part in parts):
            return False
        *before, last = parts
        return self.is_known(last) and all(f"{part}-" in self._special or self.is_known(part) for part in before)

    # --- anagrams ---

    def _of_letters(self, name: str, trie: marisa_trie.Trie, key: str, strip: int) -> list[str]:
        """The keys of `trie` whose letters, less `strip` characters at the end, are those of the sorted `key`."""
        order = _letter_order(self._folder / f"{name}.letters")

        def sorted_letters(i: int) -> str:
            entry: str = trie.restore_key(i)
            return "".join(sorted(letters(entry[: len(entry) - strip])))

        found = []
        for position in range(bisect_left(order, key, key=sorted_letters), len(order)):
            if sorted_letters(order[position]) != key:
                break
            found.append(trie.restore_key(order[position]))
        return found


@cache
def load_lexicon(language: str = "it") -> Lexicon:
    """The lexicon of `language`. Files are mapped, not read: loading takes a few milliseconds.

    Raises:
        DataError: there is no lexicon of that language, or a file of it is missing or damaged.
    """
    folder = _data_folder(language)
    try:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        names = ("core", "extended", "hosts", "attested")
        core, extended, hosts, attested = (_trie(folder / f"{name}.marisa") for name in names)
        special = {row[0]: row[1] for row in _rows(folder / "special.tsv")}
        return Lexicon(
            language=language,
            version=manifest["version"],
            _folder=folder,
            _words={"core": core, "extended": extended},
            _hosts=hosts,
            _attested=attested,
            _clitics={row[0]: row[1] for row in _rows(folder / "clitics.tsv")},
            _special={word: _checked_tier(tier) for word, tier in special.items()},
            _prefixes=tuple(row[0][:-1] for row in _rows(folder / "special.tsv") if row[2] == "prefix"),
        )
    except (OSError, RuntimeError, KeyError, IndexError, ValueError) as error:
        raise DataError(f"The lexicon in {folder} is damaged ({error}); install the package again.") from error


def _trie(path: Path) -> marisa_trie.Trie:
    return marisa_trie.Trie().mmap(str(path))


def _data_folder(language: str) -> Path:
    known = sorted(path.parent.parent.name for path in _DATA.glob("*/lexicon/manifest.json"))
    if language not in known:
        raise DataError(f"There is no lexicon of the language {language!r}; there is one of: {', '.join(known)}.")
    return _DATA / language / "lexicon"


def _rows(path: Path) -> list[list[str]]:
    """The rows of a table of the lexicon: without comments and header."""
    lines = (line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return [line.split("\t") for line in lines][1:]


def _checked_tier(name: str) -> Tier:
    for tier in get_args(Tier):
        if tier == name:
            return cast(Tier, tier)
    raise ValueError(f"no such tier: {name!r}")


@cache
def _letter_order(path: Path) -> array[int]:
    order = array("I")
    order.frombytes(path.read_bytes())
    if sys.byteorder == "big":
        order.byteswap()
    return order
