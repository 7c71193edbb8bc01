"""How long does a report take, and how much memory? 8 models × 4 numbers of demonstrations × 3,000 items.

    python benchmarks/report.py [--models 8] [--items 3000] [--n 50] [--keep DIR]

Makes run folders of invented answers (seeded), then builds the whole report (answers read and checked again, tables,
statistics, figures, page, Parquet) in a process of its own, and prints wall time, CPU time and peak memory of it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.results.make_runs import FEW_SHOT, TARGETS, Fake, invented_demonstrations, response_rows, write_run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--items", type=int, default=3_000, help="items per model and number of demonstrations")
    parser.add_argument("--n", type=int, default=50, help="sentences asked for in one prompt")
    parser.add_argument("--keep", type=Path, help="keep the runs and the report in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        total = make(folder, args.models, args.items, args.n)
        runs = [str(folder / f"model-{i}") for i in range(args.models)]
        command = [sys.executable, "-m", "oulibench", "report", *runs, "-o", str(folder / "report")]
        start = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)  # noqa: S603
        wall = time.monotonic() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        page = folder / "report" / "report.html"
        print(f"items asked for   {total:,}")
        print(f"exit code         {done.returncode}")
        print(f"wall time         {wall:.1f} s")
        print(f"CPU time          {used.ru_utime + used.ru_stime:.1f} s")
        print(f"peak memory       {used.ru_maxrss / 1024:.0f} MB (largest process)")
        if not page.is_file():
            print("NO PAGE: the report was not built")
            return 1
        print(f"page              {page.stat().st_size / 1e6:.1f} MB")
    return 0


def make(folder: Path, models: int, items: int, n: int) -> int:
    """Write the runs; returns the number of items asked for. Tasks without demonstrations are asked zero-shot only, so
    the number of epochs is set for each setting to reach `items`."""
    demonstrations = invented_demonstrations()
    total = 0
    for number in range(models):
        fake = Fake(
            f"invented/model-{number}", skill=0.1 + 0.8 * number / max(1, models - 1), copying=0.1, english=0.02
        )
        rows = []
        for shots in (0, 5, 10, 15):
            tasks = tuple(TARGETS) if shots == 0 else FEW_SHOT
            requests = sum(len(TARGETS[task]) for task in tasks)
            epochs = max(1, round(items / (requests * n)))
            made = list(response_rows(fake, tasks, (shots,), n, epochs, seed=shots, demonstrations=demonstrations))
            total += sum(row["n"] for row in made)
            rows += made
        write_run(folder / f"model-{number}", rows)
    return total


if __name__ == "__main__":
    sys.exit(main())
