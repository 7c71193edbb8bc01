"""`oulibench parse`: a text's Universal Dependencies analysis."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from oulibench.cli import EXIT_OK
from oulibench.cli.options import open_source, open_target

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Parse Italian text and write CoNLL-U. Sentences are split unless --lines says that each line is one. Paragraphs are the
stretches between blank lines.
"""
_EXAMPLE = """\
examples:
  $ oulibench parse testo.txt -o testo.conllu
  $ echo "La lettera è stata scritta da Marco." | oulibench parse -
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "parse",
        help="Universal Dependencies analysis of a text, as CoNLL-U",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", metavar="FILE", help="UTF-8 text; - is standard input")
    parser.add_argument("-o", "--output", metavar="OUT.conllu", help="where to write (default: standard output)")
    parser.add_argument("--lines", action="store_true", help="take each line for one sentence")
    add_parser_option(parser)


def add_parser_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--parser", default="bundled", metavar="P", help="bundled, stanza or udpipe:MODEL_FILE (default: bundled)"
    )


def main(args: argparse.Namespace) -> int:
    from oulibench.syntax.documents import parse_stream
    from oulibench.syntax.tree import to_conllu

    count = 0
    with open_source(args.input) as source, open_target(args.output, args.input) as target:
        for sentence in parse_stream(source, args.input, parser=args.parser, lines=args.lines):
            target.write(to_conllu(sentence).encode("utf-8"))
            count += 1
    print(f"{count:,} sentences", file=sys.stderr)
    return EXIT_OK
