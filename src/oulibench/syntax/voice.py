"""The voice of the main clause: active, passive or reflexive.

Reflexive is the middle in the wide sense: direct (*si lava*), indirect (*si lava le mani*), reciprocal (*si amano*) and
pronominal (*si accorge*). The rules run in this order and the first that holds decides:

1. *essere stato*, *venire* or *andare* with the participle, or *essere* with the participle of a verb whose perfect
   does not take *essere*: passive;
2. a clitic *si*: passive (*si vendono case*), impersonal and so active (*si va*, *si tratta di*), or reflexive, by the
   class of the verb, by its subject and where that stands;
3. another clitic that agrees with the finite verb in person and number, or *se stesso*: reflexive; *ci* and *vi* that
   name a place or a thing do not count (*ci andiamo*, *ci pensiamo noi*);
4. else active: also *essere* with an adjective or a participle of state («la porta è aperta» says how the door is; «è
   aperta da Luca» is passive), and with the participle of an unaccusative verb («la lettera è arrivata»).

The relations `expl:pass` and `expl:impers` are evidence where a tree has them; plain `expl` says nothing, because some
treebanks fold all kinds into it, and the kind of *si* is then read off the clause in the same way for every tree.
"""

from dataclasses import dataclass
from typing import Literal

from oulibench.syntax.classes import ALIVE, WORDS, animacy, fold, noun_class, takes_essere, verb_classes
from oulibench.syntax.clause import FORMS_OF_ESSERE, OBJECT_CLITICS, Clause, ends_like_participle, main_clause
from oulibench.syntax.tree import Sentence, Token

Voice = Literal["active", "passive", "reflexive"]

VOICE_OF: dict[str, Voice] = {
    "passive with essere": "passive",
    "passive with venire": "passive",
    "passive with andare": "passive",
    "si passivante": "passive",
    "direct reflexive": "reflexive",
    "indirect reflexive": "reflexive",
    "reciprocal": "reflexive",
    "pronominal": "reflexive",
    "impersonal reflexive": "reflexive",
    "impersonal si": "active",
    "si tratta di": "active",
    "copular": "active",
    "unaccusative": "active",
    "plain active": "active",
}
"""Every kind of clause that is told apart, with its voice."""


@dataclass(frozen=True, slots=True)
class VoiceReading:
    """The voice of a main clause. `voice` is None where there is no verb to have one.

    `kind` is a key of `VOICE_OF` (or `no verb`), `predicate` the identifier of the main predicate (None: no verb), and
    `decided_by` says in one sentence what decided.
    """

    voice: Voice | None
    kind: str
    predicate: int | None
    decided_by: str


def read_voice(sentence: Sentence) -> VoiceReading:
    """The voice of the main clause; of coordinated main clauses the first counts, and the reading says so."""
    clause = main_clause(sentence)
    if clause is None:
        return VoiceReading(None, "no verb", None, "the sentence has no verb of its own")
    kind, why = clause_kind(clause)
    for token in clause.dependents:
        if token.deprel == "conj" and token.upos == "VERB" and token.head == clause.predicate.id:
            why += f"; of the coordinated clauses the first counts, not «{token.form}»"
            break
    return VoiceReading(VOICE_OF[kind], kind, clause.predicate.id, why)


def clause_kind(clause: Clause) -> tuple[str, str]:
    """The kind of the clause (a key of `VOICE_OF`) and what decided it."""
    si = next((token for token in clause.clitics if fold(token.form) in ("si", "se", "s'")), None)
    found = _analytic_passive(clause, si is not None)
    if found is None and si is not None:
        found = _si(clause, si)
    return found or _agreeing_reflexive(clause) or _itself(clause) or _active(clause)


_Decision = tuple[str, str]


# ------------------------------------------------------------------------------------------------------------- passive


