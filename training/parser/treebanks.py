"""The training sentences: which treebanks, what is left out of them, and clauses laid into other orders."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from oulibench.syntax.tree import Sentence, Token, read_conllu

# A style is a set of annotation habits: the parser is told which one a sentence follows, and asked for the first.
STYLES = ("isdt", "vit", "pud", "markit", "social")
OPEN = {
    "it_pud-ud-test": "pud",
    "it_markit-ud-train": "markit",
    "it_markit-ud-dev": "markit",
    "it_markit-ud-test": "markit",
    "it_twittiro-ud-train": "social",
    "it_twittiro-ud-dev": "social",
    "it_twittiro-ud-test": "social",
}
RESTRICTED = {
    "it_isdt-ud-dev": "isdt",
    "it_partut-ud-train": "isdt",
    "it_vit-ud-dev": "vit",
    "it_postwita-ud-dev": "social",
    "it_postwita-ud-test": "social",
}
HELD_OUT = "it_partut-ud-dev"
TESTS = ("it_isdt-ud-test", "it_vit-ud-test", "it_partut-ud-test", HELD_OUT)

FEATURES = (
    "Clitic", "Definite", "Degree", "Foreign", "Gender", "Mood", "Number", "NumType", "Person", "Polarity", "Poss",
    "PronType", "Reflex", "Tense", "VerbForm",
)  # fmt: skip
FOLDED_SI = {"vit", "pud"}
NO_PASSIVE_AUXILIARY = {"potere", "dovere", "avere", "stare", "volere"}


@dataclass(frozen=True, slots=True)
class Example:
    """What the parser learns from: one entry a word; a label is None where the treebank's is not to be trusted."""

    forms: tuple[str, ...]
    upos: tuple[str, ...]
    feats: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str | None, ...]
    style: str


def read_treebank(folder: Path, name: str) -> list[Sentence]:
    return list(read_conllu(folder / f"{name}.conllu"))


def letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def load(folder: Path, banks: Mapping[str, str]) -> list[tuple[Sentence, str]]:
    """Sentences with their style, those left out whose text also stands in a file that is measured on."""
    measured = {letters(s.text) for name in TESTS for s in read_treebank(folder, name)}
    found: list[tuple[Sentence, str]] = []
    seen: set[str] = set()
    for name, style in banks.items():
        for sentence in read_treebank(folder, name):
            key = letters(sentence.text)
            if key not in measured and key not in seen:
                seen.add(key)
                found.append((sentence, style))
    return found


def feature_string(feats: Mapping[str, str]) -> str:
    kept = (f"{name}={feats[name]}" for name in FEATURES if name in feats)
    return "|".join(kept) or "_"


def example(sentence: Sentence, style: str) -> Example:
    return Example(
        forms=tuple(t.form for t in sentence),
        upos=tuple(t.upos for t in sentence),
        feats=tuple(feature_string(t.feats) for t in sentence),
        heads=tuple(t.head for t in sentence),
        labels=tuple(trusted_label(t, style) for t in sentence),
        style=style,
    )


def trusted_label(token: Token, style: str) -> str | None:
    if token.deprel == "expl" and style in FOLDED_SI and token.form.lower() in ("si", "s'", "se"):
        return None
    if token.deprel == "aux:pass" and token.lemma in NO_PASSIVE_AUXILIARY:
        return None
    return token.deprel


