"""What a parser is, and how to get one by name."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from oulibench.errors import PolicyError
from oulibench.syntax.tree import Sentence


class Parser(Protocol):
    """A Universal Dependencies parser of Italian. `name` and `version` stand in the signature of what it decides."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def parse(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """The sentences of each text, in order; a text without words has none."""
        ...

    def parse_sentences(self, texts: Sequence[str]) -> list[Sentence]:
        """Each text as exactly one sentence, whatever marks stand in it."""
        ...


def _bundled() -> Parser:
    from oulibench.syntax.bundled import BundledParser

    return BundledParser()


def _stanza() -> Parser:
    from oulibench.syntax.stanza import StanzaParser

    return StanzaParser()


def _udpipe(model: str) -> Parser:
    from oulibench.syntax.udpipe import UDPipeParser

    return UDPipeParser(Path(model))


PARSERS: Final[dict[str, Callable[[], Parser]]] = {"bundled": _bundled, "stanza": _stanza}
"""Makers of parsers by name. A maker imports what it needs when it is called."""


def get_parser(name: str = "bundled") -> Parser:
    """The parser of that name, the same object at every call; its data is loaded when it first parses.

    `udpipe:` and the path of a `.udpipe` file names the parser that the file holds.

    Raises:
        PolicyError: no such parser; the message names those there are.
        DataError: its model is not there, or is none.
    """
    return _made(name)


@cache
def _made(name: str) -> Parser:
    kind, _, model = name.partition(":")
    if kind == "udpipe" and model:
        return _udpipe(model)
    if name not in PARSERS:
        raise PolicyError(f"There is no parser {name!r}; there are: {', '.join(sorted(PARSERS))}, udpipe:MODEL_FILE.")
    return PARSERS[name]()
