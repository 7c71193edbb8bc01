"""Verb forms that clitic pronouns can be written onto (*mangiar-lo*, *vedendo-la*, *da-mmelo*), by class.

The classes are those of src/oulibench/data/it/lexicon/clitics.tsv. Morph-it's lookup gives no mood or tense, so the
forms are told by the shape of the paradigm.
"""

from __future__ import annotations

from collections import defaultdict

from training.lexicon.words import ARE_ENDINGS, Reading, joined

# Verbs whose second person imperative (fa', di') doubles the pronoun's consonant: dammi, fallo, vacci.
_DOUBLING = {"dare": "da", "fare": "fa", "stare": "sta", "andare": "va", "dire": "di"}
_DOUBLING_PREFIXES = {
    "dare": ("", "ri"),
    "fare": ("", "ri", "dis", "contraf", "sopraf", "soddis", "stra", "strat", "assue"),
    "stare": ("", "ri", "sotto"),
    "andare": ("", "ri"),
    "dire": ("", "ri", "contrad", "dis"),
}
# Imperatives that are not the third person of the present in -a or -e with an -i.
_IRREGULAR = {"avere": ("abbi", "abbiate"), "essere": ("sii", "siate"), "sapere": ("sappi", "sappiate")}
_SUBJUNCTIVE_IMPERATIVES = ("abbiate", "siate", "sappiate", "vogliate")


def infinitives(readings: dict[str, set[Reading]], core: set[str]) -> set[str]:
    """The infinitives of Morph-it; of a reflexive one (*pentirsi*) its plain form."""
    found = set()
    for form in core:
        for reading in readings.get(form, ()):
            if reading.part_of_speech in ("verb", "aux"):
                lemma = reading.lemma
                found.add(f"{lemma[:-2]}e" if lemma.endswith("rsi") else lemma)
    return {lemma for lemma in found if len(lemma) > 3 and lemma.endswith(("are", "ere", "ire", "rre"))}


def hosts(verbs: set[str], readings: dict[str, set[Reading]], core: set[str]) -> set[str]:
    """Host + class letter, for every verb in `verbs` (infinitives)."""
    forms_of: dict[str, set[str]] = defaultdict(set)
    for form in core:
        for reading in readings.get(form, ()):
            if reading.part_of_speech in ("verb", "aux"):
                forms_of[reading.lemma].add(form)
    found: set[str] = set()
    for verb in sorted(verbs):
        own = forms_of[verb] | forms_of[f"{verb[:-1]}si"]
        found |= _hosts_of(verb, own | (_candidates(verb) & core if own else _candidates(verb)))
    found |= {f"{form}p" for form in _participles(core, readings)}
    return found | {"eccoe"}


def _hosts_of(verb: str, forms: set[str]) -> set[str]:
    found = {f"{verb[:-2] if verb.endswith('rre') else verb[:-1]}i"}
    for base, imperative in _DOUBLING.items():
        prefix = verb.removesuffix(base)
        if prefix != verb and prefix in _DOUBLING_PREFIXES[base]:
            found |= {f"{prefix}{imperative}d"}
    if verb in _IRREGULAR:
        singular, plural = _IRREGULAR[verb]
        found |= {f"{singular}s", f"{plural}v"}
    for form in forms:
        if len(form) < 3:
            continue
        if form.endswith(("ando", "endo")) and len(form) > 4:
            found.add(f"{form}i")
        elif form.endswith("iamo"):
            found.add(f"{form}n")
        elif form.endswith(("ate", "ete", "ite")) and _is_plural_imperative(form, verb, forms):
            found.add(f"{form}v")
        elif form.endswith(("ante", "ente", "anti", "enti")) and f"{form[:-1]}o" not in forms:
            found.add(f"{form}f")
        elif verb.endswith("are"):
            if form == verb[:-2]:
                found |= {f"{form}s", f"{form}f"}
        elif form.endswith("i"):
            third = f"{form[:-1]}e"
            if third in forms and f"{third}ro" not in forms and _is_present(form, forms):
                found |= {f"{form}s", f"{third}f"}
        elif form.endswith("a") and f"{form}no" in forms and not form.endswith("va"):
            found.add(f"{form}f")  # third person of the subjunctive: dicasi, vedasi
    return found


def _candidates(verb: str) -> set[str]:
    """Regular forms of a verb. The lookup keeps one lemma for a form, so some are missing under their own verb."""
    stem = verb[:-3]
    if verb.endswith("are"):
        return {joined(stem, ending) for ending in ARE_ENDINGS}
    if verb.endswith("rre"):
        return set()
    endings = {"ere": ("endo", "iamo", "ete", "i", "e", "a", "ano"), "ire": ("endo", "iamo", "ite", "isci", "isce")}
    return {stem + ending for ending in endings[verb[-3:]]}


def _is_present(form: str, forms: set[str]) -> bool:
    """Whether a form in -i beside one in -e is a second person present, not a plural participle (*amati*, *amate*)."""
    stem = form[:-1]
    participle = {f"{stem}o", f"{stem}a"} <= forms and stem.endswith(("at", "ut", "it"))
    return not participle and not (stem.endswith(("ant", "ent")) and f"{stem}o" not in forms)


def _is_plural_imperative(form: str, verb: str, forms: set[str]) -> bool:
    """Second person plural of the present, and neither future (*amerete*), imperfect (*amavate*) nor subjunctive."""
    first = f"{form[:-2]}mo"
    if form.endswith("rete") and first in forms:
        return False
    if form.endswith("vate") and first in forms:
        return False
    if form.endswith("iate"):
        return verb.endswith("iare") or form in _SUBJUNCTIVE_IMPERATIVES
    return not form.endswith("ste")


def _participles(core: set[str], readings: dict[str, set[Reading]]) -> set[str]:
    """Past participles, all four endings: regular by their ending, irregular where no present looks like them."""
    found = set()
    for form in core:
        if not form.endswith("o") or len(form) < 4:
            continue
        stem = form[:-1]
        if not {f"{stem}a", f"{stem}e", f"{stem}i"} <= core:
            continue
        lemmas = {r.lemma for r in readings.get(form, ()) if r.part_of_speech in ("verb", "aux")}
        regular = any(stem[:-2] == lemma[:-3] for lemma in lemmas) and stem.endswith(("at", "ut", "it"))
        irregular = any(
            lemma.endswith(("ere", "ire", "rre", "fare")) and not lemma.startswith(stem) for lemma in lemmas
        ) and stem.endswith(("tt", "rt", "nt", "lt", "st", "s", "ut", "it", "at", "ot"))
        if regular or irregular:
            found |= {f"{stem}{vowel}" for vowel in "oaie"}
    return found
