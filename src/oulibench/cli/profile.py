"""`oulibench profile`: the linguistic profile of texts and runs."""

from __future__ import annotations

import argparse
import csv
import io
import json
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_OK
from oulibench.cli.options import open_target
from oulibench.cli.parse import add_parser_option

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Profile texts by the features of Profiling-UD, read off a Universal Dependencies analysis. FILE is a text, a CoNLL-U
file (*.conllu: its trees are used as they are), a file of rows with "text" (*.jsonl) or a run folder. Texts give one
value a feature; rows and runs give mean and standard deviation over their items, per model and task.
"""
_EXAMPLE = """\
examples:
  $ oulibench profile testo.txt
  $ oulibench profile runs/quick --json -o profile.json
  $ oulibench profile --features
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "profile",
        help="linguistic profile of a text",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("inputs", metavar="FILE", nargs="*", type=Path, help="texts, CoNLL-U, rows, run folders")
    parser.add_argument("-o", "--output", metavar="OUT", help="where to write (default: standard output)")
    parser.add_argument("--json", action="store_true", help="JSON instead of tab-separated values")
    parser.add_argument("--features", action="store_true", help="list the features with their definitions")
    add_parser_option(parser)


def main(args: argparse.Namespace) -> int:
    from oulibench.syntax.profile import FEATURES, VARIANT

    if args.features:
        print("\n".join(f"{name}\t{definition}" for name, definition in FEATURES.items()))
        return EXIT_OK
    if not args.inputs:
        from oulibench.errors import DataError

        raise DataError("name at least one FILE (or --features)")
    records = [record for path in args.inputs for record in _records(path, args.parser)]
    if args.json:
        text = json.dumps({"variant": VARIANT, "profiles": records}, ensure_ascii=False, indent=2) + "\n"
    else:
        text = _tab_separated(records)
    with open_target(args.output, "-") as target:
        target.write(text.encode("utf-8"))
    return EXIT_OK


def _records(path: Path, parser: str) -> list[dict[str, Any]]:
    if path.is_dir() or path.suffix == ".jsonl":
        return _of_rows(path, parser)
    from oulibench.syntax.documents import read_document
    from oulibench.syntax.profile import profile_sentences

    values = profile_sentences(read_document(path, parser))
    return [{"file": str(path), "features": {name: {"value": _number(value)} for name, value in values.items()}}]


def _of_rows(path: Path, parser: str) -> list[dict[str, Any]]:
    from oulibench.results.profiles import profile_items
    from oulibench.results.runs import open_run, read_items

    return [
        {
            "file": str(path),
            "model": model,
            "task": task,
            "items": group.items,
            "features": {
                name: {"mean": _number(m.mean) if m.n else None, "sd": _number(m.standard_deviation), "n": m.n}
                for name, m in group.features.items()
            },
        }
        for (model, task), group in profile_items(read_items(open_run(path)), parser).items()
    ]


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if isnan(value) else round(value, 6)


def _tab_separated(records: list[dict[str, Any]]) -> str:
    """One line per feature and text (or model and task)."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(("file", "model", "task", "feature", "value", "sd", "n"))
    for record in records:
        for name, found in record["features"].items():
            value = found.get("value", found.get("mean"))
            writer.writerow(
                (
                    record["file"],
                    record.get("model", ""),
                    record.get("task", ""),
                    name,
                    "" if value is None else value,
                    "" if found.get("sd") is None else found["sd"],
                    found.get("n", ""),
                )
            )
    return out.getvalue()
