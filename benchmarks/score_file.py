"""`oulibench score` on a large file: time with one process and with two, and peak memory.

    python benchmarks/score_file.py [ROWS]

Writes ROWS rows (default 1,000,000) of five surface tasks to a temporary file and scores them. The figure that travels
between machines is the ratio of the two times; memory is the peak of the command and its workers together.
"""

from __future__ import annotations

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


def score(source: Path, target: Path, jobs: int) -> tuple[float, float]:
    """Seconds, and peak megabytes of the command with its workers."""
    command = [sys.executable, "-m", "oulibench", "score", str(source), "-o", str(target), "--jobs", str(jobs)]
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


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        write_rows(source, n)
        print(f"{n:,} rows, {source.stat().st_size / 1e6:.0f} MB, {len(os.sched_getaffinity(0))} cores")
        times = {}
        for jobs in (1, 2):
            times[jobs], megabytes = score(source, target, jobs)
            lines = sum(1 for _ in target.open("rb"))
            assert lines == n, lines
            print(f"{jobs} process(es): {times[jobs]:.1f} s, {n / times[jobs]:,.0f} rows/s, peak {megabytes:.0f} MB")
        print(f"two processes are {times[1] / times[2]:.2f} times as fast as one")
    print(f"(this script itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB)")


if __name__ == "__main__":
    main()
