"""Universal Dependencies analysis of Italian: parsing, the reading of main clauses, the linguistic profile.

Parses of short texts are remembered, so that the voice, the order and the counts of one text cost one parse.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Final

from oulibench.text import normalise

if TYPE_CHECKING:
    from oulibench.syntax.tree import Sentence

_REMEMBERED: Final = 4096
_lock = RLock()  # parsers are not safe to share between threads, and engines score in several
_parses: OrderedDict[tuple[str, str], tuple[Sentence, ...]] = OrderedDict()


def parse(text: str, parser: str = "bundled") -> list[Sentence]:
    """The sentences of `text` with their analysis.

    Raises:
        TextError: the text cannot be read at all.
        ParserError: there is no such parser, or it cannot be loaded.
    """
    return list(analyse(normalise(text), parser))


def profile(text: str, parser: str = "bundled") -> dict[str, float]:
    """The linguistic profile of `text` (see `oulibench.syntax.profile` for the features and their variant)."""
    from oulibench.syntax.profile import profile_sentences

    return profile_sentences(parse(text, parser))


def analyse(content: str, parser: str = "bundled") -> tuple[Sentence, ...]:
    """The sentences of normalised text."""
    with _lock:
        analyse_many([content], parser)
        return _parses[parser, content]


def analyse_many(contents: Iterable[str], parser: str = "bundled") -> None:
    """Parse many normalised texts in one go, so that `analyse` finds them done."""
    from oulibench.syntax.parser import get_parser  # loads the parser's runtime

    with _lock:
        missing = []
        for content in dict.fromkeys(contents):
            if (parser, content) in _parses:
                _parses.move_to_end((parser, content))
            else:
                missing.append(content)
        if missing:
            for content, sentences in zip(missing, get_parser(parser).parse(missing), strict=True):
                _parses[parser, content] = tuple(sentences)
        while len(_parses) > _REMEMBERED:
            _parses.popitem(last=False)


def count_parsed_words(sentences: Sequence[Sentence], policy: str) -> int:
    """Number of words under the counting policies `syntactic` and `profiling`."""
    from oulibench.syntax.profile import n_syntactic_words, n_tokens

    count = n_tokens if policy == "profiling" else n_syntactic_words
    return sum(count(sentence) for sentence in sentences)


def parser_signature(parser: str = "bundled") -> str:
    """Name and version of a parser, for signatures; with its licence where that binds whoever uses the scores."""
    from oulibench.syntax.parser import get_parser

    loaded = get_parser(parser)
    licence = getattr(loaded, "licence", None)
    return f"{loaded.name}-{loaded.version}" + (f" ({licence})" if licence else "")
