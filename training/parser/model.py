"""The network: the encoder's first layers, narrowed, with heads for parts of speech, features, arcs and relations."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from training.parser.encoder import E5File

ACTIVATION_LEVELS = 255
WEIGHT_LEVELS = 63  # 7 bits: two products of an AVX2 instruction then fit its 16-bit sum without saturation


@dataclass(frozen=True)
class Shape:
    layers: int = 6
    feed_forward: int = 1024
    arc: int = 256
    label: int = 128
    dropout: float = 0.1
    head_dropout: float = 0.25


class QuantisedLinear(nn.Linear):
    """A linear layer that learns its input's range and can compute as its 8-bit copy will."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.register_buffer("low", torch.zeros(()))
        self.register_buffer("high", torch.zeros(()))
        self.rounding = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            with torch.no_grad():
                low, high = x.min().clamp(max=0), x.max().clamp(min=0)
                if self.high == 0 and self.low == 0:
                    self.low.copy_(low)
                    self.high.copy_(high)
                elif not self.rounding:
                    self.low.lerp_(low, 0.02)
                    self.high.lerp_(high, 0.02)
        if not self.rounding:
            return functional.linear(x, self.weight, self.bias)
        scale, zero = activation_scale(self.low, self.high)
        q = (torch.round(x / scale) + zero).clamp(0, ACTIVATION_LEVELS)
        rounded = x + ((q - zero) * scale - x).detach()
        step = weight_scale(self.weight)
        w = self.weight + (torch.round(self.weight / step) * step - self.weight).detach()
        return functional.linear(rounded, w, self.bias)


def activation_scale(low: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scale = (high - low).clamp(min=1e-6) / ACTIVATION_LEVELS
    return scale, torch.round(-low / scale).clamp(0, ACTIVATION_LEVELS)


def weight_scale(weight: torch.Tensor) -> torch.Tensor:
    """One scale a row (an output)."""
    return weight.detach().abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / WEIGHT_LEVELS


class Layer(nn.Module):
    """One post-layer-norm transformer layer."""

    def __init__(self, hidden: int, heads: int, feed_forward: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = QuantisedLinear(hidden, 3 * hidden)
        self.out = QuantisedLinear(hidden, hidden)
        self.norm1 = nn.LayerNorm(hidden, epsilon)
        self.up = QuantisedLinear(hidden, feed_forward)
        self.down = QuantisedLinear(feed_forward, hidden)
        self.norm2 = nn.LayerNorm(hidden, epsilon)
        self.dropout = dropout

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, hidden = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], attn_mask=mask)
        attended = self.out(attended.transpose(1, 2).reshape(batch, length, hidden))
        x = self.norm1(x + functional.dropout(attended, self.dropout, self.training))
        wide = self.down(functional.gelu(self.up(x)))
        return self.norm2(x + functional.dropout(wide, self.dropout, self.training))


def pretrained_layer(file: E5File, i: int, shape: Shape) -> Layer:
    """Layer i with the file's weights; of the feed-forward units those with the largest weights in and out are kept."""
    layer = Layer(file.hidden, file.heads, shape.feed_forward, file.epsilon, shape.dropout)
    get = {
        name.removeprefix(f"l{i}."): torch.tensor(v) for name, v in file.tensors.items() if name.startswith(f"l{i}.")
    }
    strength = get["fi.w"].norm(dim=1) * get["fo.w"].norm(dim=0)
    units = strength.topk(shape.feed_forward).indices.sort().values
    with torch.no_grad():
        layer.qkv.weight.copy_(torch.cat([get["q.w"], get["k.w"], get["v.w"]]))
        layer.qkv.bias.copy_(torch.cat([get["q.b"], get["k.b"], get["v.b"]]))
        layer.out.weight.copy_(get["ao.w"])
        layer.out.bias.copy_(get["ao.b"])
        layer.norm1.weight.copy_(get["aln.w"])
        layer.norm1.bias.copy_(get["aln.b"])
        layer.up.weight.copy_(get["fi.w"][units])
        layer.up.bias.copy_(get["fi.b"][units])
        layer.down.weight.copy_(get["fo.w"][:, units])
        layer.down.bias.copy_(get["fo.b"])
        layer.norm2.weight.copy_(get["oln.w"])
        layer.norm2.bias.copy_(get["oln.b"])
    return layer


