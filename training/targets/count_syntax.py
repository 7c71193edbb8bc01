"""How often each voice and each order of subject, verb and object heads a sentence, counted on gold trees.

    python training/targets/count_syntax.py TREEBANKS > training/targets/syntax_counts.toml

TREEBANKS is a folder with the CoNLL-U files of UD_Italian-ISDT, -VIT, -PUD and -ParTUT (edited prose); files of other
treebanks in it are passed over: social media, learners, and MarkIT, whose sentences were collected for being marked.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from oulibench.syntax.order import Weights, read_order
from oulibench.syntax.tree import read_conllu
from oulibench.syntax.voice import read_voice

TREEBANKS = ("isdt", "vit", "pud", "partut")
VOICES = ("active", "passive", "reflexive")
GOLD = Weights(assigned=100.0)  # the relations of a gold tree outweigh what animacy suggests
ORDERS = ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")


def files(folder: Path) -> list[Path]:
    """The files that are counted, in alphabetical order."""
    return sorted(f for f in folder.glob("*.conllu") if any(f"_{name}-" in f.name for name in TREEBANKS))


def count(folder: Path) -> tuple[Counter[str], Counter[str]]:
    """Main clauses by voice, and by order where they have both a subject and an object."""
    voices: Counter[str] = Counter()
    orders: Counter[str] = Counter()
    for file in files(folder):
        for sentence in read_conllu(file):
            voices[read_voice(sentence).voice or ""] += 1
            orders[read_order(sentence, weights=GOLD).order or ""] += 1
    return voices, orders


def as_toml(folder: Path) -> str:
    voices, orders = count(folder)
    lines = [f"# Main clauses on gold trees, counted by count_syntax.py in {len(files(folder))} files:"]
    lines += [f"#   {file.name}" for file in files(folder)]
    for name, counts, values in (("voice", voices, VOICES), ("word_order", orders, ORDERS)):
        lines += ["", f"[{name}]", *(f"{value} = {counts[value]}" for value in values)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(as_toml(Path(sys.argv[1])))
