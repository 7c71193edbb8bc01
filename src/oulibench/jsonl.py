"""JSON lines: UTF-8, one object a line; a bad line is an error that says what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from oulibench.errors import DataError

Row = dict[str, Any]


def parse_line(line: bytes) -> Row:
    """The object on a line.

    Raises:
        DataError: the line is no UTF-8, no JSON, or no object.
    """
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = _parse_leniently(line)
    if not isinstance(row, dict):
        raise DataError(f'a line must be a JSON object such as {{"task": …}}, this is {_name(row)}')
    return row


def _parse_leniently(line: bytes) -> Any:
    """What orjson refuses and the standard library reads: escaped lone surrogates, numbers beyond 64 bits, a BOM."""
    try:
        return json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"the line is not UTF-8 (byte {error.start + 1} of the line)") from error
    except (json.JSONDecodeError, RecursionError) as error:
        where = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        what = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise DataError(f"the line is not JSON: {what}{where}") from error
    except ValueError as error:  # Python's own limit: reading digits takes time that grows with their square
        raise DataError("the line holds a whole number of more than 4,300 digits") from error


def _name(value: object) -> str:
    names = {list: "an array", str: "a string", int: "a number", float: "a number", bool: "true or false"}
    return names.get(type(value), "null")


def dump_line(row: Row) -> bytes:
    """`row` as one line, with its line end. What UTF-8 cannot hold is escaped, so nothing is lost."""
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # lone surrogates, numbers beyond 64 bits
        return (json.dumps(row, ensure_ascii=True) + "\n").encode("ascii")


def dump_lines(rows: Iterable[Row]) -> bytes:
    return b"".join(map(dump_line, rows))


def read_jsonl(path: Path) -> Iterator[Row]:
    """The objects of a file whose lines must all be good; blank lines are passed over.

    Raises:
        DataError: a bad line, named by file and line; or a file that cannot be read.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        yield parse_line(line)
                    except DataError as error:
                        raise DataError(f"{path}:{number}: {error}") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
