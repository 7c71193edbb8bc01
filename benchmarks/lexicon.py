"""What the lexicon covers, what it lets through, and how fast it is: `python benchmarks/lexicon.py UD_FOLDER`.

UD_FOLDER holds the Italian treebanks as UD publishes them (it_isdt-ud-test.conllu, it_vit-ud-test.conllu, …). Prints

- coverage: of the lower-cased alphabetic surface types (contracted forms as written; no PROPN, no X, no Foreign=Yes),
  the share known, on the test files; and the same without types that English texts hold at least twice as often as
  Italian ones and Morph-it does not: titles and quotations, which these treebanks seldom mark as foreign. `--misses
  SPLIT` lists what is missing there (look at dev, never at test);
- acceptance: of 5,000 random permutations (fixed seed) of the letters of common words (wordfreq zipf ≥ 4, 4 to 10
  letters, a to z once folded), the share accepted: of all that differ from their word, and of those not in Morph-it;
- cost: time to load, growth of resident memory after 200,000 look-ups, look-ups a second with and without the cache.

Needs wordfreq (for the permutations).
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oulibench.lexicon import Lexicon, load_lexicon
from oulibench.text import fold

SEED = 20250101
PERMUTATIONS = 5_000


def surface_types(path: Path) -> set[str]:
    """Lower-cased alphabetic surface forms of a CoNLL-U file, without proper nouns and foreign words."""
    types: set[str] = set()
    inside = 0  # last word of the contraction being read
    for line in path.read_text("utf-8").splitlines():
        columns = line.split("\t")
        if len(columns) != 10 or "." in columns[0]:
            inside = 0 if not line else inside
            continue
        number, form, tag, feats = columns[0], columns[1].lower(), columns[3], columns[5]
        if "-" in number:
            inside = int(number.split("-")[1])
            types.add(form)
        elif int(number) > inside and tag not in ("PROPN", "X") and "Foreign=Yes" not in feats:
            types.add(form)
    return {form for form in types if form.isalpha()}


def english(form: str, lexicon: Lexicon) -> bool:
    """Whether English texts hold `form` at least twice as often as Italian ones, and Morph-it does not hold it."""
    zipf: Any = importlib.import_module("wordfreq").zipf_frequency
    return not lexicon.in_source(form) and bool(zipf(form, "en") >= zipf(form, "it") + 0.3)


def permutations(lexicon: Lexicon) -> Iterator[tuple[str, bool]]:
    """Random permutations of common words that differ from their word, and whether each is a form of Morph-it."""
    wordfreq: Any = importlib.import_module("wordfreq")
    common = [
        word
        for word in sorted(wordfreq.get_frequency_dict("it"))
        if wordfreq.zipf_frequency(word, "it") >= 4 and re.fullmatch("[a-z]{4,10}", fold(word))
    ]
    generator = random.Random(SEED)  # noqa: S311 (a sample, no secret)
    made = 0
    while made < PERMUTATIONS:
        word = fold(generator.choice(common))
        shuffled = "".join(generator.sample(word, len(word)))
        if shuffled != word:
            made += 1
            yield shuffled, lexicon.in_source(shuffled)


def load_cost() -> tuple[float, float, float]:
    """Milliseconds (wall, processor) to import and load, megabytes that loading and 200,000 look-ups add."""
    script = (
        "import time, pathlib\n"
        "rss = lambda: int(pathlib.Path('/proc/self/statm').read_text().split()[1]) * 4096 / 1e6\n"
        "before = rss(); start, busy = time.perf_counter(), time.process_time()\n"
        "from oulibench.lexicon import load_lexicon\n"
        "lexicon = load_lexicon(); lexicon.is_known('casa')\n"
        "wall, busy = time.perf_counter() - start, time.process_time() - busy\n"
        "for i in range(200_000): lexicon.is_known(f'parola{i}')\n"
        "lexicon.anagrams('portare')\n"
        "print(wall * 1000, busy * 1000, rss() - before)\n"
    )
    output = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout  # noqa: S603
    wall, busy, megabytes = map(float, output.split())
    return wall, busy, megabytes


def per_second(lexicon: Lexicon, words: list[str]) -> float:
    start = time.perf_counter()
    for word in words:
        lexicon.is_known(word)
    return len(words) / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("treebanks", type=Path, metavar="UD_FOLDER")
    parser.add_argument("--misses", metavar="SPLIT", help="list the unknown types of this file, e.g. isdt-ud-dev")
    options = parser.parse_args()
    lexicon = load_lexicon()
    print(f"lexicon {lexicon.version}")
    for split in ("isdt-ud-test", "vit-ud-test"):
        types = surface_types(options.treebanks / f"it_{split}.conllu")
        tiers = [lexicon.tier(form) for form in types]
        unknown, core = tiers.count("unknown") / len(types), tiers.count("core") / len(types)
        print(f"{split}: {1 - unknown:.2%} of {len(types)} types known (core {core:.2%})", end="; ")
        italian = [form for form in types if not english(form, lexicon)]
        print(f"{sum(map(lexicon.is_known, italian)) / len(italian):.2%} of {len(italian)} without English ones")
    if options.misses:
        types = surface_types(options.treebanks / f"it_{options.misses}.conllu")
        print(*sorted(form for form in types if not lexicon.is_known(form)))
    sample = list(permutations(lexicon))
    accepted = [(form, real) for form, real in sample if lexicon.is_known(form)]
    false = sorted(form for form, real in accepted if not real)
    fakes = sum(not real for _, real in sample)
    print(f"permutations accepted: {len(accepted) / len(sample):.2%} of {len(sample)}; ", end="")
    print(f"without real Morph-it forms {len(false) / fakes:.2%} of {fakes}: {' '.join(false)}")
    wall, busy, megabytes = min(load_cost() for _ in range(5))
    print(f"import and load: {wall:.1f} ms ({busy:.1f} ms of processor); resident memory: +{megabytes:.1f} MB")
    words = sorted(surface_types(options.treebanks / "it_vit-ud-test.conllu"))
    load_lexicon.cache_clear()
    fresh = load_lexicon()
    print(f"look-ups a second: {per_second(fresh, words):,.0f} first time, {per_second(fresh, words * 20):,.0f} again")
    keys = [word for word in words if 4 <= len(word) <= 12][:2000]
    start = time.perf_counter()
    for key in keys:
        fresh.anagrams(key)
    print(f"anagram searches a second: {len(keys) / (time.perf_counter() - start):,.0f}")


if __name__ == "__main__":
    main()
