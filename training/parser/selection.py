"""Step 5: what a verb selects, as a table.

    python -m training.parser.selection TREEBANKS WORK TARGET/selection.npz

For a noun and a verb, blind to where they stand: is the noun rather what does it or what it is done to? Each lemma is
described by what multilingual-e5-small (its first eight layers) makes of it alone. From the descriptions a first model
learns what nouns denote (person, animal, group, force, thing, place, abstract), out of the package's list and the
sentence grammar's lexicon; a second what a verb's subjects and objects denote, out of the subjects and objects of the
training treebanks and of that lexicon. Both are evaluated once for all lemmas Italian texts use, and ship as small
integers.
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
from training.parser.encoder import E5File, default_path, dequantise, read_e5
from training.parser.grammar import CLASSES, read_lexicon
from training.parser.model import Layer, Shape, pretrained_layer
from training.parser.treebanks import OPEN, RESTRICTED, load
from training.parser.vocabulary import repair

from oulibench.syntax.lemmas import plain
from oulibench.syntax.pieces import PADDING, START, Pieces

NAME = "<name>"
FLOOR = 0.02
VERB_SIZE = 60
RATE = 3e-3
KINDS = ("person", "animal", "group", "force", "thing", "place", "abstract")
OF_LIST = {"event": "abstract", "time": "abstract", "vehicle": "thing", "name": "person"}
OF_LETTER = {"P": "person", "A": "animal", "O": "group", "N": "force", "M": "abstract", "L": "place", "B": "place"}
OF_NAME = (0.75, 0.0, 0.12, 0.01, 0.02, 0.1, 0.0)
LAYERS = 8
MIDDLE = 5
Rows = dict[str, torch.Tensor]
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
    for table, least in (("noun", 1.0), ("verb", 0.6)):
        entries = json.loads(gzip.decompress((folder / f"it_lemma_lookup_{table}.json.gz").read_bytes()))
        best: dict[str, float] = {}
        for raw, lemma in entries.items():
            key = plain(repair(lemma))
            if key.isalpha():
                best[key] = max(best.get(key, 0.0), wordfreq.zipf_frequency(repair(raw), "it"))
        found.append(sorted(lemma for lemma, zipf in best.items() if zipf >= least))
    return found[0], [v for v in found[1] if v.endswith(("are", "ere", "ire", "rre"))]


def noun_kinds() -> dict[str, int]:
    """Lower-case nouns whose kind is known, by the package's list and, where that is silent, the grammar's lexicon."""
    found: dict[str, str] = {}
    for line in CLASSES.read_text(encoding="utf-8").splitlines():
        lemma, _, kind = line.partition("\t")
        kind = OF_LIST.get(kind, kind)
        if lemma.isalpha() and lemma.islower() and kind in KINDS:
            found[lemma] = kind
    lexicon = read_lexicon(Path(__file__).with_name("lexicon_grammar.txt"))
    for letter, nouns in lexicon.nouns.items():
        for noun in nouns:
            found.setdefault(noun.lemma, OF_LETTER.get(letter, "thing"))
    return {lemma: KINDS.index(kind) for lemma, kind in found.items()}


def fit_nouns(rows: torch.Tensor, labels: torch.Tensor) -> torch.nn.Module:
    net = torch.nn.Sequential(torch.nn.Dropout(0.3), torch.nn.Linear(rows.shape[1], len(KINDS)))
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.3)
    for _ in range(150):
        loss = torch.nn.functional.cross_entropy(net(rows), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return net.eval()


class VerbKinds(torch.nn.Module):
    """What a verb's subjects and objects denote: two distributions over the kinds, from the verb's description."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.subject = torch.nn.Linear(size, len(KINDS))
        self.object = torch.nn.Linear(size, len(KINDS))

    def forward(self, verb: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        verb = torch.nn.functional.dropout(verb, 0.3, self.training)
        return self.subject(verb).log_softmax(1), self.object(verb).log_softmax(1)


def logit(noun: torch.Tensor, subject: torch.Tensor, obj: torch.Tensor) -> torch.Tensor:
    noun = noun + FLOOR
    return (noun * subject.exp()).sum(1).log() - (noun * obj.exp()).sum(1).log()


def described(work: Path, nouns: list[str], verbs: list[str]) -> tuple[Rows, Rows]:
    """Descriptions by lemma, kept in WORK between calls."""
    cache = work / "descriptions.pt"
    stored: dict[str, dict[str, torch.Tensor]] = {"nouns": {}, "verbs": {}}
    if cache.exists():
        stored = torch.load(cache, weights_only=True)
    describe = None
    for side, lemmas in (("nouns", nouns), ("verbs", verbs)):
        missing = [lemma for lemma in lemmas if lemma not in stored[side]]
        if missing:
            describe = describe or Describer(read_e5(default_path()))
            stored[side] |= dict(zip(missing, describe(missing).half(), strict=True))
            print(f"{len(missing)} {side} described", flush=True)
            torch.save(stored, cache)
    return stored["nouns"], stored["verbs"]


def standardised(rows: torch.Tensor) -> torch.Tensor:
    rows = rows.float()
    return (rows - rows.mean(0)) / (rows.std(0) + 1e-3)


def principal(rows: torch.Tensor, size: int) -> torch.Tensor:
    """The first principal components, the first with a standard deviation of 3."""
    _, _, directions = torch.pca_lowrank(rows, q=100, niter=2)
    components = rows @ directions
    return (3 * components / components.std(0)[0])[:, :size]


def main(folder: Path, work: Path, target: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(7)
    rng = random.Random(7)  # noqa: S311
    real = treebank_pairs(folder)
    made = lexicon_pairs(8_000, rng)
    kinds = noun_kinds()
    nouns, verbs = vocabulary()
    nouns = sorted({*nouns, *kinds, *(n for n, _, _ in real + made if n != NAME)})
    verbs = sorted({*verbs, *(v for _, v, _ in real + made)})
    of_noun, of_verb = described(work, nouns, verbs)
    size = next(iter(of_noun.values())).shape[0] // 2  # the fifth layer's half: the deeper one blurs what words denote
    noun_rows = standardised(torch.stack([of_noun[n][:size] for n in nouns]))
    verb_rows = principal(standardised(torch.stack([of_verb[v][:size] for v in verbs])), VERB_SIZE)
    noun_id, verb_id = {n: i for i, n in enumerate(nouns)}, {v: i for i, v in enumerate(verbs)}

    known = [noun_id[n] for n in kinds]
    labels = torch.tensor(list(kinds.values()))
    fold = torch.tensor([rng.randrange(5) for _ in known])
    rows = noun_rows[known]
    predicted = torch.empty_like(labels)
    with torch.no_grad():
        for k in range(5):
            with torch.enable_grad():
                net = fit_nouns(rows[fold != k], labels[fold != k])
            predicted[fold == k] = net(rows[fold == k]).argmax(1)
    acting = (labels < 2) == (predicted < 2)
    print(
        f"nouns: {len(known)} of known kind; in five folds "
        f"{100 * (predicted == labels).float().mean():.1f}% kinds right, "
        f"{100 * acting.float().mean():.1f}% right whether person or animal"
    )
    with torch.enable_grad():
        net = fit_nouns(rows, labels)
    with torch.no_grad():
        noun_kind = net(noun_rows).softmax(1)
    noun_kind[known] = 0.85 * torch.nn.functional.one_hot(labels, len(KINDS)).float() + 0.15 * noun_kind[known]
    noun_kind = torch.cat([noun_kind, torch.tensor([OF_NAME])])
    noun_id[NAME] = len(nouns)
    nouns = [*nouns, NAME]

    rng.shuffle(real)
    held_out, real = real[:600], real[600:]
    pairs = [(noun_id[n], verb_id[v], r) for n, v, r in real * 2 + made if n in noun_id and v in verb_id]
    model = VerbKinds(verb_rows.shape[1])
    weights, biases = ([p for name, p in model.named_parameters() if name.endswith(end)] for end in ("weight", "bias"))
    optimiser = torch.optim.AdamW(
        [{"params": weights, "weight_decay": 10.0}, {"params": biases, "weight_decay": 0.0}], lr=RATE
    )
    epochs = 5
    for epoch in range(epochs):
        rng.shuffle(pairs)
        total = 0.0
        model.train()
        for at in range(0, len(pairs), 512):
            for group in optimiser.param_groups:
                group["lr"] = RATE * (1 - (epoch + at / len(pairs)) / epochs)
            n, v, r = (torch.tensor(column) for column in zip(*pairs[at : at + 512], strict=True))
            subject, obj = model(verb_rows[v])
            noun = noun_kind[n] + FLOOR
            chosen = torch.where(r[:, None] == 1, subject, obj)
            seen = -(noun * chosen.exp()).sum(1).log().mean()  # how likely the noun is in its role
            told = torch.nn.functional.binary_cross_entropy_with_logits(logit(noun_kind[n], subject, obj), r.float())
            loss = 0.3 * seen + told
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += told.item() * len(r)
        print(f"epoch {epoch} loss {total / len(pairs):.4f}", flush=True)
    with torch.no_grad():
        subject, obj = model.eval()(verb_rows)
        n, v, r = (torch.tensor(x) for x in zip(*((noun_id[a], verb_id[b], c) for a, b, c in held_out), strict=True))
        right = (logit(noun_kind[n], subject[v], obj[v]) > 0) == (r == 1)
        print(f"{len(held_out)} pairs held out: {100 * right.float().mean():.1f}% right")
    arrays = {
        "noun_keys": np.frombuffer("\n".join(nouns).encode("utf-8"), np.uint8),
        "verb_keys": np.frombuffer("\n".join(verbs).encode("utf-8"), np.uint8),
        "noun": torch.round(noun_kind * 255).to(torch.uint8).numpy(),
        "subject": torch.round(subject.exp() * 255).to(torch.uint8).numpy(),
        "object": torch.round(obj.exp() * 255).to(torch.uint8).numpy(),
        "kinds": np.frombuffer("\n".join(KINDS).encode("utf-8"), np.uint8),
    }
    np.savez_compressed(target, **arrays)
    print(
        f"{len(real)} real pairs, {len(made)} made, {len(nouns)} nouns, {len(verbs)} verbs; "
        f"{target.stat().st_size} bytes"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
