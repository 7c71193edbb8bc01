"""Text that does without a given letter."""

from __future__ import annotations

from oulibench.constraints.base import Constraint, Judgement, number, parse_letter, penalised_share, quote, spans_of
from oulibench.policy import Policy
from oulibench.text import fold, words


class Lipogram(Constraint[str]):
    """No word holds the letter, with or without accent, in either case. `measured` is the number of words that do."""

    name = "lipogram"
    family = "stylistic"
    version = 1
    few_shot = True

    def parse_target(self, target: object) -> str:
        return parse_letter(self.name, target)

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        if target not in fold(content):
            return Judgement(True, 1.0, 0, f"No word holds the letter «{target}».")
        found = words(content)
        offending = spans_of(content, [i for i, word in enumerate(found) if target in fold(word)])
        if not offending:  # it stands in a symbol («™»), which is no letter
            return Judgement(True, 1.0, 0, f"No word holds the letter «{target}».")
        n = len(offending)
        return Judgement(
            False,
            penalised_share(n, len(found)),
            n,
            f"The letter «{target}» stands in {number(n, 'word')}: {quote(offending)}.",
            offending=offending,
        )
