"""Parquet in and out of scoring, a batch of rows at a time.

Columns of a Parquet file go into a Parquet file as they are, types and all. What a verdict adds has the same types in
every file: `measured` is text (it is a number for some tasks and a word for others), `violations` a list of structs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from oulibench.errors import DataError, MissingExtraError
from oulibench.jsonl import Row, dump_line, dump_lines, parse_line
from oulibench.scoring import BLOCK_BYTES, BLOCK_LINES, ScoredBlock, Transform, tally
from oulibench.verdict import FIELDS

if TYPE_CHECKING:
    import pyarrow as pa

Column = Literal["truth", "whole", "number", "text", ""]
Columns = Mapping[str, Column]
"""The fields of JSON rows, as columns."""

_READ: Final = ("task", "target", "text", "response", "n", "policy")
"""The columns that scoring looks at; in all but `target`, null is as good as absent."""

_ROWS_PER_GROUP: Final = 50_000
_BYTES_PER_GROUP: Final = 64_000_000


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet needs the package pyarrow: pip install 'oulibench[dataset]'.") from error
    return pyarrow


# --- reading -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Consecutive rows of a Parquet file: the number of the first (from 1), how many, and their Arrow stream."""

    first: int
    rows: int
    stream: bytes

    @classmethod
    def of(cls, first: int, table: pa.Table) -> TableBlock:
        return cls(first, table.num_rows, _stream(table))

    def table(self) -> pa.Table:
        return _arrow().ipc.open_stream(self.stream).read_all()

    def __len__(self) -> int:
        return self.rows

    def halves(self) -> tuple[TableBlock, TableBlock]:
        table, half = self.table(), self.rows // 2
        return TableBlock.of(self.first, table.slice(0, half)), TableBlock.of(self.first + half, table.slice(half))


