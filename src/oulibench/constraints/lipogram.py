"""Text that does without a given letter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oulibench.constraints.base import Constraint, Judgement, number, parse_letter, penalised_share, quote, spans_of
from oulibench.policy import Policy
from oulibench.text import Word, fold, words


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
        offending = _as_read(
            content, found, [i for i, word in enumerate(found) if target in word or target in fold(word)]
        )
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


def _as_read(content: str, forms: Sequence[str], indices: Sequence[int]) -> list[Word]:
    """The words with these indices, each with the innocent elided form that it leans on: «c'è», where è offends."""
    offending = spans_of(content, forms, indices)
    if "'" not in content:
        return offending
    named: list[Word] = []
    end_before = 0  # of the offending word before
    for word in offending:
        start = word.start
        elided = _ELIDED_BEFORE.search(content, end_before, start)
        if elided:
            start = elided.start()
        named.append(Word(content[start : word.end], start, word.end))
        end_before = word.end
    return named


_ELIDED_BEFORE = re.compile(r"[^\W_]+'\Z")
