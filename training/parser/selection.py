"""Step 6: what a verb selects, as a table.

    python training/parser/selection.py TREEBANKS WORK TARGET/selection.npz

For a noun and a verb, blind to where they stand: is the noun rather what does it or what it is done to? Each lemma is
described by what multilingual-e5-small (its first eight layers) makes of it alone; a low-rank bilinear model over these
descriptions learns from the subjects and objects of the training treebanks and from the classes of the sentence grammar's
lexicon. It is evaluated once for some fifty thousand lemmas, and ships as small integers: score = noun . verb.
"""

import gzip
import json
import random
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import torch
import wordfreq
from encoder import E5File, default_path, dequantise, read_e5
from grammar import read_lexicon
from model import Layer, Shape, pretrained_layer
from treebanks import OPEN, RESTRICTED, load
from vocabulary import repair

from oulibench.syntax.lemmas import plain
from oulibench.syntax.pieces import PADDING, START, Pieces

NAME = "<name>"
RANK = 16
LAYERS = 8
MIDDLE = 5
Pair = tuple[str, str, int]  # noun, verb, 1 for a subject


class Describer:
    """Lemmas to vectors: the mean over a word's pieces after the fifth layer and after the eighth."""

    def __init__(self, file: E5File) -> None:
        self.file = file
        self.pieces = Pieces(file.pieces, file.scores.tolist())
        shape = Shape(feed_forward=file.feed_forward, dropout=0.0)
        self.layers: list[Layer] = [pretrained_layer(file, i, shape).eval() for i in range(LAYERS)]
        t = file.tensors
        self.position = torch.tensor(t["emb.pos"] + t["emb.type"][0])
        self.gamma, self.beta = torch.tensor(t["emb.ln.w"]), torch.tensor(t["emb.ln.b"])

    @torch.no_grad()
    def __call__(self, lemmas: list[str]) -> torch.Tensor:
        rows = [[START, *self.pieces.segment(lemma)] for lemma in lemmas]
        found = torch.zeros(len(lemmas), 2 * self.file.hidden)
        order = sorted(range(len(lemmas)), key=lambda i: len(rows[i]))
        for at in range(0, len(order), 256):
            part = order[at : at + 256]
            longest = max(len(rows[i]) for i in part)
            ids = torch.tensor([rows[i] + [PADDING] * (longest - len(rows[i])) for i in part])
            word = torch.tensor(dequantise(self.file.word[ids.numpy()]).reshape(*ids.shape, -1))
            x = word + self.position[:longest]
            x = torch.nn.functional.layer_norm(x, x.shape[-1:], self.gamma, self.beta, self.file.epsilon)
            mask = ids != PADDING
            middle = x
            for i, layer in enumerate(self.layers):
                x = layer(x, mask[:, None, None, :])
                if i + 1 == MIDDLE:
                    middle = x
            own = mask.clone()
            own[:, 0] = False
            weight = own[..., None].float() / own.sum(1)[:, None, None]
            found[part] = torch.cat([(middle * weight).sum(1), (x * weight).sum(1)], 1)
        return found


def treebank_pairs(folder: Path) -> list[Pair]:
    """Subjects and objects of verbs, the roles of passives turned round."""
    role = {"nsubj": 1, "obj": 0, "nsubj:pass": 0, "obl:agent": 1}
    pairs: list[Pair] = []
    for sentence, _ in load(folder, OPEN | RESTRICTED):
        for token in sentence:
            head = sentence.head(token)
            if head is None or head.upos != "VERB" or token.deprel not in role:
                continue
            passive = any(t.deprel in ("aux:pass", "expl:pass") for t in sentence.children(head.id))
            if token.deprel == "nsubj" and (passive or not sentence.children(head.id, "obj")):
                continue  # of intransitives the subject says little about who does and who suffers
            if token.upos == "NOUN" and token.lemma.isalpha():
                pairs.append((plain(token.lemma), plain(head.lemma), role[token.deprel]))
            elif token.upos == "PROPN":
                pairs.append((NAME, plain(head.lemma), role[token.deprel]))
    return pairs


def lexicon_pairs(count: int, rng: random.Random) -> list[Pair]:
    lexicon = read_lexicon(Path(__file__).with_name("lexicon_grammar.txt"))
    pairs: list[Pair] = []
    while len(pairs) < count:
        verb = rng.choice(lexicon.verbs)
        subject, obj = rng.choice(verb.subjects), rng.choice(verb.objects)
        if subject in verb.objects and obj in verb.subjects:
            continue
        for kind, is_subject in ((subject, 1), (obj, 0)):
            noun = NAME if kind == "P" and rng.random() < 0.15 else rng.choice(lexicon.nouns[kind]).lemma
            pairs.append((noun, verb.lemma, is_subject))
    return pairs


