"""The scored rows as Parquet, for pandas, polars, R or DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from oulibench.errors import DataError
from oulibench.results.tally import Cell, CellKey

_ROWS_PER_GROUP = 50_000


def write_parquet(cells: Mapping[CellKey, Cell], path: Path) -> Path:
    """Write one row per scored row, whole or not at all. Targets are text; `measured` is text, and a number beside it
    where it is one.

    Raises:
        DataError: the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            *((name, pa.dictionary(pa.int32(), pa.string())) for name in ("model", "task", "family")),
            ("shots", pa.int32()),
            ("target", pa.string()),
            ("difficulty", pa.int8()),
            ("id", pa.string()),
            ("epoch", pa.int32()),
            ("requested", pa.int32()),
            ("item", pa.int32()),
            ("text", pa.string()),
            ("status", pa.dictionary(pa.int32(), pa.string())),
            ("passed", pa.bool_()),
            ("formal", pa.bool_()),
            ("score", pa.float64()),
            ("measured", pa.string()),
            ("measured_number", pa.float64()),
            ("reason", pa.string()),
            ("flags", pa.list_(pa.string())),
            ("truncated", pa.bool_()),
        ]
    )
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(part, schema, compression="zstd") as writer:
            block: list[dict[str, Any]] = []
            for row in _rows(cells):
                block.append(row)
                if len(block) == _ROWS_PER_GROUP:
                    writer.write_table(pa.Table.from_pylist(block, schema=schema))
                    block = []
            writer.write_table(pa.Table.from_pylist(block, schema=schema))
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: {error}") from error
    return path


def _rows(cells: Mapping[CellKey, Cell]) -> Iterator[dict[str, Any]]:
    for key, cell in cells.items():
        for item in cell.items:
            answer = cell.answers[item.answer]
            measured = item.measured
            yield {
                "model": _clean(key.system),
                "task": _clean(key.task),
                "family": _clean(cell.family),
                "shots": key.shots,
                "target": None if answer.target is None else _clean(str(answer.target)),
                "difficulty": answer.difficulty,
                "id": _clean(answer.request),
                "epoch": answer.epoch,
                "requested": answer.requested,
                "item": item.number,
                "text": _clean(item.text),
                "status": _clean(item.status),
                "passed": item.passed,
                "formal": item.formal,
                "score": item.score,
                "measured": None if measured is None else _clean(str(measured)),
                "measured_number": float(measured) if isinstance(measured, int) else None,
                "reason": _clean(item.reason),
                "flags": [_clean(flag) for flag in item.flags],
                "truncated": answer.truncated,
            }


def _clean(text: str) -> str:
    """`text` less the lone surrogates that UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
