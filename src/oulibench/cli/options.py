"""Options and streams that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from oulibench.errors import DataError
from oulibench.policy import AcrosticPolicy, NamesPolicy
from oulibench.text import WORD_POLICIES

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # argparse has no public name for it


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """The conventions of a check, as options."""
    group = parser.add_argument_group("policy", "conventions, where Italian or the puzzle press knows more than one")
    group.add_argument("--words", choices=WORD_POLICIES, help="what counts as a word (default: orthographic)")
    group.add_argument(
        "--acrostic", choices=get_args(AcrosticPolicy), help="initials of words or of lines (default: words)"
    )
    group.add_argument(
        "--names",
        choices=get_args(NamesPolicy),
        help="capitalised words that no lexicon knows (default: accepted in sentences, rejected as a lone word)",
    )
    group.add_argument("--min-words", type=int, metavar="N", help="length gate: shorter texts do not pass")
    group.add_argument(
        "--parser", metavar="P", help="what analyses syntax: bundled, stanza or udpipe:MODEL_FILE (default: bundled)"
    )


def policy_of(args: argparse.Namespace) -> dict[str, Any]:
    """The policy keys that were given as options."""
    given = {key: getattr(args, key) for key in ("words", "acrostic", "names", "min_words", "parser")}
    return {key: value for key, value in given.items() if value is not None}


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="processes (default: one per core where the file is large)"
    )


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Where the work is done."""
    group = parser.add_argument_group("engine", "this machine, or a cluster of many (extra «ray»)")
    group.add_argument("--engine", choices=("local", "ray"), default="local", help="default: local")
    group.add_argument(
        "--address",
        metavar="A",
        help="the Ray cluster: HOST:PORT, auto (the one this machine belongs to), or local: one that is started here "
        "and ends with the command (default: local)",
    )
    group.add_argument("--workers", type=int, metavar="N", help="workers on the cluster (default: one per free CPU)")


def check_engine_options(args: argparse.Namespace) -> None:
    """
    Raises:
        DataError: options of one engine are given with the other.
    """
    if args.engine == "ray" and args.jobs is not None:
        raise DataError("--jobs are processes of this machine; with --engine ray, say --workers.")
    if args.engine == "local" and (args.address is not None or args.workers is not None):
        raise DataError("--address and --workers are for --engine ray.")
    if args.workers is not None and args.workers < 1:
        raise DataError(f"--workers {args.workers}: there must be one at least.")


_LARGE = 1_000_000  # bytes; below this a second process costs more than it brings


def jobs_of(args: argparse.Namespace, source: str) -> int:
    return processes(args, None if source == "-" else Path(source).stat().st_size)


def processes(args: argparse.Namespace, size: int | None) -> int:
    """How many, for an input of `size` bytes; None where that is not known."""
    if args.jobs is not None:
        return max(1, int(args.jobs))
    if size is None or size > _LARGE:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 1


@contextmanager
def open_source(path: str) -> Iterator[BinaryIO]:
    """A file to read, or standard input for `-`.

    Raises:
        DataError: it cannot be opened.
    """
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        source = Path(path).open("rb")  # noqa: SIM115  # closed below; errors of reading are not those of opening
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    with source:
        yield source


@contextmanager
def open_target(path: str | None, source: str) -> Iterator[BinaryIO]:
    """A file to write, or standard output. A file appears under its name only once it is whole.

    Raises:
        DataError: it cannot be written, or is the file that is being read.
    """
    if path is None or path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if not path or target.is_dir():
        raise DataError(f"{path!r} is no file to write.")
    if source != "-" and target.exists() and target.samefile(source):
        raise DataError(f"{path} is the file that is being read; write to another one.")
    part = target.with_name(target.name + ".part")
    try:
        stream = part.open("wb")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    with stream:
        yield stream
    part.replace(target)
