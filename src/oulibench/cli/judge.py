"""`oulibench judge`: let a model rate what people rate."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from oulibench.annotation.store import Store
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Let a model rate the outputs that people rate, by the same scheme: an Italian rubric, a structured answer, several
samples at a stated temperature. Answers that cannot be read are no ratings, and are counted. A judge stands beside
people, never in their place: its agreement with them is printed (and stands in the report) before any of its averages.

The items are those of the annotation in the run folder; where there is none, a sample is drawn as «annotate» draws it.
Asking again with the same settings asks only for what is missing.
"""
_EXAMPLE = """\
examples:
  $ oulibench judge runs/one --judge gpt-4o-mini
  $ oulibench judge runs/one --judge openai-api/lab/my-model --judge-base-url http://localhost:8000/v1 --samples 5
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "judge",
        help="let a model rate the outputs that passed",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", type=Path, help="a run folder, or a folder with ratings")
    parser.add_argument("--judge", metavar="MODEL", help="who judges (default: the embedded model)")
    parser.add_argument("--judge-base-url", metavar="URL", help="where the judge's server is")
    parser.add_argument("--samples", type=int, default=3, metavar="N", help="answers per item (3)")
    parser.add_argument("--temperature", type=float, default=0.7, metavar="T", help="(0.7)")
    parser.add_argument("--seed", type=int, default=0, help="(0)")
    parser.add_argument("--max-tokens", type=int, default=300, metavar="N", help="limit of an answer (300)")
    parser.add_argument("--max-connections", type=int, metavar="N", help="calls under way at a time")
    parser.add_argument("--limit", type=int, metavar="N", help="judge the first N items only")
    parser.add_argument("--per-cell", type=int, metavar="N", help="where a sample must be drawn: texts per cell (5)")


def main(args: argparse.Namespace) -> int:
    try:
        from oulibench.annotation.judge import JudgeSettings, read_judges, run_judge
        from oulibench.annotation.judging import compare_with_people, in_words
    except ImportError as error:
        raise MissingExtraError(f"Judging needs pip install 'oulibench[annotate,run]' ({error}).") from error
    from oulibench.engines.models import EMBEDDED

    settings = JudgeSettings(args.judge or EMBEDDED, args.samples, args.temperature, args.seed, args.max_tokens)
    with _store(args) as store:
        units, scheme, folder = store.units(), store.scheme, store.folder
        people, golds = store.ratings(), store.golds()
    asked = units[: args.limit] if args.limit is not None else units
    try:
        path = run_judge(
            asked, scheme, settings, folder, base_url=args.judge_base_url, max_connections=args.max_connections
        )
    except ImportError as error:
        raise MissingExtraError(f"Judging needs pip install 'oulibench[run]' ({error}).") from error
    judged = read_judges(folder, [unit.id for unit in asked], path)
    if not judged:
        print("Every call to the judge failed; nothing was judged. Its logs are in", path.with_suffix(""))
        return EXIT_FAILED
    print("\n".join(in_words(judged[0], compare_with_people(judged[0], scheme, units, people, golds), scheme)))
    print(f"Judgements are kept in {path}.")
    return EXIT_OK if judged[0].answers == len(asked) * settings.samples else EXIT_FAILED


def _store(args: argparse.Namespace) -> Store:
    from oulibench.annotation import sampling
    from oulibench.annotation.scheme import load_scheme
    from oulibench.annotation.store import Store, create_store, find_folder

    try:
        return Store(find_folder(args.run))
    except DataError:
        if not (args.run / sampling.ITEMS_FILE).is_file():
            raise
    settings = sampling.Settings(per_cell=5 if args.per_cell is None else args.per_cell, overlap=1.0)
    sample = sampling.draw(sampling.read_items([args.run]), settings, [])
    kept: dict[str, Any] = {"per_cell": settings.per_cell, "failed": 0, "overlap": 1.0, "seed": 0, "tasks": []}
    kept |= {"scheme": "five-points", "annotators": [], "adjudicators": []}
    return create_store(args.run / "annotation", sample, load_scheme(), kept)
