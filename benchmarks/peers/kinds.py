"""What a wrong verdict turns on: the change of the text that makes it right.

Each change leaves what is true of the text as it is, and takes away one thing that Italian, or text as it arrives, has
and plain English text has not. The first change that alone turns the verdict is the kind of the error.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from benchmarks.peers import Check
from benchmarks.peers.cases import Case

from oulibench.text import fold, normalise, without_list_mark

APOSTROPHE = re.compile(r"['’‘ʼ′`´]")
INSIDE = re.compile(r"(?<=[^\W_])[^\w\s'’ʼ′]+(?=[^\W_])")
"""Punctuation between letters or digits, with no space around it."""
OUTSIDE = re.compile(r"[^\w\s'’ʼ′]")


def _joined(text: str) -> str:
    """Compounds, abbreviations and numbers written as one run of letters and digits."""
    return INSIDE.sub("", text)


def _parted(text: str) -> str:
    return INSIDE.sub(" ", text)


def _without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


CHARACTERS = "spaces and punctuation counted as characters"
CHANGES: dict[str, tuple[Callable[[str], str], ...]] = {
    "list mark at the start": (without_list_mark,),
    "invisible or decomposed characters, ligatures": (normalise,),
    "accents": (_without_accents,),
    "look-alike and styled letters": (fold,),
    CHARACTERS: (lambda text: "".join(filter(str.isalnum, text)),),
    "apostrophes": (
        lambda text: APOSTROPHE.sub(" ", text),
        lambda text: APOSTROPHE.sub("", text),
    ),
    "hyphens, abbreviations, numbers, addresses": (_joined, _parted),
    "quotation marks, dashes, symbols, emoji": (lambda text: OUTSIDE.sub(" ", text),),
}
NO_WORD = "no word in the Latin alphabet"
SEVERAL = "several of these"
OTHER = "other"
KINDS = (*CHANGES, NO_WORD, SEVERAL, OTHER)


def kind(case: Case, check: Check) -> str:
    """What `check`'s wrong verdict on `case` turns on."""
    if not any("LATIN" in unicodedata.name(c, "") for c in case.text if c.isalpha()):
        return NO_WORD
    for name, changes in CHANGES.items():
        if name == CHARACTERS and case.rule != "char_length":
            continue
        if any(bool(check(change(case.text))) is case.expected for change in changes):
            return name
    plain = _without_accents(fold(without_list_mark(normalise(case.text))))
    for apostrophes in ("", " "):
        for compounds in ("", " "):
            text = OUTSIDE.sub(" ", INSIDE.sub(compounds, APOSTROPHE.sub(apostrophes, plain)))
            if bool(check(text)) is case.expected:
                return SEVERAL
    return OTHER
