"""Text whose words all begin with a given letter."""

from __future__ import annotations

from oulibench.constraints.base import Constraint, Judgement, number, parse_letter, penalised_share, quote, spans_of
from oulibench.policy import Policy
from oulibench.text import initial, letters, words


class Tautogram(Constraint[str]):
    """Every word, articles and elided forms included, begins with the letter, with or without accent; and there are at
    least two different words, since one word alone begins with its letter whatever one does. `measured` is the number
    of words that begin with another.
    """

    name = "tautogram"
    family = "stylistic"
    version = 1

    def parse_target(self, target: object) -> str:
        return parse_letter(self.name, target)

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        found = words(content)
        other = [i for i, word in enumerate(found) if initial(word) != target]
        if other:
            offending = spans_of(content, found, other)
            n = len(offending)
            does = "does" if n == 1 else "do"
            reason = f"{number(n, 'word')} {does} not begin with «{target}»: {quote(offending)}."
            return Judgement(False, penalised_share(n, len(found)), n, reason, offending=offending)
        first = letters(found[0])
        if all(letters(word) == first for word in found):
            reason = f"One word alone is no tautogram: «{found[0]}»."
            return Judgement(False, 0.0, 0, reason, formal=True, flags=("single_word",))
        return Judgement(True, 1.0, 0, f"Every word begins with «{target}».")
