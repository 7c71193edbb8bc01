"""`oulibench score`: verdicts on texts or responses that are in files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.lines import Report, process_file
from oulibench.cli.options import (
    add_engine_options,
    add_jobs_option,
    add_policy_options,
    check_engine_options,
    policy_of,
    processes,
)
from oulibench.errors import DataError
from oulibench.scoring import Totals, score_block

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers
    from oulibench.files import Engine, Manifest, Shard

_DESCRIPTION = """\
Score the rows of a JSONL or Parquet file, or of folders of them. A row is {"task", "target", "text"} or {"task",
"target", "response"[, "n"]}; it may carry "policy". A text gives its row with the verdict; a response gives one row per
sentence read out of it. Unknown fields and columns pass through. No model, no network.

A line that cannot be scored is named with file and line on standard error, the rest goes on, and the exit code is 1.

Several files, or a folder (its .jsonl, .jsonl.gz and .parquet files, all the way down), are scored into a folder, one
output per input. The same command again scores only what is missing or has changed.
"""
_EXAMPLE = """\
examples:
  $ echo '{"task": "lipogram", "target": "e", "text": "Oggi vado in montagna"}' > in.jsonl
  $ oulibench score in.jsonl -o out.jsonl
  $ oulibench score answers/ -o scored/ --to parquet
  $ oulibench score answers/ -o scored/ --engine ray --address auto
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "score",
        help="score texts or responses that are in a file",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "inputs", metavar="IN", nargs="+", help="rows: .jsonl, .jsonl.gz, .parquet or a folder; - is standard input"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="scored rows: .jsonl, .parquet, or a folder (default: standard output)"
    )
    parser.add_argument(
        "--to", choices=("jsonl", "parquet"), help="what the files in an output folder are (default: what is read)"
    )
    add_jobs_option(parser)
    add_engine_options(parser)
    add_policy_options(parser)


def main(args: argparse.Namespace) -> int:
    check_engine_options(args)
    policy = policy_of(args)
    if _is_into_folder(args):
        return _score_folder(args, policy)
    if args.to:
        raise DataError("--to is for an output folder; a single output is what its name ends in.")
    (source,) = args.inputs
    output = None if args.output == "-" else args.output
    if output and output.endswith(".gz"):
        raise DataError(f"{output}: outputs are not compressed; write .jsonl or .parquet.")
    is_plain = not source.endswith((".gz", ".parquet")) and not (output or "").endswith(".parquet")
    if args.engine == "local" and is_plain:
        return process_file(source, args, partial(score_block, policy=policy), done="scored")
    if source == "-":
        raise DataError("Standard input is scored by the local engine into JSON lines; for more, give a file.")
    return _score_one(args, policy, Path(source), Path(output) if output else None)


def _is_into_folder(args: argparse.Namespace) -> bool:
    inputs = [Path(name) for name in args.inputs]
    several = len(inputs) > 1 or inputs[0].is_dir()
    output = args.output
    if several and (output is None or output == "-" or Path(output).is_file()):
        raise DataError("A folder, or several files, are scored into a folder: give its name with -o.")
    into_folder = several or bool(output and (output.endswith("/") or Path(output).is_dir()))
    if into_folder and "-" in args.inputs:
        raise DataError("Standard input (-) is scored by itself, into a file or standard output.")
    return into_folder


def _score_folder(args: argparse.Namespace, policy: dict[str, Any]) -> int:
    from oulibench.files import Manifest, columns_of, plan_folder, settings_of

    folder = Path(args.output)
    shards = plan_folder([Path(name) for name in args.inputs], folder, args.to)
    manifest = Manifest(folder, settings_of(policy))
    try:
        pending, totals, changed = manifest.pending(shards)
        if len(pending) < len(shards):
            print(f"{len(shards) - len(pending):,} of {len(shards):,} files were done already", file=sys.stderr)
        for shard in changed:
            print(f"{shard.source} has changed since it was scored: it is scored again", file=sys.stderr)
        if others := manifest.others(shards):
            print(
                f"{folder} also holds the rows of other inputs: {', '.join(others[:5])}{' …' if others[5:] else ''}",
                file=sys.stderr,
            )
        columns = columns_of(pending, manifest.columns)
        manifest.note_columns(columns)
        return _score(args, policy, pending, columns, totals, manifest)
    finally:
        manifest.close()


def _score_one(args: argparse.Namespace, policy: dict[str, Any], source: Path, output: Path | None) -> int:
    from oulibench.files import Shard, columns_of

    if output and output.exists() and output.samefile(source):
        raise DataError(f"{output} is the file that is being read; write to another one.")
    shards = [Shard.of(str(source), source, output)]
    return _score(args, policy, shards, columns_of(shards), Totals(), None)


def _score(
    args: argparse.Namespace,
    policy: dict[str, Any],
    shards: Sequence[Shard],
    columns: Any,
    totals: Totals,
    manifest: Manifest | None,
) -> int:
    from oulibench.files import score_shards

    report = Report("scored")
    failed_files = 0
    of_shard = Totals()
    stdout = sys.stdout.buffer
    for part in score_shards(
        shards, _engine(args, shards), policy=policy, columns=columns, stdout=stdout, manifest=manifest
    ):
        report.problems(str(part.shard.source), part.block.problems)
        of_shard += part.block.totals
        report.progress(totals.received + of_shard.received)
        if part.end:
            if part.error is None:
                totals += of_shard
            if part.error is not None:
                if manifest is None:
                    raise DataError(part.error)
                failed_files += 1
                print(part.error, file=sys.stderr)
            of_shard = Totals()
    stdout.flush()
    report.close(totals)
    if failed_files:
        print(f"{failed_files:,} of {len(shards):,} files failed and have no output", file=sys.stderr)
    return EXIT_FAILED if totals.failed or failed_files else EXIT_OK


def _engine(args: argparse.Namespace, shards: Sequence[Shard]) -> Engine:
    if args.engine == "ray" and shards:
        from oulibench.engines.ray import ray_engine

        return ray_engine(args.address or "local", args.workers)
    from oulibench.files import local_engine

    return local_engine(processes(args, sum(shard.stamp[0] for shard in shards)))
