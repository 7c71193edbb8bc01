"""The store: nothing decided is ever lost, whatever happens."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oulibench.annotation.sampling import Sample
from oulibench.annotation.scheme import load_scheme
from oulibench.annotation.store import DATABASE, LINKS, Rating, Store, create_store, now, read_links
from oulibench.errors import DataError

GOOD = {"grammaticality": 5, "coherence": 4, "appropriateness": 3}


def at(store: Store, person: str, place: int) -> str:
    """The unit that somebody rates at a place."""
    unit = store.unit_at(person, place)
    assert unit is not None
    return unit


def rated(store: Store, person: str, unit: str) -> Rating:
    rating = store.rating(person, unit)
    assert rating is not None
    return rating


def rate(person: str, unit: str, value: int = 5, **more: Any) -> Rating:
    return Rating(person, unit, {**GOOD, "coherence": value}, time=now(), **more)


def test_the_history_refuses_changes(store: Store) -> None:
    store.save(rate("anna", at(store, "anna", 1)))
    with sqlite3.connect(store.folder / DATABASE) as db:
        for statement in ("UPDATE event SET comment = 'x'", "DELETE FROM event"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(statement)


def test_it_is_written_through_to_the_disk(store: Store) -> None:
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_ratings_survive_a_process_that_is_killed(store: Store) -> None:
    unit = at(store, "anna", 1)
    script = (
        "import sys, time; from pathlib import Path; from oulibench.annotation.store import Store, Rating, now\n"
        "store = Store(Path(sys.argv[1]))\n"
        "store.save(Rating('anna', sys.argv[2], {'grammaticality': 5, 'coherence': 2, 'appropriateness': 1},"
        " time=now()))\n"
        "store._connection.execute('BEGIN IMMEDIATE')\n"  # and dies in the middle of another transaction
        'store._connection.execute("DELETE FROM rating")\n'
        "print('saved', flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(store.folder), unit], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"saved\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Store(store.folder) as again:
        assert rated(again, "anna", unit).values["coherence"] == 2


def test_a_rating_that_cannot_stand_leaves_no_trace(store: Store) -> None:
    unit = at(store, "anna", 1)
    for rating in (
        Rating("anna", unit, {"grammaticality": 5}),
        Rating("anna", unit, {**GOOD, "coherence": 9}),
        Rating("anna", unit, {**GOOD, "beauty": 1}),
        Rating("anna", unit, GOOD, frozenset({"ugly"})),
        Rating("anna", "nowhere", GOOD),
    ):
        with pytest.raises(DataError):
            store.save(rating)
    assert store.history() == []


def test_several_writers_at_once(store: Store) -> None:
    total = store.progress("anna").total

    def work(person: str) -> None:
        with Store(store.folder) as own:
            for i in range(1, total + 1):
                own.save(rate(person, at(own, person, i), 1 + i % 5))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("anna", "bruno")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.progress("anna").done == store.progress("bruno").done == total
    assert len(store.history()) == 2 * total


actions = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["anna", "bruno"]), st.integers(1, 3), st.integers(1, 5)),
        st.tuples(st.sampled_from(["anna", "bruno"]), st.just("undo")),
    ),
    max_size=25,
)


@given(actions)
@settings(max_examples=25, deadline=None)
def test_the_present_ratings_are_what_a_stack_of_decisions_gives(
    tmp_path_factory: pytest.TempPathFactory, sample_once: Sample, steps: list[tuple[Any, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    with create_store(folder, sample_once, load_scheme(), {}) as store:
        stacks: dict[str, list[tuple[str, int]]] = {"anna": [], "bruno": []}
        for person, *what in steps:
            if what == ["undo"]:
                expected = stacks[person].pop()[0] if stacks[person] else None
                assert store.undo(person) == expected
            else:
                unit = at(store, person, what[0])
                store.save(rate(person, unit, what[1]))
                stacks[person].append((unit, what[1]))
        expected_now = {(p, u): v for p, stack in stacks.items() for u, v in stack}  # later ones replace earlier ones
        assert {(r.person, r.unit): r.values["coherence"] for r in store.ratings()} == expected_now
        assert len(store.history()) >= len(stacks["anna"]) + len(stacks["bruno"])


@pytest.fixture(scope="module")
def sample_once(rows: list[dict[str, object]]) -> Sample:
    from oulibench.annotation.sampling import Settings, draw

    return draw(rows, Settings(per_cell=1, overlap=1.0), ["anna", "bruno"])


def test_time_left_follows_the_typical_rating(store: Store) -> None:
    total = store.progress("anna").total
    assert store.progress("anna").seconds_left is None
    for i, seconds in enumerate((10.0, 12.0, 500.0), 1):
        store.save(rate("anna", at(store, "anna", i), seconds=seconds))
    assert store.progress("anna").seconds_left == 12.0 * (total - 3)


def test_next_comes_after_this_one_and_then_from_the_start(store: Store) -> None:
    total = store.progress("anna").total
    store.save(rate("anna", at(store, "anna", 2)))
    assert store.next_unrated("anna", after=1) == 3
    assert store.next_unrated("anna", after=total) == 1
    for i in range(1, total + 1):
        store.save(rate("anna", at(store, "anna", i)))
    assert store.next_unrated("anna") is None


def test_tokens_are_long_secret_and_renewable(store: Store) -> None:
    links = read_links(store.folder)
    assert len(set(links.values())) == 3
    assert all(len(token) >= 32 for token in links.values())
    assert stat.S_IMODE((store.folder / LINKS).stat().st_mode) == 0o600
    dump = "\n".join(store._connection.iterdump())
    assert not any(token in dump for token in links.values())
    renewed = store.renew_links()
    assert store.person_of(links["anna"]) is None
    assert store.person_of(renewed["anna"]) == store.people()[0]


def test_somebody_joins_later(store: Store) -> None:
    token = store.add_person("dora", units=sorted(store.shared()))
    assert store.person_of(token) in store.people()
    assert store.progress("dora").total == len(store.shared())
    with pytest.raises(DataError, match="already"):
        store.add_person("dora")
    for name in ("", "  ", "a/b", "../x", "<b>", "a\nb", "x" * 61, ".x"):
        with pytest.raises(DataError):
            store.add_person(name)


def test_a_damaged_file_is_said_to_be_damaged(store: Store) -> None:
    store.close()
    path = store.folder / DATABASE
    data = bytearray(path.read_bytes())
    data[4096:12288] = b"\xff" * 8192
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        Store(store.folder)
    path.write_bytes(b"this is no database, it is a note about one, long enough to look like a header" * 30)
    with pytest.raises(DataError, match="damaged"):
        Store(store.folder)


def test_a_folder_without_ratings_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="oulibench annotate"):
        Store(tmp_path)


def test_nobody_shares_a_name(tmp_path: Path, sample: Sample) -> None:
    with pytest.raises(DataError, match="anna"):
        create_store(tmp_path / "x", sample, load_scheme(), {}, ["anna"])
