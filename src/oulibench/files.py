"""Files and folders of rows to score: which there are, what is done already, and their way through an engine.

Every input file is a shard: it has one output file, which appears under its name only once it is whole. A folder of
outputs has a manifest, `_manifest.jsonl`, that says how its rows were scored and which shards are done; scoring into
that folder again does what is missing, and nothing is mixed with rows that were scored another way.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, Protocol, get_args

from oulibench.constraints import get_constraint, task_names
from oulibench.errors import DataError
from oulibench.jsonl import Row, dump_line, parse_line
from oulibench.policy import Policy
from oulibench.responses import READER_VERSION
from oulibench.scoring import Lines, ScoredBlock, Totals, Transform, blocks_of, lose, process_block, score_block
from oulibench.tables import (
    Column,
    Columns,
    TableBlock,
    TableWriter,
    merged,
    misfit,
    process_to_lines,
    process_to_table,
    read_blocks,
    survey,
    table_of,
)

SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".parquet")
"""What is read out of a folder."""

MANIFEST: Final = "_manifest.jsonl"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Shard:
    """An input and its output; `target` is None for standard output. What is called `.parquet` is Parquet, what ends in
    `.gz` is compressed, everything else is JSON lines.
    """

    name: str
    source: Path
    target: Path | None
    stamp: tuple[int, int]
    """The input's size and time of change."""

    @classmethod
    def of(cls, name: str, source: Path, target: Path | None) -> Shard:
        """
        Raises:
            DataError: the input is not there.
        """
        try:
            return cls(name, source, target, _stamp(source))
        except OSError as error:
            raise DataError(f"{source}: {error.strerror}") from error

    @property
    def from_table(self) -> bool:
        return self.source.suffix == ".parquet"

    @property
    def to_table(self) -> bool:
        return self.target is not None and self.target.suffix == ".parquet"


def _stamp(path: Path) -> tuple[int, int]:
    there = path.stat()
    return there.st_size, there.st_mtime_ns


# --- which files -------------------------------------------------------------------------------------------------


def files_in(paths: Iterable[Path], suffixes: Sequence[str] = SUFFIXES) -> Iterator[tuple[str, Path]]:
    """The files among `paths` and in folders among them, each with its name: the path within the folder. Folders are
    read all the way down, in the order of names; what begins with a dot or an underscore is left out, and so are links
    to folders.

    Raises:
        DataError: a path is not there, a folder cannot be read, or it holds no file that ends in one of `suffixes`.
    """
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                raise DataError(f"{path}: No such file or directory")
            yield path.name, path
            continue
        found = [
            file
            for file in sorted(_walk(path))
            if file.name.endswith(tuple(suffixes))
            and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
            and (file.is_file() or not file.exists())  # a link that leads nowhere is missed, not passed over
        ]
        if not found:
            raise DataError(f"{path} holds no file that ends in {' or '.join(suffixes)}.")
        yield from ((file.relative_to(path).as_posix(), file) for file in found)


def _walk(folder: Path) -> Iterator[Path]:
    """All files below; unlike `Path.rglob` it does not pass over folders that cannot be read."""

    def fail(error: OSError) -> NoReturn:
        raise DataError(f"{error.filename}: {error.strerror}") from error

    return (Path(top, name) for top, _, names in os.walk(folder, onerror=fail) for name in names)


def plan_folder(paths: Sequence[Path], folder: Path, to: str | None = None) -> list[Shard]:
    """The shards of inputs that are scored into a folder.

    Args:
        paths: files and folders.
        folder: where the outputs go, under the inputs' names.
        to: `jsonl` or `parquet`; by default each output is what its input is.

    Raises:
        DataError: an input is missing, two would have one output, or the folder lies within an input.
    """
    for path in paths:
        if path.is_dir() and folder.resolve().is_relative_to(path.resolve()):
            raise DataError(f"{folder} lies in {path}, which is being read; write to another folder.")
    shards: dict[Path, Shard] = {}
    for name, source in files_in(paths):
        stem = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
        target = folder / f"{stem}.{to or ('parquet' if source.suffix == '.parquet' else 'jsonl')}"
        if target in shards:
            raise DataError(f"{shards[target].source} and {source} would both be written to {target}; rename one.")
        if target.exists() and target.samefile(source):
            raise DataError(f"{source} is read and would be written; write to another folder.")
        shards[target] = Shard.of(name, source, target)
    return list(shards.values())


