"""Text in which a given letter stands in every word."""

from __future__ import annotations

from oulibench.constraints.base import Constraint, Judgement, number, parse_letter, penalised_share, quote, spans_of
from oulibench.policy import Policy
from oulibench.text import fold, words


class InverseLipogram(Constraint[str]):
    """Every word holds the letter at least once, with or without accent. `measured` is the number of words that do not.

    The rule holds for every word, articles and elided forms included.
    """

    name = "inverse_lipogram"
    family = "stylistic"
    version = 1

    def parse_target(self, target: object) -> str:
        return parse_letter(self.name, target)

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        found = words(content)
        missing = [i for i, word in enumerate(found) if target not in word and target not in fold(word)]
        if not missing:
            return Judgement(True, 1.0, 0, f"Every word holds the letter «{target}».")
        offending = spans_of(content, found, missing)
        n = len(offending)
        return Judgement(
            False,
            penalised_share(n, len(found)),
            n,
            f"The letter «{target}» is missing from {number(n, 'word')}: {quote(offending)}.",
            offending=offending,
        )
