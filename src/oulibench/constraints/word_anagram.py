"""Another Italian word made of a given word's letters."""

from __future__ import annotations

from oulibench.constraints.anagram import Anagram
from oulibench.constraints.base import Judgement, Unit
from oulibench.errors import TargetError
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.text import letters, normalise, words


class WordAnagram(Anagram):
    """The answer is one Italian word, other than the source, made of exactly its letters."""

    name = "word_anagram"
    version = 1

    def parse_target(self, target: object) -> str:
        if isinstance(target, str):
            source = normalise(target).strip()
            if len(words(source)) == 1 and len(letters(source)) > 1:
                return source
        raise TargetError(f"The target of {self.name} is one word such as «noce», not {target!r}.")

    def unit(self, policy: Policy = DEFAULT_POLICY) -> Unit:
        return "word"

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        found = super()._judge(content, target, policy)
        n = len(words(content))
        if found.passed and n > 1:
            reason = f"The letters are right, but they make {n} words; one was asked for."
            return found._replace(passed=False, score=0.5, reason=reason, formal=True, flags=("several_words",))
        return found
