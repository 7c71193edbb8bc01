"""Italian numerals in letters, as numbers."""

from __future__ import annotations

from functools import cache

from oulibench.language import ITALIAN, Language

MOST = 9_999


@cache
def numbers_in_words(language: Language = ITALIAN) -> dict[str, int]:
    """Spelling → number, from 0 to `MOST`, with the spellings in use (*ventitré*, *ventitre*; *ventuno*, *ventun*).

    The article *un*, *una* and *nessuna* are not among them: only their place says whether they count.
    """
    table = language.table("reflection.toml")["numbers"]
    below_100: dict[str, int] = {word: n for n, word in enumerate([*table["digits"], *table["teens"]], 1)}
    for ten, word in enumerate(table["tens"], 2):
        below_100[word] = 10 * ten
        for digit, unit in enumerate(table["digits"], 1):
            # Tens drop their vowel before uno and otto: ventuno, trentotto.
            stem = word[:-1] if unit[0] in "uo" else word
            for form in _forms(unit):
                below_100[stem + form] = 10 * ten + digit
    below_1000 = dict(below_100)
    for digit, unit in enumerate(["", *table["digits"][1:]], 1):
        hundred = unit + table["hundred"]
        below_1000[hundred] = 100 * digit
        for word, n in below_100.items():
            for form in _forms(word):
                below_1000[hundred + form] = 100 * digit + n
                if word[0] in "uo":  # centuno and centottanta beside centouno and centoottanta
                    below_1000[hundred[:-1] + form] = 100 * digit + n
    found = {table["zero"][0]: 0, **below_1000}
    for digit, unit in enumerate(["", *table["digits"][1:]], 1):
        thousand = unit + table["thousands"] if unit else table["thousand"]
        found[thousand] = 1_000 * digit
        for word, n in below_1000.items():
            for form in _forms(word):
                found[thousand + form] = 1_000 * digit + n
    return found


def _forms(word: str) -> tuple[str, ...]:
    """How the last part of a compound is spelt: *tre* bears an accent there, *uno* may lose its vowel."""
    if word.endswith("tre"):
        return word[:-1] + "é", word
    return (word, word[:-1]) if word.endswith("uno") else (word,)