class ParserNet(nn.Module):
    """Word pieces in, scores for every word out. Word 0 of a sentence is the root, made of the start piece."""

    def __init__(
        self, file: E5File, word: np.ndarray, shape: Shape, n_upos: int, n_feats: int, n_labels: int, n_styles: int
    ) -> None:
        super().__init__()
        hidden = file.hidden
        self.register_buffer("word", torch.tensor(word), persistent=False)
        self.position = nn.Parameter(torch.tensor(file.tensors["emb.pos"] + file.tensors["emb.type"][0]))
        self.style = nn.Embedding(n_styles, hidden)
        nn.init.zeros_(self.style.weight)
        self.norm = nn.LayerNorm(hidden, file.epsilon)
        with torch.no_grad():
            self.norm.weight.copy_(torch.tensor(file.tensors["emb.ln.w"]))
            self.norm.bias.copy_(torch.tensor(file.tensors["emb.ln.b"]))
        self.layers = nn.ModuleList(pretrained_layer(file, i, shape) for i in range(shape.layers))
        self.dropout = shape.dropout
        self.head_dropout = shape.head_dropout
        self.upos = nn.Linear(hidden, n_upos)
        self.feats = nn.Linear(hidden, n_feats)
        self.arc_dep = nn.Linear(hidden, shape.arc)
        self.arc_head = nn.Linear(hidden, shape.arc)
        self.arc = nn.Parameter(torch.zeros(shape.arc, shape.arc))
        self.arc_bias = nn.Parameter(torch.zeros(shape.arc))
        self.label_dep = nn.Linear(hidden, shape.label)
        self.label_head = nn.Linear(hidden, shape.label)
        self.label = nn.Parameter(torch.zeros(n_labels, shape.label + 1, shape.label + 1))
        nn.init.xavier_uniform_(self.arc)

    def encode(self, pieces: torch.Tensor, style: torch.Tensor) -> torch.Tensor:
        x = self.word[pieces] + self.position[: pieces.shape[1]] + self.style(style)[:, None]
        x = functional.dropout(self.norm(x), self.dropout, self.training)
        mask = (pieces != 1)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def words(self, states: torch.Tensor, first: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        index = first[..., None].expand(-1, -1, states.shape[-1])
        index2 = last[..., None].expand(-1, -1, states.shape[-1])
        return (states.gather(1, index) + states.gather(1, index2)) / 2

    def forward(
        self, pieces: torch.Tensor, first: torch.Tensor, last: torch.Tensor, style: torch.Tensor, n_words: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        w = self.words(self.encode(pieces, style), first, last)
        drop = self.head_dropout
        plain = functional.dropout(w, drop, self.training)

        def project(layer: nn.Linear) -> torch.Tensor:
            return functional.dropout(functional.leaky_relu(layer(plain), 0.1), drop, self.training)

        dep, head = project(self.arc_dep), project(self.arc_head)
        arcs = torch.einsum("bni,ij,bmj->bnm", dep, self.arc, head) + (head @ self.arc_bias)[:, None, :]
        columns = torch.arange(arcs.shape[2])[None, None, :]
        arcs = arcs.masked_fill(columns >= n_words[:, None, None], -1e9)
        arcs = arcs.masked_fill(torch.eye(arcs.shape[1], dtype=torch.bool)[None], -1e9)
        return {
            "upos": self.upos(plain),
            "feats": self.feats(plain),
            "arcs": arcs,
            "label_dep": project(self.label_dep),
            "label_head": project(self.label_head),
        }

    def label_scores(self, dep: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        """Scores of all relations for pairs of vectors, shape (pairs, labels)."""
        one = torch.ones(dep.shape[0], 1)
        n_labels, size, _ = self.label.shape
        mixed = torch.cat([dep, one], 1) @ self.label.permute(1, 0, 2).reshape(size, n_labels * size)
        return torch.einsum("nrj,nj->nr", mixed.view(-1, n_labels, size), torch.cat([head, one], 1))
