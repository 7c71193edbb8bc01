"""What `score` and `extract` share: a JSONL file through a function of rows, with its problems and totals told."""

from __future__ import annotations

import argparse
import sys

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.options import jobs_of, open_source, open_target
from oulibench.scoring import Totals, Transform, process_lines

_PROBLEMS_SHOWN = 50


def process_file(args: argparse.Namespace, transform: Transform, done: str) -> int:
    """Transform `args.input` into `args.output`; returns the exit code (1 where a line failed)."""
    name = "<stdin>" if args.input == "-" else args.input
    totals = Totals()
    shown = 0
    show_progress = sys.stderr.isatty()
    with open_source(args.input) as source, open_target(args.output, args.input) as target:
        for block in process_lines(source, transform, jobs_of(args, args.input)):
            target.write(block.output)
            for problem in block.problems:
                if shown < _PROBLEMS_SHOWN:
                    print(f"{name}:{problem.line}: {problem.reason}", file=sys.stderr)
                shown += 1
            totals += block.totals
            if show_progress:
                print(f"\r{totals.received:,} lines", end="", file=sys.stderr, flush=True)
    if show_progress:
        print("\r", end="", file=sys.stderr)
    if shown > _PROBLEMS_SHOWN:
        print(f"… and {shown - _PROBLEMS_SHOWN:,} more lines with problems", file=sys.stderr)
    print(
        f"received {totals.received:,} lines = {done} {totals.scored:,} + failed {totals.failed:,}; "
        f"{totals.rows:,} rows written" + (f", {totals.passed:,} passed" if done == "scored" else ""),
        file=sys.stderr,
    )
    return EXIT_FAILED if totals.failed else EXIT_OK
