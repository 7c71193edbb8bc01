"""Text that does without a given letter."""

from __future__ import annotations

from oulibench.constraints.base import Constraint, Judgement, number, parse_letter, penalised_share, quote
from oulibench.policy import Policy
from oulibench.text import Word, fold, word_spans, words


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
        offending = _as_read(content, [i for i, word in enumerate(found) if target in fold(word)])
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


def _as_read(content: str, indices: list[int]) -> list[Word]:
    """The words with these indices, each with the innocent elided form that it leans on: «c'è», where è offends."""
    spans = word_spans(content)
    offending = set(indices)
    named: list[Word] = []
    for i in indices:
        start, end = spans[i].start, spans[i].end
        while i > 0 and i - 1 not in offending and spans[i - 1].end == start and spans[i - 1].form.endswith("'"):
            i -= 1
            start = spans[i].start
        named.append(Word(content[start:end], start, end))
    return named
