"""UDPipe 1 models (Straka & Straková 2017) as a parser: any `.udpipe` file, so a published tool chain can be redone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from oulibench.errors import DataError, MissingExtraError
from oulibench.syntax.tree import Sentence, read_conllu
from oulibench.text import words


class UDPipeParser:
    """A `.udpipe` model; its version is its file name and the beginning of its SHA-256."""

    name = "udpipe"

    def __init__(self, model: Path) -> None:
        if not model.is_file():
            raise DataError(f"There is no UDPipe model {model}.")
        self._path = model

    @cached_property
    def version(self) -> str:
        return f"{self._path.stem}+{hashlib.sha256(self._path.read_bytes()).hexdigest()[:8]}"

    @cached_property
    def _model(self) -> Any:
        try:
            from ufal.udpipe import Model
        except ImportError as error:
            raise MissingExtraError("UDPipe is not installed: pip install 'oulibench[udpipe]'") from error
        model = Model.load(str(self._path))
        if model is None:
            raise DataError(f"{self._path} is no UDPipe model.")
        return model

    def parse(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """The sentences of each text, in order; a text without words has none."""
        return [self._run(text, "tokenize") if words(text) else [] for text in texts]

    def parse_sentences(self, texts: Sequence[str]) -> list[Sentence]:
        """Each text as exactly one sentence."""
        found = []
        for text in texts:
            sentences = self._run(" ".join(text.split()), "tokenizer=presegmented")
            if len(sentences) != 1:
                raise DataError(f"UDPipe read {len(sentences)} sentences where one was given: {text[:60]!r}")
            found.append(sentences[0])
        return found

    def _run(self, text: str, tokenizer: str) -> list[Sentence]:
        from ufal.udpipe import Pipeline, ProcessingError

        error = ProcessingError()
        pipeline = Pipeline(self._model, tokenizer, Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
        output = pipeline.process(text, error)
        if error.occurred():
            raise DataError(f"UDPipe: {error.message}")
        return list(read_conllu(output, name=str(self._path)))
