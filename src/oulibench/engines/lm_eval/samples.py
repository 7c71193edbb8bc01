"""Samples that `lm_eval --log_samples` wrote → rows for `oulibench score`, or a run folder for `oulibench report`.

$ python -m oulibench.engines.lm_eval.samples OUT/MODEL/samples_*.jsonl --model MODEL -o runs/MODEL/responses.jsonl
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from oulibench.cli import EXIT_BAD_CALL, EXIT_OK
from oulibench.cli.options import open_target
from oulibench.engines.lm_eval.answers import sample_row
from oulibench.errors import DataError, OuLiBenchError
from oulibench.jsonl import Row, dump_line, read_jsonl


def rows_of(path: Path, model: str | None = None) -> Iterator[Row]:
    """The rows of a file of samples.

    Raises:
        DataError: the file cannot be read, or holds something else; the message says where.
    """
    for number, sample in enumerate(read_jsonl(path), 1):
        try:
            yield sample_row(sample, model)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise DataError(f"{path}: object {number} is no sample of a task of OuLiBench.") from error


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m oulibench.engines.lm_eval.samples", description=__doc__)
    parser.add_argument("samples", metavar="SAMPLES.jsonl", nargs="+", type=Path)
    parser.add_argument("--model", metavar="NAME", help="the model's name in the rows")
    parser.add_argument("-o", "--output", metavar="OUT.jsonl", help="default: standard output")
    args = parser.parse_args(argv)
    try:
        if args.output not in (None, "-"):
            Path(args.output).parent.mkdir(parents=True, exist_ok=True)
        with open_target(args.output, "-") as target:
            for path in args.samples:
                for row in rows_of(path, args.model):
                    target.write(dump_line(row))
    except (OuLiBenchError, OSError) as error:
        print(error, file=sys.stderr)
        return EXIT_BAD_CALL
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
