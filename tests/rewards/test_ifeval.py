"""Instructions of IFEval's kind: their methods by themselves (with the real packages: tests/integrations)."""

from __future__ import annotations

from typing import Any

import pytest

from oulibench.constraints import get_constraint, task_names
from oulibench.errors import TargetError
from oulibench.rewards.ifeval import INSTRUCTION_CONFLICTS, INSTRUCTION_DICT


def build(name: str, **kwargs: Any) -> Any:
    instruction = INSTRUCTION_DICT[name](name)
    instruction.build_description(**kwargs)
    return instruction


def test_every_task_has_an_instruction() -> None:
    assert list(INSTRUCTION_DICT) == [f"oulibench:{task}" for task in task_names()]
    assert all(INSTRUCTION_CONFLICTS[name] == set(INSTRUCTION_DICT) for name in INSTRUCTION_DICT)


@pytest.mark.parametrize("task", task_names())
def test_descriptions_are_the_benchmarks_prompts(task: str) -> None:
    constraint = get_constraint(task)
    target = constraint.targets()[-1].value
    instruction = INSTRUCTION_DICT[f"oulibench:{task}"](f"oulibench:{task}")
    assert instruction.build_description(target=target, n=3) == constraint.prompt(target, 3)
    args = instruction.get_instruction_args()
    assert set(args) <= set(instruction.get_instruction_args_keys())
    assert "prompt" not in args  # IFEval would hand the whole prompt over
    again = INSTRUCTION_DICT[f"oulibench:{task}"]("x")
    assert again.build_description(**args) == constraint.prompt(target, 3)


@pytest.mark.parametrize(
    ("name", "kwargs", "response", "follows"),
    [
        ("oulibench:lipogram", {"target": "e"}, "Il gatto magro salta sul divano.", True),
        ("oulibench:lipogram", {"target": "e"}, "Il gatto dorme sul divano.", False),
        ("oulibench:lipogram", {"target": "e"}, "Ecco la frase:\n\n«Il gatto magro salta sul divano.»", True),
        ("oulibench:word_length", {"target": 5.0}, "Il gatto dorme sul divano.", True),
        ("oulibench:word_length", {"target": "5", "n": 2}, "1. Il gatto dorme sul divano.\n2. Piove.", False),
        ("oulibench:word_length", {"target": 5, "n": 2}, "Il gatto dorme sul divano.", False),
        ("oulibench:word_length", {"target": 5, "policy": {"words": "graphic"}}, "C'è un po' d'acqua fresca.", True),
        ("oulibench:voice", {"target": "passive"}, "La torta è stata preparata da mia nonna.", True),
        ("oulibench:palindrome", {}, "I topi non avevano nipoti.", True),
        ("oulibench:palindrome", {}, "I gatti non avevano nipoti.", False),
        ("oulibench:acrostic", {"target": "sole"}, "Sotto ogni luna estiva", True),
        ("oulibench:lipogram", {"target": "e"}, "", False),
        ("oulibench:lipogram", {"target": "e"}, "a\x00", False),
    ],
)
def test_following(name: str, kwargs: dict[str, Any], response: str, follows: bool) -> None:
    assert build(name, **kwargs).check_following(response) is follows


def test_without_a_target_the_easiest_one_is_asked_for() -> None:
    assert build("oulibench:word_length").get_instruction_args() == {"target": 5}


def test_wrong_use_is_an_error() -> None:
    with pytest.raises(ValueError, match="build_description comes first"):
        INSTRUCTION_DICT["oulibench:lipogram"]().check_following("ciao")
    with pytest.raises(TargetError):
        build("oulibench:lipogram", target="troppo")
