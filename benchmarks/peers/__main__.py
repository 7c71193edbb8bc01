"""Our verdicts beside those of COLLIE, IFEval and IFBench: see docs/peers.md.

python -m benchmarks.peers [--ud TREEBANKS] [--write docs/peers.md] [--no-time]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.peers import load_peers
from benchmarks.peers.cases import Case
from benchmarks.peers.page import render
from benchmarks.peers.speed import times
from benchmarks.peers.table import measure
from benchmarks.peers.treebank import treebank_cases

from oulibench.errors import OuLiBenchError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--ud", type=Path, metavar="FOLDER", help="folder with CoNLL-U files of ISDT, VIT and PUD: measure on them too"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page here; what is not measured stays")
    parser.add_argument("--no-time", action="store_true", help="measure no times")
    args = parser.parse_args()
    peers, missing = load_peers()
    if missing:
        for name, why in missing:
            print(f"{name} is not installed: {why}", file=sys.stderr)
        print("Install all of them: pip install collie-bench if-verifiable", file=sys.stderr)
        return 2
    treebanks: dict[str, list[Case]] | None = None
    try:
        if args.ud:
            treebanks = treebank_cases(args.ud)
    except OuLiBenchError as error:
        print(error, file=sys.stderr)
        return 2
    tables = measure(peers, treebanks)
    if not args.no_time:
        tables["Time per verdict"] = (times(peers),)
    if args.write:
        previous = args.write.read_text(encoding="utf-8") if args.write.exists() else ""
        args.write.write_text(render(tables, previous), encoding="utf-8", newline="\n")
    else:
        for heading, found in tables.items():
            print(f"## {heading}\n")
            print("\n\n".join(found), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
