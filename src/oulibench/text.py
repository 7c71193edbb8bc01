"""What a word, a letter and a character of Italian text are.

Every checker counts through this module, so that two of them can never disagree on an apostrophe.

Word (`orthographic`, the default policy)
:   A run of letters or digits. An apostrophe ends the word it belongs to, so an elided form is a word of its own
    (*l'esempio* is two words, *po'* is one) and an opening apostrophe belongs to what follows (*'ndrangheta*).
    Hyphenated compounds, abbreviations (*S.p.A.*), numbers with separators (*3,5*; *1.000*), addresses and *e/o* are
    one word. Punctuation, lone dashes, ellipses, symbols, emoji and list marks are none.

Word (`graphic`)
:   What stands between white space, provided it holds a letter or a digit.

Word (`syntactic`, `profiling`)
:   Universal Dependencies words, without and with punctuation; a parser finds them (`oulibench.syntax`).

Letter
:   What is left of a character once case and accents are folded away (*È* → *e*): the convention of Italian puzzles.

Character
:   A letter or a digit, each counted once; white space, punctuation and symbols are not counted.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal, NamedTuple, get_args

from oulibench.errors import TextError

WordPolicy = Literal["orthographic", "graphic", "syntactic", "profiling"]
WORD_POLICIES: Final[tuple[WordPolicy, ...]] = get_args(WordPolicy)

FOLD_VERSION: Final = "latin.1"
"""Rises when `fold` maps any letter differently."""
TOKENIZER_VERSION: Final = "2"
"""Rises when `words` or `normalise` answers differently for any text."""

MAX_CHARACTERS: Final = 1_000_000
"""Longest text that is judged. No answer to a prompt is this long; what is, is a broken file."""


class Word(NamedTuple):
    """A word and where it stands: `text[start:end] == form` in the text that was split."""

    form: str
    start: int
    end: int


# --- normalisation -----------------------------------------------------------------------------------------------

# Text made of these characters alone is already normal; most text is, and one scan of it is all it costs.
_ORDINARY = re.compile(r"[\n !-_a-~¡«»¿À-ÖØ-öø-ÿ–—“”„…€]*")

_APOSTROPHES = "’‘ʼ′‛ʹʻ＇"
_REMOVED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\u3164\ufeff\uffa0"
    "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
)
_SPACES = "\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_LINE_ENDS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}

_NORMAL_FORM: Final[dict[int, str]] = {
    **{ord(c): "'" for c in _APOSTROPHES},
    **{ord(c): "" for c in _REMOVED},
    # Control characters that end no line; NUL is an error of its own.
    **dict.fromkeys((*range(0x01, 0x09), *range(0x0E, 0x1C), 0x1F, *range(0x7F, 0x85), *range(0x86, 0xA0)), ""),
    **dict.fromkeys(range(0xE0000, 0xE0080), ""),  # invisible tag characters, used to smuggle text
    **dict.fromkeys(range(0xE0100, 0xE01F0), ""),  # further variation selectors
    **{ord(c): " " for c in _SPACES},
    **{ord(c): "\n" for c in _LINE_ENDS},
    **{ord(k): v for k, v in _LIGATURES.items()},
}
# A grave or acute accent typed after a letter stands for an apostrophe (E` vero, po´).
_ACCENT_AS_APOSTROPHE = re.compile(r"(?<=[^\W\d_])[`´]")
_LOOSE_MARKS = re.compile("[\u0300-\u036f]+")
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


def normalise(text: str) -> str:
    """The one form of `text` that everything else reads: NFC, plain apostrophes, plain spaces and line ends.

    Zero-width and control characters, soft hyphens, variation selectors and combining marks that compose with nothing
    are dropped. Case, quotation marks and line breaks stay. Idempotent.

    Raises:
        TextError: `text` is no string, is longer than `MAX_CHARACTERS`, or holds a NUL or a lone surrogate.
    """
    if not isinstance(text, str):
        raise TextError(f"A text must be a string, not {type(text).__name__}.")
    if len(text) > MAX_CHARACTERS:
        raise TextError(
            f"The text has {len(text):,} characters; more than {MAX_CHARACTERS:,} are not judged. "
            "Split it into the sentences it is made of."
        )
    if _ORDINARY.fullmatch(text):
        return text
    if bad := _NO_TEXT.search(text):
        kind = "a NUL byte" if bad.group() == "\x00" else f"a lone surrogate (U+{ord(bad.group()):04X})"
        raise TextError(f"The text holds {kind} at position {bad.start()}: it was damaged before it came here.")
    return _normalise(text)


def _normalise(text: str) -> str:
    previous = None
    while text != previous:  # a removed character can bring two composing ones together; twice is nearly always enough
        previous = text
        text = unicodedata.normalize("NFC", text.replace("\r\n", "\n")).translate(_NORMAL_FORM)
    text = _LOOSE_MARKS.sub("", text)
    return _ACCENT_AS_APOSTROPHE.sub("'", text)


def source_offsets(text: str) -> list[int]:
    """For each position of `normalise(text)`, and for its end, the position in `text` that it came from."""
    normal = normalise(text)
    if normal == text:
        return list(range(len(text) + 1))
    offsets: list[int] = []
    for start, end in _clusters(text):
        offsets.extend([start] * len(_normalise(text[start:end])))
    # Accents used as apostrophes look at the letter before them but keep the length, so the clusters add up.
    offsets = offsets[: len(normal)] + [len(text)] * (len(normal) - len(offsets))
    return [*offsets, len(text)]


def _clusters(text: str) -> list[tuple[int, int]]:
    """Stretches of `text` that normalise independently: a character with the marks and invisible ones after it."""
    starts = [
        i
        for i, c in enumerate(text)
        if i == 0
        or not (unicodedata.combining(c) or _NORMAL_FORM.get(ord(c)) == "" or (c == "\n" and text[i - 1] == "\r"))
    ]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


_LIST_MARK = re.compile(
    r"\s*(?:\(?\d{1,3}(?:[.)]|\.\))|\(?[a-zA-Z]\)|\(?[ivxIVX]{1,5}\)|[-–—•*·▪‣►➢✓✔]|#{1,6})[ \n]+(?=\S)"
)


def without_list_mark(text: str) -> str:
    """Normalised `text` less a list mark at its start («1. », «b) », «• »): a list mark is no part of a sentence."""
    mark = _LIST_MARK.match(text)
    return text[mark.end() :] if mark else text


# --- words -------------------------------------------------------------------------------------------------------

# No Italian word is elided before a lone s: it is an English genitive (McDonald's).
_GENITIVE = r"(?:(?:(?<=[^\W_][^\W\d_]')s|(?<=[A-ZÀ-Þ][A-ZÀ-Þ]')S)(?![^\W_]))?"
_SIMPLE_WORD = re.compile(rf"'?[^\W_]+(?:[-‐‑][^\W_]+)*(?:'{_GENITIVE})?")
# Where none of these stands, the simple pattern and the full one find the same words.
_NEEDS_FULL_PATTERN = re.compile(r"[.@/:&_,–\u20e3'](?:(?<!')[^\W_]|(?<=')\d|(?<=\u20e3))")
_FULL_WORD = re.compile(
    rf"""
      [0-9#*]\u20e3                                              # keycap emoji: matched to be thrown away
    | (?:https?://|www\.)[^\s«»"“”<>]*[^\W_]/?                   # addresses
    | [^\W_][\w.+-]{{0,63}}@[\w-]+(?:\.[\w-]+)+                  # as long as names may be: or each word looks ahead
    | (?:[^\W_]|-){{1,63}}(?:\.(?:[^\W_]|-){{1,63}}){{0,7}}\.       # to the end of a text of «no.no.no…»
      (?:it|com|org|net|eu|edu|gov|info|io|ai|tv)(?![^\W_])
    | '?(?:[^\W\d_]\.)+[^\W\d_]{{1,3}}(?![^\W_])                 # S.p.A., a.C., p.es.
    | [^\W\d_]{{1,5}}\.(?:ssa|ra|na|re|le|mo|ma|lli|mi|me|ti|so|za)(?![^\W_])   # dott.ssa, sig.ra, f.lli
    | \d+(?:/[^\W_]+){{2,}}                                       # 5/2/1983, 94/55/CE
    | [^\W_]/[^\W_]+ | [^\W_]+/[^\W_](?![^\W_])                  # e/o, km/h, bambini/e
    | '?[^\W_]+(?:(?:[-‐‑_]|(?<=\d)[.,:/'–](?=\d)|(?<=[^\W\d_])&(?=[^\W\d_]))[^\W_]+)*(?:'{_GENITIVE})?
    """,
    re.VERBOSE,
)
_HAS_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
# Words and single spaces, with nothing but closing punctuation: most sentences, and splitting them is quicker.
_PLAIN_SENTENCE = re.compile(r"(?:[a-zA-ZÀ-ÖØ-öø-ÿ]++[,;:.!?]*+(?: |\Z))++")
_CLOSING = ",;:.!?"


def words(text: str) -> list[str]:
    """The orthographic words of normalised `text`, in order."""
    if _PLAIN_SENTENCE.fullmatch(text):
        return [word.rstrip(_CLOSING) for word in text.split()]
    if _NEEDS_FULL_PATTERN.search(text) is None:
        return _SIMPLE_WORD.findall(text)
    return [w.form for w in word_spans(text)]


def word_spans(text: str) -> list[Word]:
    """The orthographic words of normalised `text` with their positions."""
    pattern = _SIMPLE_WORD if _NEEDS_FULL_PATTERN.search(text) is None else _FULL_WORD
    return [Word(m.group(), m.start(), m.end()) for m in pattern.finditer(text) if not m.group().endswith("\u20e3")]


def graphic_words(text: str) -> list[str]:
    """What stands between white space in normalised `text` and holds a letter or a digit."""
    return [chunk for chunk in text.split() if _HAS_LETTER_OR_DIGIT.search(chunk)]


# --- letters -----------------------------------------------------------------------------------------------------

# Letters that Unicode does not decompose, and letters of other scripts that a reader takes for Latin ones: text that
# avoids «a» by writing the Cyrillic а avoids nothing.
_UNDECOMPOSED: Final[dict[int, str]] = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ȷ": "j", "ł": "l", "þ": "th", "ŋ": "n"}
    | {"ß": "ss", "ŧ": "t", "ƀ": "b", "ɑ": "a", "ɡ": "g", "ɩ": "i"}
    | dict(zip("авеіјкморстухѕԁԛԝһ", "abeijkmopctyxsdqwh", strict=True))  # Cyrillic
    | dict(zip("αβεικνορτυχ", "abeiknoptux", strict=True))  # Greek
)


class _FoldTable(dict[int, str]):
    """Code point → folded letters, worked out on first sight (for `str.translate`)."""

    def __missing__(self, code_point: int) -> str:
        lowered = unicodedata.normalize("NFKD", chr(code_point).casefold()).casefold()
        folded = "".join(c for c in lowered if not unicodedata.combining(c)).translate(_UNDECOMPOSED)
        self[code_point] = folded
        return folded


_FOLD: Final = _FoldTable()
_NO_LETTERS = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """`text` without case and accents (*Perché* → *perche*), other characters kept."""
    return text.lower() if text.isascii() else text.translate(_FOLD)


def letters(text: str) -> str:
    """The folded letters and digits of `text`, in order and without anything between them.

    Digits are kept: they are read like anything else, so that no number can hide in a palindrome or an anagram.
    """
    return _NO_LETTERS.sub("", fold(text))


@lru_cache(maxsize=65_536)
def initial(word: str) -> str:
    """The folded first letter (or digit) of `word`; empty where it has none."""
    return letters(word)[:1]


def count_characters(text: str) -> int:
    """Number of letters and digits of normalised `text`."""
    return sum(map(str.isalnum, text))


VOWELS: Final = frozenset("aeiou")
"""The vowels after folding, so that à è é ì ò ù are vowels too."""
