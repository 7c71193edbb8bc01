"""From an answer to figures, as lm-evaluation-harness wants them: counts per answer, then figures over all answers.

What is counted, and what a rate or a correlation is, comes from `oulibench.results`; nothing is defined here.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from oulibench.jsonl import Row
from oulibench.results.correlation import spearman
from oulibench.results.runs import items_of
from oulibench.results.table import rate
from oulibench.results.tally import tally

_FIELDS = ("id", "task", "family", "target", "difficulty", "n", "shots", "wording", "suite", "demonstrations", "prompt")


def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """The counts of one answer, by metric: `[part, whole]` for rates, `[requested, obtained]` lengths per item for
    `spearman`.

    Answers are read and scored as `oulibench score` does it; all sentences of one are parsed together.
    """
    (cell,) = tally(items_of([answer_row(doc, results[0] if results else None)])[0]).values()
    (answer,) = cell.answers
    counts: dict[str, Any] = {
        "sr": [answer.passed, answer.items],
        "passed_per_requested": [answer.passed_in_time, answer.requested],
        "yield": [answer.items, answer.requested],
        "scoring_failed": answer.failed,
    }
    if cell.family == "quantitative":
        counts["spearman"] = [list(pair) for pair in zip(cell.requested, cell.obtained, strict=True)]
    return counts


def answer_row(doc: Mapping[str, Any], response: object) -> Row:
    """The row of `responses.jsonl` that a document and the response to it make."""
    # What the harness writes where a server's answer had no content; by default the empty string.
    if response is None or response == os.environ.get("LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER", ""):
        response = ""
    return {**{key: doc.get(key) for key in _FIELDS}, "epoch": 1, "response": response}


def sample_row(sample: Mapping[str, Any], model: str | None = None) -> Row:
    """The row of `responses.jsonl` that a sample logged by `lm_eval --log_samples` makes.

    Raises:
        KeyError, IndexError, TypeError: this is no sample of one of these tasks.
    """
    doc = sample["doc"]
    if isinstance(doc, str):
        doc = json.loads(doc)
    row = answer_row({key: doc[key] for key in _FIELDS}, sample["filtered_resps"][0])
    return row if model is None else {**row, "model": model}


def pooled_rate(values: Sequence[Sequence[int]]) -> float:
    """Parts / wholes over all answers; NaN where there is nothing to divide by."""
    found = rate(sum(part for part, _ in values), sum(whole for _, whole in values))
    return math.nan if found is None else found


def pooled_spearman(values: Sequence[Sequence[Sequence[float]]]) -> float:
    """Spearman's rho of obtained on requested length over the items of all answers; NaN where it is undefined."""
    pairs = [pair for answer in values for pair in answer]
    found = spearman([requested for requested, _ in pairs], [obtained for _, obtained in pairs]).value
    return math.nan if found is None else found


def total(values: Sequence[int]) -> int:
    """The sum over all answers."""
    return sum(values)
