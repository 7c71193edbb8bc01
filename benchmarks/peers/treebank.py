"""Cases out of ordinary sentences: the gold analysis of a treebank says what is right, not our tokenizer.

What counts as a word follows docs/constraints.md, read off the gold tokens and `SpaceAfter=No`: a token with a letter
or a digit. Letters are those that Unicode's canonical decomposition leaves. Sentences that begin with a list mark are
left out: that it is no word is a convention of ours alone. No sentence leaves this module, only its cases' figures.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from benchmarks.peers.cases import Case, count_cases

from oulibench.errors import DataError
from oulibench.syntax.tree import MultiwordToken, Sentence, Token, read_conllu

FILES = {
    "ISDT": ("it_isdt-ud-dev.conllu", "it_isdt-ud-test.conllu"),
    "VIT": ("it_vit-ud-dev.conllu", "it_vit-ud-test.conllu"),
    "PUD": ("it_pud-ud-test.conllu",),
}
APOSTROPHES = "'’ʼ′`´"
HYPHENS = "-‐‑"
SEPARATORS = ".,:/'–"
VOWELS = "aeiou"
LONE_WORDS = "aeio"
LONGEST_ACROSTIC = 15


def treebank_cases(folder: Path) -> dict[str, list[Case]]:
    """The cases of each treebank.

    Raises:
        DataError: a file is not in `folder`.
    """
    paths = {name: [folder / file for file in files] for name, files in FILES.items()}
    for path in [path for files in paths.values() for path in files]:
        if not path.is_file():
            raise DataError(f"{path} is missing. The figures need the files {', '.join(chain(*FILES.values()))}.")
    return {
        name: [case for path in files for sentence in read_conllu(path) for case in _cases(sentence)]
        for name, files in paths.items()
    }


def _cases(sentence: Sentence) -> Iterator[Case]:
    if begins_with_list_mark(sentence):
        return
    text, words = sentence.text, orthographic(sentence)
    yield from count_cases(text, len(words), graphic(sentence))
    letters = plain(text)
    for vowel in VOWELS:
        yield Case("lipogram", vowel, text, vowel not in letters)
    initials = "".join(next(filter(str.isalnum, plain(word))) for word in words)
    lone = any(len(word) == 1 and plain(word) not in LONE_WORDS for word in words)  # they spell; ours refuses them
    if 2 <= len(initials) <= LONGEST_ACROSTIC and initials.isascii() and initials.isalpha() and not lone:
        yield Case("acrostic", initials, text, True)
        yield Case("acrostic", initials[:-1] + ("b" if initials[-1] == "a" else "a"), text, False)


def plain(text: str) -> str:
    """`text` in lower case, without the marks that canonical decomposition splits off."""
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def graphic(sentence: Sentence) -> int:
    """Stretches between spaces that hold a word."""
    return sum(any(_is_word(token) for token in run) for run in _runs(sentence))


def orthographic(sentence: Sentence) -> list[str]:
    """The words of the sentence, an elided form being a word of its own.

    Tokens written together are one word where a hyphen joins them, a slash joins a single character to something
    (*e/o*), a separator joins digits (*1/2*), or nothing stands between them and the first ends in no apostrophe.
    """
    words: list[str] = []
    for run in _runs(sentence):
        joined = False
        for i, token in enumerate(run):
            if not _is_word(token):
                joined = 0 < i < len(run) - 1 and _joins(run[i - 1].form, token.form, run[i + 1].form)
                continue
            if joined:
                words[-1] += run[i - 1].form * (not _is_word(run[i - 1])) + token.form
            else:
                words.append(token.form)
            joined = token.form[-1] not in APOSTROPHES
    return words


def _joins(before: str, mark: str, after: str) -> bool:
    """Whether two words that only `mark` parts are one."""
    if not (_has_letter_or_digit(before) and _has_letter_or_digit(after)):
        return False
    slash = mark == "/" and min(len(before), len(after)) == 1
    number = mark in SEPARATORS and before[-1].isdecimal() and after[0].isdecimal()
    return mark in HYPHENS or slash or number


def begins_with_list_mark(sentence: Sentence) -> bool:
    """*1.*, *(14)*, *c)*, *ii)*: a number of up to three digits, a letter or a Roman number, closed by a mark."""
    written = "".join(token.form for token in next(_runs(sentence), []))
    inside = written.removeprefix("(").rstrip(".)")
    if inside.isdecimal():
        return len(inside) <= 3 and written[-1] in ".)"
    return written.endswith(")") and (len(inside) == 1 or set(inside.lower()) <= set("ivx"))


def _runs(sentence: Sentence) -> Iterator[list[Token | MultiwordToken]]:
    """The surface tokens, those written without a space between them together."""
    run: list[Token | MultiwordToken] = []
    for token in sentence.surface():
        run.append(token)
        if token.space_after:
            yield run
            run = []
    if run:
        yield run


def _is_word(token: Token | MultiwordToken) -> bool:
    return _has_letter_or_digit(token.form)


def _has_letter_or_digit(form: str) -> bool:
    return any(unicodedata.category(c)[0] in "LN" for c in form)
