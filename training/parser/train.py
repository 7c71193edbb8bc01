"""Step 3: train the parser.

    python -m training.parser.train TREEBANKS WORK --run full --epochs 11

Reads WORK/vocabulary.npz (step 1), draws own sentences anew for each epoch (grammar.py, step 2), writes
WORK/RUN/last.pt after every epoch and WORK/RUN/log.jsonl. One thread, seeds fixed: the same call, the same weights.
"""

import argparse
import json
import random
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from training.parser.encoder import default_path, dequantise, read_e5
from training.parser.grammar import sentences
from training.parser.model import ParserNet, QuantisedLinear, Shape
from training.parser.treebanks import (
    HELD_OUT,
    OPEN,
    RESTRICTED,
    STYLES,
    Example,
    blocks,
    example,
    load,
    permuted,
    read_treebank,
    vary,
)

from oulibench.syntax.pieces import PADDING, START, Pieces
from oulibench.syntax.tree import UPOS

IGNORED = -100
BATCH_WORDS = 1200
OWN_SENTENCES = 4000
LONGEST = 480


def load_vocabulary(work: Path) -> tuple[Pieces, np.ndarray]:
    stored = np.load(work / "vocabulary.npz", allow_pickle=False)
    pieces = stored["pieces"].tobytes().decode("utf-8").split("\n")
    word = dequantise(stored["word"]).reshape(len(pieces), -1)
    return Pieces(pieces, stored["scores"].tolist()), word


class Coder:
    """Examples to tensors."""

    def __init__(self, pieces: Pieces, feats: list[str], labels: list[str]) -> None:
        self.pieces = pieces
        self.upos = {name: i for i, name in enumerate(UPOS)}
        self.feats = {name: i for i, name in enumerate(feats)}
        self.labels = {name: i for i, name in enumerate(labels)}

    def length(self, item: Example) -> int:
        return 1 + sum(len(self.pieces.segment(form)) for form in item.forms)

    def batch(self, items: list[Example]) -> dict[str, torch.Tensor]:
        size = len(items)
        longest = max(self.length(item) for item in items)
        words = 1 + max(len(item.forms) for item in items)
        ids = torch.full((size, longest), PADDING)
        first = torch.zeros(size, words, dtype=torch.long)
        last = torch.zeros(size, words, dtype=torch.long)
        gold = {name: torch.full((size, words), IGNORED) for name in ("upos", "feats", "heads", "labels")}
        for b, item in enumerate(items):
            ids[b, 0] = START
            at = 1
            for i, form in enumerate(item.forms, 1):
                segments = self.pieces.segment(form)
                ids[b, at : at + len(segments)] = torch.tensor(segments)
                first[b, i], last[b, i] = at, at + len(segments) - 1
                at += len(segments)
                gold["upos"][b, i] = self.upos.get(item.upos[i - 1], IGNORED)
                gold["feats"][b, i] = self.feats.get(item.feats[i - 1], IGNORED)
                gold["heads"][b, i] = item.heads[i - 1]
                label = item.labels[i - 1]
                gold["labels"][b, i] = IGNORED if label is None else self.labels.get(label, IGNORED)
        style = torch.tensor([STYLES.index(item.style) for item in items])
        n_words = torch.tensor([1 + len(item.forms) for item in items])
        return {"pieces": ids, "first": first, "last": last, "style": style, "n_words": n_words, **gold}


def batches(items: list[Example], coder: Coder, rng: random.Random) -> list[list[Example]]:
    """Examples of like length together, about 1,200 words each, in random order."""
    keyed = sorted(items, key=lambda item: (coder.length(item) + rng.random() * 3, rng.random()))
    groups: list[list[Example]] = [[]]
    total = 0
    for item in keyed:
        if total + len(item.forms) > BATCH_WORDS and groups[-1]:
            groups.append([])
            total = 0
        groups[-1].append(item)
        total += len(item.forms)
    rng.shuffle(groups)
    return groups


def loss(net: ParserNet, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, float]]:
    out = net(batch["pieces"], batch["first"], batch["last"], batch["style"], batch["n_words"])
    parts = {
        name: functional.cross_entropy(out[name].flatten(0, 1), batch[name].flatten(), ignore_index=IGNORED)
        for name in ("upos", "feats")
    }
    parts["arcs"] = functional.cross_entropy(out["arcs"].flatten(0, 1), batch["heads"].flatten(), ignore_index=IGNORED)
    known = batch["labels"] != IGNORED
    heads = batch["heads"].clamp(min=0)
    head_vectors = out["label_head"].gather(1, heads[..., None].expand(-1, -1, out["label_head"].shape[-1]))
    scores = net.label_scores(out["label_dep"][known], head_vectors[known])
    parts["labels"] = functional.cross_entropy(scores, batch["labels"][known])
    total = torch.stack(list(parts.values())).sum()
    return total, {name: value.item() for name, value in parts.items()}


