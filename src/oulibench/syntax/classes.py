"""What Italian verbs and nouns are by class: the lexical knowledge that voice and constituent order rest on.

The data stands in `data/it/syntax/`: `verb_classes.tsv`, `noun_classes.tsv` and `words.toml` (closed classes). The list
of verbs whose perfect takes *essere* is the lexicon's.

Verb classes (one verb may have several):

- `pronominal`: with a reflexive clitic it is a pronominal verb whatever its subject (*accorgersi*, *trasferirsi*);
- `middle`: with a reflexive clitic and an inanimate subject the subject changes by itself (*la porta si apre*);
- `reflexive`: people do it to themselves or to one another (*lavarsi*, *incontrarsi*);
- `own`: people do it to what is theirs, so an object beside *si* makes no passive (*si asciuga la fronte*);
- `passive`: *si* with it is passive or impersonal unless something speaks for a reflexive (*si vendono case*);
- `impersonal`: without a subject *si* is impersonal (*si va*);
- `dative`: intransitive, but reciprocal in the plural (*ci telefoniamo*);
- `locative`: *ci* and *vi* beside it are places or things, not persons (*ci andiamo*, *ci pensiamo noi*);
- `labile`: takes *essere* without an object and *avere* with one (*è finito*, *ha finito il lavoro*);
- `ambivalent`: the same, but *essere* with its participle is as often passive (*è seguito*, *fu servito*); so is
  every verb that the lexicon's list gives an object and that is not labile;
- `psych`: its object feels (*la notizia spaventa il bambino*);
- `affect`: forces of nature, diseases and feelings do it to people and things (*il fulmine colpì il pastore*).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from oulibench.language import ITALIAN
from oulibench.syntax.tree import Token

ANIMACY: Mapping[str, float] = {
    "person": 1.0,
    "name": 1.0,
    "animal": 0.9,
    "group": 0.6,
    "force": 0.0,
    "vehicle": -0.3,
    "event": -0.4,
    "place": -0.3,
    "thing": -0.8,
    "time": -0.9,
}
"""How likely a class acts rather than is acted upon, from -1 to 1."""
ALIVE = 0.4
"""Above this a noun counts as a person, an animal or a group."""
UNKNOWN_NAME, UNKNOWN_PRONOUN, UNKNOWN_NOUN = 0.6, 0.0, -0.5
"""The same for a word of no known class: a name is rather a person, a noun rather a thing."""


@lru_cache(maxsize=1 << 14)
def fold(form: str) -> str:
    """The form in lower case with a plain apostrophe."""
    return form.lower().replace("’", "'")


@dataclass(frozen=True, slots=True)
class Words:
    """The closed classes of `words.toml`; pronouns and clitics by form, with person and number ("" where open)."""

    modals: frozenset[str]
    subordinators: frozenset[str]
    light_verbs: frozenset[str]
    lost: frozenset[str]
    stative: frozenset[str]
    collectives: frozenset[str]
    determiners_singular: frozenset[str]
    determiners_plural: frozenset[str]
    nominative: frozenset[str]
    accusative: frozenset[str]
    persons: frozenset[str]
    pronouns: Mapping[str, tuple[str, str]]
    reflexive_clitics: Mapping[str, tuple[str, str]]
    finite_forms: Mapping[str, tuple[tuple[str, str], ...]]
    noun_endings: Mapping[str, str]


@cache
def _words() -> Words:
    raw = ITALIAN.table("syntax", "words.toml")

    def listed(name: str) -> frozenset[str]:
        return frozenset(raw[name])

    def person_number(value: str) -> tuple[str, str]:
        person, _, number = value.strip().partition(" ")
        return person, number

    return Words(
        modals=listed("modals"),
        subordinators=listed("subordinators"),
        light_verbs=listed("light_verbs"),
        lost=listed("lost"),
        stative=listed("stative"),
        collectives=listed("collectives"),
        determiners_singular=listed("determiners_singular"),
        determiners_plural=listed("determiners_plural"),
        nominative=listed("nominative"),
        accusative=listed("accusative"),
        persons=listed("persons"),
        pronouns={form: person_number(value) for form, value in raw["pronouns"].items()},
        reflexive_clitics={form: person_number(value) for form, value in raw["reflexive_clitics"].items()},
        finite_forms={
            form: tuple(map(person_number, values.split(","))) for form, values in raw["finite_forms"].items()
        },
        noun_endings=dict(sorted(raw["noun_endings"].items(), key=lambda item: -len(item[0]))),
    )


WORDS = _words()


@cache
def _table(folder: str, name: str) -> Mapping[str, tuple[str, ...]]:
    """The rows of a TSV file by their first column."""
    lines = ITALIAN.data(folder, name).read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {row[0]: tuple(row[1:]) for row in rows}


@cache
def _noun_classes() -> Mapping[str, str]:
    return {lemma: row[0] for lemma, row in _table("syntax", "noun_classes.tsv").items()}


@cache
def verb_classes(lemma: str) -> frozenset[str]:
    """The classes of a verb (see the module); empty for a verb without any."""
    row = _table("syntax", "verb_classes.tsv").get(lemma)
    classes = set(row[0].split(",")) if row else set()
    auxiliary = _table("lexicon", "essere_verbs.tsv").get(lemma)
    if auxiliary is not None and auxiliary[1] == "yes" and "labile" not in classes:
        classes.add("ambivalent")
    return frozenset(classes)


@cache
def takes_essere(lemma: str) -> bool:
    """Whether the verb's perfect takes *essere* and the verb no object (*arrivare*; not *finire*, which is labile)."""
    return lemma in _table("lexicon", "essere_verbs.tsv") and not verb_classes(lemma) & {"labile", "ambivalent"}


def noun_class(token: Token) -> str:
    """`person`, `name`, `animal`, `group`, `force`, `vehicle`, `event`, `place`, `thing`, `time`, or "": unknown."""
    if token.upos == "PRON":
        form = fold(token.form)
        return "person" if form in WORDS.pronouns or form in WORDS.accusative or form in WORDS.persons else ""
    known = _noun_classes()
    if token.upos == "PROPN":
        return known.get(token.form) or known.get(token.form.lower()) or ""
    return known.get(token.form.lower()) or known.get(token.form) or _class_of(token.lemma.lower())


@cache
def _class_of(lemma: str) -> str:
    known = _noun_classes()
    for candidate in (lemma, *_singulars(lemma)):
        if candidate in known:
            return known[candidate]
    return next((of for ending, of in WORDS.noun_endings.items() if lemma.endswith(ending)), "")


def _singulars(plural: str) -> tuple[str, ...]:
    """What a plural that a lemmatiser left as it was may be the plural of."""
    stem, ending = plural[:-1], plural[-1:]
    if ending == "i":
        return tuple(f"{base}{vowel}" for base in {stem, stem.removesuffix("h")} for vowel in "oea")
    return (f"{stem}a", f"{stem.removesuffix('h')}a") if ending == "e" else ()


def animacy(token: Token) -> float:
    """How likely the noun acts, from -1 (a thing) to 1 (a person)."""
    found = noun_class(token)
    if found:
        return ANIMACY[found]
    return {"PROPN": UNKNOWN_NAME, "PRON": UNKNOWN_PRONOUN}.get(token.upos, UNKNOWN_NOUN)
