"""`oulibench mine`: demonstrations out of treebanks and plain text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.options import (
    add_engine_options,
    add_jobs_option,
    add_policy_options,
    check_engine_options,
    open_target,
    policy_of,
    processes,
)
from oulibench.errors import DataError
from oulibench.jsonl import dump_line
from oulibench.policy import Policy

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers
    from oulibench.suite.mine import Chunk, Mined, MineWork

_EXAMPLE = """\
examples:
  $ oulibench mine it_isdt-ud-dev.conllu --task word_length --per-target 15 -o examples.jsonl
  $ oulibench mine novel.txt --format running --task lipogram --target e --target a
  $ oulibench mine *.conllu --task voice --exclude test.conllu | oulibench score -
  $ oulibench mine corpus/ --task palindrome --engine ray --address auto -o found.jsonl

Sentences of CoNLL-U files are taken with their gold analysis; voice and constituent order are read off it. Exit
code 1: a target got fewer sentences than asked for. What comes out may be given to «oulibench run --demonstrations».
The licence of the texts stays what it was.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "mine",
        help="find demonstrations in treebanks or text",
        description="Find sentences that satisfy a constraint in CoNLL-U treebanks or plain text, as demonstrations.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="CoNLL-U (.conllu) or plain text, UTF-8; or a folder of .conllu and .txt files",
    )
    parser.add_argument("--task", required=True, help="the task (see «oulibench tasks»)")
    parser.add_argument(
        "--target", metavar="X", action="append", help="a target, repeatable (default: the benchmark's)"
    )
    parser.add_argument("--per-target", type=_count, default=15, metavar="N", help="how many at most (default: 15)")
    parser.add_argument("--seed", type=int, default=0, help="which are taken where more pass (default: 0)")
    parser.add_argument(
        "--format",
        choices=("conllu", "lines", "running"),
        help="conllu; lines: whole sentences on each line; running: sentences run over lines, blank lines end "
        "paragraphs (default: conllu for .conllu, lines for other files)",
    )
    parser.add_argument(
        "--length", type=_count, nargs=2, default=(3, 40), metavar=("MIN", "MAX"), help="words (default: 3 40)"
    )
    parser.add_argument(
        "--any-shape", action="store_true", help="also what does not begin and end as a sentence does, web addresses …"
    )
    parser.add_argument(
        "--exclude", metavar="FILE", action="append", default=[], type=Path, help="leave out the sentences of this file"
    )
    parser.add_argument("-o", "--output", metavar="OUT.jsonl", help="where to write (default: standard output)")
    add_jobs_option(parser)
    add_engine_options(parser)
    add_policy_options(parser)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def main(args: argparse.Namespace) -> int:
    from oulibench.constraints import get_constraint
    from oulibench.files import files_in
    from oulibench.suite.mine import MineWork, read_chunks, texts_to_exclude

    check_engine_options(args)
    constraint = get_constraint(args.task)
    targets = args.target or [spec.value for spec in constraint.targets()]
    files = [file for _, file in files_in(args.files, (".conllu", ".conll", ".txt"))]
    for file in files:
        if args.output and Path(args.output).exists() and Path(args.output).samefile(file):
            raise DataError(f"{args.output} is a file that is being read; write to another one.")
    work = MineWork(
        args.task,
        tuple(constraint.parse_target(target) for target in targets),
        per_target=args.per_target,
        seed=args.seed,
        length=tuple(args.length),
        whole=not args.any_shape,
        exclude=frozenset(texts_to_exclude(args.exclude)),
        policy=Policy.from_mapping(policy_of(args)),
    )
    mined = work.merge(_parts(args, files, partial(read_chunks, form=args.format), work))
    with open_target(args.output, "-") as stream:
        for row in mined.rows:
            stream.write(dump_line(row))
    print(_summary(mined), file=sys.stderr)
    taken = [sum(row["target"] == target for row in mined.rows) for target in mined.passing]
    return EXIT_OK if all(n == args.per_target for n in taken) else EXIT_FAILED


def _parts(
    args: argparse.Namespace, files: Sequence[Path], read: Callable[[Path], Iterator[Chunk]], work: MineWork
) -> Iterator[Mined]:
    if args.engine == "ray":
        from oulibench.engines.ray import map_sources

        return map_sources(files, read, work, address=args.address or "local", workers=args.workers)
    chunks = (chunk for file in files for chunk in read(file))
    jobs = processes(args, sum(file.stat().st_size for file in files))
    if jobs == 1:
        return map(work, chunks)
    from oulibench.parallel import map_units  # multiprocessing is slow to import

    return map_units(chunks, work, jobs)


def _summary(mined: Mined) -> str:
    """How many sentences were read, passed and were taken, by target."""
    lines = [f"{mined.read:,} sentences read, {mined.fit:,} of them checked", f"{'target':<12}{'pass':>9}{'taken':>9}"]
    for target, passing in mined.passing.items():
        taken = sum(row["target"] == target for row in mined.rows)
        lines.append(f"{'-' if target is None else target!s:<12}{passing:>9,}{taken:>9,}")
    return "\n".join(lines)
