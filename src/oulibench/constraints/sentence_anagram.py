"""A new sentence made of a given sentence's letters."""

from __future__ import annotations

from oulibench.constraints.anagram import Anagram
from oulibench.errors import TargetError
from oulibench.text import letters, normalise, words


class SentenceAnagram(Anagram):
    """The answer uses exactly the letters of the source; putting its words into another order is a shortcut."""

    name = "sentence_anagram"
    version = 1

    def parse_target(self, target: object) -> str:
        if isinstance(target, str):
            source = normalise(target).strip()
            if len(words(source)) > 1 and len(letters(source)) > 2:
                return source
        raise TargetError(f"The target of {self.name} is a sentence such as «Amo Roma», not {target!r}.")
