"""`oulibench score` on a large file: time with one process, with two and on a Ray cluster, and peak memory.

    python -m benchmarks.score_file [ROWS] [--ray] [--parquet]

Writes ROWS rows (default 1,000,000) of five surface tasks to a temporary file and scores them; with `--ray`, also on a
Ray cluster of this machine with two workers, with `--parquet`, from Parquet into Parquet. The figure that travels
between machines is the ratio of the times; memory is the peak of the command and its workers together (what they share
is counted in each).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

TARGETS = {"word_length": 10, "char_length": 48, "lipogram": "e", "tautogram": "m", "acrostic": "sole"}
SUBJECTS = ("Il gatto nero", "La maestra", "Mio fratello Marco", "Un vecchio marinaio", "Quella bambina curiosa")
VERBS = ("guarda", "ha trovato", "comprerà", "dipingeva", "non dimentica")
OBJECTS = ("il mare d'inverno.", "una lettera mai spedita.", "più di mille stelle.", "l'ultima casa del paese.")


def write_rows(path: Path, n: int) -> None:
    tasks = list(TARGETS.items())
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            task, target = tasks[i % len(tasks)]
            text = f"{SUBJECTS[i % 5]} {VERBS[i // 5 % 5]} {OBJECTS[i // 25 % 4]}"
            file.write(json.dumps({"id": i, "task": task, "target": target, "text": text}, ensure_ascii=False) + "\n")


def resident(pid: int) -> int:
    """Kilobytes that a process and its descendants hold."""
    total = 0
    children: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                sizes[int(entry.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") // 1024
                children.setdefault(int(fields[1]), []).append(int(entry.name))
            except (OSError, IndexError):
                continue
    pending = [pid]
    while pending:
        process = pending.pop()
        total += sizes.get(process, 0)
        pending.extend(children.get(process, ()))
    return total


def measure(*arguments: object) -> tuple[float, float]:
    """Seconds that a command takes, and peak megabytes of it with its workers."""
    command = [sys.executable, "-m", "oulibench", *map(str, arguments)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.PIPE)  # noqa: S603
    peak = 0

    def watch() -> None:
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.2)

    watcher = Thread(target=watch)
    watcher.start()
    _, errors = process.communicate()
    seconds = time.perf_counter() - start
    watcher.join()
    assert process.returncode == 0, errors.decode()
    return seconds, peak / 1024


WAYS = {"one process": ("--jobs", 1), "two processes": ("--jobs", 2), "Ray": ("--engine", "ray", "--workers", 2)}


def arguments(counted: str, default: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("n", metavar=counted, nargs="?", type=int, default=default)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--parquet", action="store_true")
    return parser.parse_args()


def as_parquet(source: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [json.loads(line) for line in source.open("rb")]
    target = source.with_suffix(".parquet")
    pq.write_table(pa.Table.from_pylist([{**row, "target": str(row["target"])} for row in rows]), target)
    return target


def main() -> None:
    args = arguments("ROWS", 1_000_000)
    n = args.n
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        write_rows(source, n)
        print(f"{n:,} rows, {source.stat().st_size / 1e6:.0f} MB, {len(os.sched_getaffinity(0))} cores")
        if args.parquet:
            source, target = as_parquet(source), target.with_suffix(".parquet")
        times = {}
        for way, options in WAYS.items():
            if way == "Ray" and not args.ray:
                continue
            times[way], megabytes = measure("score", source, "-o", target, *options)
            if not args.parquet:
                lines = sum(1 for _ in target.open("rb"))
                assert lines == n, lines
            print(f"{way}: {times[way]:.1f} s, {n / times[way]:,.0f} rows/s, peak {megabytes:.0f} MB", flush=True)
        print(f"two processes are {times['one process'] / times['two processes']:.2f} times as fast as one")
    print(f"(this script itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB)")


if __name__ == "__main__":
    main()
