"""Step 4: the lemma lexicon.

    python -m training.parser.lemmas TREEBANKS TARGET/lemmas.marisa

Forms and lemmas come from Morph-it (as the package spacy-lookups-data carries it) and, for what occurs twice or more
and what Morph-it writes in another way than Universal Dependencies, from the training treebanks. Endings are learned
from both.
"""

import gzip
import json
import sys
from collections import Counter, defaultdict
from importlib import resources
from pathlib import Path

import marisa_trie
from training.parser.treebanks import OPEN, RESTRICTED, load
from training.parser.vocabulary import repair

from oulibench.syntax.lemmas import CLASSES, LONGEST_ENDING, plain, script_for

TABLES = {"adj": "ADJ", "adv": "ADV", "aux": "AUX", "noun": "NOUN", "verb": "VERB"}
# Imperatives of one syllable as they stand before a doubled clitic: *dam* of *dammi*.
STEMS = {
    "dare": "da dam dac", "dire": "di dim dic dil", "fare": "fa fam fac fat fal", "stare": "sta stam stac",
    "andare": "va vac vat van",
}  # fmt: skip
SUPPORT = 6
PURITY = 0.7


def morph_it() -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    folder = resources.files("spacy_lookups_data") / "data"
    for table, upos in TABLES.items():
        entries = json.loads(gzip.decompress((folder / f"it_lemma_lookup_{table}.json.gz").read_bytes()))
        for raw, lemma in entries.items():
            form = plain(repair(raw))
            if form.replace("'", "").isalpha():
                found.setdefault((form, CLASSES[upos]), plain(repair(lemma)))
    return found


def treebank_counts(folder: Path) -> dict[tuple[str, str], Counter[str]]:
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for sentence, style in load(folder, OPEN | RESTRICTED):
        if style in ("isdt", "vit"):
            for token in sentence:
                if token.upos in CLASSES and token.lemma not in ("", "_"):
                    counts[plain(token.form), CLASSES[token.upos]][plain(token.lemma)] += 1
    return counts


def main(folder: Path, target: Path) -> None:
    lexicon = morph_it()
    lexicon |= {(form, CLASSES["VERB"]): lemma for lemma, forms in STEMS.items() for form in forms.split()}
    for key, counter in treebank_counts(folder).items():
        lemma, n = counter.most_common(1)[0]
        closed = key[1] in "EDPCNI"
        if (n >= 2 and n >= 0.6 * counter.total()) or (closed and key not in lexicon):
            lexicon[key] = lemma
    endings: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (form, letter), lemma in lexicon.items():
        if letter in "ASVB" and len(form) > 3:
            for size in range(1, min(LONGEST_ENDING, len(form) - 1) + 1):
                endings[form[-size:], letter][script_for(form, lemma)] += 1
    keys = {f"{form}\t{letter}{script_for(form, lemma)}" for (form, letter), lemma in lexicon.items()}
    chosen: dict[tuple[str, str], str] = {}
    for size in range(1, LONGEST_ENDING + 1):
        for (ending, letter), scripts in endings.items():
            script, n = scripts.most_common(1)[0]
            if len(ending) != size or (size > 1 and (scripts.total() < SUPPORT or n < PURITY * scripts.total())):
                continue
            inherited = next(
                (chosen[ending[i:], letter] for i in range(1, size) if (ending[i:], letter) in chosen), None
            )
            if script != inherited:
                chosen[ending, letter] = script
    keys |= {f"*{ending}\t{letter}{script}" for (ending, letter), script in chosen.items()}
    marisa_trie.Trie(sorted(keys)).save(str(target))
    print(f"{len(lexicon)} forms, {len(chosen)} endings, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
