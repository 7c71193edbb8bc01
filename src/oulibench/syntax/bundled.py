"""The parser that ships with the package: a small transformer in 8-bit integers (see data/it/parser/MODEL_CARD.md).

Nothing heavy is imported before the first sentence is parsed. A sentence's analysis never depends on the sentences it
is parsed with: the integer ranges are constants, and a sentence is padded to a length that depends on itself alone.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oulibench.errors import DataError
from oulibench.syntax.lemmas import Lemmatiser
from oulibench.syntax.mst import best_tree
from oulibench.syntax.pieces import PADDING, START, Pieces
from oulibench.syntax.selection import Selection
from oulibench.syntax.tokenizer import Surface, Tokenizer
from oulibench.syntax.tree import UPOS, MultiwordToken, Sentence, Token

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

LONGEST = 384
"""Pieces a sentence may have to be read in one go; a longer one is read in chunks, so that the cost stays linear."""
BATCH_PIECES = 512
"""Padded pieces computed at once: bounds memory."""
SENTENCES_AT_ONCE = 1024


@dataclass(frozen=True, slots=True, eq=False)
class BundledScores:
    """What the network says of relations it did not choose; see `LabelScores`."""

    labels: dict[str, int]
    tensor: "Floats"
    dep: "Floats"
    head: "Floats"
    arcs: "Floats"
    table: Selection
    keys: tuple[str, ...] = ()

    def __reduce__(self) -> str:
        raise TypeError("A sentence with scores cannot be sent to another process: parse it with scores=False.")

    def selection(self, noun: int, verb: int) -> float | None:
        return self.table.logit(self.keys[noun - 1], self.keys[verb - 1])

    def arc_logprob(self, dependent: int, head: int) -> float:
        row = self.arcs[dependent]
        top = float(row.max())
        total = math.fsum(math.exp(float(value) - top) for value in row)
        return float(row[head]) - top - math.log(total)

    def label_logprob(self, dependent: int, head: int, label: str) -> float:
        import numpy as np

        if label not in self.labels:
            return -math.inf
        scores = self.tensor @ self.head[head] @ self.dep[dependent]
        top = float(scores.max())
        return float(scores[self.labels[label]]) - top - math.log(math.fsum(np.exp(scores - top).tolist()))


@dataclass(frozen=True, slots=True)
class _Work:
    """One stretch of words to analyse: a sentence, or a chunk of one that is too long."""

    forms: tuple[str, ...]
    pieces: tuple[tuple[int, ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Padded pieces and words, a function of the stretch alone."""
        length = 1 + sum(map(len, self.pieces))
        return -(-length // 2) * 2, -(-(1 + len(self.forms)) // 4) * 4


@dataclass(frozen=True, slots=True)
class _Analysis:
    upos: list[int]
    feats: list[int]
    heads: list[int]
    labels: list[int]
    scores: BundledScores | None


class BundledParser:
    """The bundled parser; cheap to make, loads its data at the first call. Not safe to share between threads."""

    def __init__(self, folder: Path | None = None, style: str = "isdt") -> None:
        """`style` names the treebank whose habits are followed (see the model card)."""
        self._folder = folder or Path(str(resources.files("oulibench") / "data" / "it" / "parser"))
        self._manifest = _read_manifest(self._folder)
        if style not in self._manifest["styles"]:
            raise ValueError(f"no annotation style {style!r}; there are {', '.join(self._manifest['styles'])}")
        self._style = style

    @property
    def name(self) -> str:
        return "bundled"

    @property
    def version(self) -> str:
        """Version and the first digits of the data's checksum; another annotation style than the default is named."""
        version, style = self._manifest["version"], "" if self._style == "isdt" else f"-{self._style}"
        sums = json.dumps(self._manifest["sha256"], sort_keys=True).encode("ascii")
        return f"{version}+{hashlib.sha256(sums).hexdigest()[:8]}{style}"

    @property
    def licence(self) -> str:
        """SPDX identifier of the weights' licence."""
        return str(self._manifest["licence"])

    def parse(self, texts: Sequence[str], *, scores: bool = True) -> list[list[Sentence]]:
        """The sentences of each text. Without `scores` less memory is held."""
        split = [self._tokenizer.sentences(text) for text in texts]
        flat = [(text, sentence) for text, sentences in zip(texts, split, strict=True) for sentence in sentences]
        parsed = iter(self._sentences(flat, scores))
        return [[next(parsed) for _ in sentences] for sentences in split]

    def parse_sentences(self, texts: Sequence[str], *, scores: bool = True) -> list[Sentence]:
        """Each text as one sentence, whatever marks stand in it. White space alone gives a sentence without words."""
        return list(self._sentences([(text, self._tokenizer.words(text)) for text in texts], scores, whole=True))

    def parse_words(self, sentences: Sequence[Sequence[str]], *, scores: bool = True) -> list[Sentence]:
        """Syntactic words given (*di*, *la*), as in a treebank; the text is the words with spaces between."""
        found = []
        for forms in sentences:
            at, surface = 0, []
            for form in forms:
                surface.append(Surface(form, at, at + len(form), (form,)))
                at += len(form) + 1
            found.append((" ".join(forms), surface))
        return list(self._sentences(found, scores, whole=True))

    def _sentences(
        self, items: Sequence[tuple[str, list[Surface]]], scores: bool, whole: bool = False
    ) -> Iterator[Sentence]:
        for at in range(0, len(items), SENTENCES_AT_ONCE):
            part = items[at : at + SENTENCES_AT_ONCE]
            forms = [[word for token in surface for word in token.words] for _, surface in part]
            for (text, surface), words, analysis in zip(part, forms, self._analyse(forms, scores), strict=True):
                yield self._build(text, surface, words, analysis, whole)

    def _build(self, text: str, surface: list[Surface], forms: list[str], analysis: _Analysis, whole: bool) -> Sentence:
        start, end = (0, len(text)) if whole or not surface else (surface[0].start, surface[-1].end)
        tokens: list[Token] = []
        ranges: list[MultiwordToken] = []
        for i, token in enumerate(surface):
            glued = i + 1 < len(surface) and surface[i + 1].start == token.end
            misc = "SpaceAfter=No" if glued else "_"
            a, b = token.start - start, token.end - start
            first = len(tokens) + 1
            several = len(token.words) > 1
            if several:
                ranges.append(MultiwordToken(first, first + len(token.words) - 1, token.form, a, b, misc))
            for word in token.words:
                n = len(tokens) + 1
                upos = UPOS[analysis.upos[n]]
                feats = self._feats[analysis.feats[n]]
                lemma = self._lemmatiser.lemma(word, upos, feats)
                label = self._labels[analysis.labels[n]]
                word_misc = "_" if several else misc
                tokens.append(Token(n, word, lemma, upos, None, feats, analysis.heads[n], label, a, b, word_misc))
        scores = analysis.scores and replace(analysis.scores, keys=tuple(map(Selection.key, tokens)))
        return Sentence(text[start:end], tuple(tokens), tuple(ranges), start=start, scores=scores)

    # The network

    def _analyse(self, sentences: Sequence[Sequence[str]], scores: bool) -> list[_Analysis]:
        stretches: list[_Work] = []
        owners: list[list[int]] = []
        for forms in sentences:
            chunks = self._chunks(forms)
            owners.append(list(range(len(stretches), len(stretches) + len(chunks))))
            stretches.extend(chunks)
        done: list[_Analysis | None] = [None] * len(stretches)
        groups: dict[tuple[int, int], list[int]] = {}
        for i, work in enumerate(stretches):
            if work.forms:
                groups.setdefault(work.shape, []).append(i)
        for shape in sorted(groups):
            members = groups[shape]
            size = max(1, BATCH_PIECES // shape[0])
            for at in range(0, len(members), size):
                part = members[at : at + size]
                for i, analysis in zip(part, self._compute([stretches[i] for i in part], shape, scores), strict=True):
                    done[i] = analysis
        empty = _Analysis([0], [0], [0], [0], None)
        return [self._joined([done[i] or empty for i in own]) if own else empty for own in owners]

    def _chunks(self, forms: Sequence[str]) -> list[_Work]:
        """The words with their pieces; more than LONGEST pieces are cut, after a punctuation mark if there is one."""
        pieces = [self._pieces.segment(form) for form in forms]
        if sum(map(len, pieces)) < LONGEST:
            return [_Work(tuple(forms), tuple(pieces))]
        chunks: list[_Work] = []
        begin = 0
        while begin < len(forms):
            end, total = begin, 1
            while end < len(forms) and total + len(pieces[end]) <= LONGEST:
                total += len(pieces[end])
                end += 1
            if end < len(forms):
                middle = begin + (end - begin) // 2
                marks = [i + 1 for i in range(middle, end) if forms[i] in (",", ";", ":", ".", "!", "?")]
                end = marks[-1] if marks else end
            chunks.append(_Work(tuple(forms[begin:end]), tuple(pieces[begin:end])))
            begin = end
        return chunks

    def _joined(self, parts: list[_Analysis]) -> _Analysis:
        """The chunks of one sentence as one tree: later roots hang on the first as parataxis. Scores are dropped."""
        if len(parts) == 1:
            return parts[0]
        parataxis = self._label_ids["parataxis"]
        upos, feats, heads, labels = [0], [0], [0], [0]
        root = parts[0].heads.index(0, 1)
        for k, part in enumerate(parts):
            offset = len(heads) - 1
            upos += part.upos[1:]
            feats += part.feats[1:]
            for head, label in zip(part.heads[1:], part.labels[1:], strict=True):
                later_root = head == 0 and k > 0
                heads.append(root if later_root else head + offset if head else 0)
                labels.append(parataxis if later_root else label)
        return _Analysis(upos, feats, heads, labels, None)

    def _compute(self, works: Sequence[_Work], shape: tuple[int, int], with_scores: bool) -> Iterable[_Analysis]:
        import numpy as np

        length, words = shape
        ids = np.full((len(works), length), PADDING, np.int64)
        first = np.zeros((len(works), words), np.int64)
        last = np.zeros((len(works), words), np.int64)
        lengths = np.empty(len(works), np.int32)
        for b, work in enumerate(works):
            flat = [START]
            for i, pieces in enumerate(work.pieces, 1):
                first[b, i] = len(flat)
                flat.extend(pieces)
                last[b, i] = len(flat) - 1
            ids[b, : len(flat)] = flat
            lengths[b] = len(flat)
        rows = np.arange(len(works), dtype=np.int64)[:, None] * length
        feeds = {
            "embedded": self._embed(ids),
            "lengths": lengths,
            "first": first + rows,
            "last": last + rows,
        }
        upos, feats, arcs, dep, head = self._session.run(["upos", "feats", "arcs", "label_dep", "label_head"], feeds)
        heads_of = []
        for b, work in enumerate(works):
            n = len(work.forms) + 1
            own = arcs[b, :n, :n].astype(np.float64)
            np.fill_diagonal(own, -1e9)
            heads_of.append(best_tree(own))
        labels_of = self._label(dep, head, heads_of)
        for b, work in enumerate(works):
            n = len(work.forms) + 1
            scores = None
            if with_scores:
                own32 = arcs[b, :n, :n].copy()
                np.fill_diagonal(own32, -1e9)
                scores = BundledScores(
                    self._label_ids,
                    self._label_tensor,
                    dep[b, :n].copy(),
                    head[b, :n].copy(),
                    own32,
                    self.selection,
                )
            yield _Analysis(upos[b, :n].tolist(), feats[b, :n].tolist(), heads_of[b], labels_of[b], scores)

    def _embed(self, ids: "npt.NDArray[np.int64]") -> "Floats":
        import numpy as np

        distinct, inverse = np.unique(ids, return_inverse=True)
        table = self._dequantise(self._word[distinct])
        embedded: Floats = table[inverse.reshape(ids.shape)] + self._position[: ids.shape[1]]
        return embedded

    @staticmethod
    def _dequantise(blocks: "npt.NDArray[np.uint8]") -> "Floats":
        """q4_0 blocks (a float16 scale; 16 bytes, low nibbles first) to rows of weights."""
        import numpy as np

        scale = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
        low = (blocks[..., 2:] & 0x0F).astype(np.int8) - 8
        high = (blocks[..., 2:] >> 4).astype(np.int8) - 8
        weights: Floats = np.concatenate([low, high], axis=-1).astype(np.float32) * scale
        return weights.reshape(len(blocks), -1)

    def _label(self, dep: "Floats", head: "Floats", heads_of: list[list[int]]) -> list[list[int]]:
        """The best relation of each word to its head; `root` exactly for the root."""
        import numpy as np

        batch = np.concatenate([np.full(len(heads), b) for b, heads in enumerate(heads_of)])
        word = np.concatenate([np.arange(len(heads)) for heads in heads_of])
        over = np.concatenate([np.array(heads) for heads in heads_of])
        n_labels, size, _ = self._label_tensor.shape
        with _blas().limit(limits=1, user_api="blas"):
            mixed = (dep[batch, word] @ self._label_matrix).reshape(-1, n_labels, size)
            scores = np.matmul(mixed, head[batch, over][:, :, None])[..., 0]
        root = self._label_ids["root"]
        scores[over != 0, root] = -np.inf
        best = scores.argmax(axis=1)
        best[over == 0] = root
        found, at = [], 0
        for own in heads_of:
            found.append(best[at : at + len(own)].tolist())
            at += len(own)
        return found

    # Data, loaded once and when first needed

    @cached_property
    def _tables(self) -> dict[str, Any]:
        import numpy as np

        with np.load(_checked(self._folder, "tables.npz", self._manifest), allow_pickle=False) as stored:
            return dict(stored)

    @cached_property
    def _pieces(self) -> Pieces:
        pieces = self._tables["pieces"].tobytes().decode("utf-8").split("\n")
        return Pieces(pieces, self._tables["scores"].tolist())

    @cached_property
    def _word(self) -> "npt.NDArray[np.uint8]":
        word: npt.NDArray[np.uint8] = self._tables["word"]
        return word

    @cached_property
    def _position(self) -> "Floats":
        import numpy as np

        style = self._tables["style"][self._manifest["styles"].index(self._style)]
        position: Floats = self._tables["position"].astype(np.float32) + style
        return position

    @cached_property
    def _label_tensor(self) -> "Floats":
        """Relation by dependent by head."""
        import numpy as np

        tensor: Floats = self._tables["label"].astype(np.float32)
        return tensor

    @cached_property
    def _label_matrix(self) -> "Floats":
        """Dependent by (relation, head): the same numbers laid out for one product."""
        import numpy as np

        n_labels, size, _ = self._label_tensor.shape
        matrix: Floats = np.ascontiguousarray(self._label_tensor.transpose(1, 0, 2)).reshape(size, n_labels * size)
        return matrix

    @cached_property
    def _labels(self) -> list[str]:
        return list(self._manifest["labels"])

    @cached_property
    def _label_ids(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self._labels)}

    @cached_property
    def _feats(self) -> list[dict[str, str]]:
        return [
            {} if feats == "_" else dict(pair.split("=", 1) for pair in feats.split("|"))
            for feats in self._manifest["feats"]
        ]

    @cached_property
    def _lemmatiser(self) -> Lemmatiser:
        return Lemmatiser(_checked(self._folder, "lemmas.marisa", self._manifest))

    @cached_property
    def selection(self) -> Selection:
        """The table of what verbs select, to be asked by lemmas."""
        return Selection(_checked(self._folder, "selection.npz", self._manifest))

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self._lemmatiser)

    @cached_property
    def _session(self) -> Any:
        import onnxruntime  # type: ignore[import-untyped]

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more threads would change the order of sums, and so the last digits
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.enable_mem_pattern = False
        path = _checked(self._folder, "network.onnx", self._manifest)
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@cache
def _blas() -> Any:
    """NumPy's matrix products, to be held to one thread: a second one makes none of ours quicker, but spins while it
    waits, on a core that another process wants.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"The parser's data cannot be read ({error}): install the package again.") from error
    return manifest


def _checked(folder: Path, name: str, manifest: dict[str, Any]) -> Path:
    """The file's path, once its checksum is what the manifest says."""
    path = folder / name
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"The parser's data cannot be read ({error}): install the package again.") from error
    if found != manifest["sha256"].get(name):
        raise DataError(
            f"{path} is not the file that version {manifest['version']} of the parser came with: its checksum is "
            f"{found[:12]}…. Scores would not be comparable; install the package again."
        )
    return path
