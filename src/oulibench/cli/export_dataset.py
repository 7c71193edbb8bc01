"""`oulibench export dataset`: the benchmark as a dataset folder, ready to be loaded or published."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from oulibench.cli import EXIT_OK
from oulibench.constraints.base import WORDINGS
from oulibench.errors import DataError

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Write the benchmark as a dataset: prompts, targets, demonstrations and wordings as Parquet and JSON lines, with a
Hugging Face dataset card (README.md), Croissant metadata and checksums. Nothing is sent anywhere. The same version
writes the same bytes, whenever and wherever it is called (Parquet: with the same version of pyarrow).

The folder must be new, empty, or an export that nobody has changed, which is then replaced.
"""
_EXAMPLE = """\
examples:
  $ oulibench export dataset oulibench-it
  $ oulibench export dataset oulibench-quick --suite quick
  $ oulibench export dataset zero-shot --shots 0 --wording explicit --n 10
  $ python -c 'import datasets; print(datasets.load_dataset("oulibench-it", "prompts", split="test"))'
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "dataset",
        help="the benchmark as Parquet and JSON lines, with card and checksums",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="where the dataset goes")
    parser.add_argument("--suite", metavar="NAME", default="paper", help="whose prompts (default: paper)")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="(default: all of the benchmark)")
    parser.add_argument("--shots", nargs="+", type=int, metavar="K", help="numbers of demonstrations (the suite's)")
    parser.add_argument("--wording", nargs="+", choices=WORDINGS, default=WORDINGS, help="(default: all)")
    parser.add_argument("--n", type=int, metavar="N", help="texts asked for in one prompt (default: the suite's)")
    parser.add_argument("--system", action="store_true", help="put a system message beside each prompt")
    parser.add_argument("--url", help="where the dataset is going to be published, for its metadata")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def main(args: argparse.Namespace) -> int:
    from oulibench.suite.dataset import DATASET_VERSION, build_dataset, checksum
    from oulibench.suite.publication import dataset_files, need_pyarrow, table_names, write_folder
    from oulibench.suite.suites import load_suite

    if args.url is not None and not _is_address(args.url):
        raise DataError(f"--url is an address such as https://example.org/oulibench, not {args.url!r}.")
    need_pyarrow()
    try:
        dataset = build_dataset(load_suite(args.suite), args.tasks, args.shots, args.wording, args.n, args.system)
    except ValueError as error:
        raise error if isinstance(error, DataError) else DataError(str(error)) from error
    content = dataset_files(dataset, args.url)
    replaced = write_folder(content, args.folder)
    counts = ", ".join(f"{len(dataset.rows(name)):,} {name}" for name in table_names())
    print(f"{counts} written to {args.folder}{' (in place of an older export)' if replaced else ''}", file=sys.stderr)
    print(f"dataset {DATASET_VERSION}, checksum {checksum()}")
    return EXIT_OK
