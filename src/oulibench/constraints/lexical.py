"""Whether a text is made of Italian words: what palindromes and anagrams ask beyond their letters."""

from __future__ import annotations

from dataclasses import dataclass

from oulibench.constraints.base import quote
from oulibench.language import Language
from oulibench.lexicon import Lexicon, load_lexicon
from oulibench.policy import Policy
from oulibench.text import Word, word_spans


@dataclass(frozen=True, slots=True)
class Vetting:
    """The words of a text, sorted by what the lexicon says of them.

    Attributes:
        total: how many words there are.
        unknown: words that no lexicon knows and that may not stand for names, in order.
        names: capitalised unknown words that were accepted as names, in order.
    """

    total: int
    unknown: tuple[Word, ...]
    names: tuple[Word, ...]

    @property
    def known_share(self) -> float:
        return 1 - len(self.unknown) / self.total if self.total else 0.0

    @property
    def flags(self) -> tuple[str, ...]:
        return ("names",) if self.names else ()

    @property
    def remark(self) -> str:
        """What to add to the reason where names were accepted."""
        return f" Taken as a name: {quote(self.names)}." if self.names else ""


def vet_words(content: str, policy: Policy, lexicon: Lexicon, most_names: float = 0.5) -> Vetting:
    """Look the words of `content` up.

    A capitalised unknown word is taken as a name where the policy accepts names (by default in a text of two words or
    more) and its capital says something: the first word of a text has one anyway, so it must be attested in Italian
    texts. Where names would be more than the share `most_names` of the text, none is taken for one: a sentence is not
    made of names alone.
    """
    found = word_spans(content)
    unknown = [word for word in found if not lexicon.is_known(word.form)]
    accept = policy.names == "accept" or (policy.names is None and len(found) > 1)
    names = [
        word
        for word in unknown
        if accept and _looks_like_a_name(word.form) and (word is not found[0] or lexicon.is_attested(word.form))
    ]
    if len(found) > 1 and len(names) > most_names * len(found):
        names = []
    return Vetting(len(found), tuple(w for w in unknown if w not in names), tuple(names))


def _looks_like_a_name(form: str) -> bool:
    letters_alone = form.strip("'")
    return letters_alone[:1].isupper() and letters_alone.isalpha() and letters_alone[1:].islower()


def lexicon_of(language: Language) -> Lexicon:
    return load_lexicon(language.code)
