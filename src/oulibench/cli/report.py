"""`oulibench report`: tables, figures and one HTML page over one or more runs."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.options import add_jobs_option, jobs_of
from oulibench.errors import DataError
from oulibench.results.answers import expected_answers
from oulibench.results.formats import one_line
from oulibench.results.labels import load_labels
from oulibench.results.runs import Run, different_datasets, open_run, rebuild_items
from oulibench.results.store import Extra, terminal, write_results
from oulibench.results.systems import Part, system_names, tally_runs
from oulibench.results.table import bookkeeping, results_of
from oulibench.results.tally import Cell, CellKey
from oulibench.results.together import remarks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Build the tables, the figures and the page of one or more runs out of their stored answers. Nobody is asked anything:
answers are read and checked again (items.jsonl, results.json, results.md and results.csv in each run folder are written
anew), and the report goes into a folder of its own: report.html (opens from disk, needs no network), report.json (every
number), tables/ (Markdown, CSV, LaTeX), figures/ (SVG, PDF), items.parquet (the rows).

Runs of one model with the same settings that asked different things (other tasks, other numbers of demonstrations) are
one row each; a model that stands in several runs with other settings, or was asked the same again, is shown once per
run; nothing is averaged over them. Runs without answers are named and left out, and the exit code is 1.
"""
_EXAMPLE = """\
examples:
  $ oulibench report runs/quick                        # → runs/quick/report/report.html
  $ oulibench report runs/a runs/b -o paper --language it --intervals
  $ oulibench report runs/* --alias vllm/lab/m=m --alias hf/lab/m=m     # two names, one model
  $ oulibench report --table runs/quick                # the table alone, without the extra «report»
  $ oulibench report scored.jsonl -o out               # a file that «oulibench score» wrote
"""
_PROBLEMS_SHOWN = 20


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "report",
        help="tables, figures and one HTML page over one or more runs",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", metavar="DIR", nargs="+", type=Path, help="run folders, or files of scored rows")
    parser.add_argument("-o", "--out", metavar="DIR", type=Path, help="where the report goes (default: DIR/report)")
    parser.add_argument(
        "--alias", metavar="MODEL=NAME", action="append", default=[], help="show a model under a name; may be repeated"
    )
    parser.add_argument("--table", action="store_true", help="only the table: no page, no figures, no statistics")
    parser.add_argument("--keep-items", action="store_true", help="take items.jsonl as it stands, check nothing again")
    parser.add_argument("--language", choices=("en", "it"), default="en", help="language of the page (default: en)")
    parser.add_argument("--intervals", action="store_true", help="intervals in the Markdown and LaTeX tables")
    parser.add_argument("--seed", type=int, default=0, help="seed of intervals and tests (default: 0)")
    parser.add_argument("--resamples", type=int, default=1000, metavar="N", help="resamples (default: 1000)")
    parser.add_argument(
        "--no-parse", action="store_true", help="leave out the counting conventions that need the parser"
    )
    parser.add_argument(
        "--detect",
        nargs="+",
        default=["en"],
        metavar="CODE",
        help="languages to tell Italian from, as ISO 639-1 codes (default: en)",
    )
    parser.add_argument(
        "--items", type=int, default=100_000, metavar="N", help="rows in the page's item browser (default: 100000)"
    )
    add_jobs_option(parser)


def main(args: argparse.Namespace) -> int:
    if args.seed < 0 or args.resamples < 100 or args.items < 0:
        raise DataError("--seed and --items are at least 0, --resamples at least 100.")
    aliases = aliases_of(args.alias)
    runs, left_out = _open_all(args.runs)
    if not args.table:
        from oulibench.results.report import need_extra

        need_extra()  # before the work, not after it
    failed = bool(left_out)
    for run in runs:
        failed |= refresh(run, args)
        failed |= report_table(run, len(runs) > 1, args.seed)
    if which := different_datasets(runs, "unknown"):
        note = load_labels("en").text("datasets_differ", which=which)
        print(one_line(f"note: {note}"), file=sys.stderr)
    for remark in remarks(runs, aliases):
        print(one_line(f"note: {remark}"), file=sys.stderr)
    for why in left_out.values():
        print(one_line(f"left out: {why}"), file=sys.stderr)
    if not args.table:
        print(f"report: {write(runs, args, aliases, list(left_out))}")
    return EXIT_FAILED if failed else EXIT_OK


def _open_all(paths: Sequence[Path]) -> tuple[list[Run], dict[str, str]]:
    """The runs at `paths`, and why others cannot be reported, by path.

    Raises:
        DataError: there is none that can be reported, or one is named twice.
    """
    runs: list[Run] = []
    left_out: dict[str, str] = {}
    seen: dict[Path, Path] = {}
    for path in paths:
        if (first := seen.setdefault(path.resolve(), path)) is not path:
            raise DataError(f"{path} and {first} are the same run; name it once.")
        try:
            runs.append(open_run(path))
        except DataError as error:
            left_out[str(path)] = str(error)
    if not runs:
        raise DataError("\n".join(left_out.values()))
    return runs, left_out


