"""Which persons and numbers an Italian verb form can express, by its ending.

A parser's morphological features go wrong where its treebanks are thin (first and second persons, rare tenses); endings
do not. `resolve` takes both together.
"""

from functools import lru_cache

from oulibench.syntax.classes import WORDS, fold
from oulibench.syntax.tree import Token

PersonNumber = tuple[str, str]

FIRST, SECOND, THIRD = ("1", "Sing"), ("2", "Sing"), ("3", "Sing")
WE, YOU, THEY = ("1", "Plur"), ("2", "Plur"), ("3", "Plur")
UNKNOWN = ("", "")

# The first ending that fits decides; longer ones stand before shorter ones that they contain.
_ENDINGS: tuple[tuple[tuple[str, ...], tuple[PersonNumber, ...]], ...] = (
    (("iamo", "vamo", "ammo", "emmo", "immo", "ummo", "remo", "ssimo"), (WE,)),
    (("ate", "ete", "ite", "aste", "este", "iste", "oste"), (YOU,)),
    (("rono", "vano", "ranno", "ebbero", "ssero", "ano", "ono", "nno", "ero"), (THEY,)),
    (("sti",), (SECOND,)),
    (("erai", "irai", "rrai", "drai", "vrai", "trai"), (SECOND, FIRST)),
    (("rei", "ai", "ei", "ii"), (FIRST,)),
    (("ssi",), (FIRST, SECOND)),
    (("si", "idi", "lli", "ppi", "nni", "bbi", "cqui", "tti", "nti"), (SECOND, FIRST)),
    (("erò", "irò", "rrò", "drò", "vrò"), (FIRST,)),
    (("ò", "ì", "é", "è", "à"), (THIRD,)),
    (("o",), (FIRST,)),
    (("i",), (SECOND, THIRD)),
    (("a", "e"), (THIRD, SECOND, FIRST)),
)


@lru_cache(maxsize=8192)
def persons(form: str, lemma: str) -> tuple[PersonNumber, ...]:
    """The persons and numbers that a finite verb form can express, likeliest first; empty for what looks like none.

    `lemma`: the infinitive, which tells *ripete* (third person of *ripetere*) from *parlate*; "" if it is unknown.
    """
    form = fold(form)
    if form in WORDS.finite_forms:
        return WORDS.finite_forms[form]
    if form.endswith("ò") and lemma == f"{form[:-1]}are":  # sperò, entrò
        return (THIRD,)
    stem = lemma[:-3]
    if stem and lemma.endswith(("are", "ere", "ire")):
        for middle in ("", "isc") if lemma.endswith("ire") else ("",):
            ending = form.removeprefix(stem + middle) if form.startswith(stem + middle) else None
            if ending == "o":
                return (FIRST,)
            if ending == "e" and not lemma.endswith("are"):
                return (THIRD,)
            if ending == "ai" and lemma.endswith("are"):
                return (FIRST,)
            if ending == "i":
                return (SECOND, THIRD) if lemma.endswith("are") else (SECOND,)
    for endings, found in _ENDINGS:
        if form.endswith(endings):
            return found
    return ()


def resolve(token: Token, beside: Token | None = None, *, imperative: bool = False) -> PersonNumber:
    """Person and number of a finite verb: its features where its ending allows them, else what the ending says.

    `beside`: the participle or adjective that goes with a form of *essere* and tells the two *sono* apart.
    `imperative`: pronouns are written onto the verb, so it addresses someone.
    """
    possible = persons(token.form, token.lemma)
    if imperative:
        possible = tuple(pair for pair in possible if pair in (SECOND, WE, YOU)) or possible
    said = (token.feats.get("Person", ""), token.feats.get("Number", ""))
    if fold(token.form) == "sono" and beside is not None:
        return THEY if beside.feats.get("Number") == "Plur" else FIRST
    if said in possible or not possible:
        return said
    return next((pair for pair in possible if pair[1] == said[1]), possible[0]) if said[0] else possible[0]


def is_finite(token: Token) -> bool:
    """Whether a verb is finite, by its features and, where they are silent, by its form."""
    form = token.feats.get("VerbForm", "")
    if form == "Fin" or "Mood" in token.feats or fold(token.form) in WORDS.finite_forms:
        return True
    return not form and not fold(token.form).endswith(("re", "r", "ndo"))


def is_infinitive(token: Token) -> bool:
    if token.upos not in ("VERB", "AUX"):
        return False
    return token.feats.get("VerbForm") == "Inf" or (not is_finite(token) and fold(token.form).endswith(("re", "r")))


def is_gerund(token: Token) -> bool:
    return token.upos in ("VERB", "AUX") and fold(token.form).endswith("ndo")