def _analytic_passive(clause: Clause, si: bool) -> _Decision | None:
    predicate = clause.predicate
    chain = [token for token in clause.auxiliaries if token.id < predicate.id] or list(clause.auxiliaries)
    nominal = predicate.upos == "ADJ"
    if not chain or not (clause.is_participle or (nominal and ends_like_participle(predicate))):
        return None
    governor = chain[-1]
    lemma = "essere" if fold(governor.form) in FORMS_OF_ESSERE else governor.lemma
    past = governor.feats.get("VerbForm") == "Part"
    shown = f"«{governor.form} {predicate.form}»"
    if lemma == "venire" and not past:
        return "passive with venire", f"{shown}: venire with a participle"
    if lemma == "andare" and (not past or predicate.lemma in WORDS.lost):
        return "passive with andare", f"{shown}: andare with a participle (what must be done, or loss)"
    if fold(governor.form) in ("stato", "stata", "stati", "state") and len(chain) > 1 and not nominal:
        return "passive with essere", f"«{chain[-2].form} {governor.form} {predicate.form}»: stato with a participle"
    if lemma != "essere":
        return None
    if si or takes_essere(predicate.lemma) or _agreeing_clitic(clause) is not None:
        return None  # arrivare; the compound tense of a verb with si, which its clitic decides
    agent = _agent(clause)
    if agent is not None:
        return "passive with essere", f"{shown} with the agent «{agent.form}»"
    classes = verb_classes(predicate.lemma)
    if "labile" in classes:
        return None
    if "ambivalent" in classes and (governor.deprel != "aux:pass" or _subject(clause) is None):
        return None  # non è servito a niente
    if (nominal and governor.deprel != "aux:pass") or fold(predicate.form)[:-1] + "o" in WORDS.stative:
        return None  # la porta è aperta
    return "passive with essere", f"{shown}: essere with the participle of a verb whose perfect takes avere"


def _agent(clause: Clause) -> Token | None:
    """Who acts in a passive clause: a noun phrase with *da* that names someone or something that can act.

    The relation `obl:agent` is believed unless the verb takes *essere* by itself («sono scesa dal treno»).
    """
    believed = "labile" not in verb_classes(clause.predicate.lemma)
    acting = ("person", "name", "animal", "group", "force") if believed else ("person", "name", "animal", "group")
    for token in clause.dependents:
        if token.deprel == "obl:agent" and believed:
            return token
        if token.relation == "obl" and token.id > clause.predicate.id and _after_da(clause, token):
            of = noun_class(token)
            if of in acting or (of == "" and token.upos == "PROPN"):
                return token
    return None


def _after_da(clause: Clause, noun: Token) -> bool:
    return any(t.relation == "case" and t.lemma == "da" for t in clause.below[noun.id])


# ------------------------------------------------------------------------------------------------------------------ si

_SI_MEANS = {
    "si passivante": "makes the clause passive",
    "impersonal si": "stands for people in general",
    "si tratta di": "has no subject in «si tratta di»",
    "impersonal reflexive": "after «ci» stands for people in general, with a reflexive verb",
    "direct reflexive": "turns the action back on its subject",
    "indirect reflexive": "turns the action back on its subject, beside an object",
    "reciprocal": "turns the action of several back on one another",
    "pronominal": "belongs to a pronominal verb",
}


def _si(clause: Clause, si: Token) -> _Decision:
    kind = _kind_of_si(clause, si)
    return kind, f"«{si.form}» with «{clause.predicate.form}» {_SI_MEANS[kind]}"


def _kind_of_si(clause: Clause, si: Token) -> str:
    lemma = clause.predicate.lemma
    classes = verb_classes(lemma)
    subject, object_ = _subject(clause), _object(clause)
    number = clause.agreement[1]
    if clause.finite is None and clause.predicate.feats.get("VerbForm") in ("Inf", "Ger"):
        return _reflexive_kind(clause)
    if lemma == "trattare" and subject is None:
        return "si tratta di"
    if clause.is_copular or (lemma == "essere" and subject is None):
        return "impersonal si"
    beside = _si_beside_clitics(clause, si, subject, classes)
    if beside is not None:
        return beside
    if object_ is not None and object_.relation == "obj":
        if subject is None and not _can_agree(object_, number):
            return _reflexive_kind(clause)  # si lava le mani: the object cannot be the subject
        if subject is not None and (classes & {"reflexive", "pronominal"} or animacy(subject) > ALIVE):
            return _reflexive_kind(clause)  # Anna si asciuga i capelli
        if subject is None and lemma in WORDS.light_verbs and number == "Sing" and _bare(clause, object_):
            return "impersonal si"  # si tiene conto, si fa luogo
    theme = subject if subject is not None else object_
    if theme is None:
        # Parsers call a bare *si* impersonal too readily: the verb's habit speaks louder (si lava, si pettina).
        of_oneself = "pronominal" in classes or ("reflexive" in classes and not classes & {"impersonal", "passive"})
        labelled = si.deprel == "expl:impers" and number != "Plur" and not of_oneself
        return "impersonal si" if labelled else _kind_of_bare_si(clause, classes, number)
    acts = "reflexive" in classes and animacy(theme) > ALIVE
    if si.deprel == "expl:pass" and not acts and not classes & {"pronominal", "middle"}:
        return "si passivante"
    return _kind_of_si_with_theme(clause, theme, theme is object_, classes)


