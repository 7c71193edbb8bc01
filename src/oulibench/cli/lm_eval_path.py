"""`oulibench lm-eval-path`: where the tasks for lm-evaluation-harness are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from oulibench.cli import EXIT_OK
from oulibench.engines.lm_eval import tasks_folder

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_EXAMPLE = """\
example:
  $ oulibench lm-eval-path
  $ lm_eval run --model hf --model_args pretrained=MODEL --include_path "$(oulibench lm-eval-path)" --tasks oulibench
"""


def add_parser(subparsers: Subparsers) -> None:
    subparsers.add_parser(
        "lm-eval-path",
        help="print the folder of the tasks for lm-evaluation-harness",
        description="Print the folder that lm-evaluation-harness is to be given as --include_path (docs/lm-eval.md).",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def main(args: argparse.Namespace) -> int:
    print(tasks_folder())
    return EXIT_OK
