"""`oulibench score`: verdicts on texts or responses that are in a file."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from oulibench.cli.lines import process_file
from oulibench.cli.options import add_jobs_option, add_policy_options, policy_of
from oulibench.scoring import score_block

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Score the rows of a JSONL file. A row is {"task", "target", "text"} or {"task", "target", "response"[, "n"]}; it may
carry "policy". A text gives its row with the verdict; a response gives one row per sentence read out of it. Unknown
fields pass through. No model, no network.

A line that cannot be scored is named with file and line on standard error, the rest goes on, and the exit code is 1.
"""
_EXAMPLE = """\
example:
  $ echo '{"task": "lipogram", "target": "e", "text": "Oggi vado in montagna"}' > in.jsonl
  $ oulibench score in.jsonl -o out.jsonl
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "score",
        help="score texts or responses that are in a file",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", metavar="IN.jsonl", help="rows to score; - is standard input")
    parser.add_argument("-o", "--output", metavar="OUT.jsonl", help="scored rows (default: standard output)")
    add_jobs_option(parser)
    add_policy_options(parser)


def main(args: argparse.Namespace) -> int:
    return process_file(args, partial(score_block, policy=policy_of(args)), done="scored")