@torch.no_grad()
def measure(net: ParserNet, coder: Coder, items: list[Example]) -> dict[str, float]:
    """UPOS, features, UAS and LAS in percent with greedy heads (no tree enforced): a gauge, no published figure."""
    net.eval()
    right: Counter[str] = Counter()
    total = 0
    for at in range(0, len(items), 40):
        batch = coder.batch(items[at : at + 40])
        out = net(batch["pieces"], batch["first"], batch["last"], batch["style"], batch["n_words"])
        mask = batch["heads"] != IGNORED
        heads = out["arcs"].argmax(-1)
        vectors = out["label_head"].gather(1, heads[..., None].expand(-1, -1, out["label_head"].shape[-1]))
        labels = net.label_scores(out["label_dep"][mask], vectors[mask]).argmax(-1)
        arc_right = (heads == batch["heads"])[mask]
        right["upos"] += int((out["upos"].argmax(-1) == batch["upos"])[mask].sum())
        right["feats"] += int((out["feats"].argmax(-1) == batch["feats"])[mask].sum())
        right["uas"] += int(arc_right.sum())
        right["las"] += int((arc_right & (labels == batch["labels"][mask])).sum())
        total += int(mask.sum())
    net.train()
    return {name: round(100 * right[name] / total, 2) for name in ("upos", "feats", "uas", "las")}


def own_examples(seed: int) -> list[Example]:
    return [example(s, "isdt") for s in sentences(OWN_SENTENCES, seed)]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("treebanks", type=Path)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--run", default="full", choices=("full", "open"))
    arguments.add_argument("--epochs", type=int, default=11)
    arguments.add_argument(
        "--rounding-from", type=float, default=0.8, help="share of the run after which 8 bits are mimicked"
    )
    arguments.add_argument("--orders", type=int, default=2, help="permuted copies of a clause in each epoch")
    arguments.add_argument("--layers", type=int, default=6)
    arguments.add_argument("--feed-forward", type=int, default=1024)
    arguments.add_argument("--seed", type=int, default=20)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    folder = options.work / options.run
    folder.mkdir(parents=True, exist_ok=True)
    pieces, word = load_vocabulary(options.work)
    banks = OPEN | {"it_valico-ud-test": "social"} if options.run == "open" else OPEN | RESTRICTED
    treebank = load(options.treebanks, banks)
    real = [example(s, style) for s, style in treebank]
    clauses = [(s, style, spans) for s, style in treebank if (spans := blocks(s)) is not None]
    counts = Counter(f for item in real for f in item.feats)
    label_counts = Counter(label for item in real for label in item.labels if label)
    own = own_examples(options.seed * 1000)
    feats = sorted({f for f, n in counts.items() if n >= 3} | {f for item in own for f in item.feats})
    labels = sorted({x for x, n in label_counts.items() if n >= 3} | {x for item in own for x in item.labels if x})
    coder = Coder(pieces, feats, labels)
    real = [item for item in real if coder.length(item) <= LONGEST]
    held_out = [example(s, "isdt") for s in read_treebank(options.treebanks, HELD_OUT)]
    shape = Shape(layers=options.layers, feed_forward=options.feed_forward)
    net = ParserNet(read_e5(default_path()), word, shape, len(UPOS), len(feats), len(labels), len(STYLES))
    encoder = [p for name, p in net.named_parameters() if name.startswith(("layers", "norm", "position"))]
    heads = [p for name, p in net.named_parameters() if not name.startswith(("layers", "norm", "position"))]
    rates = (1.5e-4, 1e-3)
    optimiser = torch.optim.AdamW(
        [{"params": encoder, "lr": rates[0]}, {"params": heads, "lr": rates[1]}], betas=(0.9, 0.98), weight_decay=0.01
    )
    log = (folder / "log.jsonl").open("a", encoding="utf-8")
    meta = {"feats": feats, "labels": labels, "styles": list(STYLES), "shape": asdict(shape), "seed": options.seed}
    print(
        f"{len(real)} sentences, {len(clauses)} clauses to permute, {len(own)} own, "
        f"{len(feats)} feature strings, {len(labels)} relations"
    )
    net.train()
    step = 0
    began = time.monotonic()
    for epoch in range(options.epochs):
        rng = random.Random(options.seed * 1000 + epoch)  # noqa: S311
        items = real + permuted(clauses, options.orders, rng) + own_examples(options.seed * 1000 + epoch)
        if (
            options.run == "open"
        ):  # no treebank here has ISDT's habits, which the own sentences follow: one style for all
            items = [replace(item, style=STYLES[0]) for item in items]
        groups = batches([vary(item, rng) for item in items], coder, rng)
        sums: Counter[str] = Counter()
        for i, group in enumerate(groups):
            progress = (epoch + i / len(groups)) / options.epochs
            if progress >= options.rounding_from:
                for module in net.modules():
                    if isinstance(module, QuantisedLinear):
                        module.rounding = True
            factor = min(1.0, (step + 1) / 100) * (1 - progress)
            for part, rate in zip(optimiser.param_groups, rates, strict=True):
                part["lr"] = rate * factor
            total, parts = loss(net, coder.batch(group))
            optimiser.zero_grad(set_to_none=True)
            total.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            sums.update(parts)
            step += 1
            if step % 20 == 0:
                print(
                    f"epoch {epoch} step {i + 1}/{len(groups)} {time.monotonic() - began:.0f} s "
                    + " ".join(f"{k} {v / (i + 1):.3f}" for k, v in sums.items()),
                    flush=True,
                )
        row = {
            "epoch": epoch,
            "seconds": round(time.monotonic() - began),
            "steps": step,
            **{f"loss_{k}": round(v / len(groups), 4) for k, v in sums.items()},
            **measure(net, coder, held_out),
        }
        log.write(json.dumps(row) + "\n")
        log.flush()
        print(row, flush=True)
        torch.save({"net": net.state_dict(), "meta": meta, "epoch": epoch}, folder / "last.tmp")
        (folder / "last.tmp").replace(folder / "last.pt")


if __name__ == "__main__":
    main()
