"""The benchmark's targets: solvable, ordered, and with the figures that their script measures."""

from __future__ import annotations

import importlib.util
import os
import sys
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from oulibench.constraints import get_constraint, task_names
from oulibench.language import ITALIAN
from oulibench.lexicon import load_lexicon
from oulibench.text import letters, words

ROOT = Path(__file__).parents[2]
TASKS = task_names()[:11]


@cache
def load(name: str) -> ModuleType:
    """A script under training/targets as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "training" / "targets" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table() -> dict[str, list[dict[str, Any]]]:
    return dict(ITALIAN.table("targets.toml"))


def test_every_task_has_targets_and_nothing_else_has(table: dict[str, Any]) -> None:
    assert sorted(table) == sorted(TASKS)


@pytest.mark.parametrize(
    ("task", "at_least"),
    [
        ("word_length", 6),
        ("char_length", 6),
        ("voice", 3),
        ("word_order", 6),
        ("lipogram", 10),
        ("inverse_lipogram", 8),
        ("tautogram", 10),
        ("word_anagram", 40),
        ("sentence_anagram", 20),
        ("palindrome", 1),
        ("acrostic", 12),
    ],
)
def test_targets_are_enough_distinct_canonical_and_increasing(task: str, at_least: int) -> None:
    constraint = get_constraint(task)
    specs = constraint.targets()
    assert len(specs) >= at_least
    assert len({spec.value for spec in specs}) == len(specs)
    assert all(constraint.parse_target(spec.value) == spec.value for spec in specs)
    difficulties = [spec.difficulty for spec in specs]
    assert difficulties == sorted(difficulties)
    assert set(difficulties) <= {1, 2, 3, 4, 5}
    if len(specs) > 3:
        assert difficulties[0] == 1
        assert difficulties[-1] == 5
    assert all(spec.why.endswith(".") for spec in specs)


@pytest.mark.parametrize(
    ("task", "order"),
    [
        # by what is known of Italian, not by the script: rare letters first, the four vowels last
        ("lipogram", ["z", "p", "s", "r", "o", "a"]),
        ("inverse_lipogram", ["e", "o", "n", "r", "s"]),
        ("tautogram", ["d", "p", "m", "v", "b", "z"]),
        ("acrostic", ["ape", "pace", "sole", "notte", "giardino", "palazzo"]),
        ("word_anagram", ["rosa", "teatro", "persona", "colazione"]),
        ("voice", ["active", "passive", "reflexive"]),
        ("word_order", ["SVO", "VOS", "SOV", "OSV"]),
    ],
)
def test_difficulty_grows_as_italian_has_it(task: str, order: list[str]) -> None:
    values = [spec.value for spec in get_constraint(task).targets()]
    assert [value for value in values if value in order] == order


def test_the_file_is_what_the_script_measures(table: dict[str, Any]) -> None:
    pytest.importorskip("wordfreq")
    measured = "\n".join(load("measure").as_toml())
    assert tomllib.loads(measured) == table


def test_the_measures_are_right_where_they_can_be_counted_by_hand() -> None:
    pytest.importorskip("wordfreq")
    measure = load("measure")
    assert measure.arrangements("nonno") == 10  # 5! / (3! 2!)
    assert measure.arrangements("Amo Roma") == 630  # 7 letters a m o r o m a: 7! / (2! 2! 2!)
    shares = measure.running_words()
    assert sum(shares.beginning.values()) == pytest.approx(1)
    assert shares.beginning["q"] <= shares.holding["q"] < 0.05
    assert 4 < shares.mean_letters < 6


def test_word_anagrams_have_a_solution_that_passes(table: dict[str, Any]) -> None:
    constraint = get_constraint("word_anagram")
    for entry in table["word_anagram"]:
        source = entry["target"]
        solutions = load_lexicon("it").anagrams(source)
        assert any(constraint.check(solution, source).passed for solution in solutions), source
        assert 4 <= len(letters(source)) <= 9


def test_sentence_anagrams_have_a_solution_that_passes(table: dict[str, Any]) -> None:
    constraint = get_constraint("sentence_anagram")
    for entry in table["sentence_anagram"]:
        verdict = constraint.check(entry["solution"], entry["target"])
        assert verdict.passed, (entry, verdict.reason)
        assert not verdict.flags, entry
        function_words = {"il", "la", "l'", "i", "le", "è", "era", "sarà", "un"}
        assert not (set(words(entry["solution"].lower())) & set(words(entry["target"].lower()))) - function_words


def test_acrostic_targets_have_a_double_letter_and_hard_initials(table: dict[str, Any]) -> None:
    targets = [entry["target"] for entry in table["acrostic"]]
    assert {len(target) for target in targets} >= {3, 4, 5, 6, 7, 8, 9}
    assert any(a == b for target in targets for a, b in pairwise(target))
    assert any("q" in target for target in targets)
    assert any("z" in target for target in targets)


def test_every_prompt_can_be_written() -> None:
    for task in TASKS:
        constraint = get_constraint(task)
        for spec in constraint.targets():
            for n in (1, 50):
                prompt = constraint.prompt(spec.value, n)
                assert "{" not in prompt
                if task not in ("voice", "palindrome", "word_order"):
                    assert str(spec.value).lower() in prompt.lower()


@pytest.mark.slow
@pytest.mark.skipif("OULIBENCH_UD" not in os.environ, reason="OULIBENCH_UD names no folder of treebanks")
def test_treebank_shares_are_what_the_script_counts() -> None:
    """Within one point: a rule of voice or order that is refined moves some clauses, and difficulty not at all."""
    counted = tomllib.loads(load("count_syntax").as_toml(Path(os.environ["OULIBENCH_UD"])))
    stored = tomllib.loads((ROOT / "training" / "targets" / "syntax_counts.toml").read_text(encoding="utf-8"))
    for task in ("voice", "word_order"):
        for value, count in stored[task].items():
            share = count / sum(stored[task].values())
            assert counted[task][value] / sum(counted[task].values()) == pytest.approx(share, abs=0.01), value
