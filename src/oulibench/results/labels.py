"""The report's words, in Italian or English: data, not code."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from oulibench.errors import DataError

LANGUAGES: Final = ("en", "it")


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one language, in sections."""

    language: str
    _table: Mapping[str, Any]

    @property
    def title(self) -> str:
        return str(self._table["title"])

    @property
    def lead(self) -> str:
        return str(self._table["lead"])

    def task(self, name: str) -> str:
        """A task's name for readers; its own name where it is not one of the benchmark's."""
        return str(self._table["task"].get(name, name))

    def over(self, name: str) -> str:
        """What an average is taken over."""
        return str(self._table["over"].get(name, name))

    def section(self, name: str) -> str:
        return str(self._table["section"][name])

    def panel(self, name: str) -> str:
        return str(self._table["panel"][name])

    def column(self, name: str) -> str:
        return str(self._table["column"][name])

    def text(self, name: str, **values: object) -> str:
        """A sentence, its places filled in."""
        return str(self._table["text"][name]).format(**values)

    @property
    def ui(self) -> Mapping[str, str]:
        """What buttons, fields and axes say."""
        return dict(self._table["ui"])


@cache
def load_labels(language: str) -> Labels:
    """The labels of a language of `LANGUAGES`.

    Raises:
        DataError: there are none.
    """
    path = files("oulibench").joinpath("data", language, "report.toml")
    if language not in LANGUAGES or not path.is_file():
        raise DataError(f"The report has no labels in {language!r}; it has {', '.join(LANGUAGES)}.")
    return Labels(language, tomllib.loads(path.read_text(encoding="utf-8")))
