"""The bundled parser and the readings together, over the own sentences: no half may fall below what verdicts need."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from oulibench.syntax.order import read_order
from oulibench.syntax.parser import get_parser
from oulibench.syntax.voice import read_voice

GOLDEN = Path(__file__).parents[1] / "golden"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("half", ["dev", "heldout"])
def test_voice(half: str) -> None:
    cases = rows(f"voice_sentences_{half}")
    sentences = get_parser().parse_sentences([case["text"] for case in cases])
    wrong = [
        (case["text"], reading.voice, reading.decided_by)
        for case, sentence in zip(cases, sentences, strict=True)
        if (reading := read_voice(sentence)).voice != case["voice"]
    ]
    assert len(wrong) <= 0.03 * len(cases), wrong


@pytest.mark.parametrize("half", ["dev", "heldout"])
def test_order(half: str) -> None:
    least = {"agreement": 0.99, "selection": 0.94, "selection, inanimate subject": 0.9, "SVO": 0.98}
    cases = [
        (row["decides"], order, text) for row in rows(f"order_triples_{half}") for order, text in row["orders"].items()
    ]
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    sentences = get_parser().parse_sentences([text for _, _, text in cases])
    for (decides, order, _), sentence in zip(cases, sentences, strict=True):
        for key in {decides, order} & set(least):
            total[key] += 1
            right[key] += read_order(sentence).order == order
    assert {key: right[key] / total[key] for key in least if right[key] < least[key] * total[key]} == {}


def test_the_sentences_are_many_and_whole() -> None:
    """At least 300 sentences for voice and 100 triples in six orders, halves disjoint, each order of the same words."""
    voice = [row["text"] for half in ("dev", "heldout") for row in rows(f"voice_sentences_{half}")]
    assert len(voice) >= 320
    assert len(set(voice)) == len(voice)
    triples = [row for half in ("dev", "heldout") for row in rows(f"order_triples_{half}")]
    assert sum(not row["decides"].startswith("both") for row in triples) >= 110
    for row in triples:
        assert len(set(row["orders"].values())) == 6
        assert len({tuple(sorted(text.rstrip(".").lower().split())) for text in row["orders"].values()}) == 1
