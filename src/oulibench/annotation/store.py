"""Where ratings live: one SQLite file in which nothing that anybody decided is ever changed or deleted.

`event` is the append-only history (triggers refuse updates and deletes). `rating` and `gold` are what the history
amounts to now; they are written in the transaction of the event that changes them and can be rebuilt from it. The file
is in WAL mode with `synchronous=FULL`: once a rating is acknowledged it is on the disk, whatever happens to the process
or to the power.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, cast

from oulibench.annotation.sampling import Occurrence, Sample, Unit
from oulibench.annotation.scheme import INTERFACE_LANGUAGES, InterfaceLanguage, Scheme, canonical_target, parse_scheme
from oulibench.errors import DataError

DATABASE: Final = "ratings.sqlite"
LINKS: Final = "links.json"
FORMAT: Final = 1
MAX_COMMENT: Final = 4_000
"""Characters of a comment that are kept."""

Role = Literal["annotator", "adjudicator"]
Kind = Literal["rating", "undo", "gold", "import"]

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE unit (
    id TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, task TEXT NOT NULL, family TEXT NOT NULL,
    target TEXT NOT NULL, difficulty INTEGER, policy TEXT NOT NULL, text TEXT NOT NULL, shared INTEGER NOT NULL);
CREATE TABLE occurrence (
    item_id TEXT PRIMARY KEY, unit TEXT NOT NULL REFERENCES unit, model TEXT NOT NULL, task TEXT NOT NULL,
    target TEXT NOT NULL, shots TEXT NOT NULL, passed INTEGER NOT NULL, drawn INTEGER NOT NULL);
CREATE TABLE person (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, token_hash TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
    theme TEXT NOT NULL DEFAULT 'auto');
CREATE TABLE assignment (
    person TEXT NOT NULL REFERENCES person, position INTEGER NOT NULL, unit TEXT NOT NULL REFERENCES unit,
    PRIMARY KEY (person, position), UNIQUE (person, unit)) WITHOUT ROWID;
CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, person TEXT NOT NULL,
    unit TEXT NOT NULL REFERENCES unit, kind TEXT NOT NULL CHECK (kind IN ('rating', 'undo', 'gold', 'import')),
    "values" TEXT NOT NULL, flags TEXT NOT NULL, comment TEXT NOT NULL, seconds REAL,
    undoes INTEGER REFERENCES event, submission TEXT UNIQUE);
CREATE INDEX event_of_person ON event (person, seq);
CREATE INDEX event_of_unit ON event (unit, person, seq);
CREATE UNIQUE INDEX event_undone ON event (undoes) WHERE undoes IS NOT NULL;
CREATE TRIGGER event_keeps BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
CREATE TABLE rating (
    person TEXT NOT NULL, unit TEXT NOT NULL REFERENCES unit, seq INTEGER NOT NULL REFERENCES event, time TEXT NOT NULL,
    "values" TEXT NOT NULL, flags TEXT NOT NULL, comment TEXT NOT NULL, seconds REAL,
    PRIMARY KEY (person, unit)) WITHOUT ROWID;
CREATE INDEX rating_of_unit ON rating (unit);
CREATE TABLE gold (
    unit TEXT PRIMARY KEY REFERENCES unit, person TEXT NOT NULL, seq INTEGER NOT NULL REFERENCES event,
    time TEXT NOT NULL, "values" TEXT NOT NULL, flags TEXT NOT NULL, comment TEXT NOT NULL, seconds REAL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Rating:
    """What somebody says of a unit: values by dimension, flags, comment; when (UTC, ISO 8601), in how many seconds."""

    person: str
    unit: str
    values: Mapping[str, int]
    flags: frozenset[str] = field(default_factory=frozenset)
    comment: str = ""
    time: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the history. An `undo` names the event that it takes back."""

    seq: int
    kind: Kind
    rating: Rating
    undoes: int | None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a link of their own, and how they like the pages."""

    name: str
    role: Role
    language: InterfaceLanguage
    theme: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far somebody is; `seconds_left` is None until a few ratings tell how long one takes."""

    done: int
    total: int
    seconds_left: float | None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class Store:
    """The ratings of one annotation folder. One object per thread; several processes may hold one each."""

    def __init__(self, folder: Path) -> None:
        """Open the store of a folder that has one.

        Raises:
            DataError: there is none, it is damaged, or another version wrote it.
        """
        self.folder = find_folder(folder)
        try:
            self._connection = _connect(self.folder / DATABASE)
        except sqlite3.DatabaseError as error:
            raise _damaged(self.folder, error) from error
        try:
            if self._connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("it fails the integrity check")
            meta = dict(self._connection.execute("SELECT key, value FROM meta"))
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise _damaged(self.folder, error) from error
        if meta.get("format") != str(FORMAT):
            self._connection.close()
            raise DataError(
                f"{self.folder / DATABASE} has the format {meta.get('format')}; this version reads {FORMAT}."
            )
        self.scheme: Scheme = parse_scheme(meta["scheme"], f"{DATABASE}: scheme")
        self.settings: dict[str, Any] = json.loads(meta["settings"])
        self.secret = bytes.fromhex(meta["secret"])
        self._units: list[Unit] | None = None

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its start: all of it is kept, or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # --- people ---

    def people(self, role: Role | None = None) -> list[Person]:
        rows = self._connection.execute("SELECT name, role, language, theme FROM person ORDER BY name")
        return [Person(*row) for row in rows if role is None or row[1] == role]

    def person_of(self, token: str) -> Person | None:
        """Whose link this is. The token's hash is looked up, so timing tells nothing about the token."""
        row = self._connection.execute(
            "SELECT name, role, language, theme FROM person WHERE token_hash = ?", (hash_of(token),)
        ).fetchone()
        return Person(*row) if row else None

    def add_person(
        self, name: str, role: Role = "annotator", language: InterfaceLanguage = "it", units: Iterable[str] = ()
    ) -> str:
        """Give `name` a link and the units to rate in this order; returns the token.

        Raises:
            DataError: the name is taken or no name.
        """
        clean = checked_name(name)
        token = secrets.token_urlsafe(24)
        with self._writing() as db:
            try:
                db.execute(
                    "INSERT INTO person (name, role, token_hash, language) VALUES (?, ?, ?, ?)",
                    (clean, role, hash_of(token), language),
                )
            except sqlite3.IntegrityError:
                raise DataError(f"There is somebody called {clean!r} already.") from None
            db.executemany(
                "INSERT INTO assignment (person, position, unit) VALUES (?, ?, ?)",
                ((clean, position, unit) for position, unit in enumerate(units, 1)),
            )
        write_links(self.folder, read_links(self.folder) | {clean: token})
        return token

    def renew_links(self) -> dict[str, str]:
        """New tokens for everybody; the old links no longer work."""
        links = {person.name: secrets.token_urlsafe(24) for person in self.people()}
        with self._writing() as db:
            db.executemany(
                "UPDATE person SET token_hash = ? WHERE name = ?", ((hash_of(t), n) for n, t in links.items())
            )
        write_links(self.folder, links)
        return links

    def set_preference(self, person: str, *, language: str | None = None, theme: str | None = None) -> None:
        with self._writing() as db:
            if language in INTERFACE_LANGUAGES:
                db.execute("UPDATE person SET language = ? WHERE name = ?", (language, person))
            if theme in ("auto", "light", "dark"):
                db.execute("UPDATE person SET theme = ? WHERE name = ?", (theme, person))

    # --- units ---

    def units(self) -> list[Unit]:
        """All units with their occurrences, in their fixed order (they never change, and are read once)."""
        if self._units is None:
            self._units = self._read_units()
        return self._units

    def _read_units(self) -> list[Unit]:
        occurrences: dict[str, list[Occurrence]] = {}
        for item, unit, *cell, passed, drawn in self._connection.execute(
            "SELECT item_id, unit, model, task, target, shots, passed, drawn FROM occurrence ORDER BY rowid"
        ):
            occurrences.setdefault(unit, []).append(
                Occurrence(item, cast("tuple[str, str, str, str]", tuple(cell)), bool(passed), bool(drawn))
            )
        rows = self._connection.execute(f"SELECT {_UNIT} FROM unit ORDER BY position")
        return [_unit(row, occurrences.get(row[0], [])) for row in rows]

    def unit(self, identifier: str) -> Unit | None:
        """One unit without its occurrences: what a rater may know of it."""
        row = self._connection.execute(f"SELECT {_UNIT} FROM unit WHERE id = ?", (identifier,)).fetchone()
        return _unit(row, ()) if row else None

    def shared(self) -> frozenset[str]:
        return frozenset(row[0] for row in self._connection.execute("SELECT id FROM unit WHERE shared"))

    def unit_at(self, person: str, position: int) -> str | None:
        """The id of the unit that somebody rates at this place of their own order, from 1."""
        row = self._connection.execute(
            "SELECT unit FROM assignment WHERE person = ? AND position = ?", (person, position)
        ).fetchone()
        return str(row[0]) if row else None

    def position_of(self, person: str, unit: str) -> int | None:
        row = self._connection.execute(
            "SELECT position FROM assignment WHERE person = ? AND unit = ?", (person, unit)
        ).fetchone()
        return int(row[0]) if row else None

    def next_unrated(self, person: str, after: int = 0) -> int | None:
        """The first place after `after` that is not rated yet, or else the first from the start; None when all are."""
        row = self._connection.execute(
            "SELECT position FROM assignment a WHERE person = ? AND NOT EXISTS"
            " (SELECT 1 FROM rating r WHERE r.person = a.person AND r.unit = a.unit)"
            " ORDER BY position <= ?, position LIMIT 1",
            (person, after),
        ).fetchone()
        return int(row[0]) if row else None

    def overview(self, person: str, first: int, last: int) -> list[tuple[int, str, Rating | None]]:
        """Place, text and present rating of what somebody rates from one place to another, in their order."""
        rows = self._connection.execute(
            f"SELECT a.position, u.text, {_RATING} FROM assignment a JOIN unit u ON u.id = a.unit"
            " LEFT JOIN rating r ON r.person = a.person AND r.unit = a.unit"
            " WHERE a.person = ? AND a.position BETWEEN ? AND ? ORDER BY a.position",
            (person, first, last),
        )
        return [(row[0], row[1], _rating(row[2:]) if row[2] is not None else None) for row in rows]

    def progress(self, person: str) -> Progress:
        (total,) = self._connection.execute(
            "SELECT COALESCE(MAX(position), 0) FROM assignment WHERE person = ?", (person,)
        ).fetchone()
        (done,) = self._connection.execute(
            "SELECT COUNT(*) FROM rating r WHERE person = ?1 AND EXISTS"
            " (SELECT 1 FROM assignment a WHERE a.person = ?1 AND a.unit = r.unit)",
            (person,),
        ).fetchone()
        recent = sorted(
            row[0]
            for row in self._connection.execute(
                "SELECT seconds FROM event WHERE person = ? AND kind = 'rating' AND seconds IS NOT NULL"
                " ORDER BY seq DESC LIMIT 20",
                (person,),
            )
        )
        typical = recent[len(recent) // 2] if len(recent) >= 3 else None
        return Progress(done, total, None if typical is None else typical * (total - done))

    def last_rating_event(self) -> int:
        """The number of the last event that changed a rating of people; the same number, the same ratings."""
        (seq,) = self._connection.execute("SELECT COALESCE(MAX(seq), 0) FROM event WHERE kind != 'gold'").fetchone()
        return int(seq)

    # --- ratings ---

    def rating(self, person: str, unit: str) -> Rating | None:
        row = self._connection.execute(
            f"SELECT {_RATING} FROM rating r WHERE person = ? AND unit = ?",
            (person, unit),
        ).fetchone()
        return _rating(row) if row else None

    def ratings(self) -> list[Rating]:
        """All present ratings of people, by unit in their fixed order and by person."""
        rows = self._connection.execute(
            f"SELECT {_RATING} FROM rating r JOIN unit u ON u.id = r.unit ORDER BY u.position, r.person"
        )
        return [_rating(row) for row in rows]

    def ratings_of(self, unit: str) -> list[Rating]:
        rows = self._connection.execute(
            f"SELECT {_RATING} FROM rating r WHERE unit = ? ORDER BY person",
            (unit,),
        )
        return [_rating(row) for row in rows]

    def golds(self) -> list[Rating]:
        """The decisions of adjudicators; `person` is who decided."""
        rows = self._connection.execute(
            f"SELECT {_RATING} FROM gold r JOIN unit u ON u.id = r.unit ORDER BY u.position"
        )
        return [_rating(row) for row in rows]

    def gold(self, unit: str) -> Rating | None:
        row = self._connection.execute(f"SELECT {_RATING} FROM gold r WHERE unit = ?", (unit,)).fetchone()
        return _rating(row) if row else None

    def save(self, rating: Rating, *, kind: Kind = "rating", submission: str | None = None) -> bool:
        """Write a rating (or a `gold` decision) and make it the present one.

        `submission` is the id of the form it came with: the same form sent again changes nothing and gives False, so a
        browser may send until it hears that the rating is kept.

        Raises:
            DataError: the rating does not fit the scheme, or its unit is not known.
        """
        self._check(rating)
        with self._writing() as db:
            if submission is not None:
                sent = db.execute(f"SELECT {_RATING} FROM event r WHERE submission = ?", (submission,)).fetchone()
                if sent and sent[:2] == (rating.person, rating.unit) and _stored(_rating(sent)) == _stored(rating):
                    return False
                if sent:  # a page out of the browser's memory, filled in anew: a decision of its own
                    submission = None
            seq = _append(db, rating, kind, submission=submission)
            _put(db, "gold" if kind == "gold" else "rating", rating, seq)
        return True

    def save_all(self, ratings: Iterable[Rating], kind: Kind = "import") -> int:
        """Write many ratings in one transaction; those that stand already, word for word, are passed over."""
        table: Literal["rating", "gold"] = "gold" if kind == "gold" else "rating"
        written = 0
        with self._writing() as db:
            for rating in ratings:
                self._check(rating)
                present = self.gold(rating.unit) if table == "gold" else self.rating(rating.person, rating.unit)
                if present == rating:
                    continue
                _put(db, table, rating, _append(db, rating, kind))
                written += 1
        return written

    def _check(self, rating: Rating) -> None:
        if problem := self.scheme.problem(rating.values, rating.flags):
            raise DataError(f"The rating of {rating.unit} by {rating.person} has {problem}.")
        if self._connection.execute("SELECT 1 FROM unit WHERE id = ?", (rating.unit,)).fetchone() is None:
            raise DataError(f"There is no item {rating.unit!r} in this sample.")

    def undo(self, person: str) -> str | None:
        """Take back somebody's last rating that still stands: what was before it stands again. Nothing is deleted.

        Returns the unit's id, or None where there is nothing to undo.
        """
        with self._writing() as db:
            last = db.execute(
                "SELECT seq, unit FROM event e WHERE person = ? AND kind = 'rating' AND NOT EXISTS"
                " (SELECT 1 FROM event u WHERE u.undoes = e.seq) ORDER BY seq DESC LIMIT 1",
                (person,),
            ).fetchone()
            if last is None:
                return None
            seq, unit = last
            before = db.execute(
                f"SELECT {_RATING}, seq FROM event r WHERE person = ? AND unit = ? AND seq < ?"
                " AND kind IN ('rating', 'import') AND NOT EXISTS (SELECT 1 FROM event u WHERE u.undoes = r.seq)"
                " ORDER BY seq DESC LIMIT 1",
                (person, unit, seq),
            ).fetchone()
            _append(db, Rating(person, unit, {}, time=now()), "undo", undoes=seq)
            if before is None:
                db.execute("DELETE FROM rating WHERE person = ? AND unit = ?", (person, unit))
            else:
                _put(db, "rating", _rating(before[:-1]), before[-1])
            return str(unit)

    def history(self) -> list[Event]:
        """All that was ever decided, in order."""
        rows = self._connection.execute(f"SELECT seq, kind, undoes, {_RATING} FROM event r ORDER BY seq")
        return [Event(row[0], row[1], _rating(row[3:]), row[2]) for row in rows]


_UNIT: Final = "id, task, family, target, difficulty, policy, text"
_RATING: Final = 'r.person, r.unit, r."values", r.flags, r.comment, r.time, r.seconds'


def _unit(row: tuple[Any, ...], occurrences: Iterable[Occurrence]) -> Unit:
    identifier, task, family, target, difficulty, policy, text = row
    return Unit(identifier, task, family, json.loads(target), difficulty, json.loads(policy), text, tuple(occurrences))


def _rating(row: tuple[Any, ...]) -> Rating:
    person, unit, values, flags, comment, time, seconds = row
    return Rating(person, unit, json.loads(values), frozenset(json.loads(flags)), comment, time, seconds)


def _stored(rating: Rating) -> tuple[str, str, str]:
    return json.dumps(dict(rating.values), sort_keys=True), json.dumps(sorted(rating.flags)), _encodable(rating.comment)


def _append(
    db: sqlite3.Connection, rating: Rating, kind: Kind, undoes: int | None = None, submission: str | None = None
) -> int:
    cursor = db.execute(
        'INSERT INTO event (time, person, unit, kind, "values", flags, comment, seconds, undoes, submission)'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (rating.time, rating.person, rating.unit, kind, *_stored(rating), rating.seconds, undoes, submission),
    )
    return cast("int", cursor.lastrowid)


def _put(db: sqlite3.Connection, table: Literal["rating", "gold"], rating: Rating, seq: int) -> None:
    db.execute(
        f'INSERT OR REPLACE INTO {table} (person, unit, seq, time, "values", flags, comment, seconds)'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (rating.person, rating.unit, seq, rating.time, *_stored(rating), rating.seconds),
    )


# --- folders ----------------------------------------------------------------------------------------------------------


def find_folder(folder: Path) -> Path:
    """The annotation folder that `folder` is, or that stands in the run folder that it is.

    Raises:
        DataError: neither.
    """
    for candidate in (folder, folder / "annotation"):
        if (candidate / DATABASE).is_file():
            return candidate
    raise DataError(f"{folder} holds no annotation yet; «oulibench annotate {folder} --annotators NAMES» begins one.")


def _damaged(folder: Path, error: sqlite3.Error) -> DataError:
    return DataError(
        f"{folder / DATABASE} is damaged ({error}). Keep it with its -wal file, and recover what it holds with "
        f"«sqlite3 {DATABASE} .recover»."
    )


def has_store(folder: Path) -> bool:
    return (folder / DATABASE).is_file()


def create_store(
    folder: Path,
    sample: Sample,
    scheme: Scheme,
    settings: Mapping[str, Any],
    adjudicators: Iterable[str] = (),
    language: InterfaceLanguage = "it",
) -> Store:
    """A new store with this sample, its annotators and their links, in `folder` (made where it is not there).

    The file appears under its name only once it is whole.

    Raises:
        DataError: the folder has a store already, or cannot be written, or two people share a name.
    """
    if has_store(folder):
        raise DataError(f"{folder} holds an annotation already.")
    names = [checked_name(n) for n in (*sample.assignments, *adjudicators)]
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise DataError(f"Two people are called {twice!r}.")
    part = folder / (DATABASE + ".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        db = sqlite3.connect(part, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise DataError(f"{folder} cannot be written: {error}") from error
    links = {name: secrets.token_urlsafe(24) for name in names}
    db.execute("PRAGMA synchronous = OFF")  # nothing is here yet that could be lost; the whole file is synced below
    db.executescript("BEGIN;" + _SCHEMA)
    meta = {"format": str(FORMAT), "created": now(), "scheme": scheme.source}
    meta["secret"] = secrets.token_hex(32)  # of the forms' own tokens
    meta["settings"] = json.dumps(dict(settings), ensure_ascii=True)
    db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    for position, unit in enumerate(sample.units, 1):
        policy, target = json.dumps(dict(unit.policy)), canonical_target(unit.target)
        row = (unit.id, position, unit.task, unit.family, target, unit.difficulty, policy, unit.text)
        db.execute("INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, unit.id in sample.shared))
        db.executemany(
            "INSERT INTO occurrence VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((o.item_id, unit.id, *map(_encodable, o.cell), o.passed, o.drawn) for o in unit.occurrences),
        )
    for name in names:
        role = "annotator" if name in sample.assignments else "adjudicator"
        db.execute(
            "INSERT INTO person (name, role, token_hash, language) VALUES (?, ?, ?, ?)",
            (name, role, hash_of(links[name]), language),
        )
        db.executemany(
            "INSERT INTO assignment VALUES (?, ?, ?)",
            ((name, i, unit) for i, unit in enumerate(sample.assignments.get(name, ()), 1)),
        )
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    write_links(folder, links)
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(folder / DATABASE)
    return Store(folder)


def checked_name(name: str) -> str:
    """A person's name that can stand in a file name, a table cell and a page.

    Raises:
        DataError: it cannot.
    """
    clean = name.strip()
    if not 0 < len(clean) <= 60 or not all(c.isalnum() or c in " ._-@" for c in clean) or clean.startswith("."):
        raise DataError(f"A name is made of letters, digits, spaces and . _ - @ (60 at most), unlike {name!r}.")
    return clean


def read_links(folder: Path) -> dict[str, str]:
    """Name → token; empty where the file is lost (`Store.renew_links` makes new ones)."""
    try:
        links = json.loads((folder / LINKS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in links.items()} if isinstance(links, dict) else {}


def write_links(folder: Path, links: Mapping[str, str]) -> None:
    """The tokens, in a file that only its owner can read."""
    part = folder / (LINKS + ".part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(dict(links), stream, ensure_ascii=False, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(folder / LINKS)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=10, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA journal_mode = WAL")
    return connection


def _encodable(text: str) -> str:
    """`text` with what UTF-8 cannot hold escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
