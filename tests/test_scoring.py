"""Rows in, rows out: nothing lost, nothing raised, the totals add up."""

import io
import json
import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench import score
from oulibench.scoring import Totals, process_lines, score_block, score_row
from oulibench.verdict import FIELDS

GOOD = {"task": "lipogram", "target": "e", "text": "Oggi vado in montagna"}


def test_a_text_keeps_its_row_and_gains_a_verdict() -> None:
    (row,) = score([{**GOOD, "id": 7, "model": "x"}])
    assert (row["id"], row["model"], row["status"], row["passed"]) == (7, "x", "ok", True)
    assert set(FIELDS) <= set(row)


def test_a_response_gives_one_row_per_item() -> None:
    rows = score([{"task": "word_length", "target": 3, "n": 2, "id": 1, "response": "1. Il gatto dorme.\n2. Piove."}])
    assert [(r["item"], r["text"], r["passed"], r["id"], r["status"]) for r in rows] == [
        (1, "Il gatto dorme.", True, 1, "ok"),
        (2, "Piove.", False, 1, "ok"),
    ]


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ("", "no_response"),
        ("  \n", "no_response"),
        ("Mi dispiace, non posso aiutarti con questa richiesta.", "refusal"),
        ("<think>Devo scrivere una frase senza e", "unclosed_reasoning"),
    ],
)
def test_a_response_without_items_gives_one_row_with_its_status(response: str, status: str) -> None:
    (row,) = score([{"task": "lipogram", "target": "e", "response": response}])
    assert (row["item"], row["text"], row["status"], row["passed"]) == (None, None, status, None)
    assert row["response"] == response


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"task": "lipogramm"}, "Known tasks"),
        ({"task": None}, "Known tasks"),
        ({"target": "ee"}, "one letter"),
        ({"target": None}, "one letter"),
        ({"text": None}, "must be a string"),
        ({"text": 5}, "must be a string"),
        ({"text": "a\ud800"}, "lone surrogate"),
        ({"text": "a\0"}, "NUL"),
        ({"text": "è " * 600_000}, "more than 1,000,000"),
        ({"policy": {"words": "nessuna"}}, "orthographic"),
        ({"policy": ["words"]}, "A policy is an object"),
        ({"policy": {"parser": "udpipe:x"}}, "not by a row"),
    ],
)
def test_a_row_that_cannot_be_judged_fails_alone_and_says_why(change: dict[str, Any], says: str) -> None:
    before, failed, after = score([GOOD, {**GOOD, **change}, GOOD])
    assert before["passed"] is after["passed"] is True
    assert (failed["status"], failed["passed"]) == ("scoring_failed", None)
    assert says in failed["reason"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({}, 'no "task"'),
        ({"task": "lipogram", "text": "x"}, 'no "target"'),
        ({"task": "lipogram", "target": "e"}, "neither"),
        ({"task": "lipogram", "target": "e", "response": "x", "n": "tre"}, '"n"'),
        ({"task": "lipogram", "target": "e", "response": None}, "must be a string"),
    ],
)
def test_an_incomplete_row_says_what_is_missing(row: dict[str, Any], says: str) -> None:
    (failed,) = score_row(row)
    assert failed["status"] == "scoring_failed"
    assert says in failed["reason"]


def test_palindromes_need_no_target() -> None:
    without = {"task": "palindrome", "text": "Aceto nell'enoteca"}
    assert [row["passed"] for row in score([without, {**without, "target": None}])] == [True, True]


def test_a_repeated_item_is_scored_twice() -> None:
    assert len(score([GOOD, GOOD])) == 2


def test_scoring_what_was_scored_changes_nothing() -> None:
    rows = score([GOOD, {**GOOD, "text": "Perché no"}, {"task": "palindrome", "text": "radar"}])
    assert score(rows) == rows


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=5,
)
rows_of_any_kind = st.fixed_dictionaries(
    {},
    optional={
        "task": st.sampled_from(["lipogram", "word_length", "palindrome", "acrostic", "tautogram"]) | json_values,
        "target": st.sampled_from(["e", 5, "sole", None]) | json_values,
        "text": json_values,
        "response": json_values,
        "n": json_values,
        "policy": json_values,
        "id": json_values,
    },
)


@given(st.lists(rows_of_any_kind, max_size=5))
def test_scored_and_failed_add_up_to_received(rows: list[dict[str, Any]]) -> None:
    source = io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    blocks = list(process_lines(source))
    if not rows:
        assert blocks == []
        return
    (block,) = blocks
    assert block.totals.received == len(rows) == block.totals.scored + block.totals.failed
    written = [json.loads(line) for line in block.output.splitlines()]
    assert len(written) == block.totals.rows >= len(rows)


LINES = [
    json.dumps(GOOD).encode(),
    b"not json",
    b"[1, 2]",
    b'"text"',
    b"\xff\xfe",
    b"",
    b"   ",
    b'{"task": "lipogram", "target": "e", "text": "\\ud800"}',
    b'{"task": "word_length", "target": 123456789012345678901234567890, "text": "Ciao"}',
    "\ufeff".encode() + json.dumps(GOOD).encode(),
    b"{" * 100_000,
    b'{"task": "word_length", "text": "a", "target": 1' + b"0" * 5_000 + b"}",
]


@pytest.mark.parametrize("processes", [1, 2])
def test_bad_lines_are_named_and_the_rest_is_scored(processes: int) -> None:
    (block,) = process_lines(io.BytesIO(b"\n".join(LINES)), processes=processes)
    assert {p.line for p in block.problems} == {2, 3, 4, 5, 8, 11, 12}
    assert block.totals == Totals(received=10, scored=3, failed=7, rows=4, passed=2)
    assert [json.loads(line)["status"] for line in block.output.splitlines()] == ["ok", "scoring_failed", "ok", "ok"]


def test_processes_change_nothing_but_speed() -> None:
    rows = [{**GOOD, "id": i, "text": f"Riga {i} {'con' if i % 2 else 'senza'}"} for i in range(7_000)]
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    one = b"".join(block.output for block in process_lines(io.BytesIO(data), processes=1))
    two = b"".join(block.output for block in process_lines(io.BytesIO(data), processes=2))
    assert one == two
    assert one.count(b"\n") == 7_000


def _die_on_eleven(rows: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    if any(row["id"] == 11 for row in rows):
        os._exit(9)
    return score_block(rows)


def test_a_worker_that_dies_takes_its_line_alone() -> None:
    data = b"".join(json.dumps({**GOOD, "id": i}).encode() + b"\n" for i in range(20))
    (block,) = process_lines(io.BytesIO(data), transform=_die_on_eleven, processes=2)
    assert block.totals == Totals(received=20, scored=19, failed=1, rows=20, passed=19)
    assert [p.line for p in block.problems] == [12]
    assert [json.loads(line)["id"] for line in block.output.splitlines()] == list(range(20))
