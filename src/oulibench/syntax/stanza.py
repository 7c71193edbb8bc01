"""Stanza (Qi et al. 2020) as a parser. Its models are downloaded by whoever wants them, never by this package."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version as installed_version
from typing import Any

from oulibench.errors import DataError, MissingExtraError
from oulibench.syntax.tree import Sentence, read_conllu
from oulibench.text import words

_HOW_TO = "python -c \"import stanza; stanza.download('it', processors='tokenize,mwt,pos,lemma,depparse')\""
_PROCESSORS = "tokenize,mwt,pos,lemma,depparse"


class StanzaParser:
    """Stanza's default Italian pipeline; its version is Stanza's own and the treebank's name."""

    name = "stanza"

    @property
    def version(self) -> str:
        return f"{installed_version('stanza')}+{self._package}"

    @property
    def _package(self) -> str:
        treebank = self._pipeline(True).config.get("depparse_model_path", "default")
        return str(treebank).rsplit("/", 1)[-1].removesuffix(".pt")

    @cached_property
    def _pipelines(self) -> dict[bool, Any]:
        return {}

    def _pipeline(self, split: bool) -> Any:
        """The pipeline that splits sentences, or the one that takes each paragraph for one."""
        if split not in self._pipelines:
            try:
                import stanza
            except ImportError as error:
                raise MissingExtraError("Stanza is not installed: pip install 'oulibench[stanza]'") from error
            try:
                self._pipelines[split] = stanza.Pipeline(
                    "it", processors=_PROCESSORS, download_method=None, tokenize_no_ssplit=not split, verbose=False
                )
            except Exception as error:  # Stanza raises several kinds, one of them a plain Exception
                raise DataError(f"Stanza's Italian models are not there ({error}). Fetch them: {_HOW_TO}") from error
        return self._pipelines[split]

    def parse(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """The sentences of each text, in order; a text without words has none."""
        return [self._run(text, split=True) if words(text) else [] for text in texts]

    def parse_sentences(self, texts: Sequence[str]) -> list[Sentence]:
        """Each text as exactly one sentence."""
        found = []
        for text in texts:
            sentences = self._run(" ".join(text.split()), split=False)
            if len(sentences) != 1:
                raise DataError(f"Stanza read {len(sentences)} sentences where one was given: {text[:60]!r}")
            found.append(sentences[0])
        return found

    def _run(self, text: str, split: bool) -> list[Sentence]:
        document = self._pipeline(split)(text)
        return list(read_conllu(f"{document:C}\n\n", name="Stanza"))
