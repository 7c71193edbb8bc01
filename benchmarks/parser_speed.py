"""How many sentences of ten words the bundled parser reads in a second, on one core.

    taskset -c 0 python benchmarks/parser_speed.py [--sentences 2000]

From text to trees, tokens and lemmas included, in one batch and one by one. The sentences are made of a fixed list of
words, all different; the first batch, which loads the data, is not counted.
"""

import argparse
import random
import time

from oulibench.syntax.bundled import BundledParser

SUBJECTS = [
    "il sarto",
    "la maestra",
    "un vecchio amico",
    "il nuovo sindaco",
    "la giovane attrice",
    "il cane nero",
    "mia sorella",
]
VERBS = ["ha comprato", "vuole vendere", "guarda", "prepara", "cerca", "non trova", "ha perso", "stava leggendo"]
OBJECTS = [
    "un libro",
    "la chiave",
    "il vestito rosso",
    "una lettera",
    "i biglietti",
    "le scarpe nuove",
    "il giornale",
    "due mele",
]
ENDS = [
    "in piazza",
    "prima di cena",
    "con molta calma",
    "per sua figlia",
    "alla stazione",
    "nel pomeriggio",
    "ogni mattina presto",
]
WORDS = 10


def sentences(count: int) -> list[str]:
    rng = random.Random(1)  # noqa: S311
    found: set[str] = set()
    while len(found) < count:
        parts = [rng.choice(SUBJECTS), rng.choice(VERBS), rng.choice(OBJECTS), rng.choice(ENDS), rng.choice(ENDS)]
        words = " ".join(parts).split()
        if len(words) >= WORDS:
            text = " ".join(words[:WORDS])
            found.add(text[0].upper() + text[1:] + ".")
    return sorted(found)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sentences", type=int, default=2000)
    options = arguments.parse_args()
    parser = BundledParser()
    texts = sentences(options.sentences)
    began = time.perf_counter()
    parser.parse_sentences(["Piove."])
    print(f"{parser.name} {parser.version}: loaded in {time.perf_counter() - began:.2f} s")
    for title, batches in (("in one batch", [texts]), ("one by one", [[text] for text in texts[:200]])):
        wall, cpu = time.perf_counter(), time.process_time()
        for batch in batches:
            parser.parse_sentences(batch)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        n = sum(map(len, batches))
        print(f"{title}: {n / wall:.0f} sentences/s ({n / cpu:.0f} a second of processor time)")


if __name__ == "__main__":
    main()
