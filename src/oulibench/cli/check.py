"""`oulibench check`: one verdict, in words."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.options import add_policy_options, policy_of
from oulibench.constraints import get_constraint
from oulibench.errors import TargetError
from oulibench.policy import Policy
from oulibench.verdict import Verdict

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Judge one text. Exit code 0: passed; 1: not passed; 2: the call makes no sense (unknown task, target that fits no task).
"""
_EXAMPLE = """\
examples:
  $ oulibench check lipogram e "Oggi vado in montagna"
  $ oulibench check word_length 5 "Il gatto dorme sul divano."
  $ oulibench check palindrome null "Aceto nell'enoteca"
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "check",
        help="judge one text, in words",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", metavar="TASK", help="such as word_length (see: oulibench tasks)")
    parser.add_argument("target", metavar="TARGET", help="what was asked for; null for palindromes")
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the text; - reads standard input")
    parser.add_argument("--json", action="store_true", help="the verdict as one JSON object")
    add_policy_options(parser)


def main(args: argparse.Namespace) -> int:
    constraint = get_constraint(args.task)
    takes_target = True
    try:
        constraint.parse_target(None)
        takes_target = False
    except TargetError:
        pass
    target, text = args.target, args.text
    if not takes_target:
        if text is None:  # check palindrome TEXT
            target, text = None, target
        elif target in ("null", "-", ""):
            target = None
    if text is None:
        raise TargetError(f"{args.task} needs a target and a text: oulibench check {args.task} TARGET TEXT")
    if text == "-":
        text = sys.stdin.read()
    verdict = constraint.check(text, target, Policy.from_mapping(policy_of(args)))
    print(json.dumps(verdict.fields(), ensure_ascii=False) if args.json else in_words(verdict))
    return EXIT_OK if verdict.passed else EXIT_FAILED


def in_words(verdict: Verdict) -> str:
    """The verdict for a person's eyes."""
    lines = [f"{'PASSED' if verdict.passed else 'NOT PASSED'}: {verdict.reason}", f"score: {verdict.score:.3f}"]
    if verdict.measured is not None:
        lines.append(f"measured: {verdict.measured}")
    if verdict.formal != verdict.passed:
        lines.append(f"the letters alone fit: {'yes' if verdict.formal else 'no'}")
    if verdict.violations:
        lines.append("violations: " + ", ".join(f"{v.form} ({v.start}–{v.end})" for v in verdict.violations))
    if verdict.flags:
        lines.append("flags: " + ", ".join(verdict.flags))
    lines.append(f"signature: {verdict.signature}")
    return "\n".join(lines)
