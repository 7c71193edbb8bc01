"""When two answers are the same answer."""

from __future__ import annotations

from oulibench.errors import TextError
from oulibench.text import fold, normalise, without_list_mark, words


def text_key(text: str) -> str:
    """What two texts share when they are one answer: their words in order, without case, accents and punctuation.

    A damaged text, or one without words, is only equal to itself.
    """
    try:
        return " ".join(words(fold(without_list_mark(normalise(text))))) or text
    except TextError:
        return text
