"""What verbs select: is a noun rather what does it or what it is done to? Learned by training/parser/selection.py.

The answer is blind to the order of words, so it can speak where position deceives: «Il vestito cuce la sarta».
"""

import math
from functools import lru_cache
from pathlib import Path

from oulibench.syntax.tree import Token

NAME = "<name>"
_FLOOR = 0.02


class Selection:
    """What nouns denote, what verbs take as subjects and objects, and how the two fit. Lemmas are written small.

    Names of people, places and firms count as one noun, most of them people.
    """

    def __init__(self, path: Path) -> None:
        import numpy as np

        with np.load(path, allow_pickle=False) as stored:
            self.kinds: tuple[str, ...] = tuple(_lines(stored["kinds"].tobytes()))
            self._noun, self._subject, self._object = (stored[name] for name in ("noun", "subject", "object"))
            self._noun_row = {key: i for i, key in enumerate(_lines(stored["noun_keys"].tobytes()))}
            self._verb_row = {key: i for i, key in enumerate(_lines(stored["verb_keys"].tobytes()))}
        self.logit = lru_cache(maxsize=100_000)(self._logit)

    def noun_kinds(self, noun: str) -> dict[str, float] | None:
        """How likely the noun denotes each of `kinds`; None for a noun the table does not hold."""
        row = self._noun_row.get(noun)
        if row is None:
            return None
        return dict(zip(self.kinds, (self._noun[row] / 255).tolist(), strict=True))

    def _logit(self, noun: str, verb: str) -> float | None:
        """Above 0 where `noun` is rather the subject of `verb`; None where the table lacks either lemma."""
        n, v = self._noun_row.get(noun), self._verb_row.get(verb)
        if n is None or v is None:
            return None
        kinds = self._noun[n] / 255 + _FLOOR
        as_subject, as_object = (float(kinds @ (side[v] / 255)) for side in (self._subject, self._object))
        return math.log(as_subject + 1e-3) - math.log(as_object + 1e-3)

    @staticmethod
    def key(token: Token) -> str:
        """What a token is looked up by."""
        return NAME if token.upos == "PROPN" else token.lemma.lower()


def _lines(raw: bytes) -> list[str]:
    return raw.decode("utf-8").split("\n")