def columns_of(shards: Iterable[Shard], known: Columns | None = None) -> Columns:
    """The columns for rows of JSON that go into Parquet; `known`, where outputs with these columns are there already.

    Raises:
        DataError: a field has no place in the known columns.
    """
    columns: dict[str, Column] = {}
    for shard in shards:
        if shard.from_table or not shard.to_table:
            continue
        with suppress(*_UNREADABLE), _open(shard.source) as source:  # scoring says what is wrong with it
            found = survey(source)
            if known and (name := misfit(known, found)):
                raise DataError(
                    f"{shard.source}: the field {name!r} fits no column of the files that are scored already; score "
                    "this file into another folder, or everything into a new one."
                )
            for name, kind in found.items():
                columns[name] = merged(columns.get(name, ""), kind)
    return known or {name: kind or "text" for name, kind in columns.items()}


# --- a shard's way through an engine -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a shard, to be scored. The last one of a shard is its `end`, with what went wrong, if anything did."""

    shard: Shard
    block: Lines | TableBlock = field(default_factory=list)
    end: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredPart:
    shard: Shard
    block: ScoredBlock
    end: bool = False
    error: str | None = None


_NOTHING: Final = ScoredBlock(b"", Totals(), ())
_UNREADABLE: Final = (OSError, EOFError, zlib.error)


def read_parts(shard: Shard) -> Iterator[Part]:
    """The parts of a shard, in order; never raises for what is wrong with a file."""
    try:
        _expect_unchanged(shard)
        if shard.from_table:
            yield from (Part(shard, block) for block in read_blocks(shard.source))
        else:
            with _open(shard.source) as source:
                yield Part(shard)  # so that there is something to write
                yield from (Part(shard, block) for block in blocks_of(source))
        _expect_unchanged(shard)
    except DataError as error:
        yield Part(shard, end=True, error=str(error))
    except _UNREADABLE as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        yield Part(shard, end=True, error=f"{shard.source}: cannot be read: {reason}")
    else:
        yield Part(shard, end=True)


def _expect_unchanged(shard: Shard) -> None:
    if shard.source.is_file() and _stamp(shard.source) != shard.stamp:  # what is piped in has no size
        raise DataError(f"{shard.source} changed while it was being scored; score it again.")


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=file) as source:
                yield source  # type: ignore[misc]  # it reads lines of bytes, which is all we need
        else:
            yield file


@dataclass(frozen=True)
class PartWork:
    """The scoring of parts, as processes share it (see `oulibench.parallel.Work`).

    Attributes:
        transform: what is done to rows.
        columns: the columns of rows of JSON that go into Parquet.
    """

    transform: Transform
    columns: Columns = field(default_factory=dict)

    def __call__(self, part: Part) -> ScoredPart:
        if part.end:
            return ScoredPart(part.shard, _NOTHING, end=True, error=part.error)
        try:
            return ScoredPart(part.shard, self._process(part))
        except Exception as error:  # the rows are scored, but the file cannot hold them: this file alone fails
            reason = f"{part.shard.source}: {type(error).__name__}: {error}"
            return ScoredPart(part.shard, _NOTHING, error=reason)

    def _process(self, part: Part) -> ScoredBlock:
        if isinstance(part.block, TableBlock):
            process = process_to_table if part.shard.to_table else process_to_lines
            return process(part.block, self.transform)
        if part.shard.to_table:
            return process_block(part.block, self.transform, partial(table_of, columns=self.columns))
        return process_block(part.block, self.transform)

    def halves(self, part: Part) -> tuple[Part, Part] | None:
        block = part.block
        if len(block) < 2:
            return None
        if isinstance(block, TableBlock):
            one, other = block.halves()
            return replace(part, block=one), replace(part, block=other)
        half = len(block) // 2
        return replace(part, block=block[:half]), replace(part, block=block[half:])

    def join(self, first: ScoredPart, second: ScoredPart) -> ScoredPart:
        return replace(first, block=first.block + second.block, error=first.error or second.error)

    def lost(self, part: Part) -> ScoredPart:
        return replace(self, transform=lose)(part)


Engine = Callable[[Sequence[Shard], Callable[[Shard], Iterator[Part]], PartWork], Iterator[ScoredPart]]
"""Shards, how one is read, what is done to a part → scored parts, in order."""


