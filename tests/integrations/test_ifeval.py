"""Our instructions in the registries of the real packages: if-verifiable (IFEval's checks) and nvidia-ifbench."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from oulibench.rewards.ifeval import INSTRUCTION_DICT

GOOD, BAD = "Il gatto magro salta sul divano.", "Il gatto dorme sul divano."
IDS = ["oulibench:lipogram", "oulibench:word_length"]
KWARGS: list[dict[str, Any]] = [{"target": "e", "n": None}, {"target": 6, "n": None}]  # as in a table


def test_if_verifiable(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs: Any = pytest.importorskip("if_verifiable")
    registry: Any = import_module("if_verifiable.ifeval.instructions_registry")
    for name, instruction in INSTRUCTION_DICT.items():
        monkeypatch.setitem(registry.INSTRUCTION_DICT, name, instruction)
    sample = theirs.IFEvalSample(1, "Scrivi una frase.", [*IDS, "punctuation:no_comma"], [*KWARGS, {}])
    results, scores = theirs.evaluate_output_for_sample("ifeval", sample, f"<think>Conto, conto.</think>{GOOD}")
    assert [r.strict_pass for r in results] == [True, True, True]
    assert scores.binary_strict == 1.0
    results, scores = theirs.evaluate_output_for_sample("ifeval", sample, BAD)
    assert [r.strict_pass for r in results] == [False, False, True]  # five words, one with an e; no comma
    assert scores.partial_strict == pytest.approx(1 / 3)


def test_nvidia_ifbench(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ifbench")
    pytest.importorskip("en_core_web_sm", reason="ifbench downloads a model of spaCy when it is imported without it")
    registry: Any = import_module("ifbench.instructions_registry")
    evaluation: Any = import_module("ifbench.evaluation_lib")
    for name, instruction in INSTRUCTION_DICT.items():
        monkeypatch.setitem(registry.INSTRUCTION_DICT, name, instruction)
    for answer, follows in ((GOOD, [True, True]), (BAD, [False, False])):
        example = evaluation.InputExample(1, list(IDS), "Scrivi una frase.", [dict(k) for k in KWARGS])
        found = evaluation.test_instruction_following_strict(example, {"Scrivi una frase.": answer})
        assert found.follow_instruction_list == follows
        found = evaluation.test_instruction_following_loose(example, {"Scrivi una frase.": answer})
        assert found.follow_instruction_list == follows
