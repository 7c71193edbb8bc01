"""The languages that the benchmark speaks: what is Italian and not code is reached through one object.

A second language is a folder under `data/` and one more entry of `LANGUAGES`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from oulibench.errors import DataError


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the benchmark.

    Attributes:
        code: ISO 639-1 code; also the name of its folder under `data/`.
        name: English name.
        alphabet: its letters after folding, those of loan words included.
    """

    code: str
    name: str
    alphabet: str

    def data(self, *path: str) -> Traversable:
        """A data file (or folder) of this language."""
        return files("oulibench").joinpath("data", self.code, *path)

    def table(self, *path: str) -> dict[str, Any]:
        """A TOML data file of this language, parsed once.

        Raises:
            DataError: the file is missing or is no TOML.
        """
        return _read_toml(self, path)


@cache
def _read_toml(language: Language, path: tuple[str, ...]) -> dict[str, Any]:
    try:
        return tomllib.loads(language.data(*path).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"The data file {'/'.join(path)} for {language.name} cannot be read: {error}") from error


ITALIAN: Final = Language(code="it", name="Italian", alphabet="abcdefghijklmnopqrstuvwxyz")

LANGUAGES: Final[dict[str, Language]] = {ITALIAN.code: ITALIAN}
