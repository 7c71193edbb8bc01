"""Whole files through a parser: streamed, numbered, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from oulibench.errors import DataError
from oulibench.syntax.parser import get_parser
from oulibench.syntax.tree import Sentence, read_conllu
from oulibench.text import normalise

_BATCH = 256  # texts parsed at once


def parse_stream(source: BinaryIO, name: str, parser: str = "bundled", lines: bool = False) -> Iterator[Sentence]:
    """The sentences of a UTF-8 text, each with a `sent_id` comment; memory does not grow with the file.

    Args:
        source: the text.
        name: what to call it in errors.
        parser: the parser's name.
        lines: whether each line is one sentence; paragraphs (stretches between blank lines) are split else.

    Raises:
        DataError: a line that is no UTF-8, or whose text is damaged.
    """
    loaded = get_parser(parser)
    texts = _lines(source, name) if lines else _paragraphs(_lines(source, name, keep_blank=True))
    number = 0
    while batch := list(islice(texts, _BATCH)):
        parsed = loaded.parse_sentences(batch) if lines else [s for found in loaded.parse(batch) for s in found]
        for sentence in parsed:
            number += 1
            yield replace(sentence, comments=(f"# sent_id = {number}", *sentence.comments))


def _lines(source: BinaryIO, name: str, keep_blank: bool = False) -> Iterator[str]:
    for number, line in enumerate(source, 1):
        try:
            text = normalise(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except (UnicodeDecodeError, ValueError) as error:
            what = "the line is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            raise DataError(f"{name}:{number}: {what}") from error
        if text.strip():
            yield text.strip()
        elif keep_blank:
            yield ""


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    paragraph: list[str] = []
    for line in lines:
        if line:
            paragraph.append(line)
        elif paragraph:
            yield "\n".join(paragraph)
            paragraph = []
    if paragraph:
        yield "\n".join(paragraph)


def read_document(path: Path, parser: str = "bundled") -> list[Sentence]:
    """The sentences of a text file, or those that a CoNLL-U file (by its name) holds.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        if path.suffix == ".conllu":
            return list(read_conllu(path))
        with path.open("rb") as source:
            return list(parse_stream(source, str(path), parser))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: the file is not UTF-8") from error