def _stream(table: pa.Table) -> bytes:
    arrow = _arrow()
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def read_blocks(path: Path) -> Iterator[TableBlock]:
    """The rows of a Parquet file, in order; at least one block, if only an empty one.

    Raises:
        DataError: the file is no whole Parquet file, or has no columns to score.
    """
    arrow = _arrow()
    from pyarrow.parquet import ParquetFile

    first = 1
    try:
        # Page by page: a row group may be larger than memory.
        with ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
            _expect_columns(path, file.schema_arrow.names)
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group)
                width = max(1, size.total_byte_size // max(1, size.num_rows))
                rows = min(BLOCK_LINES, max(1, BLOCK_BYTES // width))
                for batch in file.iter_batches(rows, row_groups=[group]):
                    yield TableBlock.of(first, arrow.Table.from_batches([batch]))
                    first += batch.num_rows
            if first == 1:
                yield TableBlock.of(first, file.schema_arrow.empty_table())
    except (arrow.ArrowException, OSError) as error:
        where = f" after row {first - 1:,}" if first > 1 else ""
        reason = str(error).split(". Detail")[0].strip().rstrip(".")
        raise DataError(
            f"{path}: cannot be read{where}: {reason}. Is the file whole? Copy or write it again."
        ) from error


def _expect_columns(path: Path, names: Sequence[str]) -> None:
    there = ", ".join(names) or "none"
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{path}: two columns are called {', '.join(twice)}.")
    if "task" not in names:
        raise DataError(f'{path}: there is no column "task". The columns are: {there}.')
    if "text" not in names and "response" not in names:
        raise DataError(f'{path}: there is neither a column "text" nor "response". The columns are: {there}.')


def _rows(table: pa.Table, names: Iterable[str]) -> list[Row]:
    """The table's rows as rows of JSON, as scoring takes them."""
    columns = {name: _values(table.column(name), as_text=name in _READ) for name in names}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    for row in rows:
        for name in _READ:
            if name != "target" and name in row and row[name] is None:
                del row[name]
        policy = row.get("policy")
        if isinstance(policy, str):  # a table of rows that came from JSON
            with suppress(DataError):  # scoring says what a policy is
                row["policy"] = parse_line(policy.encode())
        elif isinstance(policy, dict):  # a column of structs has every key in every row
            row["policy"] = {key: value for key, value in policy.items() if value is not None}
    return rows


def _values(column: pa.ChunkedArray, as_text: bool = False) -> list[Any]:
    """The values as JSON has them; with `as_text`, bytes are text (some writers do not say which bytes are)."""
    arrow = _arrow()
    types = arrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_timestamp(kind) and kind.unit == "ns":  # Python knows microseconds
        column = column.cast(arrow.timestamp("us", kind.tz), safe=False)
    elif types.is_duration(kind) and kind.unit == "ns":
        column = column.cast(arrow.duration("us"), safe=False)
    elif types.is_time64(kind) and kind.unit == "ns":
        column = column.cast(arrow.time64("us"), safe=False)
    try:
        values: list[Any] = column.to_pylist()
    except _BEYOND_PYTHON:
        values = [_value(scalar) for scalar in column]
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return values
    if as_text:
        values = [_text(value) if isinstance(value, bytes) else value for value in values]
    return [value if value is None or isinstance(value, str) else _jsonable(value) for value in values]


_BEYOND_PYTHON: Final = (ValueError, OverflowError, KeyError)
"""What Arrow raises for bytes called text, dates before the year 1 or after 9999, time zones that nobody knows."""


def _value(scalar: pa.Scalar) -> Any:
    """What `scalar` holds, where Python may have no value for it."""
    arrow = _arrow()
    with suppress(*_BEYOND_PYTHON):
        return scalar.as_py()
    types, kind = arrow.types, scalar.type
    if types.is_struct(kind):
        return {name: _value(inner) for name, inner in scalar.items()}
    if types.is_map(kind):
        return [[_value(inner) for inner in pair.values()] for pair in scalar.values]
    if types.is_nested(kind):
        return [_value(inner) for inner in scalar.values]
    if types.is_dictionary(kind):
        return _value(scalar.value)
    if types.is_duration(kind):
        return scalar.value / {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    if types.is_timestamp(kind):
        moment = str(scalar.cast(arrow.timestamp(kind.unit)).cast(arrow.string()))
        if moment.startswith("<"):  # it says so itself that this is out of range
            return moment
        return moment.replace(" ", "T") + ("+00:00" if kind.tz else "")
    if types.is_date(kind):
        return str(scalar.cast(arrow.string()))
    return _text(scalar.as_buffer().to_pybytes())


def _text(raw: bytes) -> str:
    """Text of UTF-8; where it is not, the lone surrogates make the row fail alone."""
    return raw.decode("utf-8", "surrogateescape")


def _jsonable(value: Any) -> Any:
    """`value` as JSON has it: dates and times by ISO 8601, decimals as text, bytes in base 64, durations in seconds."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    return str(value)  # Decimal, UUID, …


# --- scoring -----------------------------------------------------------------------------------------------------


def process_to_lines(block: TableBlock, transform: Transform) -> ScoredBlock:
    """The rows of a table, scored, as JSON lines."""
    table = block.table()
    results = transform(_rows(table, table.column_names))
    return tally(_numbers(block), results, dump_lines(chain.from_iterable(results)))


def process_to_table(block: TableBlock, transform: Transform) -> ScoredBlock:
    """The rows of a table, scored, as a table that keeps its columns."""
    arrow = _arrow()
    table = block.table().replace_schema_metadata(None)  # what other programs noted there is no longer true
    # `item` is not looked at, but what a row brings along stays where nothing is read out of a response.
    results = transform(_rows(table, [name for name in (*_READ, "item") if name in table.column_names]))
    if "response" in table.column_names:
        places = [place for place, rows in enumerate(results) for _ in rows]
        table = table.take(arrow.array(places, arrow.int64()))
        added = ["response", "item", "text", *_VERDICT]
    else:
        added = list(_VERDICT)
    written = list(chain.from_iterable(results))
    for name in added:
        kind = _type_of(name, _kind_of(table.schema, name))
        column = arrow.array([_cell(row.get(name), kind) for row in written], kind)
        place = table.schema.get_field_index(name)
        table = table.append_column(name, column) if place < 0 else table.set_column(place, name, column)
    return tally(_numbers(block), results, _stream(table))


def _numbers(block: TableBlock) -> range:
    return range(block.first, block.first + block.rows)


def table_of(rows: Iterable[Row], columns: Columns) -> bytes:
    """Scored rows of JSON as an Arrow stream with these columns, and a verdict's."""
    arrow = _arrow()
    types = {name: _type_of(name, columns.get(name, "")) for name in _names(columns)}
    schema = arrow.schema([(name.encode("utf-8", "backslashreplace").decode(), kind) for name, kind in types.items()])
    written = list(rows)
    arrays = [arrow.array([_cell(row.get(name), kind) for row in written], kind) for name, kind in types.items()]
    return _stream(arrow.Table.from_arrays(arrays, schema=schema))


def _names(columns: Columns) -> list[str]:
    items = ["item", "text"] if "response" in columns else []
    return list(dict.fromkeys((*columns, *items, *_VERDICT)))


_VERDICT: Final = ("status", *FIELDS)


def _kind_of(schema: pa.Schema, name: str) -> Column:
    """What a column brings; unknown, where it is none or no more than the numbers of items are."""
    types, place = _arrow().types, schema.get_field_index(name)
    kind = schema.field(place).type if place >= 0 else _arrow().null()
    if types.is_null(kind) or types.is_int32(kind):
        return _UNKNOWN
    if types.is_integer(kind) and not types.is_uint64(kind):
        return "whole"
    return "number" if types.is_floating(kind) else "text"


def _type_of(name: str, column: Column = "") -> pa.DataType:
    """The type of a column of which the rows bring `column`, if anything."""
    arrow = _arrow()
    if name == "item" and column:  # numbers of ours beside whatever the rows call an item
        column = merged(column, "whole")
        return {"whole": arrow.int64(), "number": arrow.float64()}.get(column, arrow.string())
    spot = [("word", arrow.string()), ("start", arrow.int32()), ("end", arrow.int32())]
    fixed = {
        "item": arrow.int32(),
        "passed": arrow.bool_(),
        "formal": arrow.bool_(),
        "score": arrow.float64(),
        "violations": arrow.list_(arrow.struct(spot)),
        "flags": arrow.list_(arrow.string()),
    }
    if name in fixed or name in (*_READ, *_VERDICT):
        return fixed.get(name, arrow.string())
    return {"truth": arrow.bool_(), "whole": arrow.int64(), "number": arrow.float64()}.get(column, arrow.string())


def _cell(value: Any, kind: pa.DataType) -> Any:
    types = _arrow().types
    if value is None:
        return None
    if types.is_string(kind):
        return _held(value) if isinstance(value, str) else dump_line(value)[:-1].decode()
    if types.is_list(kind):
        return [_cell(inner, kind.value_type) for inner in value]
    if types.is_struct(kind):
        return {field.name: _cell(value[field.name], field.type) for field in kind}
    return value


def _held(text: str) -> str:
    """`text` less the lone surrogates that UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


# --- columns for rows of JSON ------------------------------------------------------------------------------------


def survey(lines: Iterable[bytes]) -> dict[str, Column]:
    """What the fields of JSON lines are, in the order in which they come up: true or false, whole numbers of 64 bits,
    numbers, or text. Text is also what mixed, nested and longer values become: strings as they are, others as JSON.
    """
    columns: dict[str, Column] = {}
    seen: set[tuple[str, type]] = set()
    for line in lines:
        try:
            row = parse_line(line)
        except DataError:
            continue  # scoring says so
        for name, value in row.items():
            kind = type(value)
            if kind is int or (name, kind) not in seen:  # a number may be the first that is too long
                seen.add((name, kind))
                columns[name] = merged(columns.get(name, _UNKNOWN), _kind(value))
    return columns


_UNKNOWN: Final[Column] = ""  # nothing but nulls so far


def _kind(value: object) -> Column:
    if value is None:
        return _UNKNOWN
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int):
        return "whole" if -(2**63) <= value < 2**63 else "text"
    return "number" if isinstance(value, float) else "text"


def merged(one: Column, other: Column) -> Column:
    """The column that holds both."""
    if one in (_UNKNOWN, other) or other == _UNKNOWN:
        return one or other
    return "number" if {one, other} == {"whole", "number"} else "text"


def misfit(columns: Columns, others: Columns) -> str | None:
    """The first of the fields `others` that has no place in `columns`; None if all have."""
    for name, kind in others.items():
        if name not in columns or merged(columns[name], kind) != columns[name]:
            return name
    return None


# --- writing -----------------------------------------------------------------------------------------------------


class TableWriter:
    """Streams of tables with one schema, as a Parquet file of fair row groups."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None
        self._held: list[pa.Table] = []

    def write(self, streams: bytes) -> None:
        arrow = _arrow()
        source = arrow.BufferReader(streams)
        while source.tell() < len(streams):  # one stream, or those of the halves of a block
            self._held.append(arrow.ipc.open_stream(source).read_all())
        held = sum(table.num_rows for table in self._held)
        if held >= _ROWS_PER_GROUP or sum(table.nbytes for table in self._held) >= _BYTES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        from pyarrow.parquet import ParquetWriter

        table = _arrow().concat_tables(self._held)
        if self._writer is None:
            self._writer = ParquetWriter(self._path, table.schema, compression="zstd")
        if table.num_rows:
            self._writer.write_table(table)
        self._held = []

    def close(self) -> None:
        if self._held:
            self._flush()
        if self._writer is not None:
            self._writer.close()
