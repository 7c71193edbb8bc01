"""Make the vendored Italian lexicon: `python -m training.lexicon.build` (from the top of the source tree).

Needs the packages spacy-lookups-data==1.0.5 (Morph-it 0.48), wordfreq==3.1.1 and Faker (names to leave out); reads
the word lists beside it, and clitics.tsv and special.tsv beside its output. The same sources give the same bytes.
`--report FILE` writes which rule admitted each word of the tier `extended`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from array import array
from pathlib import Path

import marisa_trie
from training.lexicon.derivation import (
    Derivation,
    adverbs_in_mente,
    completed_tenses,
    deverbal,
    superlatives,
    truncations,
)
from training.lexicon.hosts import hosts, infinitives
from training.lexicon.words import HERE, Frequencies, Reading, entries, morphit, paradigm, proper_names

from oulibench.text import letters

OUT = HERE.parents[1] / "src" / "oulibench" / "data" / "it" / "lexicon"

SINGLE_LETTERS = set("aeioèò")
"""The words of one letter; *ò* is the old spelling of *ho*. Names of letters (*bi*, *acca*) are other words."""


def core_forms(readings: dict[str, set[Reading]], frequencies: Frequencies, removed: set[str]) -> set[str]:
    """Morph-it's forms in small letters, less archaic truncations (*romper*) and `removed`.

    A truncation is a form in -r, -n, -l, -m whose full form exists and that is no headword; it stays when Italian uses
    it (*amor*, *signor*), not when it is frequent for being an English word (*modern*, *royal*).
    """
    plain = {form for form in readings if form.isalpha() and form == form.lower()}

    def archaic(form: str) -> bool:
        if form[-1] not in "rnlm" or not {f"{form}o", f"{form}e"} & plain:
            return False
        if any(reading.lemma == form for reading in readings[form]):
            return False
        zipf = frequencies.zipf(form)
        return zipf < 2.5 or frequencies.abroad(form, ("en",)) > zipf + 0.8

    hyphenated = {form for form in readings if "-" in form and form == form.lower() and form.replace("-", "").isalpha()}
    kept = {form for form in plain if not archaic(form)} - removed
    return {form for form in kept if len(form) > 1 or form in SINGLE_LETTERS} | hyphenated


def extended_forms(core: set[str], readings: dict[str, set[Reading]], frequencies: Frequencies) -> dict[str, str]:
    """Word → why it is admitted to the tier `extended`."""
    chosen = {form for entry in entries(HERE / "additions.txt") for form in paradigm(entry)}
    found = dict.fromkeys(sorted(chosen), "chosen")
    excluded = proper_names(readings) | set(entries(HERE / "removals.txt"))
    for word, rule in Derivation(core, readings, frequencies).extended(excluded).items():
        found.setdefault(word, rule)
    adjectives = {
        form
        for form in core
        if form[-1] in "oe"
        and "issim" not in form
        and any(reading.part_of_speech == "adj" and reading.lemma == form for reading in readings[form])
        and max(frequencies.zipf(form), frequencies.zipf(f"{form[:-1]}a"), frequencies.zipf(f"{form[:-1]}i")) >= 2.0
    }
    for word in sorted(completed_tenses(core, readings)):
        found.setdefault(word, "tense")
    for word in sorted(truncations(core, frequencies, excluded)):
        found.setdefault(word, "truncation")
    verbs = {verb for verb in infinitives(readings, core) if frequencies.zipf(verb) >= 2.3}
    for word in sorted(deverbal(verbs)):
        found.setdefault(word, "deverbal")
    for word in sorted(adverbs_in_mente(adjectives)):
        found.setdefault(word, "adverb")
    for word in sorted(superlatives(adjectives)):
        found.setdefault(word, "superlative")
    return {word: rule for word, rule in sorted(found.items()) if word not in core}


def new_verbs(extended: dict[str, str]) -> set[str]:
    """Infinitives among the added words that have their participle or gerund beside them."""
    return {
        word
        for word in extended
        if word.endswith("are") and len(word) > 5 and {f"{word[:-3]}ato", f"{word[:-3]}ando"} & extended.keys()
    }


def attested_words(known: set[str], frequencies: Frequencies) -> set[str]:
    """Words that Italian texts hold (zipf ≥ 2) and the lexicon does not: names, foreign words, misspellings."""
    return {word for word in frequencies.italian if word.isalpha() and frequencies.zipf(word) >= 2.0} - known


def letter_order(keys: list[str], strip: int) -> array[int]:
    """Indices of `keys`, sorted by the sorted letters of the key without its last `strip` characters, then by key."""

    def sort_key(i: int) -> tuple[str, str]:
        word = keys[i][: len(keys[i]) - strip]
        return "".join(sorted(letters(word))), keys[i]

    return array("I", sorted(range(len(keys)), key=sort_key))


def write(out: Path, core: set[str], extended: dict[str, str], host_keys: set[str], attested: set[str]) -> None:
    """Write the tries, the letter orders and the manifest."""
    tries = {"core": marisa_trie.Trie(sorted(core)), "extended": marisa_trie.Trie(sorted(extended))}
    tries["hosts"] = marisa_trie.Trie(sorted(host_keys))
    for name, trie in tries.items():
        trie.save(str(out / f"{name}.marisa"))
        order = letter_order([trie.restore_key(i) for i in range(len(trie))], strip=1 if name == "hosts" else 0)
        if sys.byteorder == "big":
            order.byteswap()
        (out / f"{name}.letters").write_bytes(order.tobytes())
    names = marisa_trie.Trie(sorted(attested))
    names.save(str(out / "attested.marisa"))
    data = [f"{name}.{kind}" for name in tries for kind in ("marisa", "letters")]
    data += ["attested.marisa", "clitics.tsv", "special.tsv"]
    digests = {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in data}
    whole = hashlib.sha256("\n".join(f"{name} {digests[name]}" for name in sorted(digests)).encode()).hexdigest()
    manifest = {
        "language": "it",
        "version": f"morphit0.48+{whole[:8]}",
        "counts": {name: len(trie) for name, trie in tries.items()} | {"attested": len(names)},
        "sha256": digests,
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to (default: the package's data folder)")
    parser.add_argument("--report", type=Path, help="write word and rule of the tier `extended` to this file")
    options = parser.parse_args()
    readings, frequencies = morphit(), Frequencies()
    core = core_forms(readings, frequencies, set(entries(HERE / "removals.txt")))
    extended = extended_forms(core, readings, frequencies)
    plain_core = {form for form in core if form.isalpha()}
    verbs = infinitives(readings, plain_core) | new_verbs(extended)
    attested = attested_words(core | extended.keys(), frequencies)
    write(options.out, core, extended, hosts(verbs, readings, plain_core), attested)
    if options.report:
        options.report.write_text("".join(f"{rule}\t{word}\n" for word, rule in extended.items()), "utf-8")
    manifest = json.loads((options.out / "manifest.json").read_text("utf-8"))
    size = sum(path.stat().st_size for path in options.out.iterdir())
    print(f"lexicon {manifest['version']}: {manifest['counts']}, {size / 1e6:.1f} MB in {options.out}")


if __name__ == "__main__":
    main()
