"""The verifier for open-instruct, against the interface that its source has.

open-instruct is on no index, so it is not installed here. What these tests stand on is that interface, written down
from `open_instruct/ground_truth_utils.py` (allenai/open-instruct): commit c28e030e282b2b9bd7da2ea5ffcf518dbc3ee685,
where verifiers take four arguments, and the later form with `rollout_state`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from oulibench.errors import DataError, MissingExtraError, OuLiBenchError, TargetError
from oulibench.rewards import Gates
from oulibench.rewards.open_instruct import Verifier, ground_truth, register, rlvr_row

GOOD = "Il gatto magro salta sul divano."


def interface(rollout_state: bool) -> ModuleType:
    """A module with the names, signatures and registration of open-instruct's."""

    @dataclass
    class VerifierConfig:
        @classmethod
        def from_args(cls, *sources: Any) -> Any:
            names = [f.name for f in fields(cls)]
            return cls(**{n: getattr(s, n) for s in sources if s is not None for n in names if hasattr(s, n)})

    @dataclass
    class VerificationResult:
        score: float
        cost: float = 0.0
        reasoning: str | None = None

    class VerifierFunction(ABC):
        def __init__(self, name: str, weight: float = 1.0, verifier_config: Any = None) -> None:
            self.name = name
            self.weight = weight
            self.verifier_config = verifier_config

        @classmethod
        def get_config_class(cls) -> type:
            return VerifierConfig

        @abstractmethod
        def __call__(self, tokenized_prediction: list[int], prediction: str, label: Any, query: Any = None) -> Any: ...

    def build_all_verifiers(args: Any, streaming_config: Any = None) -> dict[str, Any]:
        verifiers = {}
        for subclass in VerifierFunction.__subclasses__():
            sources = (args, streaming_config) if rollout_state else (args,)
            config: Any = subclass.get_config_class()
            instance = subclass(config.from_args(*sources))
            verifiers[instance.name.lower()] = instance
        return verifiers

    async def apply_verifiable_reward(
        mapping: dict[str, Any], responses: list[str], labels: list[str], datasets: list[str], queries: list[str]
    ) -> list[float]:
        tasks = []
        for prediction, label, dataset, query in zip(responses, labels, datasets, queries, strict=True):
            given: dict[str, Any] = {
                "tokenized_prediction": [1, 2],
                "prediction": prediction,
                "label": label,
                "query": query,
            }
            if rollout_state:
                given["rollout_state"] = {"rewards": [], "step_count": 0, "done": True}
            tasks.append(mapping[dataset.lower()].async_call(**given))
        verifiers = [mapping[dataset.lower()] for dataset in datasets]
        return [r.score * v.weight for r, v in zip(await asyncio.gather(*tasks), verifiers, strict=True)]

    module = ModuleType("open_instruct.ground_truth_utils")
    for thing in (VerifierConfig, VerificationResult, VerifierFunction, build_all_verifiers, apply_verifiable_reward):
        setattr(module, thing.__name__, thing)
    return module


@pytest.fixture(params=[False, True], ids=["four arguments", "rollout_state"])
def theirs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = interface(request.param)
    package = ModuleType("open_instruct")
    package.ground_truth_utils = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "open_instruct", package)
    monkeypatch.setitem(sys.modules, "open_instruct.ground_truth_utils", module)
    yield module


def test_a_registered_verifier_is_found_built_and_called(theirs: Any) -> None:
    made = register()
    verifiers = theirs.build_all_verifiers(SimpleNamespace(seed=1))
    assert list(verifiers) == ["oulibench"]
    assert isinstance(verifiers["oulibench"], theirs.VerifierFunction)
    assert isinstance(verifiers["oulibench"], made)
    labels = [ground_truth("lipogram", "e"), ground_truth("word_length", 12), ground_truth("lipogram", "e")]
    answers = [f"Penso alle lettere.</think>{GOOD}", GOOD, GOOD]
    queries = ["Scrivi una frase senza la lettera e.", "Scrivi.", GOOD]
    rewards = asyncio.run(theirs.apply_verifiable_reward(verifiers, answers, labels, ["OuLiBench"] * 3, queries))
    assert rewards == [1.0, 0.5, 0.0]  # six words of twelve; the third only says what it was asked


def test_settings_are_those_of_the_registration(theirs: Any) -> None:
    register(gates=None, strict=True, name="oulibench_strict", weight=2.0)
    register(gates=Gates(min_words=10, syntax=None))
    verifiers = theirs.build_all_verifiers(None)
    assert set(verifiers) == {"oulibench_strict", "oulibench"}
    assert verifiers["oulibench_strict"]([], "Sassolino.", ground_truth("lipogram", "e")).score == 1.0
    assert verifiers["oulibench_strict"].weight == 2.0
    found = verifiers["oulibench"]([], GOOD, ground_truth("lipogram", "e"))
    assert isinstance(found, theirs.VerificationResult)
    assert (found.score, found.cost) == (0.0, 0.0)
    assert found.reasoning == "[min_words] 6 words, fewer than 10."


def test_without_open_instruct_the_verifier_is_called_the_same_way() -> None:
    with pytest.raises(MissingExtraError, match="allenai/open-instruct"):
        register()
    verifier = Verifier(Verifier.get_config_class().from_args(object(), None))  # type: ignore[attr-defined]
    assert verifier.name == "oulibench"
    assert verifier([], GOOD, {"task": "lipogram", "target": "e"}, None, {}).score == 1.0
    assert asyncio.run(verifier.async_call([], GOOD, ground_truth("lipogram", "e"))).score == 1.0


def test_several_texts_and_demonstrations() -> None:
    verifier = Verifier()
    label = ground_truth("word_length", 5, n=2, demonstrations=["Il gatto dorme sul divano."])
    answer = "1. Il gatto dorme sul divano.\n2. Marco compra il pane fresco."
    assert verifier([], answer, label).score == 0.5
    assert verifier([], answer, ground_truth("word_length", 5, n=2)).score == 1.0


@pytest.mark.parametrize("label", ["lipogram", "[1]", '{"target": "e"}', '{"task": "gsm8k"}', None])
def test_a_label_that_makes_no_sense_is_an_error(label: Any) -> None:
    with pytest.raises(OuLiBenchError):
        Verifier()([], GOOD, label)


def test_labels_choose_no_parser_and_no_wrong_target() -> None:
    with pytest.raises(OuLiBenchError, match="parser"):
        Verifier()([], GOOD, ground_truth("voice", "active", policy={"parser": "stanza"}))
    with pytest.raises(TargetError):
        Verifier()([], GOOD, ground_truth("lipogram", "troppo"))
    with pytest.raises(DataError):
        Verifier()([], GOOD, "no JSON")
    for label in ("[" * 100_000, f'{{"task": "word_length", "target": 1{"0" * 5_000}}}'):
        with pytest.raises(DataError, match="is no JSON"):
            Verifier()([], GOOD, label)


def test_rows_for_training() -> None:
    row = rlvr_row("lipogram", "e", "Scrivi una frase.", n=1)
    assert row["messages"] == [{"role": "user", "content": "Scrivi una frase."}]
    assert row["dataset"] == "oulibench"
    assert json.loads(row["ground_truth"]) == {"task": "lipogram", "target": "e", "n": 1}
