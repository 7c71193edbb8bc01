"""How often the voice of the main clause is read right: `python benchmarks/voice_accuracy.py [TREEBANKS]`.

Two measurements:

- own sentences (tests/golden/voice_sentences_*.jsonl, written before any rule was): the share read with the voice
  written beside them, in all, by half and by kind. Rules were tuned on the half `dev` alone;
- treebanks, when TREEBANKS (a folder with it_isdt-ud-test.conllu, it_vit-ud-test.conllu, it_partut-ud-test.conllu) is
  given: the share of trees with a verbal main clause whose voice, read off the parse of the text, is the voice read off
  the gold tree by the same rules. A kind of *si* that a treebank leaves open (plain `expl`) is read off the gold tree
  by the class of its verb, its subject and where that stands, exactly as off a parse.

`--errors` prints every sentence read wrong (never for the half `heldout`).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from oulibench.syntax.parser import get_parser
from oulibench.syntax.tree import read_conllu
from oulibench.syntax.voice import read_voice

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
TREEBANKS = ("it_isdt-ud-test", "it_vit-ud-test", "it_partut-ud-test")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebanks", nargs="?", type=Path)
    arguments.add_argument("--parser", default="bundled")
    arguments.add_argument("--errors", action="store_true")
    options = arguments.parse_args()
    own_sentences(options.parser, options.errors)
    if options.treebanks is not None:
        against_trees(options.treebanks, options.parser, options.errors)


def own_sentences(parser: str, errors: bool) -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for half in ("dev", "heldout"):
        rows = [json.loads(line) for line in (GOLDEN / f"voice_sentences_{half}.jsonl").open(encoding="utf-8")]
        sentences = get_parser(parser).parse_sentences([row["text"] for row in rows])
        for row, sentence in zip(rows, sentences, strict=True):
            reading = read_voice(sentence)
            for key in ("all", half, f"{row['voice']}: {row['kind']}"):
                total[key] += 1
                right[key] += reading.voice == row["voice"]
            if errors and half == "dev" and reading.voice != row["voice"]:
                print(
                    f"  {row['voice']} read as {reading.voice}: {row['text']}  [{reading.kind}: {reading.decided_by}]"
                )
    for key in total:
        print(f"{right[key]:5d} of {total[key]:5d}  {100 * right[key] / total[key]:6.2f}%  {key}")


def against_trees(folder: Path, parser: str, errors: bool) -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    confused: Counter[str] = Counter()
    for name in TREEBANKS:
        gold = list(read_conllu(folder / f"{name}.conllu"))
        parsed = get_parser(parser).parse_sentences([sentence.text for sentence in gold])
        for tree, parse in zip(gold, parsed, strict=True):
            expected, found = read_voice(tree), read_voice(parse)
            if expected.voice is None:
                total["verbless trees"] += 1
                right["verbless trees"] += found.voice is None
                continue
            for key in (name, "all three"):
                total[key] += 1
                right[key] += found.voice == expected.voice
            if found.voice != expected.voice:
                confused[f"{expected.voice} read as {found.voice or 'no verb'}"] += 1
                if errors:
                    print(f"  {expected.voice} read as {found.voice}: {tree.text}")
                    print(f"    {expected.decided_by}", f"    {found.decided_by}", sep="\n")
    for key in total:
        print(f"{right[key]:5d} of {total[key]:5d}  {100 * right[key] / total[key]:6.2f}%  {key}")
    for key, count in confused.most_common():
        print(f"{count:5d} {key}")


if __name__ == "__main__":
    main()
