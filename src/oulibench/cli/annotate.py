"""`oulibench annotate`: rating in the browser, and getting ratings in from elsewhere."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from oulibench.annotation.store import Store
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Rate the outputs that passed, in the browser, blind to the model. The first call draws the sample and gives everybody a
personal link; later calls on the same folder go on with it. Every rating is on the disk before the next page comes:
stop the server, close the tab or pull the plug, and go on by the same links.

The pages are served on this machine alone (127.0.0.1). For a tablet or another computer, forward the port (ssh -L).
"""
_EXAMPLE = """\
examples:
  $ oulibench annotate runs/one runs/two --out quality --annotators anna,bruno --adjudicators carla --per-cell 5
  $ oulibench annotate quality                     (go on)
  $ oulibench annotate quality --import ratings.csv
  $ oulibench annotate quality --import export.json --format label-studio
"""
DEFAULT_PORT = 8741


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "annotate",
        help="rate the outputs that passed, in the browser",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="run folders, or a folder with ratings")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the ratings live (default: RUN/annotation)")
    sample = parser.add_argument_group("the sample", "decided by the first call")
    sample.add_argument("--annotators", metavar="A,B", help="who rates")
    sample.add_argument("--adjudicators", metavar="A,B", help="who decides disputed items")
    sample.add_argument("--per-cell", type=int, metavar="N", help="passed texts per model × task × target × shots (5)")
    sample.add_argument("--failed", type=int, metavar="N", help="texts per cell that did not pass (0)")
    sample.add_argument("--overlap", type=float, metavar="SHARE", help="share that all annotators rate (0.3)")
    sample.add_argument("--seed", type=int, help="of drawing and shuffling (0)")
    sample.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks to draw from (all)")
    sample.add_argument("--scheme", metavar="NAME|FILE", help="five-points (default), yes-no, or a TOML file")
    sample.add_argument("--language", choices=("it", "en"), help="of the pages, until somebody changes it (it)")
    parser.add_argument("--add-annotator", metavar="NAME", help="somebody who joins later: rates the shared texts")
    parser.add_argument("--new-links", action="store_true", help="make new links; the old ones no longer work")
    parser.add_argument("--import", dest="source", type=Path, metavar="FILE", help="read ratings in, and stop")
    parser.add_argument(
        "--format", choices=("csv", "jsonl", "label-studio", "potato"), help="of --import (default: by the file's name)"
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"port on 127.0.0.1 (default: {DEFAULT_PORT})")
    parser.add_argument("--no-serve", action="store_true", help="draw the sample, print the links, and stop")


def main(args: argparse.Namespace) -> int:
    with _open_store(args) as store:
        if args.source is not None:
            return _read_in(store, args)
        if args.add_annotator:
            from oulibench.annotation.sampling import order_for

            order = order_for(args.add_annotator.strip(), store.shared(), int(store.settings["seed"]))
            store.add_person(args.add_annotator, units=order)
        links = store.renew_links() if args.new_links else _links(store)
        if args.no_serve:
            _print_links(store, links, f"http://127.0.0.1:{args.port}")
            return EXIT_OK
        try:
            from oulibench.annotation.web import serve
        except ImportError as error:
            raise MissingExtraError(f"The rating pages need pip install 'oulibench[annotate]' ({error}).") from error
        serve(store, args.port, lambda address: _print_links(store, links, address))
    return EXIT_OK


def _open_store(args: argparse.Namespace) -> Store:
    from oulibench.annotation import store as stores

    first: Path = args.runs[0]
    folder = args.out or (first if stores.has_store(first) else first / "annotation")
    if stores.has_store(folder):
        opened = stores.Store(folder)
        _refuse_other_settings(args, opened)
        return opened
    return _draw(args, folder)


_DEFAULTS: dict[str, Any] = {
    "per_cell": 5,
    "failed": 0,
    "overlap": 0.3,
    "seed": 0,
    "tasks": (),
    "scheme": "five-points",
}


def _refuse_other_settings(args: argparse.Namespace, store: Store) -> None:
    """A sample is drawn once: options that say something else would silently do nothing."""
    given = {key: getattr(args, key) for key in _DEFAULTS if getattr(args, key) is not None}
    given |= {key: _names(getattr(args, key)) for key in ("annotators", "adjudicators") if getattr(args, key)}
    for key, value in given.items():
        present = store.settings.get(key)
        if value != present and list(value if isinstance(value, (list, tuple)) else [value]) != present:
            raise DataError(
                f"{store.folder} holds a sample drawn with {key} {present!r}, not {value!r}. Go on without the option, "
                "or draw another sample into another folder with --out."
            )


def _draw(args: argparse.Namespace, folder: Path) -> Store:
    from oulibench.annotation import sampling, scheme
    from oulibench.annotation.store import create_store

    annotators, adjudicators = _names(args.annotators), _names(args.adjudicators)
    if not annotators:
        raise DataError(f"{folder} holds no sample yet: say who rates, with --annotators anna,bruno.")
    chosen = {key: default if getattr(args, key) is None else getattr(args, key) for key, default in _DEFAULTS.items()}
    rules = scheme.load_scheme(chosen["scheme"])
    settings = sampling.Settings(
        chosen["per_cell"], chosen["failed"], chosen["overlap"], chosen["seed"], tuple(chosen["tasks"])
    )
    if unknown := set(settings.tasks) - set(_task_names()):
        raise DataError(f"Unknown task {min(unknown)!r}. Known tasks: {', '.join(_task_names())}.")
    sample = sampling.draw(sampling.read_items(args.runs), settings, annotators)
    kept = {**asdict(settings), "scheme": chosen["scheme"], "annotators": annotators, "adjudicators": adjudicators}
    store = create_store(folder, sample, rules, kept, adjudicators, args.language or "it")
    print(f"{len(sample.units)} texts to rate, {len(sample.shared)} of them by all {len(annotators)} annotators.")
    if sample.short_cells:
        print(f"{sample.short_cells} cells hold fewer distinct texts than were asked for; all of theirs were taken.")
    if sample.unreadable:
        print(f"{sample.unreadable} items were left out: their text is damaged or over-long.")
    return store


def _task_names() -> tuple[str, ...]:
    from oulibench.constraints import task_names

    return task_names()


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def _links(store: Store) -> dict[str, str]:
    from oulibench.annotation.store import read_links

    links = read_links(store.folder)
    if {person.name for person in store.people()} - set(links):
        raise DataError(f"The links of {store.folder} are lost; make new ones with --new-links.")
    return links


def _print_links(store: Store, links: dict[str, str], address: str) -> None:
    people = store.people()
    width = max(len(person.name) for person in people)
    for person in people:
        progress = store.progress(person.name)
        state = f"{progress.done}/{progress.total}" if person.role == "annotator" else "adjudicates"
        print(f"{person.name:<{width}}  {address}/r/{links[person.name]}  ({state})", flush=True)
    print(f"Ratings are kept in {store.folder}. Stop with Ctrl-C.", flush=True)


def _read_in(store: Store, args: argparse.Namespace) -> int:
    from oulibench.annotation.exchange import read_ratings

    result = read_ratings(args.source, args.format, store.scheme, store.units())
    written = store.save_all(result.ratings) + store.save_all(result.golds, kind="gold")
    total = len(result.ratings) + len(result.golds)
    print(f"{total} ratings read: {written} new, {total - written} known already, {len(result.problems)} refused.")
    for problem in result.problems[:20]:
        print(f"  {problem}")
    return EXIT_FAILED if result.problems else EXIT_OK
