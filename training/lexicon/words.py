"""Reading the sources and word lists the lexicon is built from."""

from __future__ import annotations

import gzip
import importlib
import json
import unicodedata
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
VOWELS = "aeiouàèéìòù"

PARTS_OF_SPEECH = ("adj", "adp", "adv", "aux", "det", "noun", "num", "other", "pron", "verb")
"""The lookup files made from Morph-it. The file without a part of speech comes from another source: not used."""

FOREIGN = ("en", "es", "fr", "de", "pt", "ca", "ro", "nl")
"""Languages whose words turn up in Italian text and are frequent at home."""


class Reading(NamedTuple):
    """One analysis of a form in Morph-it."""

    part_of_speech: str
    lemma: str


def _repaired(text: str) -> str:
    """`text` as Morph-it has it: the package stores UTF-8 that was once read as Latin-1."""
    return unicodedata.normalize("NFC", text.encode("latin-1").decode("utf-8"))


def morphit() -> dict[str, set[Reading]]:
    """Form → readings. The package keeps one lemma per form and part of speech."""
    readings: dict[str, set[Reading]] = {}
    folder = files("spacy_lookups_data") / "data"
    for part in PARTS_OF_SPEECH:
        with (folder / f"it_lemma_lookup_{part}.json.gz").open("rb") as stream:
            table = json.loads(gzip.decompress(stream.read()))
        for form, lemma in table.items():
            try:
                form, lemma = _repaired(form), _repaired(lemma)
            except UnicodeError:  # punctuation that was never damaged, and is no word
                continue
            readings.setdefault(form, set()).add(Reading(part, lemma))
    return readings


class Frequencies:
    """Zipf frequencies (log10 of occurrences in 10⁹ words) of wordfreq."""

    def __init__(self) -> None:
        self._wordfreq: Any = importlib.import_module("wordfreq")
        self.italian: dict[str, float] = {
            word: self._wordfreq.zipf_frequency(word, "it", wordlist="large")
            for word in sorted(self._wordfreq.get_frequency_dict("it", wordlist="large"))
        }

    def zipf(self, word: str) -> float:
        return self.italian.get(word, 0.0)

    def abroad(self, word: str, languages: tuple[str, ...] = FOREIGN) -> float:
        """Highest frequency of `word` in the other languages."""
        return max(float(self._wordfreq.zipf_frequency(word, language)) for language in languages)


def proper_names(readings: dict[str, set[Reading]]) -> set[str]:
    """First names, surnames, places (lists of Faker's Italian providers) and the capitalised entries of Morph-it."""
    person: Any = importlib.import_module("faker.providers.person.it_IT").Provider
    address: Any = importlib.import_module("faker.providers.address.it_IT").Provider
    sources = (person.first_names, person.last_names, address.cities, address.states, address.countries)
    names = {
        part
        for source in sources
        for name in source
        for part in str(name).lower().replace("'", " ").replace("-", " ").split()
    }
    return names | {form.lower() for form in readings if form != form.lower()}


def entries(path: Path) -> Iterator[str]:
    """The entries of a word list: separated by white space, '#' to the end of a line is a comment."""
    for line in path.read_text("utf-8").splitlines():
        yield from line.partition("#")[0].split()


# --- paradigms ---------------------------------------------------------------------------------------------------

# Endings of a regular verb in -are, put to its stem.
_PRESENT = ("o", "i", "a", "iamo", "ate", "ano", "ino")
_PAST = ("avo", "avi", "ava", "avamo", "avate", "avano", "ai", "asti", "ò", "ammo", "aste", "arono")
_FUTURE = ("erò", "erai", "erà", "eremo", "erete", "eranno", "erei", "eresti", "erebbe", "eremmo", "ereste", "erebbero")
_OTHER = ("assi", "asse", "assimo", "assero", "iate", "are", "ando", "ante", "anti", "ato", "ata", "ati", "ate")
ARE_ENDINGS = tuple(dict.fromkeys(_PRESENT + _PAST + _FUTURE + _OTHER))


def joined(stem: str, ending: str) -> str:
    """`stem` + `ending` in the spelling that keeps the sound: *cerc* + *i* → *cerchi*, *mangi* + *erà* → *mangerà*."""
    if ending[0] in "ei":
        if stem[-1] in "cg":
            return f"{stem}h{ending}"
        if stem.endswith(("ci", "gi")) or (stem[-1] == "i" and ending[0] == "i"):
            return stem[:-1] + ending
    return stem + ending


def _plural(noun: str) -> str:
    stem, last = noun[:-1], noun[-1]
    if last == "a":
        return joined(stem, "e")
    if last == "o" and stem[-1] == "i":
        return stem
    return joined(stem, "i") if last == "o" else f"{stem}i"


def paradigm(entry: str) -> set[str]:
    """The forms an entry of a word list stands for (see the head of additions.txt)."""
    word, _, kind = entry.partition(":")
    stem = word[:-1]
    match kind:
        case "":
            return {word}
        case "2" | "2h":
            return {word, _plural(word)}
        case "4" | "4h":
            plural = stem if stem[-1] == "i" else joined(stem, "i")
            return {word, f"{stem}a", plural, joined(stem, "e")}
        case "4c":
            return {word, f"{stem}a", f"{stem}i", joined(stem, "e")}
        case "v" if word.endswith("are"):
            return {joined(word[:-3], ending) for ending in ARE_ENDINGS}
        case _:
            raise ValueError(f"{entry}: no such paradigm; see the head of additions.txt")