def aliases_of(pairs: Sequence[str]) -> dict[str, str]:
    """Model → name, out of `MODEL=NAME`.

    Raises:
        DataError: a pair is none, or a model has two names.
    """
    aliases: dict[str, str] = {}
    for pair in pairs:
        model, equals, name = pair.partition("=")
        if not model or not equals or not name:
            raise DataError(f"--alias is MODEL=NAME such as vllm/lab/model=model, not {pair!r}.")
        if aliases.setdefault(model, name) != name:
            raise DataError(f"--alias gives {model} two names: {aliases[model]} and {name}.")
    return aliases


def write(
    runs: list[Run], args: argparse.Namespace, aliases: Mapping[str, str] | None = None, left_out: Sequence[str] = ()
) -> Path:
    """Write the report; returns the path of its page."""
    from oulibench.results.intervals import Settings
    from oulibench.results.report import PAGE, write_report

    folder = args.out or (runs[0].folder / "report" if len(runs) == 1 else Path("report"))
    progress = _Progress()
    write_report(
        runs,
        folder,
        settings=Settings(args.seed, args.resamples),
        language=args.language,
        languages=("it", *args.detect),
        parse=not args.no_parse,
        intervals_in_tables=args.intervals,
        most_items=args.items,
        aliases=aliases,
        left_out=left_out,
        progress=progress,
    )
    progress.end()
    return Path(folder) / PAGE


class _Progress:
    """What is being done, on one line of a terminal that is overwritten."""

    def __init__(self) -> None:
        self.start = time.monotonic()

    def __call__(self, doing: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{time.monotonic() - self.start:4.0f} s  {doing} …", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def refresh(run: Run, args: argparse.Namespace) -> bool:
    """Make the run's items anew where there are answers; returns whether something failed."""
    if run.responses is None or (args.keep_items and run.items.is_file()):
        return False
    show = sys.stderr.isatty()
    problems: list[str] = []

    def progress(answers: int) -> None:
        if show:
            print(f"\r{run.name}: {answers:,} answers checked", end="", file=sys.stderr, flush=True)

    totals = rebuild_items(run, jobs_of(args, str(run.responses)), progress, problems.append)
    if show:
        print("\r\x1b[K", end="", file=sys.stderr)
    for problem in problems[:_PROBLEMS_SHOWN]:
        print(problem, file=sys.stderr)
    if len(problems) > _PROBLEMS_SHOWN:
        print(f"… and {len(problems) - _PROBLEMS_SHOWN:,} more", file=sys.stderr)
    return totals.failed > 0


def report_table(run: Run, title: bool = False, seed: int = 0) -> bool:
    """Print the table of one run and write it into its folder; returns whether something failed.

    `seed` splits the targets of a study of wordings.
    """
    names = system_names([run])  # a model that was asked in several wordings is several systems
    by_key = tally_runs([run], names)
    cells = by_key.values()
    results, books = results_of(cells), bookkeeping(cells)
    signatures: Counter[str] = Counter()
    for cell in cells:
        signatures += cell.signatures
    if title:
        print(f"== {run.name}")
    print(terminal(results, books, run.dataset))
    extras = _extras(run, names, by_key, seed)
    for extra in extras:
        print(f"\n{extra.terminal()}")
    expected, answers = expected_answers(run), sum(len(cell.answers) for cell in cells)
    if expected is not None and answers < expected:
        print(f"incomplete: {answers:,} of {expected:,} answers; run it again to go on")
    if run.responses is not None:
        write_results(run.folder, results, books, dict(sorted(signatures.items())), extras, run.dataset)
    return books.failed > 0 or books.errors > 0 or not books.adds_up


def _extras(run: Run, names: Mapping[Part, str], cells: Mapping[CellKey, Cell], seed: int) -> list[Extra]:
    """The tables on wordings and on self-assessment, where the run has them."""
    from oulibench.results import reflection, wordings

    extras = []
    if studies := wordings.wording_studies(cells, wordings.wording_groups([run], names), None, seed):
        fields = [study.fields() for study in studies]
        title = "Wordings: SR under each; the one chosen on half of the targets, judged on the other half"
        extras.append(Extra("wordings", title, *wordings.lines_of(studies), fields, wordings.notes_of(studies)))
    problems: list[str] = []
    if claims := list(reflection.read_claims(run, names, on_problem=problems.append)):
        reflection.write_claims(run, claims)
        found = reflection.self_assessments(claims)
        title = "Self-assessment: what the models say about their own texts, against the checker"
        fields = [assessment.fields() for assessment in found]
        extras.append(Extra("self_assessment", title, reflection.COLUMNS, reflection.lines_of(found), fields))
    for problem in problems[:_PROBLEMS_SHOWN]:
        print(problem, file=sys.stderr)
    return extras
