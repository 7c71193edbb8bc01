"""Pairs of short grammatical sentences made of the same letters, out of which choices.toml takes the sentence anagrams.

    python training/targets/find_sentence_anagrams.py TREEBANKS > pairs.txt

Sentences are built over three patterns (article + noun + verb; article + noun + *essere* + adjective; first-person
verb + article + noun) from common words whose gender and number the CoNLL-U files in TREEBANKS tell, and sorted by
their letters; those that fall together are anagrams. Pairs that share a content word, or words of one stem, are left
out. Whether the sentences mean something is for a reader to say.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from wordfreq import zipf_frequency

from oulibench.lexicon import load_lexicon
from oulibench.syntax.tree import read_conllu
from oulibench.text import letters, words

SOURCES = ("isdt", "vit", "pud", "partut", "markit")
# What is common enough, by part of speech (Zipf frequency).
NOUN, ADJECTIVE, VERB, FIRST_PERSON = 4.2, 4.1, 3.6, 3.4
SHORTEST = 9
FUNCTION_WORDS = frozenset(("il", "lo", "la", "l'", "i", "gli", "le", "un", "uno", "una", "un'", "è", "era", "sarà"))


class Inflected(NamedTuple):
    """What a form is in most of its occurrences."""

    upos: str
    gender: str | None
    number: str | None
    person: str | None
    mood: str | None


def forms(folder: Path) -> dict[str, Inflected]:
    """Lower-case forms that stand alone as surface tokens and are the same thing at least seven times in ten."""
    seen: dict[str, Counter[Inflected]] = defaultdict(Counter)
    for file in sorted(f for f in folder.glob("*.conllu") if any(f"_{name}-" in f.name for name in SOURCES)):
        for sentence in read_conllu(file):
            inside = {i for token in sentence.multiword for i in range(token.first, token.last + 1)}
            for token in sentence:
                if token.id not in inside and token.form.isalpha() and len(token.form) > 2:
                    f = token.feats
                    kind = Inflected(token.upos, f.get("Gender"), f.get("Number"), f.get("Person"), f.get("Mood"))
                    seen[token.form.lower()][kind] += 1
    lexicon = load_lexicon("it")
    found = {}
    for form, kinds in seen.items():
        kind, n = kinds.most_common(1)[0]
        if n / kinds.total() >= 0.7 and lexicon.is_known(form):
            found[form] = kind
    return found


def articles(noun: str, gender: str | None, number: str | None) -> list[str]:
    """The articles that may stand before the noun, with the space that follows them."""
    vowel = noun[0] in "aeiouèh"
    heavy = noun[0] == "z" or noun[:2] in ("gn", "ps") or (noun[0] == "s" and noun[1] not in "aeiou")
    if gender == "Fem":
        return ["le "] if number == "Plur" else ["l'", "un'"] if vowel else ["la ", "una "]
    if gender == "Masc":
        if number == "Plur":
            return ["gli "] if vowel or heavy else ["i "]
        return ["l'", "un "] if vowel else ["lo ", "uno "] if heavy else ["il ", "un "]
    return []


def sentences(folder: Path) -> Iterator[str]:
    """All sentences of the patterns."""
    common = {form: (kind, zipf_frequency(form, "it", "large")) for form, kind in sorted(forms(folder).items())}
    nouns = [(f, k) for f, (k, z) in common.items() if k.upos == "NOUN" and z >= NOUN]
    adjectives = [(f, k) for f, (k, z) in common.items() if k.upos == "ADJ" and z >= ADJECTIVE]
    verbs = [(f, k) for f, (k, z) in common.items() if k.upos == "VERB" and k.mood == "Ind" and z >= FIRST_PERSON]
    for noun, kind in nouns:
        for article in articles(noun, kind.gender, kind.number):
            phrase = article + noun
            for verb, v in verbs:
                if v.person == "3" and v.number == kind.number and common[verb][1] >= VERB:
                    yield f"{phrase} {verb}"
                elif v.person == "1":
                    yield f"{verb} {phrase}"
            for copula in ("è", "era", "sarà") if kind.number == "Sing" else ("sono", "erano"):
                for adjective, a in adjectives:
                    if a.number == kind.number and a.gender in (kind.gender, None):
                        yield f"{phrase} {copula} {adjective}"


def pairs(folder: Path) -> Iterator[tuple[str, str]]:
    """Anagrams of each other without a content word or a stem in common."""
    by_letters: dict[str, list[str]] = defaultdict(list)
    for sentence in sentences(folder):
        by_letters["".join(sorted(letters(sentence)))].append(sentence)
    for key, group in by_letters.items():
        if len(key) >= SHORTEST:
            for one, other in combinations(group, 2):
                if not stems(one) & stems(other):
                    yield one, other


def stems(sentence: str) -> set[str]:
    return {word[:-1] if len(word) > 3 else word for word in words(sentence) if word not in FUNCTION_WORDS}


def rarest(pair: tuple[str, str]) -> float:
    """Frequency of the rarest word of a pair: the commoner, the more natural."""
    return min(zipf_frequency(word, "it", "large") for sentence in pair for word in words(sentence) if len(word) > 2)


if __name__ == "__main__":
    for pair in sorted(pairs(Path(sys.argv[1])), key=lambda p: (-rarest(p), p)):
        print(*pair, sep=" | ")