def _si_beside_clitics(clause: Clause, si: Token, subject: Token | None, classes: frozenset[str]) -> str | None:
    for other in clause.clitics:
        form = fold(other.form)
        if form in ("lo", "la", "li", "le", "l'"):
            return "impersonal si" if other.id < si.id else "indirect reflexive"  # lo si sa; se lo compra
        if form in ("ci", "ce") and other.id < si.id and subject is None:  # ci si alza presto; ci si arriva
            back = classes & {"pronominal", "reflexive", "middle"} and "impersonal" not in classes
            return "impersonal reflexive" if back else "impersonal si"
        if form == "ne" and other.id > si.id and (takes_essere(clause.predicate.lemma) or "pronominal" in classes):
            return "pronominal"  # se ne va
    return None


def _kind_of_bare_si(clause: Clause, classes: frozenset[str], number: str) -> str:
    """*si* without a subject in sight."""
    predicate = clause.predicate
    if number == "Plur":
        alone = "passive" in classes and not classes & {"reflexive", "pronominal", "middle"}
        return "si passivante" if alone else _reflexive_kind(clause)
    if takes_essere(predicate.lemma) and "pronominal" not in classes:
        return "impersonal si"
    feminine = clause.is_participle and predicate.has(Gender="Fem")  # si è alzata: people in general are masculine
    if feminine or "pronominal" in classes:
        return _reflexive_kind(clause)
    if classes & {"reflexive", "middle"} and not classes & {"impersonal", "passive"}:
        return _reflexive_kind(clause)
    return "impersonal si"


def _kind_of_si_with_theme(clause: Clause, theme: Token, is_object: bool, classes: frozenset[str]) -> str:
    """*si* with a noun phrase or a clause that is, or could be, its subject."""
    if theme.relation in ("csubj", "ccomp") or theme.upos == "VERB" or fold(theme.form) == "quanto":
        return "impersonal si"  # si dice che; si richiama quanto stabilito
    if "pronominal" in classes and not is_object:
        return _reflexive_kind(clause)
    if takes_essere(clause.predicate.lemma) and "passive" not in classes:
        return "pronominal"
    after = theme.id > clause.predicate.id
    if animacy(theme) > ALIVE:
        if after and _indefinite(clause, theme) and not classes & {"pronominal", "middle"}:
            return "si passivante"  # si cerca un cuoco
        several = any(t.deprel == "conj" for t in clause.below[theme.id])
        if "passive" in classes and "reflexive" not in classes and not (several and not after):
            return "si passivante"
        return _reflexive_kind(clause)
    if "middle" in classes and not (after and any(t.lemma in WORDS.modals for t in clause.auxiliaries)):
        return "pronominal"
    if is_object and "own" in classes:
        return "indirect reflexive"  # si asciuga la fronte
    return "si passivante"


def _can_agree(noun: Token, number: str) -> bool:
    """Whether the noun can be the subject of a third person of this number."""
    of = noun.feats.get("Number")
    return not number or of is None or of == number


def _bare(clause: Clause, noun: Token) -> bool:
    """Whether the noun follows the verb without any determiner (*tener conto*)."""
    return noun.has(Number="Sing") and noun.id == clause.predicate.id + 1


def _indefinite(clause: Clause, noun: Token) -> bool:
    if noun.upos in ("PROPN", "PRON"):
        return False
    determiners = [t for t in clause.below[noun.id] if t.upos == "DET"]
    return not any(t.has(Definite="Def") or t.has(PronType="Dem") or t.has(Poss="Yes") for t in determiners)


# --------------------------------------------------------------------------------------------------------- mi ti ci vi


