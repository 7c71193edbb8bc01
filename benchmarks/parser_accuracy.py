"""How right the bundled parser is, on the test files of three treebanks.

    python benchmarks/parser_accuracy.py TREEBANKS [--style isdt]

TREEBANKS is a folder with it_isdt-ud-test.conllu, it_vit-ud-test.conllu and it_partut-ud-test.conllu. Printed for each:

- gold words: percent of words with the right UPOS, features, lemma, head (UAS), head and relation (LAS; relations
  with their subtypes, and without: LAS universal). Punctuation counts.
- raw text: the sentences joined by spaces, then F1 of tokens, syntactic words and sentences, and of words with the
  right UPOS, head and relation, aligned as the CoNLL 2018 shared task did (relations without subtypes).
- permuted: the same gold-word figures over the main clauses with a nominal subject and object, in all six orders, and
  the percent of these clauses whose subject and object are both found.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oulibench.syntax.bundled import BundledParser
from oulibench.syntax.tree import MultiwordToken, Sentence, read_conllu

sys.path.insert(0, str(Path(__file__).parents[1]))
from training.parser.treebanks import ORDERS, blocks, reorder

FILES = ("it_isdt-ud-test", "it_vit-ud-test", "it_partut-ud-test")


def gold_words(gold: Sequence[Sentence], system: Sequence[Sentence]) -> dict[str, float]:
    right: Counter[str] = Counter()
    total = 0
    for one, other in zip(gold, system, strict=True):
        for g, s in zip(one, other, strict=True):
            total += 1
            arc = g.head == s.head
            right["UPOS"] += g.upos == s.upos
            right["feats"] += g.feats == s.feats
            right["lemma"] += g.lemma.lower() == s.lemma.lower()
            right["UAS"] += arc
            right["LAS"] += arc and g.deprel == s.deprel
            right["LAS universal"] += arc and g.relation == s.relation
    return {name: 100 * n / total for name, n in right.items()}


@dataclass(frozen=True, slots=True)
class Placed:
    """A word with the stretch of the text (white space left out) that its token covers."""

    start: int
    end: int
    form: str
    upos: str
    relation: str
    head: int  # place of the head in the list of all words, -1 for a root
    multiword: bool


def placed(sentences: Sequence[Sentence]) -> tuple[list[Placed], set[tuple[int, int]], set[tuple[int, int]]]:
    words: list[Placed] = []
    tokens: set[tuple[int, int]] = set()
    spans: set[tuple[int, int]] = set()
    at = 0
    for sentence in sentences:
        offset, begin = len(words), at
        for token in sentence.surface():
            end = at + len("".join(token.form.split()))
            tokens.add((at, end))
            several = isinstance(token, MultiwordToken)
            ids = (
                range(token.first, token.last + 1)
                if isinstance(token, MultiwordToken)
                else range(token.id, token.id + 1)
            )
            for i in ids:
                word = sentence.token(i)
                head = offset + word.head - 1 if word.head else -1
                words.append(Placed(at, end, word.form.lower(), word.upos, word.relation, head, several))
            at = end
        spans.add((begin, at))
    return words, tokens, spans


def aligned(gold: list[Placed], system: list[Placed]) -> list[tuple[int, int]]:
    """Pairs of words that are the same; within multiword tokens by the longest common subsequence of forms."""
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(gold) and j < len(system):
        g, s = gold[i], system[j]
        if not (g.multiword or s.multiword):
            if (g.start, g.end) == (s.start, s.end):
                pairs.append((i, j))
                i, j = i + 1, j + 1
            elif g.start <= s.start:
                i += 1
            else:
                j += 1
            continue
        end = g.end if g.multiword else s.end
        a, b = i, j
        while True:  # the stretch both sides cover with whole tokens
            moved = False
            while a < len(gold) and gold[a].start < end:
                end, a, moved = max(end, gold[a].end if gold[a].multiword else 0), a + 1, True
            while b < len(system) and system[b].start < end:
                end, b, moved = max(end, system[b].end if system[b].multiword else 0), b + 1, True
            if not moved:
                break
        pairs += common(gold, range(i, a), system, range(j, b))
        i, j = max(a, i + 1) if a == i and b == j else a, b
    return pairs


def common(gold: list[Placed], left: range, system: list[Placed], right: range) -> list[tuple[int, int]]:
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for x in range(len(left) - 1, -1, -1):
        for y in range(len(right) - 1, -1, -1):
            same = gold[left[x]].form == system[right[y]].form
            table[x][y] = 1 + table[x + 1][y + 1] if same else max(table[x + 1][y], table[x][y + 1])
    pairs = []
    x = y = 0
    while x < len(left) and y < len(right):
        if gold[left[x]].form == system[right[y]].form:
            pairs.append((left[x], right[y]))
            x, y = x + 1, y + 1
        elif table[x + 1][y] >= table[x][y + 1]:
            x += 1
        else:
            y += 1
    return pairs


def raw_text(parser: BundledParser, gold: Sequence[Sentence]) -> dict[str, float]:
    text = " ".join(sentence.text for sentence in gold)
    system = parser.parse([text], scores=False)[0]
    g_words, g_tokens, g_spans = placed(gold)
    s_words, s_tokens, s_spans = placed(system)
    pairs = aligned(g_words, s_words)
    partner = dict(pairs)
    right: Counter[str] = Counter()
    for i, j in pairs:
        g, s = g_words[i], s_words[j]
        arc = (g.head == -1 and s.head == -1) or (g.head != -1 and partner.get(g.head) == s.head)
        right["UPOS"] += g.upos == s.upos
        right["UAS"] += arc
        right["LAS"] += arc and g.relation == s.relation

    def f1(same: int, a: int, b: int) -> float:
        return 200 * same / (a + b)

    sizes = len(g_words), len(s_words)
    return {
        "tokens": f1(len(g_tokens & s_tokens), len(g_tokens), len(s_tokens)),
        "words": f1(len(pairs), *sizes),
        "sentences": f1(len(g_spans & s_spans), len(g_spans), len(s_spans)),
        **{name: f1(n, *sizes) for name, n in right.items()},
    }


def permuted(parser: BundledParser, gold: Sequence[Sentence]) -> tuple[dict[str, float], dict[str, float]]:
    """Gold-word figures of all clauses laid into all orders; by order, percent with subject and object both found."""
    laid: list[Sentence] = []
    orders: list[str] = []
    for sentence in gold:
        spans = blocks(sentence)
        if spans is not None:
            for order in ORDERS:
                laid.append(reorder(sentence, spans, order))
                orders.append(order)
    system = parser.parse_words([[t.form for t in s] for s in laid], scores=False)
    found: Counter[str] = Counter()
    for order, g, s in zip(orders, laid, system, strict=True):
        wanted = {(t.id, t.relation) for t in g.children(g.root.id, "nsubj", "obj") if t.feats.get("Clitic") != "Yes"}
        got = {(t.id, t.relation) for t in s.children(s.root.id, "nsubj", "obj") if t.feats.get("Clitic") != "Yes"}
        found[order] += g.root.id == s.root.id and wanted == got
    count = len(laid) // len(ORDERS)
    return gold_words(laid, system), {"clauses": count, **{order: 100 * found[order] / count for order in ORDERS}}


def line(title: str, figures: dict[str, float]) -> str:
    return f"{title:28s}" + "  ".join(f"{name} {value:.2f}" for name, value in figures.items())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebanks", type=Path)
    arguments.add_argument("--style", default="isdt", help="annotation style the parser is asked for")
    arguments.add_argument("--data", type=Path, default=None, help="folder of another set of the parser's data")
    options = arguments.parse_args()
    parser = BundledParser(options.data, options.style)
    print(f"{parser.name} {parser.version}")
    for name in FILES:
        gold = list(read_conllu(options.treebanks / f"{name}.conllu"))
        began = time.process_time()
        system = parser.parse_words([[t.form for t in s] for s in gold], scores=False)
        seconds = time.process_time() - began
        words = sum(map(len, gold))
        print(f"\n{name}: {len(gold)} sentences, {words} words, {words / seconds:.0f} words/s")
        print(line("gold words", gold_words(gold, system)))
        print(line("raw text (CoNLL 2018)", raw_text(parser, gold)))
        figures, by_order = permuted(parser, gold)
        print(line("permuted, gold words", figures))
        print(line("permuted, S and O found", by_order), flush=True)


if __name__ == "__main__":
    main()
