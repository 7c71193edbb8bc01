"""The built-in demonstrations: each passes its own checker, none repeats another, their order is frozen."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import pytest

from oulibench.behaviour.known_palindromes import traditional
from oulibench.constraints import get_constraint
from oulibench.jsonl import Row, parse_line, read_jsonl
from oulibench.language import ITALIAN
from oulibench.suite import demonstrations
from oulibench.suite.mine import is_whole_sentence
from oulibench.text import letters, normalise, words

SURFACE = ("word_length", "char_length", "lipogram", "palindrome")
SYNTACTIC = ("voice", "word_order")
SHOTS = 15


def rows(task: str) -> list[Row]:
    source = ITALIAN.data("demonstrations", f"{task}.jsonl")
    return [parse_line(line) for line in source.read_bytes().splitlines()]


@pytest.mark.parametrize("task", SURFACE + SYNTACTIC)
def test_there_are_fifteen_for_each_target(task: str) -> None:
    counts = Counter(row["target"] for row in rows(task))
    wanted = {spec.value for spec in get_constraint(task).targets()}
    assert set(counts) == wanted
    assert min(counts.values()) >= SHOTS


@pytest.mark.parametrize("task", SURFACE + SYNTACTIC)
def test_each_passes_its_own_checker(task: str) -> None:
    constraint = get_constraint(task)
    if task in SYNTACTIC:
        from oulibench.syntax import analyse_many

        analyse_many(row["text"] for row in rows(task))
    verdicts = {row["id"]: constraint.check(row["text"], row["target"]) for row in rows(task)}
    assert {id_: verdict.reason for id_, verdict in verdicts.items() if not verdict.passed} == {}


@pytest.mark.parametrize("task", SURFACE + SYNTACTIC)
def test_ids_are_unique_and_count_within_the_target(task: str) -> None:
    seen: Counter[object] = Counter()
    for row in rows(task):
        seen[row["target"]] += 1
        target = "" if row["target"] is None else f"{row['target']}/"
        assert row["id"] == f"{task}/{target}{seen[row['target']]:02}"
        assert set(row) == {"id", "task", "target", "text"}
        assert row["task"] == task


@pytest.mark.parametrize("task", SURFACE + SYNTACTIC)
def test_texts_are_normal_whole_and_different(task: str) -> None:
    texts = [row["text"] for row in rows(task)]
    assert len({letters(text) for text in texts}) == len(texts)
    for text in texts:
        assert normalise(text) == text
        assert is_whole_sentence(text), text


@pytest.mark.parametrize("task", SURFACE + SYNTACTIC)
def test_no_two_of_a_target_begin_alike_or_share_most_words(task: str) -> None:
    by_target: dict[object, list[list[str]]] = {}
    for row in rows(task):
        by_target.setdefault(row["target"], []).append([word.lower() for word in words(row["text"])])
    for target, found in by_target.items():
        if task != "palindrome":  # the shortest share «A» and «E» and little else
            openings = Counter(tuple(text[:2]) for text in found)
            assert openings.most_common(1)[0][1] == 1, (target, openings.most_common(1))
        for one, other in combinations(found, 2):
            shared = {word for word in set(one) & set(other) if len(word) > 3}
            assert len(shared) <= 2, (target, shared, one, other)


def test_no_sentence_serves_two_tasks() -> None:
    texts = Counter(letters(row["text"]) for task in SURFACE + SYNTACTIC for row in rows(task))
    assert texts.most_common(1)[0][1] == 1


def test_palindromes_are_of_varied_length_and_none_is_known_to_everybody() -> None:
    texts = [letters(row["text"]) for row in rows("palindrome")]
    assert len(texts) >= 20
    assert len({len(text) for text in texts}) >= 6
    assert not set(texts) & set(traditional())


def test_known_palindromes_are_palindromes() -> None:
    known = traditional()
    assert len(known) >= 80
    assert [line for key, line in known.items() if key != key[::-1] or len(set(key)) < 2] == []
    assert letters("I topi non avevano nipoti") in known
    assert letters("Aceto nell'enoteca") in known


def test_passives_are_of_several_kinds_and_persons() -> None:
    passives = " ".join(row["text"] for row in rows("voice") if row["target"] == "passive")
    for auxiliary in (" fu ", " vengono ", " verrà ", " va ", " è stata ", " sarà ", "Siamo stati", "Sei stata"):
        assert auxiliary in passives


def test_reflexives_are_in_all_persons() -> None:
    reflexives = " ".join(row["text"].lower() for row in rows("voice") if row["target"] == "reflexive").split()
    for pronoun in ("mi", "ti", "si", "ci", "vi"):
        assert pronoun in reflexives


def test_no_demonstration_is_a_test_sentence() -> None:
    """The sentences that accuracy is measured on are not shown to models as examples, nor the other way round."""
    shown = {letters(row["text"]) for task in SURFACE + SYNTACTIC for row in rows(task)}
    golden = Path(__file__).parents[1] / "golden"
    measured: set[str] = set()
    for file in (*golden.glob("voice_sentences_*.jsonl"), *golden.glob("order_triples_*.jsonl")):
        for row in read_jsonl(file):
            measured.update(map(letters, row["orders"].values() if "orders" in row else [row["text"]]))
    assert measured
    assert not shown & measured


def test_the_first_of_a_file_do_not_move() -> None:
    """What a model with five examples sees is part of the benchmark; a change here is a change of scores."""
    first = "\n".join(
        d.text
        for task in SURFACE + SYNTACTIC
        for spec in sorted(get_constraint(task).targets(), key=lambda s: str(s.value))
        for d in demonstrations(task, spec.value, SHOTS)
    )
    assert sha256(first.encode()).hexdigest()[:16] == "7def3e0e77ff3025"
