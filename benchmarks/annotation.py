"""How quick rating and agreement stay with many items: 10,000 items rated by five people.

    python benchmarks/annotation.py [--items 10000] [--people 5]

Prints, in milliseconds, the median and the 95th percentile of the time for a page and for a rating that is saved
through to the disk, on the clock and of the processor (the client's part in it included), and the time for agreement in
three dimensions over eleven tasks with 1,000 bootstrap draws.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from starlette.testclient import TestClient

from oulibench.annotation.agreement import agreement_of
from oulibench.annotation.sampling import Settings, draw
from oulibench.annotation.scheme import load_scheme
from oulibench.annotation.store import Rating, Store, create_store, now, read_links
from oulibench.annotation.web import create_app
from oulibench.constraints import task_names

BASE = "http://127.0.0.1:8741"
REPEATS = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, make_store(Path(folder) / "store", args.items, args.people) as store:
        fill(store, args.people)
        report_pages(store)
        start, busy = time.perf_counter(), time.process_time()
        found = agreement_of(store.scheme, store.units(), store.ratings())
        clock, busy = time.perf_counter() - start, time.process_time() - busy
        print(f"agreement, {len(found)} tables: {clock:.2f} s on the clock, {busy:.2f} s of the processor")


def make_store(folder: Path, items: int, people: int) -> Store:
    tasks = task_names()
    rows = [
        {"model": f"m{i % 4}", "id": f"r{i}", "epoch": 1, "item": 1, "task": tasks[i % len(tasks)], "target": "active"}
        | {"family": "x", "shots": 0, "text": f"Questa è la frase numero {i}.", "passed": True}
        for i in range(items)
    ]
    names = [f"p{i}" for i in range(people)]
    return create_store(folder, draw(rows, Settings(per_cell=items, overlap=1.0), names), load_scheme(), {}, ["judge"])


def fill(store: Store, people: int) -> None:
    """All ratings but a hundred of the first person."""
    rng = random.Random(0)  # noqa: S311  # reproducible
    units = store.units()
    late = {store.unit_at("p0", place) for place in range(len(units) - 100, len(units) + 1)}
    ratings = []
    for unit in units:
        quality = rng.randint(1, 5)
        for person in (f"p{i}" for i in range(people)):
            if person == "p0" and unit.id in late:
                continue
            values = {d.id: min(5, max(1, quality + rng.choice((-1, 0, 0, 0, 1)))) for d in store.scheme.dimensions}
            ratings.append(Rating(person, unit.id, values, time=now(), seconds=12.0))
    start = time.perf_counter()
    store.save_all(ratings)
    print(f"{len(units):,} items, {len(ratings):,} ratings read in: {time.perf_counter() - start:.2f} s")


def report_pages(store: Store) -> None:
    client = TestClient(create_app(store), base_url=BASE, follow_redirects=False)
    links = read_links(store.folder)
    me = f"/r/{links['p0']}"
    total = store.progress("p0").total
    pages = {"item": f"{me}/items/{total}", "next": f"{me}/next", "guide": f"{me}/guide"}
    for name, path in pages.items():
        show(name, [timed(partial(client.get, path)) for _ in range(REPEATS)])
    csrf = re.search(r'name="csrf" value="(\w+)"', client.get(pages["item"]).text)
    assert csrf
    data = {"csrf": csrf[1], "grammaticality": "5", "coherence": "4", "appropriateness": "3", "shown": f"{time.time()}"}
    posts = [f"{me}/items/{place}" for place in range(total - REPEATS, total)]
    show("save", [timed(partial(client.post, post, data=data, headers={"origin": BASE})) for post in posts])
    show("list", [timed(partial(client.get, f"{me}/list")) for _ in range(5)])
    show("disputes", [timed(partial(client.get, f"/r/{links['judge']}")) for _ in range(5)])


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    start, busy = time.perf_counter(), time.process_time()
    answer = call()
    assert answer.status_code in (200, 303), answer.status_code
    return 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - busy)


def show(name: str, times: list[tuple[float, float]]) -> None:
    parts = [
        f"{what} {median(series):7.1f} (95 % {quantiles(series, n=20)[-1]:7.1f})"
        for what, series in zip(("clock", "processor"), zip(*times, strict=True), strict=True)
    ]
    print(f"{name:<9} {'   '.join(parts)} ms")


if __name__ == "__main__":
    main()