def blocks(sentence: Sentence) -> dict[str, tuple[int, int]] | None:
    """The spans (first and last id) of S, V and O in the main clause, where it has one nominal subject and object."""
    root = sentence.root
    if root.upos != "VERB":
        return None
    auxiliaries = [t for t in sentence.children(root.id) if t.relation == "aux"]
    if not any("Mood" in t.feats for t in (root, *auxiliaries)):
        return None
    subjects = sentence.children(root.id, "nsubj")
    objects = [t for t in sentence.children(root.id, "obj") if t.feats.get("Clitic") != "Yes"]
    if len(subjects) != 1 or len(objects) != 1 or subjects[0].deprel != "nsubj":
        return None
    nominal = {"NOUN", "PROPN", "NUM"}
    if subjects[0].upos not in nominal | {"PRON"} or objects[0].upos not in nominal:
        return None
    if any(
        t.feats.get("PronType") in ("Rel", "Int")
        for head in (*subjects, *objects)
        for t in sentence.subtree(head.id)[:2]
    ):
        return None
    spans: dict[str, tuple[int, int]] = {}
    for name, head in (("S", subjects[0]), ("O", objects[0])):
        ids = [t.id for t in sentence.subtree(head.id)]
        while ids and sentence.token(ids[-1]).upos == "PUNCT" and sentence.token(ids[-1]).form in ".;:!?…":
            ids.pop()
        if not ids or ids[-1] - ids[0] + 1 != len(ids):
            return None
        spans[name] = (ids[0], ids[-1])
    verb = {root.id} | {t.id for t in auxiliaries}
    for t in sentence.children(root.id):
        clitic = t.feats.get("Clitic") == "Yes" or t.relation == "expl"
        adverb = t.upos == "ADV" and t.relation == "advmod" and len(sentence.subtree(t.id)) == 1
        if clitic or (adverb and min(verb) - 1 <= t.id <= max(verb) + 1):
            verb.add(t.id)
    if max(verb) - min(verb) + 1 != len(verb):
        return None
    spans["V"] = (min(verb), max(verb))
    taken = [i for a, b in spans.values() for i in range(a, b + 1)]
    return spans if len(taken) == len(set(taken)) else None


def reorder(sentence: Sentence, spans: Mapping[str, tuple[int, int]], order: str) -> Sentence:
    """The same tree with its three blocks in another order (`order` like "OVS"); what stands between them stays."""
    slots = sorted(spans.values())
    places = dict(zip(slots, order, strict=True))
    sequence: list[int] = []
    i = 1
    while i <= len(sentence):
        slot = next((s for s in slots if s[0] == i), None)
        if slot is None:
            sequence.append(i)
            i += 1
        else:
            first, last = spans[places[slot]]
            sequence.extend(range(first, last + 1))
            i = slot[1] + 1
    renumbered = {old: new for new, old in enumerate(sequence, 1)}
    renumbered[0] = 0
    opening = next((t.id for t in sentence if t.upos != "PUNCT"), 1)
    tokens = []
    capital_due = True
    for new, old in enumerate(sequence, 1):
        token = sentence.token(old)
        form = token.form
        if old == opening and token.upos != "PROPN" and form[:1].isupper() and form[1:].islower() | (len(form) == 1):
            form = form[:1].lower() + form[1:]
        if capital_due and token.upos != "PUNCT":
            if sentence.token(opening).form[:1].isupper():
                form = form[:1].upper() + form[1:]
            capital_due = False
        tokens.append(replace(token, id=new, form=form, head=renumbered[token.head], deps="_", misc="_"))
    text = " ".join(t.form for t in tokens)
    return Sentence(text, tuple(tokens))


def current_order(spans: Mapping[str, tuple[int, int]]) -> str:
    return "".join(sorted(spans, key=lambda name: spans[name]))


def vary(item: Example, rng: random.Random) -> Example:
    """Now and then without the final mark, or with a small first letter, as model outputs come."""
    n = len(item.forms)
    if n > 2 and item.upos[-1] == "PUNCT" and item.forms[-1] in ".!…" and n not in item.heads and rng.random() < 0.15:
        item = Example(item.forms[:-1], item.upos[:-1], item.feats[:-1], item.heads[:-1], item.labels[:-1], item.style)
    if item.upos[0] != "PROPN" and rng.random() < 0.05:
        first = item.forms[0]
        item = replace(item, forms=(first[:1].lower() + first[1:], *item.forms[1:]))
    return item


ORDERS = ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")


def permuted(
    clauses: Iterable[tuple[Sentence, str, dict[str, tuple[int, int]]]], per_clause: int, rng: random.Random
) -> list[Example]:
    """Each clause in `per_clause` orders other than its own, drawn anew at each call."""
    found = []
    for sentence, style, spans in clauses:
        others = [order for order in ORDERS if order != current_order(spans)]
        for order in rng.sample(others, per_clause):
            found.append(example(reorder(sentence, spans, order), style))
    return found