def local_engine(processes: int) -> Engine:
    """This machine's processes."""

    def run(shards: Sequence[Shard], read: Callable[[Shard], Iterator[Part]], work: PartWork) -> Iterator[ScoredPart]:
        parts = (part for shard in shards for part in read(shard))
        if processes <= 1:
            return map(work, parts)
        from oulibench.parallel import map_units  # multiprocessing is slow to import

        return map_units(parts, work, processes)

    return run


class _Writer(Protocol):
    def write(self, data: bytes, /) -> object: ...

    def close(self) -> object: ...


def score_shards(
    shards: Sequence[Shard],
    engine: Engine,
    *,
    policy: Mapping[str, Any],
    columns: Columns,
    stdout: BinaryIO,
    manifest: Manifest | None = None,
) -> Iterator[ScoredPart]:
    """Score shards and write their outputs; yields what became of each part. A shard that fails ends with an error and
    leaves no output (but what has gone to standard output).

    Raises:
        DataError: an output cannot be written.
    """
    parts = engine(shards, read_parts, PartWork(partial(score_block, policy=policy), columns))
    for shard, scored in groupby(parts, attrgetter("shard")):
        yield from _write(shard, scored, stdout, manifest)


def _write(
    shard: Shard, parts: Iterator[ScoredPart], stdout: BinaryIO, manifest: Manifest | None
) -> Iterator[ScoredPart]:
    target = shard.target
    if target is None:
        for part in _until_error(parts):
            stdout.write(part.block.output)
            yield part
        return
    unfinished = target.with_name(f"_{target.name}.part")  # who reads a folder of Parquet passes over «_»
    totals = Totals()
    last = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        writer: _Writer = TableWriter(unfinished) if shard.to_table else unfinished.open("wb")
        try:
            for part in _until_error(parts):
                writer.write(part.block.output)
                totals += part.block.totals
                if part.end:
                    last = part
                else:
                    yield part
        finally:
            writer.close()
        if last is not None:
            if last.error is None:
                if manifest:  # first, so that an output which the manifest does not know is never ours
                    target.unlink(missing_ok=True)
                    manifest.add(shard, unfinished.stat().st_size, totals)
                unfinished.replace(target)
            yield last
    except OSError as error:
        raise DataError(f"{error.filename or target}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _until_error(parts: Iterator[ScoredPart]) -> Iterator[ScoredPart]:
    """The parts up to the first with an error, which is the end; the rest is used up."""
    for part in parts:
        if part.error is not None:
            yield replace(part, end=True)
            break
        yield part
    for _ in parts:
        pass


# --- the manifest ------------------------------------------------------------------------------------------------


def settings_of(policy: Mapping[str, Any]) -> Row:
    """What decides how rows are scored; folders are not scored into under two of these."""
    conventions = Policy.from_mapping(policy)
    return {
        "policy": asdict(conventions),
        "reader": READER_VERSION,
        "signatures": {name: get_constraint(name).signature(conventions) for name in task_names()},
    }


class Manifest:
    """What is done in a folder of outputs. A file of JSON lines: how the rows are scored, the columns that rows of JSON
    have in Parquet, and each shard as it is done.
    """

    def __init__(self, folder: Path, settings: Row) -> None:
        """Open the folder's manifest, or begin it in a new folder.

        Raises:
            DataError: the folder holds something else, was scored with other settings, or is being scored into.
        """
        self.folder = folder
        self.columns: Columns | None = None
        self._done: dict[str, Row] = {}
        path = folder / MANIFEST
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists() and any(folder.iterdir()):
                raise DataError(f"{folder} holds files, but no {MANIFEST}; score into a new folder.")
            self._file = path.open("a+b")
            _lock(self._file, folder)
            self._read(path, settings)
        except OSError as error:
            raise DataError(f"{error.filename or folder}: {error.strerror}") from error

    def _read(self, path: Path, settings: Row) -> None:
        self._file.seek(0)
        held = self._file.read()
        whole = held[: held.rfind(b"\n") + 1]  # a line that was being written when the machine went down
        if len(whole) < len(held):
            self._file.truncate(len(whole))
        lines = [_entry(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if not lines:
            self._append({"format": _FORMAT, "settings": settings})
        else:
            self._expect(lines[0], settings)
        for line in lines:
            if "columns" in line:
                self.columns = line["columns"]
            elif "output" in line:
                self._done[line["output"]] = line

    def _expect(self, first: Row, settings: Row) -> None:
        if first.get("format") != _FORMAT:
            raise DataError(f"{self.folder / MANIFEST} is of another version of oulibench; score into a new folder.")
        then, now = dict(_flat(first["settings"])), dict(_flat(settings))
        for name in sorted(then | now):
            if then.get(name) != now.get(name):
                raise DataError(
                    f"{self.folder} holds rows that were scored otherwise ({name}: {then.get(name)}; now "
                    f"{now.get(name)}); score into a new folder."
                )

    def pending(self, shards: Iterable[Shard]) -> tuple[list[Shard], Totals, list[Shard]]:
        """The shards that are still to be scored, the totals of those that are not, and the pending ones whose input
        has changed since they were scored.

        Raises:
            DataError: an output is there, but was made from another file.
        """
        pending, changed, totals = [], [], Totals()
        for shard in shards:
            target = _target(shard)
            entry = self._done.get(self._output(shard))
            if entry is None:
                if target.exists():
                    raise DataError(f"{target} is there, but the manifest does not know it; move it away.")
                pending.append(shard)
            elif self._is_of_another(shard, entry):
                raise DataError(
                    f"{target} holds the rows of {entry['source']}, not of {shard.source}; score into a new folder."
                )
            elif [*shard.stamp] != entry["stamp"]:
                changed.append(shard)
                pending.append(shard)
            elif not target.exists() or target.stat().st_size != entry["size"]:
                pending.append(shard)
            else:
                totals += Totals(**entry["totals"])
        return pending, totals, changed

    @staticmethod
    def _is_of_another(shard: Shard, entry: Row) -> bool:
        """Whether an output was made from another file; one that is the same and lies elsewhere now has been moved."""
        if entry["source"] == str(shard.source.resolve()):
            return False
        return [*shard.stamp] != entry["stamp"] or Path(entry["source"]).exists()

    def others(self, shards: Iterable[Shard]) -> list[str]:
        """The outputs that belong to none of the shards."""
        return sorted(set(self._done) - {self._output(shard) for shard in shards})

    def note_columns(self, columns: Columns) -> None:
        if columns and self.columns is None:
            self.columns = columns
            self._append({"columns": dict(columns)})

    def add(self, shard: Shard, size: int, totals: Totals) -> None:
        """Note that a shard is done, with an output of `size` bytes."""
        output = self._output(shard)
        entry = {
            "output": output,
            "size": size,
            "source": str(shard.source.resolve()),
            "stamp": [*shard.stamp],
            "totals": asdict(totals),
        }
        self._done[output] = entry
        self._append(entry)

    def close(self) -> None:
        self._file.close()

    def _output(self, shard: Shard) -> str:
        return _target(shard).relative_to(self.folder).as_posix()

    def _append(self, entry: Row) -> None:
        self._file.write(dump_line(entry))
        self._file.flush()


def _target(shard: Shard) -> Path:
    if shard.target is None:
        raise ValueError(f"{shard.name} goes to standard output, which has no manifest")
    return shard.target


def _entry(path: Path, number: int, line: bytes) -> Row:
    try:
        entry = parse_line(line)
    except DataError as error:
        raise DataError(f"{path}:{number}: {error}") from error
    try:
        match entry:
            case {"format": int(version)}:  # of another version, which may have other lines, we say so
                whole = version != _FORMAT or isinstance(entry.get("settings"), dict)
            case {"columns": dict(columns)}:
                whole = all(kind in get_args(Column) for kind in columns.values())
            case {"output": str(), "size": int(), "source": str(), "stamp": [int(), int()], "totals": dict(totals)}:
                whole = all(isinstance(number, int) for number in asdict(Totals(**totals)).values())
            case _:
                whole = False
    except TypeError:
        whole = False
    if not whole:
        raise DataError(
            f"{path}:{number}: this is no line of a manifest; restore the file, or score into a new folder."
        )
    return entry


def _flat(value: Row, name: str = "") -> Iterator[tuple[str, str]]:
    for key in sorted(value):
        inner = value[key]
        if isinstance(inner, dict):
            yield from _flat(inner, f"{name}{key}.")
        else:
            yield f"{name}{key}", str(inner)


def _lock(file: BinaryIO, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise DataError(f"{folder} is being scored into by another process.") from error