def vocabulary() -> tuple[list[str], list[str]]:
    """Noun and verb lemmas of Morph-it that wordfreq has seen."""
    folder = resources.files("spacy_lookups_data") / "data"
    found = []
    for table, least in (("noun", 1.9), ("verb", 1.2)):
        entries = json.loads(gzip.decompress((folder / f"it_lemma_lookup_{table}.json.gz").read_bytes()))
        best: dict[str, float] = {}
        for raw, lemma in entries.items():
            key = plain(repair(lemma))
            if key.isalpha():
                best[key] = max(best.get(key, 0.0), wordfreq.zipf_frequency(repair(raw), "it"))
        found.append(sorted(lemma for lemma, zipf in best.items() if zipf >= least))
    return found[0], [v for v in found[1] if v.endswith(("are", "ere", "ire", "rre"))]


class Selection(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.noun = torch.nn.Linear(size, RANK)
        self.verb = torch.nn.Linear(size, RANK)

    def forward(self, noun: torch.Tensor, verb: torch.Tensor) -> torch.Tensor:
        drop = torch.nn.functional.dropout
        n = self.factor(self.noun, drop(noun, 0.2, self.training))
        v = self.factor(self.verb, drop(verb, 0.2, self.training))
        return (n * v).sum(1)

    @staticmethod
    def factor(layer: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        """The last coordinate is the constant 1 for the other side's bias."""
        return layer(x)

    def factors(self, noun: torch.Tensor, verb: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.noun(noun), self.verb(verb)


def main(folder: Path, work: Path, target: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(7)
    rng = random.Random(7)  # noqa: S311
    real = treebank_pairs(folder)
    nouns, verbs = vocabulary()
    made = lexicon_pairs(60_000, rng)
    nouns = sorted({*nouns, *(n for n, _, _ in real + made if n != NAME)})
    verbs = sorted({*verbs, *(v for _, v, _ in real + made)})
    cache = work / "descriptions.pt"
    if not cache.exists():
        describe = Describer(read_e5(default_path()))
        torch.save({"nouns": nouns, "verbs": verbs, "n": describe(nouns), "v": describe(verbs),
                    "name": describe(["Luca", "Maria", "Giovanni", "Rossi", "Francesca", "Anna", "Paolo"])}, cache)  # fmt: skip
    stored = torch.load(cache, weights_only=True)
    nouns, verbs = stored["nouns"], stored["verbs"]
    noun_rows, verb_rows = torch.cat([stored["n"], stored["name"].mean(0, keepdim=True)]), stored["v"]
    nouns = [*nouns, NAME]
    scale = [(rows.mean(0), rows.std(0) + 1e-3) for rows in (noun_rows, verb_rows)]
    noun_rows, verb_rows = ((rows - m) / s for rows, (m, s) in zip((noun_rows, verb_rows), scale, strict=True))
    noun_id, verb_id = {n: i for i, n in enumerate(nouns)}, {v: i for i, v in enumerate(verbs)}
    pairs = [(noun_id[n], verb_id[v], r) for n, v, r in real * 3 + made if n in noun_id and v in verb_id]
    net = Selection(noun_rows.shape[1])
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.3)
    epochs = 10
    for epoch in range(epochs):
        rng.shuffle(pairs)
        total = 0.0
        net.train()
        for at in range(0, len(pairs), 256):
            for group in optimiser.param_groups:
                group["lr"] = 1e-3 * (1 - (epoch + at / len(pairs)) / epochs)
            n, v, r = (torch.tensor(column) for column in zip(*pairs[at : at + 256], strict=True))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(net(noun_rows[n], verb_rows[v]), r.float())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(r)
        print(f"epoch {epoch} loss {total / len(pairs):.4f}", flush=True)
    net.eval()
    with torch.no_grad():
        n_factor, v_factor = net.factors(noun_rows, verb_rows)
    arrays = {}
    for name, keys, factor in (("noun", nouns, n_factor), ("verb", verbs, v_factor)):
        step = factor.abs().max() / 127
        arrays[f"{name}_keys"] = np.frombuffer("\n".join(keys).encode("utf-8"), np.uint8)
        arrays[f"{name}"] = torch.round(factor / step).to(torch.int8).numpy()
        arrays[f"{name}_step"] = np.float32(step.item())
    np.savez_compressed(target, **arrays)
    print(
        f"{len(real)} real pairs, {len(made)} made, {len(nouns)} nouns, {len(verbs)} verbs, {target.stat().st_size} bytes"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
