"""Text that reads the same both ways."""

from __future__ import annotations

from oulibench.constraints.base import Constraint, Judgement, Unit, quote
from oulibench.constraints.lexical import lexicon_of, vet_words
from oulibench.errors import TargetError
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.text import letters


class Palindrome(Constraint[None]):
    """The letters, folded and without anything between them, read the same both ways, and the words are Italian.

    There are at least two different letters: «a», «ee» and «a a a» read the same both ways whatever one does.
    `measured` is the letters read.
    """

    name = "palindrome"
    family = "stylistic"
    version = 1
    policies = ("names",)
    few_shot = True

    def parse_target(self, target: object) -> None:
        if target is not None:
            raise TargetError(f"Palindromes have no target: it is null, not {target!r}.")

    def unit(self, policy: Policy = DEFAULT_POLICY) -> Unit:
        return "text"

    def _judge(self, content: str, target: None, policy: Policy) -> Judgement:
        read = letters(content)
        if read != read[::-1]:
            return self._unmirrored(read, content, policy)
        if len(set(read)) < 2:
            reason = f"A single letter repeated is no palindrome: «{read[:20]}»."
            return Judgement(False, 0.0, read, reason, formal=False, flags=("single_letter",))
        vetting = vet_words(content, policy, lexicon_of(self.language))
        if vetting.unknown:
            reason = f"It reads the same both ways, but not in Italian words: {quote(vetting.unknown)}."
            return Judgement(
                False,
                (1 + vetting.known_share) / 2,
                read,
                reason + vetting.remark,
                formal=True,
                offending=vetting.unknown,
                flags=(*vetting.flags, "unknown_words"),
            )
        return Judgement(True, 1.0, read, f"It reads the same both ways.{vetting.remark}", flags=vetting.flags)

    def _unmirrored(self, read: str, content: str, policy: Policy) -> Judgement:
        half = len(read) // 2
        mirrored = sum(a == b for a, b in zip(read[:half], reversed(read), strict=False))
        known = vet_words(content, policy, lexicon_of(self.language)).known_share
        first = next(i for i in range(half) if read[i] != read[-1 - i])
        reason = (
            f"Read backwards it is another text: letter {first + 1} from the left is «{read[first]}», from the right "
            f"«{read[-1 - first]}»."
        )
        return Judgement(False, mirrored / half * (1 + known) / 2, read, reason)

    def _components(self, policy: Policy) -> dict[str, str]:
        return {"lexicon": lexicon_of(self.language).version}
