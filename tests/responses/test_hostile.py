"""No response can make the reader slow, crash it or come out of it as something that it is not."""

from __future__ import annotations

import time

import pytest

from oulibench.errors import TextError
from oulibench.responses import Unit, read_response

LIMIT = 3.0
"""Seconds of processor time: 20,000 characters take some hundredths; what is quadratic in them takes far longer."""


RUNS = [
    "*", "_", "(", ")", "[", "]", "{", "<", ">", "`", "#", "|", "-", "–", ".", "…", " ", "\n", "\t", "1",
    "1.", "1. ", "1.\n", "\"", "'", "«", "»", "\\", "\\\"", "=", "→", "~", "&", "&amp;", ":", ": ", ",", ", ",
    "a", "a ", "A. ", "aa. A", "<think>", "</think>", "<think></think>", "<answer>", "</answer>", "<br>",
    "<li>", "[THINK]", "**a", "** ", "*a ", "_a", "(a", "(a) ", "a)", "- ", "\n- ", "\n1. a", "\n  - a", "|a",
    "|a\n", "|-|\n", "```", "```\n", "`a", "[[", "{\"a\":", "[\"a\",", "\"a\" ", "Frase 1: ", "Ecco ",
    "ecco frase ", "Certo! ", "Nota: ", "mi dispiace, ", "non posso ", "Se vuoi, ", "la parola ", "S - ",
    "anagramma è ", "a, ", "(1) ", " - ", " – ", "a. – A", "⃣", "1⃣", "①", "🔹 ", "<|im_end|>",
    "<|channel|>analysis",
]  # fmt: skip


def read_runs(unit: str, task: str, size: int) -> float:
    """Seconds of processor time for the slowest of three responses with a long run of `unit` in them."""
    run = unit * (size // len(unit))
    lines = "\n".join([f"1. Il gatto {unit * (1900 // len(unit))}"] * (size // 1900))
    slowest = 0.0
    for response in (run, f"1. Il gatto dorme {run}", f"{run} il gatto dorme.", lines):
        start = time.process_time()
        reading = read_response(response, task=task, target="noce", requested=50)
        slowest = max(slowest, time.process_time() - start)
        assert (reading.status == "ok") == bool(reading.items)
    return slowest


@pytest.mark.parametrize("unit", RUNS)
def test_long_runs_take_linear_time(unit: str) -> None:
    for task in ("word_length", "word_anagram", "acrostic"):
        assert read_runs(unit, task, 20_000) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("unit", RUNS)
def test_very_long_runs_take_linear_time(unit: str) -> None:
    for task in ("word_length", "word_anagram", "acrostic"):
        assert read_runs(unit, task, 400_000) < 10 * LIMIT


def test_a_megabyte_and_a_hundred_thousand_lines() -> None:
    start = time.process_time()
    lines = [f"{i}. Il gatto." for i in range(1, 50_001)]
    assert len(read_response("\n".join(lines), task="word_length").items) == 50_000
    assert len(read_response("Il sole\n" * 100_000, task="word_length").items) == 100_000
    assert time.process_time() - start < 20 * LIMIT


@pytest.mark.parametrize("unit", ["sentence", "stanza"])
@pytest.mark.parametrize("head", ["1. a\n", "", "- Nota: a\n- b\n", f"A{'a' * 45}\n"])
@pytest.mark.parametrize("line", ["b\n", "- Nota: b\n", "- b\n", "1. b\n  - Parole: 3\n", "**\n", "mi dispiace, \n"])
def test_many_lines_take_linear_time(line: str, head: str, unit: Unit) -> None:
    start = time.process_time()
    read_response(head + line * 20_000, task="acrostic", target="sole", requested=50, unit=unit)
    assert time.process_time() - start < 2 * LIMIT


def test_more_than_a_megabyte_is_refused() -> None:
    with pytest.raises(TextError):
        read_response("a" * 1_000_001)


@pytest.mark.parametrize("response", ["1. Il\x00 gatto", "1. Il \ud800 gatto"])
def test_damaged_text_is_refused(response: str) -> None:
    with pytest.raises(TextError):
        read_response(response)


def test_no_string_is_refused() -> None:
    with pytest.raises(TextError):
        read_response(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", [100, 5_000, 100_000])
def test_deep_json(depth: int) -> None:
    for response in ("[" * depth + '"Il gatto dorme."' + "]" * depth, '{"a":' * depth + '"Il gatto"' + "}" * depth):
        assert read_response(response).status in ("ok", "unreadable")


def test_an_item_is_never_longer_than_what_it_came_from() -> None:
    response = "1. **Il gatto** «dorme» (5 parole)\n2. `codice` – prova\n\nNota: fine"
    for item in read_response(response, task="word_length").items:
        assert len(item.text) <= len(item.raw)


def test_a_private_use_character_in_the_response_does_no_harm() -> None:
    reading = read_response("1. Il\ue000 gatto dorme.\n2. \ue000\ue000\ue000", task="word_length")
    assert [item.text for item in reading.items] == ["Il gatto dorme."]
