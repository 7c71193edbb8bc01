"""Rows with responses → the same rows with what was read out of them (`oulibench extract`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oulibench.errors import DataError
from oulibench.jsonl import Row
from oulibench.scoring import failed_row, read_row


def extract_row(row: Mapping[str, Any]) -> list[Row]:
    """`row` with `items` (the texts, in order), `status` and `steps` (what was done to read them); never raises."""
    try:
        if "response" not in row:
            raise DataError('The row has no "response".')
        reading = read_row(row)
    except Exception as error:  # fails closed: one bad row must not take the others with it
        failed = failed_row(row, error)
        return [{**row, "items": [], "status": failed["status"], "steps": [], "reason": failed["reason"]}]
    items = [item.text for item in reading.items]
    return [{**row, "items": items, "status": reading.status, "steps": list(reading.steps)}]


def extract_block(rows: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
    """`extract_row` on each row."""
    return [extract_row(row) for row in rows]
