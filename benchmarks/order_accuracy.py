"""How often the constituent order is read right: `python benchmarks/order_accuracy.py [TREEBANKS]`.

Two measurements:

- own sentences (tests/golden/order_triples_*.jsonl: a subject, a verb and an object in all six orders): the share read
  with their order, by what decides between the two noun phrases. Where both are alike in number and animacy only SVO
  has one reading, so there only SVO counts. Rules and weights were tuned on the half `dev` alone;
- treebanks, when TREEBANKS (a folder with it_isdt-ud-test.conllu and it_vit-ud-test.conllu) is given: main clauses with
  a finite verb and one nominal subject and object, each laid into all six orders (the subject's and the object's span
  and the verb with its auxiliaries, clitics and short adverbs change places; what stands between them stays). Their own
  order is one of the six. The same clauses are then measured bare: subject, verb and object alone.

`--errors` prints every sentence read wrong (never for the half `heldout`).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from oulibench.syntax.order import ORDERS, read_order
from oulibench.syntax.parser import get_parser
from oulibench.syntax.tree import MultiwordToken, Sentence, Token, read_conllu

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
TREEBANKS = ("it_isdt-ud-test", "it_vit-ud-test")
NOMINAL = frozenset(("NOUN", "PROPN"))
NO_SPACE_BEFORE = frozenset(".,;:!?…)]»”")
NO_SPACE_AFTER = frozenset("([«“")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebanks", nargs="?", type=Path)
    arguments.add_argument("--parser", default="bundled")
    arguments.add_argument("--errors", action="store_true")
    options = arguments.parse_args()
    own_sentences(options.parser, options.errors)
    if options.treebanks is not None:
        for bare in (False, True):
            print("bare clauses:" if bare else "whole sentences:")
            permuted_clauses(options.treebanks, options.parser, options.errors, bare)


def own_sentences(parser: str, errors: bool) -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for half in ("dev", "heldout"):
        rows = [json.loads(line) for line in (GOLDEN / f"order_triples_{half}.jsonl").open(encoding="utf-8")]
        items = [(row["decides"], order, text) for row in rows for order, text in row["orders"].items()]
        sentences = get_parser(parser).parse_sentences([text for _, _, text in items])
        for (decides, order, text), sentence in zip(items, sentences, strict=True):
            reading = read_order(sentence)
            keys = [f"{half}: SVO"] if order == "SVO" else []
            if not decides.startswith("both"):
                keys += [f"{half}: {decides}", f"{half}: all that something decides", f"all: {order}"]
            for key in keys:
                total[key] += 1
                right[key] += reading.order == order
            if errors and keys and half == "dev" and reading.order != order:
                print(f"  {order} read as {reading.order}: {text}  [{reading.reason or reading.decided_by}]")
    report(right, total)


def permuted_clauses(folder: Path, parser: str, errors: bool, bare: bool) -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name in TREEBANKS:
        items = [item for tree in read_conllu(folder / f"{name}.conllu") for item in permutations(tree, bare)]
        sentences = get_parser(parser).parse_sentences([text for _, _, text in items])
        for (own, order, text), sentence in zip(items, sentences, strict=True):
            reading = read_order(sentence)
            decided = (reading.reason or reading.decided_by.partition(":")[0]).partition("«")[0].strip()
            for key in (name, "all permuted clauses", f"laid into {order}", "as it stood" if own == order else "moved"):
                total[key] += 1
                right[key] += reading.order == order
            if reading.order != order:
                total[f"wrong, decided by {decided}"] += 1
                if errors:
                    print(f"  {order} read as {reading.order}: {text}  [{reading.reason or reading.decided_by}]")
    report(right, total)


def report(right: Counter[str], total: Counter[str]) -> None:
    for key in sorted(total):
        print(f"{right[key]:5d} of {total[key]:5d}  {100 * right[key] / total[key]:6.2f}%  {key}")


def permutations(tree: Sentence, bare: bool = False) -> Iterator[tuple[str, str, str]]:
    """(own order, new order, text) for each of the six orders of a clause that can be laid out anew."""
    spans = blocks(tree)
    if spans is None:
        return
    slots = sorted(spans.values())
    own = "".join(sorted(spans, key=lambda name: spans[name]))
    for order in ORDERS:
        sequence: list[int] = []
        at = 1
        for slot, name in zip(slots, order, strict=True):
            between = () if bare else range(at, slot[0])
            sequence += [*between, *range(spans[name][0], spans[name][1] + 1)]
            at = slot[1] + 1
        sequence += () if bare else range(at, len(tree) + 1)
        yield own, order, written(tree, sequence) + ("." if bare else "")


def blocks(tree: Sentence) -> dict[str, tuple[int, int]] | None:
    """First and last word of subject, verb and object of the main clause, where it has one nominal of either."""
    root = tree.root
    auxiliaries = tree.children(root.id, "aux")
    if root.upos != "VERB" or not any(t.feats.get("VerbForm") == "Fin" for t in (root, *auxiliaries)):
        return None
    children = tree.children(root.id)
    subjects = [t for t in children if t.relation in ("nsubj", "csubj")]
    objects = [t for t in children if t.relation in ("obj", "ccomp") and not t.has(Clitic="Yes")]
    if len(subjects) != 1 or len(objects) != 1 or subjects[0].deprel != "nsubj" or objects[0].deprel != "obj":
        return None
    if subjects[0].upos not in NOMINAL or objects[0].upos not in NOMINAL:
        return None
    spans = {}
    for name, head in (("S", subjects[0]), ("O", objects[0])):
        words = tree.subtree(head.id)
        while words[-1].upos == "PUNCT" and words[-1].form in ".;:!?…":
            words = words[:-1]
        if any(t.feats.get("PronType") in ("Int", "Rel") for t in words[:2]):
            return None  # a question or a relative cannot move
        spans[name] = _span(words)
    verb = {root.id: root} | {t.id: t for t in auxiliaries}
    for child in children:
        short = child.relation == "advmod" and child.upos == "ADV" and not tree.children(child.id)
        beside = min(verb) - 1 <= child.id <= max(verb) + 1
        if child.has(Clitic="Yes") or child.relation == "expl" or (short and beside):
            verb[child.id] = child
    spans["V"] = _span([verb[i] for i in sorted(verb)])
    found = {name: span for name, span in spans.items() if span is not None}
    ordered = sorted(found.values())
    apart = all(a[1] < b[0] for a, b in pairwise(ordered))
    return found if len(found) == 3 and apart and _whole(tree, ordered) else None


def _span(words: Sequence[Token]) -> tuple[int, int] | None:
    first, last = words[0].id, words[-1].id
    return (first, last) if last - first + 1 == len(words) else None


def _whole(tree: Sentence, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether no contraction is cut by the spans' edges."""
    edges = {edge for first, last in spans for edge in (first, last + 1)}
    return not any(word.first < edge <= word.last for word in tree.multiword for edge in edges)


def written(tree: Sentence, sequence: Sequence[int]) -> str:
    """The words in the order of `sequence`, spaced and capitalised as a sentence."""
    contractions = {word.first: word for word in tree.multiword}
    inside = {i for word in tree.multiword for i in range(word.first + 1, word.last + 1)}
    opening = next(t for t in tree if t.upos != "PUNCT")
    text, follows, spaced = "", 0, True
    for i in sequence:
        if i in inside:
            continue
        word: Token | MultiwordToken = contractions.get(i, tree.token(i))
        form = word.form
        name = isinstance(word, Token) and word.upos == "PROPN"
        if word.start == opening.start and not name and form[:1].isupper() and form[1:] == form[1:].lower():
            form = form[:1].lower() + form[1:]
        if i == follows:  # the words stood together before
            glued = not spaced
        else:
            glued = not text or form[0] in NO_SPACE_BEFORE or text[-1] in NO_SPACE_AFTER or text[-1] in "'’"
        text += form if glued else f" {form}"
        follows = (word.last if isinstance(word, MultiwordToken) else i) + 1
        spaced = word.space_after
    first = next((i for i, letter in enumerate(text) if letter.isalpha()), 0)
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


if __name__ == "__main__":
    main()
