"""`oulibench export`: files for other tools. Each target is a module of its own."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

# A target `x` lives in the module `oulibench.cli.export_x`, with `add_parser(subparsers)` and
# `main(args) -> exit code`, as commands have them.
TARGETS: Final = ("annotation", "dataset")

_EXAMPLE = """\
example:
  $ oulibench export annotation --help
  $ oulibench export dataset --help
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "export",
        help="annotation files for other tools; the benchmark as a dataset",
        description="Write what OuLiBench holds in the formats of other tools.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    targets = parser.add_subparsers(dest="target", metavar="WHAT", required=True)
    for name in TARGETS:
        import_module(f"oulibench.cli.export_{name}").add_parser(targets)


def main(args: argparse.Namespace) -> int:
    return int(import_module(f"oulibench.cli.export_{args.target}").main(args))
