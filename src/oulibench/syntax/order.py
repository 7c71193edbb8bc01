"""The order of subject, verb and object in the main clause, in Italian free.

Subject and object are decided together, one of each: what a parser thinks of either noun phrase alone is only evidence,
since «La mela mangia Luca» fools it. In this order:

1. case forms (*io*, *tu* are subjects, *me*, *te* objects), agreement with the finite verb in person and number, and of
   an object with the clitic that doubles it, decide where they leave only one assignment;
2. else what acts and what is acted upon (animacy, the verb's class, the parser's own selection score where it offers
   one) and the parser's relations (their scores where it offers them, else the relations themselves) are weighed up.

Not every clause has an order. Without a subject (Italian drops pronouns), without an object, with a clitic as its only
object, with a copula or in the passive there is none, and the reading says why.
"""

from dataclasses import dataclass
from math import inf
from typing import Literal

from oulibench.syntax.agreement import persons
from oulibench.syntax.classes import ALIVE, WORDS, animacy, fold, noun_class, verb_classes
from oulibench.syntax.clause import Clause, is_clitic, main_clause
from oulibench.syntax.tree import Sentence, Token
from oulibench.syntax.voice import VOICE_OF, clause_kind

Order = Literal["SVO", "SOV", "VSO", "VOS", "OSV", "OVS"]
ORDERS: tuple[Order, ...] = ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of evidence counts, in units of log-probability; bounds keep one from drowning the others.

    `labels` weighs a parser's relation scores, `assigned` its relations where it has no scores. `astray` is the least
    log-probability at which a noun phrase that hangs elsewhere is taken for the verb's.
    """

    labels: float = 0.7
    labels_bound: float = 3.0
    selection: float = 1.0
    selection_bound: float = 3.0
    animacy: float = 3.2
    assigned: float = 1.5
    position: float = 0.3
    astray: float = -3.0


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class OrderReading:
    """The constituent order of a main clause.

    `order` is None where the clause has none, and then `reason` says why. `subject`, `verb` and `object` are the
    identifiers of the heads found. `decided_by` says what told subject from object, `notes` name what is special
    (clitic doubling, dislocation). `margin` is how clearly the assignment won (0: a toss-up; infinite: by agreement).
    """

    order: Order | None
    subject: int | None
    verb: int | None
    object: int | None
    reason: str | None
    decided_by: str
    notes: tuple[str, ...] = ()
    margin: float = 0.0


def read_order(sentence: Sentence, *, clausal_objects: bool = False, weights: Weights = WEIGHTS) -> OrderReading:
    """The order of subject, verb and object in the main clause, the verb being the main predicate.

    `clausal_objects`: whether a clause counts as the object («Luca dice che piove» is then SVO); it has no order else.
    """
    clause = main_clause(sentence)
    if clause is None:
        return OrderReading(None, None, None, None, "the sentence has no verb of its own", "")
    verb = clause.predicate.id
    if clause.is_copular:
        return OrderReading(None, None, verb, None, "the predicate is nominal: a copula takes no object", "")
    if (clause.auxiliaries or clause.clitics) and VOICE_OF[clause_kind(clause)[0]] == "passive":
        return OrderReading(None, None, verb, None, "the clause is passive: it has no object", "")
    return _Roles(clause, weights).read(clausal_objects)


_NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM", "X", "SYM", "ADJ", "DET"))
_HEADS = frozenset(("NOUN", "PROPN", "PRON", "X"))
_ROLES = frozenset(("nsubj", "obj"))
_OPEN = frozenset(("dislocated", "vocative", "obl", "iobj", "appos", "xcomp", "nmod", "flat", "conj", "dep"))
_INSIDE = frozenset(("nmod", "appos", "flat", "compound", "conj", "dislocated", "nsubj", "obj", "dep"))
_DOUBLING = {"lo": ("Masc", "Sing"), "la": ("Fem", "Sing"), "li": ("Masc", "Plur"), "le": ("Fem", "Plur")}
_OBJECT_CLITICS = frozenset((*_DOUBLING, "l'", "ne"))
_THIRD = ("3", "")
_CANDIDATES = 6  # noun phrases called subject or object that are weighed in pairs; those nearest to the verb
_NEAR = 60  # words from the verb within which a noun phrase that hangs elsewhere is looked for
_DISJUNCTIONS = frozenset(("o", "od", "né", "oppure"))


class _Roles:
    """Works out subject and object of one clause; lives for one call."""

    def __init__(self, clause: Clause, weights: Weights) -> None:
        self.clause = clause
        self.sentence = clause.sentence
        self.weights = weights
        self.verb = clause.predicate
        self.below = clause.below
        self.numbers: dict[int, tuple[str, str]] = {}
        self.object_clitic = next(
            (t for t in clause.clitics if fold(t.form) in _OBJECT_CLITICS and t.relation != "expl"), None
        )

    # -------------------------------------------------------------------------------------------------- the reading

    def read(self, clausal_objects: bool) -> OrderReading:
        labelled = [t for t in self.clause.dependents if t.relation in _ROLES and self._nominal(t)]
        if len(labelled) > _CANDIDATES:
            labelled = sorted(labelled, key=lambda t: abs(t.id - self.verb.id))[:_CANDIDATES]
        pairs = self._pairs(labelled)
        if pairs:
            return self._best(pairs)
        only = labelled[0] if labelled else None
        clausal = next((t for t in self.clause.dependents if t.relation == "ccomp"), None)
        if only is not None and self._is_subject(only):
            if clausal is not None:
                if clausal_objects:
                    return self._ordered(only, clausal, "the object is a clause", inf)
                return self._none("the object is a clause", subject=only)
            clitic = self.object_clitic or next((t for t in self.clause.clitics if t.relation == "obj"), None)
            if clitic is not None:
                return self._none(f"the only object is the clitic «{clitic.form}»", subject=only)
            return self._none("no object", subject=only)
        if only is not None:
            return self._none("no subject (Italian leaves it out)", object_=only)
        if any(t.relation == "csubj" for t in self.clause.dependents):
            return self._none("the subject is a clause")
        return self._none("no subject and no object")

    def _none(self, reason: str, subject: Token | None = None, object_: Token | None = None) -> OrderReading:
        s, o = (token.id if token is not None else None for token in (subject, object_))
        return OrderReading(None, s, self.verb.id, o, reason, "")

    def _best(self, pairs: list[tuple[Token, Token]]) -> OrderReading:
        """The best assignment (subject, object) over pairs of noun phrases, each taken both ways."""
        both = [(a, b) for pair in pairs for a, b in (pair, pair[::-1])]
        possible = [(a, b) for a, b in both if self._agrees(a, b)]
        if not possible:
            tokens = [token for pair in pairs for token in pair]
            objects = [token for token in tokens if token.relation == "obj"]
            return self._none("no subject (no noun phrase agrees with the verb)", object_=(objects or tokens)[0])
        if len(pairs) > 1:  # first which two they are, then which is which
            strength = {pair: self._strength(*pair) for pair in pairs}
            best = max((p for p in pairs if p in possible or p[::-1] in possible), key=lambda pair: strength[pair])
            possible = [pair for pair in (best, best[::-1]) if pair in possible]
        if len(possible) == 1:
            return self._ordered(*possible[0], self._agreement(*possible[0]), inf)
        weighed = [(*self._evidence(a, b), a, b) for a, b in possible]
        total, why, subject, object_ = max(weighed, key=lambda row: row[0])
        return self._ordered(subject, object_, why, (2 * total - weighed[0][0] - weighed[1][0]) / 2)

    def _strength(self, a: Token, b: Token) -> float:
        """How likely these two noun phrases are subject and object, either way round."""
        scores, verb = self.sentence.scores, self.verb.id
        if scores is None:
            relations = {a.relation, b.relation}
            return len(relations & _ROLES) - 0.01 * (abs(a.id - verb) + abs(b.id - verb))
        ways = (
            scores.label_logprob(s.id, verb, "nsubj") + scores.label_logprob(o.id, verb, "obj")
            for s, o in ((a, b), (b, a))
        )
        return max(ways) + scores.arc_logprob(a.id, verb) + scores.arc_logprob(b.id, verb)

    def _ordered(self, subject: Token, object_: Token, why: str, margin: float) -> OrderReading:
        verb = self.verb
        first = min([verb.id, *(token.id for token in self.clause.auxiliaries)])
        for token in (subject, object_):
            if first < token.id < verb.id:
                return self._none(f"«{token.form}» stands inside the verb group", subject, object_)
        notes = []
        if self.object_clitic is not None:
            notes.append(f"clitic doubling: «{self.object_clitic.form}» takes up «{object_.form}»")
        for token, name in ((subject, "subject"), (object_, "object")):
            if self._set_off(token):
                notes.append(f"dislocation: the {name} «{token.form}» is set off by a comma")
        letters = "".join(letter for _, letter in sorted(((subject.id, "S"), (verb.id, "V"), (object_.id, "O"))))
        order = next(order for order in ORDERS if order == letters)
        return OrderReading(order, subject.id, verb.id, object_.id, None, why, tuple(notes), margin)

    # --------------------------------------------------------------------------------------------------- candidates

    def _nominal(self, token: Token) -> bool:
        return token.upos in _NOMINAL and not is_clitic(self.sentence, token)

    def _free(self, token: Token) -> bool:
        """A noun phrase without a preposition that names no time and is no vocative set off by a comma."""
        if token.upos not in _HEADS or is_clitic(self.sentence, token) or noun_class(token) == "time":
            return False
        if token.relation == "vocative" and self._set_off(token):
            return False
        return not any(child.relation in ("case", "mark") for child in self.below[token.id] if child.id < token.id)

    def _pairs(self, labelled: list[Token]) -> list[tuple[Token, Token]]:
        """The pairs of noun phrases that may be subject and object."""
        if len(labelled) > 1:
            return [(a, b) for i, a in enumerate(labelled) for b in labelled[i + 1 :]]
        taken = [token.id for token in labelled]
        others = [t for t in self.clause.dependents if t.relation in _OPEN and t.id not in taken and self._free(t)]
        if labelled:
            found = others or self._hidden(labelled[0]) or self._astray(labelled[0])
            return [(labelled[0], other) for other in found]
        return [(others[0], others[1])] if len(others) == 2 else []

    def _astray(self, noun: Token) -> list[Token]:
        """The noun phrase that hangs elsewhere in the tree, but nearly hung on the verb as its subject or object."""
        scores, verb = self.sentence.scores, self.verb.id
        if scores is None:
            return []
        best, found = self.weights.astray, None
        for token in self.sentence.tokens:
            if (
                abs(token.id - verb) > _NEAR
                or token.id in (noun.id, verb)
                or token.head == verb
                or not self._free(token)
            ):
                continue
            arc = scores.arc_logprob(token.id, verb)
            if arc > best:
                arc += max(scores.label_logprob(token.id, verb, label) for label in _ROLES)
                if arc > best:
                    best, found = arc, token
        return [found] if found is not None else []

    def _hidden(self, noun: Token) -> list[Token]:
        """Second noun phrases that the parser hung inside the first, right after it («La mela Luca mangia»)."""
        found = []
        pending = list(self.below[noun.id])
        while pending:
            child = pending.pop(0)
            if child.upos in ("VERB", "AUX"):
                continue  # a relative clause keeps its own
            pending += self.below[child.id]
            above = self.sentence.tokens[child.head - 1]
            if (
                child.relation in _INSIDE
                and child.id > above.id
                and self._free(child)
                and self._starts_anew(above, child)
            ):
                found.append(child)
        return found

    def _starts_anew(self, noun: Token, child: Token) -> bool:
        """Whether the child begins a noun phrase of its own: it has a determiner, or is a name after a common noun.

        Neither a coordinate nor an apposition set off by a comma does.
        """
        left = [t for t in self.below[child.id] if t.id < child.id]
        first = min([child.id, *(t.id for t in left)])
        set_off = child.relation in ("appos", "conj") and self.sentence.tokens[first - 2].upos == "PUNCT"
        if set_off or any(t.relation == "cc" for t in left):
            return False
        if child.upos == "PRON" or any(t.upos == "DET" for t in left):
            return True
        if noun.upos == "PROPN" and child.form.islower():
            return True
        return child.upos == "PROPN" and noun.upos == "NOUN" and noun_class(noun) not in ("person", "group", "place")

    def _set_off(self, token: Token) -> bool:
        """Whether a comma stands between the noun phrase and the verb."""
        low, high = sorted((token.id, self.verb.id))
        return any(t.form == "," and t.head in (token.id, self.verb.id) for t in self.sentence.tokens[low : high - 1])

    # ---------------------------------------------------------------------------------------------------- agreement

    def _person_number(self, noun: Token) -> tuple[str, str]:
        """Person and number that a verb must have to agree with the noun phrase; the number "" where either will do."""
        if noun.id not in self.numbers:
            self.numbers[noun.id] = self._work_out_number(noun)
        return self.numbers[noun.id]

    def _work_out_number(self, noun: Token) -> tuple[str, str]:
        members = [
            noun,
            *(t for t in self.below[noun.id] if t.deprel == "conj" and t.upos in _NOMINAL and t.id > noun.id),
        ]
        person = min(WORDS.pronouns.get(fold(token.form), _THIRD)[0] for token in members)
        if len(members) > 1:
            joined = (fold(t.form) for token in members[1:] for t in self.below[token.id] if t.relation == "cc")
            return person, "" if _DISJUNCTIONS.intersection(joined) else "Plur"
        form = fold(noun.form)
        if form in WORDS.pronouns:
            return WORDS.pronouns[form]
        if noun.lemma.lower() in WORDS.collectives and any(t.relation == "nmod" for t in self.below[noun.id]):
            return person, ""
        for child in self.below[noun.id]:
            if child.id < noun.id and child.upos in ("DET", "NUM"):
                determiner = fold(child.form)
                if determiner in WORDS.determiners_singular:
                    return person, "Sing"
                if determiner in WORDS.determiners_plural or (child.upos == "NUM" and determiner != "1"):
                    return person, "Plur"
        number = noun.feats.get("Number", "")
        if noun.upos == "PROPN" and not number and (noun.id > 1 or noun_class(noun) in ("name", "place")):
            number = "Sing"
        return person, number

    def _agrees(self, subject: Token, object_: Token) -> bool:
        """Whether case, agreement and the clitic that doubles the object allow this assignment."""
        if fold(subject.form) in WORDS.accusative or fold(object_.form) in WORDS.nominative:
            return False
        if not self._can_be_subject(subject):
            return False
        doubling = _DOUBLING.get(fold(self.object_clitic.form)) if self.object_clitic is not None else None
        if doubling is None:
            return True
        gender, number = doubling
        return object_.feats.get("Gender", gender) == gender and self._person_number(object_)[1] in ("", number)

    def _can_be_subject(self, noun: Token) -> bool:
        """Whether the finite verb may agree with the noun phrase, as far as its form and features tell."""
        finite = self.clause.finite
        if finite is None:
            return True
        said = self.clause.agreement
        possible = {*persons(finite.form, finite.lemma), said}
        if fold(finite.form) == "sono":
            possible = {said}
        person, number = self._person_number(noun)
        return any((p or person) == person and (not number or (n or number) == number) for p, n in possible)

    def _is_subject(self, noun: Token) -> bool:
        """Whether a lone noun phrase is the subject: its form says so, or its label does and it agrees."""
        if fold(noun.form) in WORDS.nominative:
            return True
        person, number = self.clause.agreement
        wanted, of = self._person_number(noun)
        return noun.relation == "nsubj" and person in ("", wanted) and (not number or of in ("", number))

    def _agreement(self, subject: Token, object_: Token) -> str:
        if fold(subject.form) in WORDS.nominative:
            return f"case: «{subject.form}» is a subject form"
        if fold(object_.form) in WORDS.accusative:
            return f"case: «{object_.form}» is an object form"
        shown = (self.clause.finite or self.verb).form
        if not self._can_be_subject(object_) or self.object_clitic is None:
            return f"agreement: «{shown}» agrees with «{subject.form}» and not with «{object_.form}»"
        return f"agreement: the clitic «{self.object_clitic.form}» agrees with «{object_.form}»"

    # ----------------------------------------------------------------------------------------------------- evidence

    def _evidence(self, subject: Token, object_: Token) -> tuple[float, str]:
        """The weight of evidence for this assignment, and in words what weighs most."""
        weights, scores, verb = self.weights, self.sentence.scores, self.verb.id
        pair = f"«{subject.form}» acts on «{object_.form}» rather than the reverse"
        parts = {
            f"animacy: {pair}": weights.animacy * (self._fitness(subject) - self._fitness(object_)),
            "position: the subject comes first": weights.position * (1 if subject.id < object_.id else -1),
        }
        if scores is None:
            assigned = (subject.relation == "nsubj") + (object_.relation == "obj")
            assigned -= (subject.relation == "obj") + (object_.relation == "nsubj")
            parts["the parser's relations"] = weights.assigned * assigned
        else:
            labels = [
                max(scores.label_logprob(t.id, verb, label), -12.0)
                for t, label in ((subject, "nsubj"), (object_, "obj"), (subject, "obj"), (object_, "nsubj"))
            ]
            parts["the parser's relations"] = weights.labels * _bounded(
                labels[0] + labels[1] - labels[2] - labels[3], weights.labels_bound
            )
            selected = scores.selection(subject.id, verb), scores.selection(object_.id, verb)
            if selected[0] is not None and selected[1] is not None:
                parts[f"selection by «{self.verb.form}»: {pair}"] = weights.selection * _bounded(
                    selected[0] - selected[1], weights.selection_bound
                )
        return sum(parts.values()), max(parts, key=lambda name: parts[name])

    def _fitness(self, noun: Token) -> float:
        """How well the noun phrase suits the verb as its subject rather than its object."""
        members = [noun, *(t for t in self.below[noun.id] if t.deprel == "conj" and t.id > noun.id)]
        alive = max(animacy(token) for token in members)
        classes = verb_classes(self.verb.lemma)
        of = noun_class(noun)
        if "psych" in classes:
            return -1.0 if alive > ALIVE else 1.0 if of in ("force", "event") else 0.8
        if "affect" in classes:
            return 2.2 if of == "force" else 0.8 if of in ("event", "vehicle") else alive
        return alive


def _bounded(value: float, bound: float) -> float:
    return max(-bound, min(bound, value))
