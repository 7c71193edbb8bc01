"""The main clause of a sentence: its predicate, what stands around it, and how persons and numbers agree.

Made to survive a parser's errors: a vocative or an interjection as root, a modal or *venire* read as the head of the
verb it governs, clitics that hang on an auxiliary, an auxiliary that hangs elsewhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from oulibench.syntax.agreement import is_finite, is_gerund, is_infinitive, resolve
from oulibench.syntax.classes import WORDS, fold
from oulibench.syntax.tree import Sentence, Token

OBJECT_CLITICS = frozenset(("lo", "la", "li", "le", "l'", "ne", "gli"))
_BEFORE_CLITICS = frozenset(("me", "te", "se", "ce", "ve"))
_LOOKED_THROUGH = ("parataxis", "conj", "ccomp", "acl", "acl:relcl", "appos", "advcl", "xcomp", "discourse", "vocative")
_GOVERNED = frozenset(("xcomp", "ccomp", "advcl", "acl", "amod", "obj"))
FORMS_OF_ESSERE = frozenset(("fui", "fosti", "fu", "fummo", "foste", "furono"))  # rare enough to be taken for nouns
_DEEPEST = 12  # links from the root at which a verb can still be the main one; bounds the cost in absurd trees
_VERBAL = frozenset(("VERB", "AUX"))


@dataclass(frozen=True)
class Clause:
    """The main clause. `dependents` are the words that hang on the predicate or on its auxiliaries, in order.

    `auxiliaries` are the verbs that belong to the predicate: auxiliaries, modals and copulas, in order. `finite` is the
    verb that agrees with the subject, if any word of the clause is finite. `below` is what
    `children_by_head` gives for the sentence.
    """

    sentence: Sentence
    predicate: Token
    auxiliaries: tuple[Token, ...]
    dependents: tuple[Token, ...]
    finite: Token | None
    below: list[list[Token]]

    @property
    def last_auxiliary(self) -> Token | None:
        """The auxiliary that governs the predicate directly: the nearest before it (or the first, in inversion)."""
        before = [token for token in self.auxiliaries if token.id < self.predicate.id]
        return before[-1] if before else (self.auxiliaries[0] if self.auxiliaries else None)

    @property
    def is_participle(self) -> bool:
        """Whether the predicate is a past participle with its auxiliary."""
        predicate, governor = self.predicate, self.last_auxiliary
        if governor is None:
            return False
        if predicate.upos == "VERB":
            if predicate.feats.get("VerbForm") == "Part":
                return True
            auxiliary = governor.lemma in ("essere", "avere", "venire") or fold(governor.form) in FORMS_OF_ESSERE
            return auxiliary and ends_like_participle(predicate)
        return governor.relation == "aux" and predicate.upos != "ADJ" and ends_like_participle(predicate)

    @property
    def is_copular(self) -> bool:
        """Whether the predicate is a noun, adjective, pronoun or adverb with a copula."""
        return self.predicate.upos not in _VERBAL and bool(self.auxiliaries) and not self.is_participle

    @cached_property
    def clitics(self) -> tuple[Token, ...]:
        """The clitic pronouns of the predicate, in order: those right before its verbs, or written onto one of them.

        Found by position, because a clitic never stands elsewhere and a parser may hang it on another verb.
        """
        tokens = self.sentence.tokens
        found: dict[int, Token] = {}
        for verb in (*self.auxiliaries, self.predicate):
            at = verb.id - 2
            while (
                at >= 0 and is_clitic(self.sentence, tokens[at]) and not _written_together(tokens[at], tokens, at - 1)
            ):
                found[at] = tokens[at]
                at -= 1
            at = verb.id
            while at < len(tokens) and _written_together(tokens[at], tokens, at - 1) and _is_clitic_form(tokens[at]):
                found[at] = tokens[at]
                at += 1
        return tuple(found[at] for at in sorted(found))

    @cached_property
    def agreement(self) -> tuple[str, str]:
        """Person and number of the finite verb; "" for what is unknown."""
        if self.finite is None:
            return "", ""
        tokens, finite = self.sentence.tokens, self.finite
        adjacent = self.last_auxiliary is finite and (self.is_participle or self.predicate.upos == "ADJ")
        imperative = finite.id < len(tokens) and _written_together(tokens[finite.id], tokens, finite.id - 1)
        return resolve(finite, self.predicate if adjacent else None, imperative=imperative)


def ends_like_participle(token: Token) -> bool:
    """Whether the form ends as participles do (so does *presente*, but not in the singular)."""
    ending = fold(token.form)[-2:]
    if ending in ("te", "se"):
        return token.feats.get("Number") != "Sing"
    return ending in ("to", "ta", "ti", "so", "sa", "si")


def children_by_head(sentence: Sentence) -> list[list[Token]]:
    """`result[id]` holds the words that hang on word `id`, in order (0: the root)."""
    below: list[list[Token]] = [[] for _ in range(len(sentence.tokens) + 1)]
    for token in sentence.tokens:
        below[token.head].append(token)
    return below


def is_clitic(sentence: Sentence, token: Token) -> bool:
    """Whether the word is a clitic pronoun (*me lo*, but not the stressed *me* of «per me»)."""
    form = fold(token.form)
    if form in _BEFORE_CLITICS:  # me, te… are clitics only before another clitic
        following = sentence.tokens[token.id] if token.id < len(sentence.tokens) else None
        return following is not None and following.upos == "PRON" and fold(following.form) in OBJECT_CLITICS
    return _is_clitic_form(token)


def _is_clitic_form(token: Token) -> bool:
    form = fold(token.form)
    if token.upos == "PRON":
        return form in WORDS.reflexive_clitics or form in OBJECT_CLITICS
    return token.upos in ("ADV", "PART") and form in WORDS.reflexive_clitics


def _written_together(token: Token, tokens: tuple[Token, ...], before: int) -> bool:
    """Whether the word is part of one multiword token with the word at index `before`."""
    return before >= 0 and (token.start, token.end) == (tokens[before].start, tokens[before].end)


def main_clause(sentence: Sentence) -> Clause | None:
    """The main clause; None where there is none: a title, an exclamation, a participle alone, no words."""
    below = children_by_head(sentence)
    if not below[0]:
        return None
    root = below[0][0]
    clausal = _is_clausal(root, below) or _is_verb_unseen(sentence, root, below)
    if clausal and not _is_bare_participle(sentence, root, below):
        return _clause(sentence, _above_subordinator(root, below), below)
    for relation in _LOOKED_THROUGH:
        for child in below[root.id]:
            if child.deprel == relation and _is_clausal(child, below) and _stands_alone(child, below):
                return _clause(sentence, child, below)
    return _stray_clause(sentence, below)


def _stray_clause(sentence: Sentence, below: list[list[Token]]) -> Clause | None:
    """The clause of the first finite verb that hangs somewhere in a verbless tree, under no conjunction or relative."""
    for token in sentence.tokens:
        if token.upos not in _VERBAL or not is_finite(token):
            continue
        above = token
        for _ in range(_DEEPEST):
            if not above.head or not _stands_alone(above, below, finite=True):
                break
            above = sentence.tokens[above.head - 1]
        if above.head:
            continue
        if token.upos == "VERB":
            return _clause(sentence, token, below)
        dependents = [child for child in (*below[above.id], *below[token.id]) if child is not token]
        return Clause(sentence, above, (token,), tuple(sorted(dependents, key=_by_id)), token, below)
    return None


def _above_subordinator(root: Token, below: list[list[Token]]) -> Token:
    """The main verb where the parser made a clause with a conjunction the root («Quando piove, resto a casa»)."""
    children = below[root.id]
    first = next((child for child in children if child.upos != "PUNCT"), root)
    if first.id > root.id or not (first.relation == "mark" or fold(first.form) in WORDS.subordinators):
        return root
    for child in children:
        if child.deprel in ("conj", "parataxis", "ccomp") and child.id > root.id and _is_clausal(child, below):
            joined = any(t.relation == "cc" for t in below[child.id])
            if not joined and _stands_alone(child, below):
                return child
    return root


def _is_clausal(token: Token, below: list[list[Token]]) -> bool:
    return token.upos in _VERBAL or any(child.relation in ("cop", "aux") for child in below[token.id])


def _is_verb_unseen(sentence: Sentence, token: Token, below: list[list[Token]]) -> bool:
    """Whether a word is a verb though tagged otherwise: it is inflected as one, carries a pronoun, or has an object."""
    tokens = sentence.tokens
    following = tokens[token.id] if token.id < len(tokens) else None
    if following is not None and following.upos == "PRON" and _written_together(following, tokens, token.id - 1):
        return True
    if "VerbForm" in token.feats or fold(token.form) in FORMS_OF_ESSERE:
        return True
    return token.upos not in ("NOUN", "PROPN") and any(child.deprel == "obj" for child in below[token.id])


def _is_bare_participle(sentence: Sentence, token: Token, below: list[list[Token]]) -> bool:
    """Whether a participle stands without any auxiliary or clitic, as in a headline: it makes no main clause."""
    if token.upos != "VERB" or token.feats.get("VerbForm") != "Part" or not ends_like_participle(token):
        return False
    if token.form.lower() in (f"{token.lemma[:-3]}{ending}" for ending in "oiae"):
        return False  # «sposta», taken for a participle
    if any(c.relation in ("aux", "cop") or c.deprel == "nsubj" or is_clitic(sentence, c) for c in below[token.id]):
        return False
    return _governed(token, below) is None and _stray_auxiliary(sentence, token) is None


def _stands_alone(token: Token, below: list[list[Token]], *, finite: bool = False) -> bool:
    """Whether a verb below a verbless root can be the main verb: finite, no subordinator, no relative pronoun."""
    if not finite and not any(is_finite(t) for t in (token, *below[token.id]) if t.upos in _VERBAL):
        return False
    return not any(
        child.relation == "mark"
        or child.upos == "SCONJ"
        or child.feats.get("PronType") == "Rel"
        or any(deeper.feats.get("PronType") == "Rel" for deeper in below[child.id])
        for child in below[token.id]
        if child.id < token.id
    )


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
    finite = next((token for token in auxiliaries if is_finite(token)), None)
    if finite is None and not auxiliaries and not is_infinitive(predicate) and not is_gerund(predicate):
        finite = predicate  # a main verb of its own is finite, whatever its features say
    return Clause(sentence, predicate, tuple(auxiliaries), tuple(dependents), finite, below)


def _governed(token: Token, below: list[list[Token]]) -> Token | None:
    """The verb that a modal, *stare*, *venire* or *andare* governs, where the tree makes the governor the head."""
    if token.upos not in _VERBAL and fold(token.form) not in FORMS_OF_ESSERE:
        return None
    fits: Callable[[Token], bool]
    if token.lemma in WORDS.modals:
        fits = is_infinitive
    elif token.lemma == "stare":
        fits = is_gerund
    elif token.lemma in ("venire", "andare", "essere") or fold(token.form) in FORMS_OF_ESSERE:
        fits = _is_near_participle(token)
    else:
        return None
    for child in below[token.id]:
        if (
            child.id > token.id
            and child.relation in _GOVERNED
            and fits(child)
            and not any(t.relation in ("mark", "case") for t in below[child.id] if t.id < child.id)
        ):
            return child
    return None


def _is_near_participle(governor: Token) -> Callable[[Token], bool]:
    """A participle near its auxiliary, or with *venire* an adjective that looks like one and names no state."""

    def fits(token: Token) -> bool:
        if token.id - governor.id > 3:
            return False
        if token.upos == "VERB":
            return token.feats.get("VerbForm") == "Part"
        adjective = token.upos == "ADJ" and governor.lemma == "venire" and ends_like_participle(token)
        return adjective and fold(token.form)[:-1] + "o" not in WORDS.stative

    return fits


def _stray_auxiliary(sentence: Sentence, predicate: Token) -> Token | None:
    """The auxiliary right before a bare participle, when the tree hangs it elsewhere."""
    if predicate.feats.get("VerbForm", "Part") != "Part" or not ends_like_participle(predicate):
        return None
    for at in range(predicate.id - 2, -1, -1):
        token = sentence.tokens[at]
        if token.upos == "AUX" or fold(token.form) in FORMS_OF_ESSERE:
            return token
        if token.upos != "ADV":
            return None
    return None


def _by_id(token: Token) -> int:
    return token.id