def _agreeing_clitic(clause: Clause) -> Token | None:
    """The clitic of the first or second person that is the subject over again, if there is one."""
    predicate = clause.predicate
    agreement = clause.agreement
    if clause.finite is None:
        negated = any(fold(token.form) == "non" for token in clause.dependents)
        if not (negated and predicate.feats.get("VerbForm") == "Inf"):
            return None
        agreement = ("2", "Sing")  # non muoverti: the negative imperative is an infinitive
    governor = clause.last_auxiliary
    if clause.is_participle and governor is not None and governor.lemma == "avere":
        return None  # ci hanno creduto: no reflexive takes avere
    for clitic in clause.clitics:
        form = fold(clitic.form)
        of = WORDS.reflexive_clitics.get(form)
        if of is None or of[0] == "3" or of != agreement or _participle_disagrees(clause, of[1]):
            continue
        if form[0] in "cv" and _names_a_place(clause):
            continue
        if takes_essere(predicate.lemma) and not _returns(clause, clitic):
            continue
        return clitic
    return None


def _returns(clause: Clause, clitic: Token) -> bool:
    """Whether a verb of motion or being turns back on its subject: *me ne vado*."""
    if verb_classes(clause.predicate.lemma) & {"pronominal", "reflexive", "middle", "dative"}:
        return True
    return any(token.id == clitic.id + 1 and fold(token.form) == "ne" for token in clause.clitics)


def _participle_disagrees(clause: Clause, number: str) -> bool:
    """«mi sono piaciuti»: the participle is plural, so *mi* is not its subject (unless an object makes it so)."""
    if not clause.is_participle or any(fold(token.form) in OBJECT_CLITICS for token in clause.clitics):
        return False
    return clause.predicate.feats.get("Number", number) != number and _object(clause) is None


def _names_a_place(clause: Clause) -> bool:
    """Whether *ci* or *vi* beside a verb of its own person is a place or a thing: *ci andiamo*, *ce la facciamo*."""
    lemma, forms = clause.predicate.lemma, [fold(token.form) for token in clause.clitics]
    if clause.is_copular or lemma == "essere" or (lemma in ("fare", "avere") and ("la" in forms or "l'" in forms)):
        return True
    classes = verb_classes(lemma)
    return "locative" in classes and not classes & {"pronominal", "reflexive", "middle"}


def _agreeing_reflexive(clause: Clause) -> _Decision | None:
    clitic = _agreeing_clitic(clause)
    if clitic is None:
        return None
    verb = clause.finite or clause.predicate
    return _reflexive_kind(clause), f"«{clitic.form}» agrees with «{verb.form}» in person and number"


def _itself(clause: Clause) -> _Decision | None:
    """*se stesso* and its like as object or oblique of the main verb."""
    tokens = clause.sentence.tokens
    for stesso in tokens[1:]:
        if not fold(stesso.form).startswith("stess"):
            continue
        pronoun = tokens[stesso.id - 2]
        of = {"sé": "3", "se": "3", "me": "1", "te": "2", "noi": "1", "voi": "2"}.get(fold(pronoun.form))
        if of is None or clause.agreement[0] not in ("", of):
            continue
        pair = (pronoun.id, stesso.id)
        if any(t.id in pair and t.relation != "nmod" for t in clause.dependents):
            return "direct reflexive", f"«{pronoun.form} {stesso.form}» is the subject over again"
    return None


# -------------------------------------------------------------------------------------------------------------- shared


def _subject(clause: Clause) -> Token | None:
    return next((token for token in clause.dependents if token.relation in ("nsubj", "csubj")), None)


def _object(clause: Clause) -> Token | None:
    """The object, nominal or clausal, that is no clitic."""
    clitics = [token.id for token in clause.clitics]
    for token in clause.dependents:
        if token.relation == "ccomp" or (token.relation == "obj" and token.id not in clitics):
            return token
    return None


def _reflexive_kind(clause: Clause) -> str:
    classes = verb_classes(clause.predicate.lemma)
    if "pronominal" in classes:
        return "pronominal"
    object_ = _object(clause)
    if object_ is not None and object_.relation == "obj":
        return "indirect reflexive"
    if clause.agreement[1] == "Plur" and classes & {"reflexive", "dative"}:
        return "reciprocal"
    return "direct reflexive" if "reflexive" in classes else "pronominal"


def _active(clause: Clause) -> _Decision:
    predicate = clause.predicate
    if clause.is_copular:
        return "copular", f"«{predicate.form}» is a nominal predicate with a copula"
    governor = clause.last_auxiliary
    if clause.is_participle and governor is not None and governor.lemma == "essere":
        return "unaccusative", f"the perfect of «{predicate.lemma}» takes essere"
    return "plain active", f"nothing makes «{predicate.form}» passive or reflexive"
