"""`oulibench export annotation`: ratings, their history, the items, and projects for other annotation tools."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from oulibench.cli import EXIT_OK
from oulibench.errors import DataError

if TYPE_CHECKING:
    from oulibench.annotation.store import Store
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Write what an annotation folder holds:

  csv, jsonl     the ratings, one row per item, annotator and dimension (read back by «oulibench annotate --import»)
  history        every decision ever made, undone ones included (JSONL)
  items          the items with the runs they come from: not blind (JSONL)
  label-studio   a folder with tasks.json and config.xml: text and constraint, without model
  potato         a folder with items.jsonl and config.yaml: the same for Potato
"""
_EXAMPLE = """\
examples:
  $ oulibench export annotation quality --to csv -o ratings.csv
  $ oulibench export annotation quality --to label-studio -o project
"""
KINDS = ("csv", "jsonl", "history", "items", "label-studio", "potato")


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "annotation",
        help="ratings and the items to rate: tables, Label Studio, Potato",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder with ratings, or the run folder it is in")
    parser.add_argument("--to", choices=KINDS, default="csv", help="what to write (csv)")
    parser.add_argument("-o", "--output", type=Path, metavar="PATH", help="file or folder (tables: standard output)")
    parser.add_argument("--with-ratings", action="store_true", help="put the ratings into the Label Studio tasks")
    parser.add_argument("--language", choices=("it", "en"), default="it", help="of questions and guidelines (it)")


def main(args: argparse.Namespace) -> int:
    from oulibench.annotation import exchange
    from oulibench.annotation.store import Store

    with Store(args.folder) as store:
        if args.to in ("label-studio", "potato"):
            if args.output is None:
                raise DataError(f"Say with -o into which folder the {args.to} project goes.")
            _write_project(store, args)
            return EXIT_OK
        if args.to == "history":
            data = exchange.to_jsonl(exchange.history_rows(store.history()))
        elif args.to == "items":
            data = exchange.to_jsonl(exchange.item_rows(store.units()))
        else:
            rows = exchange.long_rows(store.ratings(), store.golds())
            data = exchange.to_csv(rows) if args.to == "csv" else exchange.to_jsonl(rows)
    if args.output is None:
        sys.stdout.buffer.write(data)
    else:
        _write(args.output, data)
    return EXIT_OK


def _write_project(store: Store, args: argparse.Namespace) -> None:
    from oulibench.annotation import exchange

    folder: Path = args.output
    units = store.units()
    if args.to == "label-studio":
        tasks = exchange.to_label_studio(units, store.ratings() if args.with_ratings else (), args.language)
        files = {
            "tasks.json": _json(tasks),
            "config.xml": exchange.label_studio_config(store.scheme, args.language).encode(),
        }
    else:
        config = exchange.potato_config(store.scheme, args.language)
        files = {"items.jsonl": exchange.to_potato(units, args.language), "config.yaml": _json(config)}
    for name, data in files.items():
        _write(folder / name, data)
    print(f"{len(units)} items written to {folder}: {', '.join(files)}.", file=sys.stderr)


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
