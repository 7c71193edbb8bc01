"""Step 6: the trained parser as the package ships it.

    python -m training.parser.export WORK --run full --version 1.0.0

writes src/oulibench/data/it/parser/{network.onnx, tables.npz, manifest.json}. The encoder's matrices are rounded to 7
bits, one scale an output, and its activations to 8 bits with the ranges learned in training, so that a sentence's
result does not depend on the sentences it is computed with. The word embeddings stay the 4-bit blocks they came as.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from training.parser.encoder import default_path, read_e5
from training.parser.model import WEIGHT_LEVELS, ParserNet, QuantisedLinear, Shape, activation_scale, weight_scale
from training.parser.train import load_vocabulary

from oulibench.syntax.tree import UPOS

TARGET = Path(__file__).parents[2] / "src" / "oulibench" / "data" / "it" / "parser"
MS = "com.microsoft"
LABEL_SIZE = 64


LICENCES = {"full": "CC-BY-NC-SA-4.0", "open": "CC-BY-SA-4.0"}
"""Licence of the weights, by the treebanks they were trained on."""


class Graph:
    """Nodes and constants of an ONNX graph under construction; every method returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], name: str, domain: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def quantise(self, x: str, layer: QuantisedLinear, name: str) -> tuple[str, str, str]:
        scale, zero = activation_scale(layer.low, layer.high)
        s = self.constant(f"{name}.scale", np.array(scale.item(), np.float32))
        z = self.constant(f"{name}.zero", np.array(zero.item(), np.uint8))
        return self.node("QuantizeLinear", [x, s, z], f"{name}.q"), s, z

    def integer_linear(
        self, quantised: tuple[str, str, str], weight: torch.Tensor, bias: torch.Tensor, name: str
    ) -> str:
        step = weight_scale(weight)
        integers = torch.round(weight / step).clamp(-WEIGHT_LEVELS, WEIGHT_LEVELS).to(torch.int8)
        w = self.constant(f"{name}.w", integers.numpy().T)
        ws = self.constant(f"{name}.ws", step.squeeze(1).numpy().astype(np.float32))
        wz = self.constant(f"{name}.wz", np.zeros(weight.shape[0], np.int8))
        b = self.constant(f"{name}.b", bias.numpy())
        x, s, z = quantised
        return self.node("MatMulIntegerToFloat", [x, w, s, ws, z, wz, b], name, MS)

    def linear(self, x: str, weight: torch.Tensor, bias: torch.Tensor | None, name: str) -> str:
        w = self.constant(f"{name}.w", weight.numpy().T.astype(np.float32))
        out = self.node("MatMul", [x, w], f"{name}.mm" if bias is not None else name)
        if bias is None:
            return out
        return self.node("Add", [out, self.constant(f"{name}.b", bias.numpy())], name)


