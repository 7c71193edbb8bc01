"""`oulibench agreement`: how far annotators agree, and about which items they do not."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_OK
from oulibench.errors import MissingExtraError

if TYPE_CHECKING:
    from oulibench.annotation.agreement import Agreement, Coefficient
    from oulibench.annotation.disputes import Dispute
    from oulibench.annotation.scheme import Scheme
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Agreement between annotators, per dimension and task: Krippendorff's alpha (ordinal) and Gwet's AC1 (two points) or AC2
(more), each with a bootstrap interval over items; the share of pairs of ratings that are the same, and that are at most
one point apart; how often each annotator gave each point. A coefficient that the ratings do not decide is «–», with the
reason. Then the items that are disputed most.
"""
_EXAMPLE = """\
example:
  $ oulibench agreement runs/one
  $ oulibench agreement quality --json > agreement.json
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "agreement",
        help="agreement between annotators",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder with ratings, or the run folder it is in")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--disputed", type=int, default=10, metavar="N", help="disputed items to list (10)")
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="bootstrap draws (1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")


def main(args: argparse.Namespace) -> int:
    try:
        from oulibench.annotation.agreement import agreement_of
    except ImportError as error:
        raise MissingExtraError(f"Agreement needs pip install 'oulibench[annotate]' ({error}).") from error
    from oulibench.annotation.disputes import disputes
    from oulibench.annotation.store import Store

    with Store(args.folder) as store:
        units, ratings, scheme = store.units(), store.ratings(), store.scheme
    found = agreement_of(scheme, units, ratings, seed=args.seed, draws=max(1, args.draws))
    disputed = [dispute for dispute in disputes(scheme, units, ratings) if dispute.spread][: max(0, args.disputed)]
    if args.json:
        print(json.dumps(_as_data(found, disputed), ensure_ascii=False, indent=2))
    else:
        print("\n".join([*_in_words(found), "", *_disputes_in_words(scheme, disputed)]))
    return EXIT_OK


def _as_data(found: list[Agreement], disputed: list[Dispute]) -> dict[str, Any]:
    return {
        "agreement": [asdict(measured) for measured in found],
        "disputed": [
            {
                "item_id": dispute.unit.id,
                "task": dispute.unit.task,
                "target": dispute.unit.target,
                "text": dispute.unit.text,
                "spread": dispute.spread,
                "ratings": {r.person: {**r.values, **dict.fromkeys(sorted(r.flags), True)} for r in dispute.ratings},
            }
            for dispute in disputed
        ],
    }


def _in_words(found: list[Agreement]) -> list[str]:
    header = ("dimension", "task", "items", "pairs on", "same", "±1", "alpha", "Gwet's AC")
    rows = [header]
    notes: list[str] = []
    for m in found:
        counts = (str(m.items), str(m.pairable), _share(m.percent), _share(m.within_one))
        rows.append((m.dimension, m.task or "all", *counts, _coefficient(m.alpha), _coefficient(m.gwet)))
        notes += [f"{m.dimension}, {m.task or 'all'}: {m.alpha.reason}"] if m.alpha.reason else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += ["", *(f"–  {note}" for note in notes)] if notes else []
    lines += ["", "How often each point was given:"]
    for m in (m for m in found if m.task is None):
        for rater, given in m.distribution.items():
            lines.append(
                f"  {m.dimension:<{widths[0]}}  {rater:<12} " + "  ".join(f"{p}: {n}" for p, n in given.items())
            )
    return lines


def _coefficient(coefficient: Coefficient) -> str:
    if coefficient.value is None:
        return "–"
    if coefficient.interval is None:
        return f"{coefficient.value:.3f} [–]"
    low, high = coefficient.interval
    return f"{coefficient.value:.3f} [{low:.3f}, {high:.3f}]"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _disputes_in_words(scheme: Scheme, disputed: list[Dispute]) -> list[str]:
    if not disputed:
        return ["No item is disputed."]
    lines = ["Most disputed (" + ", ".join(d.id for d in scheme.dimensions) + "):"]
    for dispute in disputed:
        given = "; ".join(
            f"{r.person} {'/'.join(str(r.values.get(d.id, '–')) for d in scheme.dimensions)}"
            + "".join(f" [{flag}]" for flag in sorted(r.flags))
            for r in dispute.ratings
        )
        text = " ".join(dispute.unit.text.split())
        lines.append(f"  {dispute.unit.id}  {dispute.unit.task}  «{text[:90]}{'…' if len(text) > 90 else ''}»  {given}")
    return lines
