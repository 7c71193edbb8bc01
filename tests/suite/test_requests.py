"""Requests of the suites: what they ask, with which demonstrations, within which limits."""

from __future__ import annotations

import pytest

from oulibench.constraints import get_constraint, task_names
from oulibench.constraints.base import WORDINGS
from oulibench.errors import DataError, UnknownTaskError
from oulibench.policy import Policy
from oulibench.suite import build_requests, demonstrations, fingerprint, load_suite, suite_names, token_limit
from oulibench.suite.demonstrations import Demonstration, overlaps
from oulibench.suite.requests import estimate


@pytest.mark.parametrize("name", suite_names())
def test_every_suite_can_be_built(name: str) -> None:
    requests = build_requests(load_suite(name))
    assert {r.task for r in requests} == set(task_names())
    assert len({r.id for r in requests}) == len(requests)
    assert fingerprint(requests) == fingerprint(build_requests(load_suite(name)))


FEW_SHOT_IN_THE_PAPER = ("word_length", "char_length", "voice", "lipogram", "palindrome")


def test_the_papers_protocol() -> None:
    requests = build_requests(load_suite("paper"))
    for task in task_names():
        constraint = get_constraint(task)
        mine = [r for r in requests if r.task == task]
        shots = {0, 5, 10, 15} if task in FEW_SHOT_IN_THE_PAPER else {0}
        assert {r.shots for r in mine} == shots
        assert len(mine) == len(shots) * len(constraint.targets())
        assert {r.n for r in mine} == {1 if task in ("word_anagram", "sentence_anagram") else 50}
        assert {r.epochs for r in mine} == {1}


def test_quick_spreads_its_targets() -> None:
    requests = build_requests(load_suite("quick"), ["word_length"], [0])
    values = [spec.value for spec in get_constraint("word_length").targets()]
    asked = [r.target for r in requests]
    assert len(asked) == 3
    assert (asked[0], asked[-1]) == (values[0], values[-1])


def test_a_few_shot_prompt() -> None:
    [request] = build_requests(load_suite("paper"), ["palindrome"], [2], n=3)
    shown = demonstrations("palindrome", None, 2)
    assert request.demonstrations == tuple(d.id for d in shown)
    ask, examples, after = request.prompt.split("\n\n")
    assert ask == get_constraint("palindrome").prompt(None, 3)
    assert examples == f"Ecco 2 esempi:\n1. {shown[0].text}\n2. {shown[1].text}"
    assert after == "Non ripetere gli esempi: scrivi 3 testi nuovi, diversi l'uno dall'altro."
    [single] = build_requests(load_suite("paper"), ["palindrome"], [1], n=1)
    assert single.prompt.endswith(
        f"Ecco un esempio:\n- {shown[0].text}\n\nNon ripetere l'esempio: scrivi qualcosa di nuovo."
    )


def test_demonstrations_are_frozen_and_nested() -> None:
    five, ten = demonstrations("lipogram", "e", 5), demonstrations("lipogram", "E", 10)
    assert ten[:5] == five
    assert demonstrations("lipogram", "e", 0) == ()
    with pytest.raises(DataError, match=r"There are \d+ demonstrations .* fewer than the 1000"):
        demonstrations("lipogram", "e", 1000)
    with pytest.raises(DataError, match="There are 0 demonstrations"):
        demonstrations("tautogram", "m", 1)
    with pytest.raises(ValueError, match="at least 0"):
        demonstrations("lipogram", "e", -1)
    with pytest.raises(UnknownTaskError):
        demonstrations("lipogramm", "e", 5)


def test_no_demonstration_is_what_is_asked_for() -> None:
    twin = Demonstration("x", "sentence_anagram", "Amo Roma", "amo  ROMA!")
    assert overlaps(twin, "Amo Roma.")
    assert not overlaps(twin, "Moro ama")
    assert not overlaps(twin, 5)
    for request in build_requests(load_suite("paper")):
        assert len(set(request.demonstrations)) == request.shots


def test_the_fingerprint_sees_every_change() -> None:
    suite = load_suite("quick")
    seen = [
        fingerprint(build_requests(suite, ["lipogram"], [0], **options))
        for options in ({}, {"n": 4}, {"limit": 1}, {"wording": "terse"}, {"epochs": 2}, {"system": True})
    ]
    seen.append(fingerprint(build_requests(suite, ["lipogram"], [0], policy=Policy(min_words=3))))
    assert len(set(seen)) == len(seen)


def test_token_limits_grow_with_what_is_asked() -> None:
    suite = load_suite("paper")
    short, *_, long = [token_limit(r) for r in build_requests(suite, ["word_length"], [0])]
    assert short < long
    # fifty sentences of 30 words take about 50 · 30 · 2 tokens; twice that must fit
    assert long > 6_000
    [one] = [token_limit(r) for r in build_requests(suite, ["word_length"], [0], n=1, limit=1)]
    assert one < short
    assert token_limit(build_requests(suite, ["palindrome"], [0])[0], reasons=True) > 32_768


def test_estimates() -> None:
    requests = build_requests(load_suite("quick"), ["palindrome"], [0], epochs=3)
    total = estimate(requests)
    assert total.calls == 3
    assert total.input_tokens >= 3 * len(requests[0].prompt) / 3
    assert 0 < total.output_tokens < 3 * token_limit(requests[0])


@pytest.mark.parametrize("option", ["n", "limit", "epochs"])
def test_numbers_out_of_range(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} is at least 1"):
        build_requests(load_suite("quick"), **{option: 0})  # type: ignore[arg-type]
    with pytest.raises(DataError, match="Known suites: paper, quick, single"):
        load_suite("large")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("orthographic", "«l'amico» vale due parole"),
        ("graphic", "«l'amico» vale una parola"),
        ("syntactic", "«della»"),
        ("profiling", "Conta come parola anche ogni segno di punteggiatura"),
    ],
)
def test_what_is_asked_is_what_is_counted(words: str, said: str) -> None:
    policy = Policy.from_mapping({"words": words})
    prompts = [get_constraint("word_length").prompt(5, n, wording, policy) for n in (1, 5) for wording in WORDINGS]
    assert said in prompts[0]
    assert "5 parole" in prompts[0]
    assert len(set(prompts)) == 6
    assert not any("{" in prompt for prompt in prompts)
    if words != "orthographic":
        assert "vale due parole" not in prompts[0]


def test_demonstrations_keep_the_rule_under_the_policy_that_answers_are_checked_under() -> None:
    graphic = Policy.from_mapping({"words": "graphic"})
    for spec in get_constraint("word_length").targets():
        shown = demonstrations("word_length", spec.value, 5, policy=graphic)
        assert [len(d.text.split()) for d in shown] == [spec.value] * 5
    with pytest.raises(DataError, match="words=graphic, fewer than the 15"):
        demonstrations("word_length", 30, 15, policy=graphic)
    assert demonstrations("voice", "passive", 15, policy=graphic) == demonstrations("voice", "passive", 15)