def narrowed(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The tensor of relations (relation, dependent, head) in fewer dimensions (a truncated higher-order SVD).

    Returns the core and the two bases; each vector's constant 1 goes into its basis' last row.
    """
    size = tensor.shape[1]
    dep = torch.linalg.svd(tensor.permute(1, 0, 2).reshape(size, -1), full_matrices=False)[0][:, :LABEL_SIZE]
    head = torch.linalg.svd(tensor.permute(2, 0, 1).reshape(size, -1), full_matrices=False)[0][:, :LABEL_SIZE]
    return torch.einsum("rij,ia,jb->rab", tensor, dep, head), dep, head


def build(net: ParserNet, heads: int) -> onnx.ModelProto:
    g = Graph()
    hidden = net.position.shape[1]
    epsilon = net.norm.eps
    gamma, beta = g.constant("in.g", net.norm.weight.numpy()), g.constant("in.b", net.norm.bias.numpy())
    x = g.node("LayerNormalization", ["embedded", gamma, beta], "x0", axis=-1, epsilon=epsilon)
    for i, layer in enumerate(net.layers):
        weights, biases = layer.qkv.weight.split(hidden), layer.qkv.bias.split(hidden)
        q = g.quantise(x, layer.qkv, f"l{i}.qkv")
        parts = [g.integer_linear(q, w, b, f"l{i}.{n}") for n, w, b in zip("qkv", weights, biases, strict=True)]
        attended = g.node("MultiHeadAttention", [*parts, "", "lengths"], f"l{i}.att", MS, num_heads=heads)
        out = g.integer_linear(
            g.quantise(attended, layer.out, f"l{i}.out"), layer.out.weight, layer.out.bias, f"l{i}.o"
        )
        g1, b1 = g.constant(f"l{i}.n1g", layer.norm1.weight.numpy()), g.constant(f"l{i}.n1b", layer.norm1.bias.numpy())
        x = g.node("SkipLayerNormalization", [x, out, g1, b1], f"l{i}.n1", MS, epsilon=epsilon)
        up = g.integer_linear(g.quantise(x, layer.up, f"l{i}.up"), layer.up.weight, layer.up.bias, f"l{i}.u")
        wide = g.node("Gelu", [up], f"l{i}.gelu", MS)
        down = g.integer_linear(g.quantise(wide, layer.down, f"l{i}.dn"), layer.down.weight, layer.down.bias, f"l{i}.d")
        g2, b2 = g.constant(f"l{i}.n2g", layer.norm2.weight.numpy()), g.constant(f"l{i}.n2b", layer.norm2.bias.numpy())
        x = g.node("SkipLayerNormalization", [x, down, g2, b2], f"l{i}.n2", MS, epsilon=epsilon)
    flat = g.node("Reshape", [x, g.constant("flat.shape", np.array([-1, hidden], np.int64))], "flat")
    first, last = g.node("Gather", [flat, "first"], "w.first"), g.node("Gather", [flat, "last"], "w.last")
    both = g.node("Add", [first, last], "w.sum")
    w = g.node("Mul", [both, g.constant("half", np.array(0.5, np.float32))], "w")
    for name in ("upos", "feats"):
        scores = g.linear(w, getattr(net, name).weight, getattr(net, name).bias, f"{name}.scores")
        g.node("ArgMax", [scores], name, axis=-1, keepdims=0)
    # one matrix for the four projections: dependents and heads of arcs and of labels
    names = ("arc_dep", "arc_head", "label_dep", "label_head")
    weight = torch.cat([getattr(net, n).weight for n in names])
    bias = torch.cat([getattr(net, n).bias for n in names])
    projected = g.node("LeakyRelu", [g.linear(w, weight, bias, "projected")], "projections", alpha=0.1)
    sizes = g.constant("sizes", np.array([getattr(net, n).out_features for n in names], np.int64))
    parts = ["arc_dep", "arc_head", "label_dep.wide", "label_head.wide"]
    g.nodes.append(helper.make_node("Split", [projected, sizes], parts, axis=-1))
    _, *bases = narrowed(net.label)
    for name, basis in zip(("label_dep", "label_head"), bases, strict=True):
        g.linear(f"{name}.wide", basis[:-1].T, basis[-1], name)
    mixed = g.linear("arc_dep", net.arc.T, net.arc_bias, "mixed")  # the bias adds what makes a word a likely head
    head = g.node("Transpose", ["arc_head"], "arc_head.t", perm=[0, 2, 1])
    g.node("MatMul", [mixed, head], "arcs")
    inputs = [
        helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["batch", "pieces", hidden]),
        helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
        helper.make_tensor_value_info("first", TensorProto.INT64, ["batch", "words"]),
        helper.make_tensor_value_info("last", TensorProto.INT64, ["batch", "words"]),
    ]
    outputs = [
        helper.make_tensor_value_info("upos", TensorProto.INT64, ["batch", "words"]),
        helper.make_tensor_value_info("feats", TensorProto.INT64, ["batch", "words"]),
        helper.make_tensor_value_info("arcs", TensorProto.FLOAT, ["batch", "words", "words"]),
        helper.make_tensor_value_info("label_dep", TensorProto.FLOAT, ["batch", "words", LABEL_SIZE]),
        helper.make_tensor_value_info("label_head", TensorProto.FLOAT, ["batch", "words", LABEL_SIZE]),
    ]
    graph = helper.make_graph(g.nodes, "parser", inputs, outputs, g.constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="oulibench")


def load_net(work: Path, run: str) -> tuple[ParserNet, dict[str, object], int]:
    stored = torch.load(work / run / "last.pt", weights_only=True)
    meta = stored["meta"]
    file = read_e5(default_path())
    _, word = load_vocabulary(work)
    shape = Shape(**meta["shape"])
    net = ParserNet(file, word, shape, len(UPOS), len(meta["feats"]), len(meta["labels"]), len(meta["styles"]))
    net.load_state_dict(stored["net"])
    for parameter in net.parameters():
        parameter.requires_grad_(False)
    return net.eval(), meta, file.heads


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--run", default="full", choices=("full", "open"))
    arguments.add_argument("--version", required=True)
    arguments.add_argument("--target", type=Path, default=TARGET)
    options = arguments.parse_args()
    net, meta, heads = load_net(options.work, options.run)
    options.target.mkdir(parents=True, exist_ok=True)
    onnx.save(build(net, heads), options.target / "network.onnx")
    vocabulary = np.load(options.work / "vocabulary.npz", allow_pickle=False)
    np.savez(
        options.target / "tables.npz",
        pieces=vocabulary["pieces"],
        scores=vocabulary["scores"],
        word=vocabulary["word"],
        position=net.position.numpy().astype(np.float16),
        style=net.style.weight.numpy(),
        label=narrowed(net.label)[0].numpy().astype(np.float16),
    )
    files = sorted(p for p in options.target.iterdir() if p.suffix in (".onnx", ".npz", ".marisa"))
    manifest = {
        "name": "bundled",
        "version": options.version,
        "training": options.run,
        "licence": LICENCES[options.run],
        "styles": meta["styles"],
        "labels": meta["labels"],
        "feats": meta["feats"],
        "sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1)
    (options.target / "manifest.json").write_text(text + "\n", encoding="utf-8")
    print({p.name: p.stat().st_size for p in options.target.iterdir()})


if __name__ == "__main__":
    main()
