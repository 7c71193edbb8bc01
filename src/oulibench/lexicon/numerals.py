"""Italian numerals in letters, cardinal and ordinal, below a thousand millions (*ventitré*, *milleottocento*)."""

import re
from functools import cache
from typing import Final

# One to nine inside a number and at its end (only the last *tre* of a compound bears an accent).
_DIGIT = "(?:uno|due|tre|quattro|cinque|sei|sette|otto|nove)"
_MULTIPLIER = "(?:due|tre|quattro|cinque|sei|sette|otto|nove)"
_TEENS = "(?:dieci|undici|dodici|tredici|quattordici|quindici|sedici|diciassette|diciotto|diciannove)"
_TENS = "(?:vent(?:i|(?=uno|un|otto))|(?:trent|quarant|cinquant|sessant|settant|ottant|novant)(?:a|(?=uno|un|otto)))"

# Tens drop their vowel before uno and otto (ventuno, never *ventiuno*).
_AFTER_TENS = "(?:(?<![ia])(?:uno|otto|un)|(?<=[ia])(?:due|tre|quattro|cinque|sei|sette|nove))"
_BELOW_100 = f"(?:{_TENS}{_AFTER_TENS}?|{_TEENS}|{_DIGIT})"
_HUNDREDS = f"{_MULTIPLIER}?cent(?:o|(?=uno|un|otto|ottant|undici))"
_BELOW_1000 = f"(?:{_HUNDREDS}{_BELOW_100}?|{_BELOW_100})"
_NUMBER = f"(?:(?:mille|{_BELOW_1000}mila){_BELOW_1000}?|{_BELOW_1000})"

# An ordinal drops the last vowel of its cardinal, except after tre and sei (ventitreesimo, ventiseiesimo).
_ORDINAL: Final = re.compile(r"(.+)(esim[oaie])")
_LAST_VOWELS: Final = "oiae"
_NEEDED: Final = re.compile("cent|mil|vent|ant")


@cache
def _cardinal() -> re.Pattern[str]:
    return re.compile(_NUMBER)  # only when a word calls for it: compiling takes longer than loading the lexicon


def is_numeral(word: str) -> bool:
    """Whether `word` (small letters) is a compound numeral in letters, spelt as Italian does."""
    if not _NEEDED.search(word):
        return False
    if _is_cardinal(word):
        return True
    ordinal = _ORDINAL.fullmatch(word)
    if ordinal is None:
        return False
    stem = ordinal.group(1)
    if stem.endswith(("tre", "sei")):
        return _cardinal().fullmatch(stem) is not None
    if stem.endswith(("mill", "mil")):
        return _cardinal().fullmatch(f"{stem}e" if stem == "mill" else f"{stem}a") is not None
    return any(_cardinal().fullmatch(stem + vowel) for vowel in _LAST_VOWELS)


def _is_cardinal(word: str) -> bool:
    plain = word
    if word.endswith("tré"):
        plain = f"{word[:-1]}e"
    elif word.endswith("tre") and word != "tre":
        return False
    return _cardinal().fullmatch(plain) is not None
