"""`oulibench extract`: the sentences of responses, before anything is scored."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from oulibench.cli.lines import process_file
from oulibench.cli.options import add_jobs_option
from oulibench.responses.rows import extract_block

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Read the items out of the responses of a JSONL file: rows {"task", "response"[, "target", "n"]} come back with "items",
"status" (ok, refusal, no_response, unclosed_reasoning, unreadable) and "steps", what was done to read them.
"""
_EXAMPLE = """\
example:
  $ echo '{"task": "lipogram", "target": "e", "response": "Ecco:\\n1. Oggi vado via.\\n2. Dormo."}' > in.jsonl
  $ oulibench extract in.jsonl
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "extract",
        help="read the sentences out of responses",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", metavar="IN.jsonl", help="rows with responses; - is standard input")
    parser.add_argument("-o", "--output", metavar="OUT.jsonl", help="rows with items (default: standard output)")
    add_jobs_option(parser)


def main(args: argparse.Namespace) -> int:
    return process_file(args.input, args, extract_block, done="read")
