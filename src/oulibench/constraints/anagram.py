"""What the two anagram tasks share: letters against letters, shortcuts, Italian words."""

from __future__ import annotations

from collections import Counter

from oulibench.constraints.base import Constraint, Judgement, quote
from oulibench.constraints.lexical import lexicon_of, vet_words
from oulibench.policy import Policy
from oulibench.text import letters, words


class Anagram(Constraint[str]):
    """The answer uses the source's letters, each as often, in another order, and its words are Italian.

    `measured` is the letters of the answer. Spaces, accents, apostrophes, punctuation and case do not count.
    """

    family = "stylistic"
    policies = ("names",)

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        source, answer = letters(target), letters(content)
        if Counter(source) != Counter(answer):
            return self._other_letters(source, answer, content, target)
        if answer == source:
            reason = "It is the source itself: an anagram has the letters in another order."
            return Judgement(False, 0.0, answer, reason, formal=True, flags=("same_letters",))
        if _is_word_shuffle(target, content):
            reason = "It only puts the source's words into another order."
            return Judgement(False, 0.0, answer, reason, formal=True, flags=("word_shuffle",))
        vetting = vet_words(content, policy, lexicon_of(self.language))
        if vetting.unknown:
            return Judgement(
                False,
                (1 + vetting.known_share) / 2,
                answer,
                f"The letters are right, but these are no Italian words: {quote(vetting.unknown)}.{vetting.remark}",
                formal=True,
                offending=vetting.unknown,
                flags=(*vetting.flags, "unknown_words"),
            )
        return Judgement(True, 1.0, answer, f"It is an anagram of «{target}».{vetting.remark}", flags=vetting.flags)

    def _other_letters(self, source: str, answer: str, content: str, target: str) -> Judgement:
        wanted, found = Counter(source), Counter(answer)
        shared = (wanted & found).total()
        # Words carried over from the source are no anagram of them: they earn nothing.
        kept = Counter(map(letters, words(target))) & Counter(map(letters, words(content)))
        carried_over = sum(len(word) * n for word, n in kept.items())
        score = max(0, shared - carried_over) / max(len(source), len(answer)) / 2
        parts = [
            f"{verb} {', '.join(f'«{c}»' if n == 1 else f'«{c}» {n} times' for c, n in sorted(letters_.items()))}"
            for verb, letters_ in (("lacks", wanted - found), ("has too many of", found - wanted))
            if letters_
        ]
        reason = f"It does not use the letters of «{target}»: it {' and '.join(parts)}."
        return Judgement(False, score, answer, reason)

    def _components(self, policy: Policy) -> dict[str, str]:
        return {"lexicon": lexicon_of(self.language).version}


def _is_word_shuffle(source: str, answer: str) -> bool:
    """Whether one text is the other's words in another order, written together or apart (*tre … cento*, *trecento*)."""
    source_words, answer_words = ([letters(word) for word in words(text)] for text in (source, answer))
    return _spells(letters(answer), Counter(source_words)) or _spells(letters(source), Counter(answer_words))


def _spells(text: str, pieces: Counter[str]) -> bool:
    """Whether `text` is the `pieces` one after the other, in some order, each used up."""
    seen: set[frozenset[tuple[str, int]]] = set()
    pending = [(0, pieces)]
    while pending:
        start, left = pending.pop()
        if start == len(text):
            return True
        state = frozenset(left.items())  # what is left says how far the text is spelled
        if state in seen or len(seen) > _MOST_STATES:
            continue
        seen.add(state)
        pending.extend(
            (start + len(piece), left - Counter((piece,))) for piece in left if text.startswith(piece, start)
        )
    return False


_MOST_STATES = 10_000  # no sentence comes near; a hostile text must not take for ever
