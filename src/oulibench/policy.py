"""The conventions a check follows where Italian, or the puzzle press, knows more than one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Final, Literal, get_args

from oulibench.errors import PolicyError
from oulibench.text import WORD_POLICIES, WordPolicy

AcrosticPolicy = Literal["words", "lines"]
NamesPolicy = Literal["accept", "reject"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The conventions of a check. Absent ones take the defaults.

    Attributes:
        words: what counts as a word in `word_length` (see `oulibench.text`).
        acrostic: whether an acrostic is read over the initials of the words or of the non-blank lines.
        names: whether a capitalised word that no lexicon knows may stand for a name in palindromes and anagrams. None
            (the default) accepts it in a sentence and rejects it as a lone word.
        min_words: the length gate: a text of fewer orthographic words is flagged `degenerate` and does not pass. 0 (the
            default) asks for no gate.
        parser: what analyses syntax: `bundled`, `stanza`, or `udpipe:` and the path of a model. Chosen by the caller,
            never by a row.
    """

    words: WordPolicy = "orthographic"
    acrostic: AcrosticPolicy = "words"
    names: NamesPolicy | None = None
    min_words: int = 0
    parser: str = "bundled"

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any] | None) -> Policy:
        """The policy that a row's `policy` object names.

        Raises:
            PolicyError: an unknown key, or a value that its key does not have.
        """
        if not given:
            return DEFAULT_POLICY
        if not isinstance(given, Mapping):
            raise PolicyError(f'A policy is an object such as {{"words": "graphic"}}, not {given!r}.')
        try:
            return _policy(tuple(sorted(given.items())))
        except TypeError:  # an unhashable value, which no policy has
            return _build(given)


_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "words": WORD_POLICIES,
    "acrostic": get_args(AcrosticPolicy),
    "names": get_args(NamesPolicy),
}


@lru_cache(maxsize=256)
def _policy(items: tuple[tuple[str, Any], ...]) -> Policy:
    return _build(dict(items))


def _build(given: Mapping[str, Any]) -> Policy:
    for key, value in given.items():
        if key not in _KEYS:
            raise PolicyError(f"Unknown policy {key!r}. Known policies: {', '.join(_KEYS)}.")
        if key == "min_words":
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise PolicyError(f"The policy min_words is a whole number from 0, not {value!r}.")
        elif key == "parser":
            from oulibench.syntax.parser import PARSERS  # loads none of them

            if not isinstance(value, str) or not (value in PARSERS or value.startswith("udpipe:")):
                raise PolicyError(f"The parser is {', '.join(PARSERS)} or udpipe:MODEL_FILE, not {value!r}.")
        elif value not in _CHOICES[key] and not (key == "names" and value is None):
            raise PolicyError(f"The policy {key!r} is one of {', '.join(_CHOICES[key])}; not {value!r}.")
    return replace(DEFAULT_POLICY, **given)


_KEYS: Final = tuple(f.name for f in fields(Policy))
DEFAULT_POLICY: Final = Policy()
