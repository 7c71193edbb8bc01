"""What `score` and `extract` share: a JSONL file through a function of rows, with its problems and totals told."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.options import jobs_of, open_source, open_target
from oulibench.scoring import Problem, Totals, Transform, process_lines

_PROBLEMS_SHOWN = 50


class Report:
    """Problems, progress and totals on standard error."""

    def __init__(self, done: str) -> None:
        self._done = done
        self._shown = 0
        self._progress = sys.stderr.isatty()

    def problems(self, name: str, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if self._shown < _PROBLEMS_SHOWN:
                print(f"{name}:{problem.line}: {problem.reason}", file=sys.stderr)
            self._shown += 1

    def progress(self, lines: int) -> None:
        if self._progress:
            print(f"\r{lines:,} lines", end="", file=sys.stderr, flush=True)

    def close(self, totals: Totals) -> None:
        if self._progress:
            print("\r", end="", file=sys.stderr)
        if self._shown > _PROBLEMS_SHOWN:
            print(f"… and {self._shown - _PROBLEMS_SHOWN:,} more lines with problems", file=sys.stderr)
        print(
            f"received {totals.received:,} lines = {self._done} {totals.scored:,} + failed {totals.failed:,}; "
            f"{totals.rows:,} rows written" + (f", {totals.passed:,} passed" if self._done == "scored" else ""),
            file=sys.stderr,
        )


def process_file(source: str, args: argparse.Namespace, transform: Transform, done: str) -> int:
    """Transform the lines of `source` into `args.output`; returns the exit code (1 where a line failed)."""
    name = "<stdin>" if source == "-" else source
    totals = Totals()
    report = Report(done)
    with open_source(source) as lines, open_target(args.output, source) as target:
        for block in process_lines(lines, transform, jobs_of(args, source)):
            target.write(block.output)
            report.problems(name, block.problems)
            totals += block.totals
            report.progress(totals.received)
    report.close(totals)
    return EXIT_FAILED if totals.failed else EXIT_OK
