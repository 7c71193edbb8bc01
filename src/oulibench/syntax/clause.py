"""The main clause of a sentence: its predicate, what stands around it, and how persons and numbers agree.

Made to survive a parser's errors: a vocative or an interjection as root, a modal or *venire* read as the head of the
verb it governs, clitics that hang on an auxiliary, an auxiliary that hangs elsewhere.
"""

from dataclasses import dataclass
from functools import cached_property

from oulibench.syntax.classes import WORDS, fold
from oulibench.syntax.tree import Sentence, Token

OBJECT_CLITICS = frozenset(("lo", "la", "li", "le", "l'", "ne", "gli"))
_BEFORE_CLITICS = frozenset(("me", "te", "se", "ce", "ve"))
_LOOKED_THROUGH = ("parataxis", "conj", "ccomp", "acl", "acl:relcl", "appos", "advcl", "xcomp", "discourse", "vocative")
_GOVERNED = frozenset(("xcomp", "ccomp", "advcl", "acl", "amod", "obj"))
_VERBAL = frozenset(("VERB", "AUX"))


@dataclass(frozen=True)
class Clause:
    """The main clause. `dependents` are the words that hang on the predicate or on its auxiliaries, in order.

    `auxiliaries` are the verbs that belong to the predicate: auxiliaries, modals and copulas, in order. `finite` is the
    verb that agrees with the subject, if any word of the clause is finite.
    """

    sentence: Sentence
    predicate: Token
    auxiliaries: tuple[Token, ...]
    dependents: tuple[Token, ...]
    finite: Token | None

    @property
    def last_auxiliary(self) -> Token | None:
        """The auxiliary that governs the predicate directly: the nearest before it (or the first, in inversion)."""
        before = [token for token in self.auxiliaries if token.id < self.predicate.id]
        return before[-1] if before else (self.auxiliaries[0] if self.auxiliaries else None)

    @property
    def is_participle(self) -> bool:
        """Whether the predicate is a past participle."""
        return self.predicate.feats.get("VerbForm") == "Part"

    @property
    def is_copular(self) -> bool:
        """Whether the predicate is a noun, adjective, pronoun or adverb with a copula."""
        return self.predicate.upos not in _VERBAL and any(t.relation == "cop" for t in self.auxiliaries)

    @cached_property
    def clitics(self) -> tuple[Token, ...]:
        """The clitic pronouns of the predicate, in order."""
        return tuple(token for token in self.dependents if is_clitic(self.sentence, token))

    @cached_property
    def agreement(self) -> tuple[str, str]:
        """Person and number of the finite verb; "" for what is unknown.

        A third person ends in -no or -ero in the plural and in neither in the singular, so there the ending corrects
        the features.
        """
        if self.finite is None:
            return "", ""
        person, number = self.finite.feats.get("Person", ""), self.finite.feats.get("Number", "")
        if person == "3":
            number = "Plur" if self.finite.form.lower().endswith(("no", "ero")) else "Sing"
        return person, number


def children_by_head(sentence: Sentence) -> list[list[Token]]:
    """`result[id]` holds the words that hang on word `id`, in order (0: the root)."""
    below: list[list[Token]] = [[] for _ in range(len(sentence.tokens) + 1)]
    for token in sentence.tokens:
        below[token.head].append(token)
    return below


def is_clitic(sentence: Sentence, token: Token) -> bool:
    """Whether the word is a clitic pronoun (*me lo*, but not the stressed *me* of «per me»)."""
    if token.upos not in ("PRON", "ADV", "PART"):
        return False
    form = fold(token.form)
    if form in _BEFORE_CLITICS:  # me, te… are clitics only before another clitic
        return token.id < len(sentence.tokens) and fold(sentence.tokens[token.id].form) in OBJECT_CLITICS
    return form in WORDS.reflexive_clitics or (form in OBJECT_CLITICS and token.upos == "PRON")


def main_clause(sentence: Sentence) -> Clause | None:
    """The main clause; None for a sentence without a verb (a title, an exclamation, no words)."""
    below = children_by_head(sentence)
    if not below[0]:
        return None
    root = below[0][0]
    if _is_clausal(root, below):
        return _clause(sentence, root, below)
    for relation in _LOOKED_THROUGH:
        for child in below[root.id]:
            if child.deprel == relation and _is_clausal(child, below) and _stands_alone(child, below):
                return _clause(sentence, child, below)
    return None


def _is_clausal(token: Token, below: list[list[Token]]) -> bool:
    return token.upos in _VERBAL or any(child.relation in ("cop", "aux") for child in below[token.id])


def _stands_alone(token: Token, below: list[list[Token]]) -> bool:
    """Whether a verb below a verbless root can be the main verb: finite, no subordinator, no relative pronoun."""
    if not any(_is_finite(t) for t in (token, *below[token.id]) if t.upos in _VERBAL):
        return False
    return not any(
        child.relation == "mark"
        or child.upos == "SCONJ"
        or child.feats.get("PronType") == "Rel"
        or any(deeper.feats.get("PronType") == "Rel" for deeper in below[child.id])
        for child in below[token.id]
        if child.id < token.id
    )


def _is_finite(token: Token) -> bool:
    return token.feats.get("VerbForm") == "Fin" or "Mood" in token.feats


def _clause(sentence: Sentence, head: Token, below: list[list[Token]]) -> Clause:
    governors: list[Token] = []
    predicate = head
    while (lower := _governed(predicate, below)) is not None:
        governors.append(predicate)
        predicate = lower
    dependents = list(below[predicate.id])
    for governor in governors:
        dependents += [child for child in below[governor.id] if child is not predicate and child not in governors]
    auxiliaries = [token for token in dependents if token.relation in ("aux", "cop") and token.upos in _VERBAL]
    for auxiliary in auxiliaries:
        dependents += below[auxiliary.id]
    auxiliaries += governors
    if not auxiliaries and (stray := _stray_auxiliary(sentence, predicate)) is not None:
        auxiliaries.append(stray)
    if governors or len(dependents) > len(below[predicate.id]):
        dependents.sort(key=_by_id)
    auxiliaries.sort(key=_by_id)
    finite = next((token for token in auxiliaries if _is_finite(token)), None)
    if finite is None and _is_finite(predicate):
        finite = predicate
    return Clause(sentence, predicate, tuple(auxiliaries), tuple(dependents), finite)


def _governed(token: Token, below: list[list[Token]]) -> Token | None:
    """The verb that a modal, *stare*, *venire* or *andare* governs, where the tree makes the governor the head."""
    if token.upos not in _VERBAL:
        return None
    if token.lemma in WORDS.modals:
        wanted = "Inf"
    elif token.lemma == "stare":
        wanted = "Ger"
    elif token.lemma in ("venire", "andare", "essere"):
        wanted = "Part"
    else:
        return None
    for child in below[token.id]:
        if (
            child.id > token.id
            and child.upos == "VERB"
            and child.feats.get("VerbForm") == wanted
            and child.relation in _GOVERNED
            and (wanted != "Part" or child.id - token.id <= 3)
            and not any(t.relation in ("mark", "case") for t in below[child.id] if t.id < child.id)
        ):
            return child
    return None


def _stray_auxiliary(sentence: Sentence, predicate: Token) -> Token | None:
    """The auxiliary right before a bare participle, when the tree hangs it elsewhere."""
    if predicate.feats.get("VerbForm") != "Part":
        return None
    for at in range(predicate.id - 2, -1, -1):
        token = sentence.tokens[at]
        if token.upos == "AUX":
            return token
        if token.upos != "ADV":
            return None
    return None


def _by_id(token: Token) -> int:
    return token.id
