"""`oulibench report`: tables, figures and one HTML page over one or more runs."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.options import add_jobs_option, jobs_of
from oulibench.results.runs import Run, open_run, read_items, rebuild_items
from oulibench.results.store import terminal, write_results
from oulibench.results.table import bookkeeping, results_of
from oulibench.results.tally import tally

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Build the table of one or more runs out of their stored answers. Nobody is asked anything: answers are read and checked
again (items.jsonl, results.json, results.md and results.csv in the run folder are written anew).
"""
_EXAMPLE = """\
examples:
  $ oulibench report runs/quick
  $ oulibench report scored.jsonl            # a file that «oulibench score» wrote
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "report",
        help="tables, figures and one HTML page over one or more runs",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", metavar="DIR", nargs="+", type=Path, help="run folders, or files of scored rows")
    parser.add_argument("--keep-items", action="store_true", help="take items.jsonl as it stands, check nothing again")
    add_jobs_option(parser)


def main(args: argparse.Namespace) -> int:
    failed = False
    for run in [open_run(path) for path in args.runs]:
        failed |= refresh(run, args)
        failed |= report_table(run)
    return EXIT_FAILED if failed else EXIT_OK


def refresh(run: Run, args: argparse.Namespace) -> bool:
    """Make the run's items anew where there are answers; returns whether something failed."""
    if run.responses is None or (args.keep_items and run.items.is_file()):
        return False
    show = sys.stderr.isatty()

    def progress(answers: int) -> None:
        if show:
            print(f"\r{run.name}: {answers:,} answers checked", end="", file=sys.stderr, flush=True)

    totals = rebuild_items(
        run,
        jobs_of(args, str(run.responses)),
        on_progress=progress,
        on_problem=lambda problem: print(problem, file=sys.stderr),
    )
    if show:
        print("\r", end="", file=sys.stderr)
    return totals.failed > 0


def report_table(run: Run) -> bool:
    """Print the table of one run and write it into its folder; returns whether something failed."""
    cells = tally(read_items(run)).values()
    results, books = results_of(cells), bookkeeping(cells)
    signatures: Counter[str] = Counter()
    for cell in cells:
        signatures += cell.signatures
    print(terminal(results, books))
    if run.responses is not None:
        write_results(run.folder, results, books, dict(sorted(signatures.items())))
    return books.failed > 0 or books.errors > 0 or not books.adds_up
