"""What is trained on is not what is evaluated on."""

from __future__ import annotations

import pytest

from oulibench.constraints import get_constraint, task_names
from oulibench.constraints.base import WORDINGS
from oulibench.errors import DataError, UnknownTaskError
from oulibench.lexicon import load_lexicon
from oulibench.policy import Policy
from oulibench.rewards.prompts import (
    benchmark_requests,
    dataset_rows,
    training_requests,
    training_targets,
    training_tasks,
)
from oulibench.suite import build_requests, load_suite, suite_names
from oulibench.text import letters


def test_no_training_target_is_a_target_of_the_benchmark() -> None:
    trained = {(r.task, str(get_constraint(r.task).parse_target(r.target))) for r in training_requests()}
    for name in suite_names():
        evaluated = {
            (r.task, str(get_constraint(r.task).parse_target(r.target))) for r in build_requests(load_suite(name))
        }
        assert not trained & evaluated
    assert benchmark_requests(training_requests()) == []


def test_training_targets_are_there_for_the_open_tasks_alone() -> None:
    """Three voices, six orders and one palindrome are all in the benchmark; anagrams of sentences need a solution."""
    closed = {"voice", "word_order", "palindrome", "sentence_anagram"}
    assert set(training_tasks()) == set(task_names()) - closed
    for task in training_tasks():
        values = [get_constraint(task).parse_target(spec.value) for spec in training_targets(task)]
        assert len(values) == len(set(values)) >= 3


def test_letters_of_training_and_benchmark_make_the_alphabet() -> None:
    """What lipograms are trained on: the letters that the benchmark leaves, of those that Italian words hold."""
    asked = {spec.value for spec in get_constraint("lipogram").targets()}
    assert asked | {spec.value for spec in training_targets("lipogram")} == set("abcdefghilmnopqrstuvz")


def test_words_to_train_anagrams_on_have_solutions_of_their_own() -> None:
    """Each has an anagram, and none has the letters of a word of the benchmark, whose solution it would give away."""
    lexicon = load_lexicon("it")
    asked = {"".join(sorted(letters(str(spec.value)))) for spec in get_constraint("word_anagram").targets()}
    for spec in training_targets("word_anagram"):
        word = str(spec.value)
        assert lexicon.is_known(word)
        assert lexicon.anagrams(word)
        assert "".join(sorted(letters(word))) not in asked


def test_a_closed_task_is_refused_with_the_reason() -> None:
    with pytest.raises(DataError, match=r"voice cannot be trained on .* Tasks with other targets: .*lipogram"):
        training_requests(["lipogram", "voice"])
    with pytest.raises(UnknownTaskError):
        training_requests(["lipogramm"])


def test_the_benchmark_is_not_trained_on_by_mistake() -> None:
    requests = build_requests(load_suite("quick"), ["lipogram"], shots=[0])
    with pytest.raises(
        DataError, match=r"3 prompts ask for targets of the benchmark \(lipogram z, .*benchmark_targets"
    ):
        dataset_rows(requests)
    with pytest.raises(DataError, match="palindrome"):
        dataset_rows(build_requests(load_suite("quick"), ["palindrome"]))
    assert [row["target"] for row in dataset_rows(requests, benchmark_targets=True)] == [r.target for r in requests]


def test_rows_ask_as_the_benchmark_asks() -> None:
    (row,) = [row for row in dataset_rows(training_requests(["word_length"])) if row["target"] == "8"]
    assert row == {
        "prompt": [{"role": "user", "content": get_constraint("word_length").prompt(8)}],
        "id": "word_length/8/0/explicit",
        "task": "word_length",
        "target": "8",
        "n": 1,
    }
    (plain,) = [r for r in dataset_rows(training_requests(["word_length"], n=3), False) if r["target"] == "8"]
    assert plain["prompt"] == get_constraint("word_length").prompt(8, n=3) + "\n"
    assert plain["n"] == 3


def test_rows_carry_what_they_were_asked_under() -> None:
    requests = training_requests(["acrostic"], policy=Policy(acrostic="lines"), system=True)
    row = dataset_rows(requests)[0]
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["policy"] == {"acrostic": "lines"}
    shown = dataset_rows(build_requests(load_suite("quick"), ["lipogram"]), benchmark_targets=True)
    assert {len(row["demonstrations"]) for row in shown} == {0, 5}


def test_wordings_multiply_the_prompts() -> None:
    once, thrice = (training_requests(["lipogram"], wordings=wordings) for wordings in (WORDINGS[:1], WORDINGS))
    assert len(thrice) == 3 * len(once)
    assert len({r.id for r in thrice}) == len({r.prompt for r in thrice}) == len(thrice)
