"""Ratings go out and come back unchanged, by every format; what does not fit is refused by name."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oulibench.annotation.exchange import (
    history_rows,
    item_rows,
    label_studio_config,
    long_rows,
    potato_config,
    read_ratings,
    to_csv,
    to_jsonl,
    to_label_studio,
    to_potato,
    to_potato_state,
)
from oulibench.annotation.store import Rating, Store
from oulibench.cli import main
from oulibench.errors import DataError

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=60)
values = st.fixed_dictionaries({d: st.integers(1, 5) for d in ("grammaticality", "coherence", "appropriateness")})


@st.composite
def given_ratings(draw: st.DrawFn) -> list[tuple[str, int, dict[str, int], frozenset[str], str, float | None]]:
    people = st.sampled_from(["anna", "bruno", "Dora M.", "x@y.it"])
    found = draw(
        st.dictionaries(
            st.tuples(people, st.integers(0, 20)),
            st.tuples(
                values,
                st.frozensets(st.sampled_from(["not_italian", "cannot_judge"])),
                texts,
                st.one_of(st.none(), st.floats(0, 600).map(lambda s: round(s, 1))),
            ),
            max_size=12,
        )
    )
    return [(person, unit, *rest) for (person, unit), rest in found.items()]


def ratings_of(store: Store, given: list[Any]) -> list[Rating]:
    units = store.units()
    return [
        Rating(p, units[u].id, v, f, c, "2026-01-02T03:04:05.678+00:00", s)
        for p, u, v, f, c, s in sorted(given, key=str)
    ]


def same(one: Any, other: Any) -> bool:
    return sorted(one, key=lambda r: (r.person, r.unit)) == sorted(other, key=lambda r: (r.person, r.unit))


@given(given_ratings())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_format_brings_back_what_it_took(store: Store, tmp_path: Path, given: list[Any]) -> None:
    ratings = ratings_of(store, given)
    units = store.units()
    for name, data in (
        ("r.csv", to_csv(long_rows(ratings, ratings[:1]))),
        ("r.jsonl", to_jsonl(long_rows(ratings, ratings[:1]))),
        ("r.json", json.dumps(to_label_studio(units, ratings)).encode()),
    ):
        (tmp_path / name).write_bytes(data)
        back = read_ratings(tmp_path / name, None, store.scheme, units)
        assert back.problems == ()
        assert same(back.ratings, ratings)
        if name != "r.json":
            assert back.golds == tuple(ratings[:1])
    folder = tmp_path / "annotation_output"
    for person in {r.person for r in ratings}:
        (folder / person).mkdir(parents=True, exist_ok=True)
        state = to_potato_state(person, [r for r in ratings if r.person == person])
        (folder / person / "user_state.json").write_text(json.dumps(state))
    if ratings:
        back = read_ratings(folder, None, store.scheme, units)
        untimed = [Rating(r.person, r.unit, r.values, r.flags, r.comment) for r in ratings]  # Potato keeps no times
        assert same(back.ratings, untimed)
        for file in folder.rglob("*.json"):
            file.unlink()


def test_the_store_takes_in_what_another_gave_out(store: Store, tmp_path: Path, capsys: Any) -> None:
    unit = store.units()[0].id
    values = {"grammaticality": 5, "coherence": 4, "appropriateness": 3}
    store.save(Rating("anna", unit, values, comment="=cmd|' /C calc'!A0", time="2026-01-01T00:00:00+00:00"))
    store.save(Rating("carla", unit, values, time="2026-01-01T00:00:00+00:00"), kind="gold")
    before = (store.ratings(), store.golds())
    table = tmp_path / "ratings.csv"
    assert main(["export", "annotation", str(store.folder), "-o", str(table)]) == 0
    store.undo("anna")
    assert store.ratings() == []
    assert main(["annotate", str(store.folder), "--import", str(table)]) == 0
    assert "2 ratings read: 1 new, 1 known already, 0 refused" in capsys.readouterr().out
    assert (store.ratings(), store.golds()) == before
    assert [event.kind for event in store.history()] == ["rating", "gold", "undo", "import"]


def test_no_cell_is_a_formula(store: Store) -> None:
    unit = store.units()[0].id
    for comment in ("=1+1", "+1", "-1", "@x", "\tx", "'quoted", "ciao"):
        table = to_csv(long_rows([Rating("anna", unit, {"coherence": 1}, comment=comment)])).decode()
        cell = next(csv.DictReader(io.StringIO(table)))["comment"]
        assert cell[0] not in "=+-@\t"


def test_what_does_not_fit_is_refused_by_name(store: Store, tmp_path: Path) -> None:
    unit = store.units()[0].id
    good: dict[str, Any] = {"item_id": unit, "annotator": "anna", "comment": "", "time": ""}
    rows = [{**good, "dimension": d, "value": 3} for d in ("grammaticality", "coherence", "appropriateness")]
    other = store.units()[1].id
    bad: list[dict[str, Any]] = [
        {**good, "annotator": "b", "dimension": "coherence", "value": 3},  # two dimensions are missing
        *({**r, "annotator": "c", "value": 7} for r in rows),
        *({**r, "annotator": "d", "item_id": "nowhere"} for r in rows),
        *({**r, "annotator": "<e>"} for r in rows),
        *({**r, "item_id": other} for r in [*rows, rows[0]]),  # a dimension twice
        *({**r, "annotator": "f", "value": "tre"} for r in rows),
    ]
    path = tmp_path / "r.jsonl"
    path.write_bytes(to_jsonl([*rows, *bad]))
    read = read_ratings(path, None, store.scheme, store.units())
    assert len(read.ratings) == 1
    assert len(read.problems) == 6
    assert f"{path}:4" in read.problems[0]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("r.csv", b"\xff\xfe"),
        ("r.csv", b"a,b\r\n1,2\r\n"),
        ("r.csv", b""),
        ("r.jsonl", b"[1]\n"),
        ("r.jsonl", b"{\n"),
        ("r.json", b"{}"),
        ("r.json", b"[1]"),
        ("r.json", b"[" * 100_000),
        ("r.txt", b""),
        ("user_state.json", b"[]"),
    ],
)
def test_files_that_are_something_else(store: Store, tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError):
        read_ratings(path, "potato" if name == "user_state.json" else None, store.scheme, store.units())


def test_exports_for_other_tools_are_blind(store: Store) -> None:
    units = store.units()
    everything = json.dumps(to_label_studio(units)) + to_potato(units).decode()
    for word in ("alfa", "beta", "gamma", "shots", "explicit", "passed"):
        assert word not in everything
    assert all(unit.id in everything for unit in units)
    assert "alfa" in to_jsonl(item_rows(units)).decode()  # the table of items is what tells


def test_label_studio_asks_what_the_scheme_asks(store: Store) -> None:
    root = ElementTree.fromstring(label_studio_config(store.scheme))  # noqa: S314  # our own output
    choices = {c.get("name"): [p.get("value") for p in c] for c in root.iter("Choices")}
    assert choices == {d.id: list("12345") for d in store.scheme.dimensions} | {
        "flags": ["not_italian", "cannot_judge"]
    }
    assert {c.get("toName") for c in root.iter("Choices")} == {"text"}


def test_an_export_of_label_studio_itself(store: Store, tmp_path: Path) -> None:
    unit = store.units()[0].id
    result = [
        {"id": "a", "type": "choices", "value": {"choices": [v]}, "origin": "manual", "to_name": "text", "from_name": d}
        for d, v in (("grammaticality", "4"), ("coherence", "5"), ("appropriateness", "3"))
    ]
    base = {"lead_time": 4.2, "created_at": "2026-03-09T22:16:08.728353Z", "was_cancelled": False, "result": result}
    tasks = [
        {
            "id": 1,
            "data": {"item_id": unit, "text": "…"},
            "annotations": [
                {**base, "completed_by": 7},
                {**base, "completed_by": {"id": 2, "email": "anna@x.it"}},
                {**base, "completed_by": 9, "was_cancelled": True},
            ],
            "predictions": [],
        }
    ]
    path = tmp_path / "project.json"
    path.write_text(json.dumps(tasks))
    read = read_ratings(path, None, store.scheme, store.units())
    assert [(r.person, dict(r.values), r.seconds) for r in read.ratings] == [
        (p, {"grammaticality": 4, "coherence": 5, "appropriateness": 3}, 4.2) for p in ("7", "anna@x.it")
    ]


def test_a_user_state_of_potato_itself(store: Store, tmp_path: Path) -> None:
    unit = store.units()[0].id
    state = {
        "user_id": "anna",
        "instance_id_ordering": [unit],
        "instance_id_to_label_to_value": {
            unit: [
                [{"schema": "grammaticality", "name": "4"}, "4"],
                [{"schema": "coherence", "name": "5"}, True],
                [{"schema": "appropriateness", "name": "3"}, "3"],
                [{"schema": "flags", "name": "not_italian"}, ""],
                [{"schema": "comment", "name": "text_box"}, "strana"],
            ]
        },
    }
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "user_state.json").write_text(json.dumps(state))
    (rating,) = read_ratings(tmp_path, "potato", store.scheme, store.units()).ratings
    assert (dict(rating.values), rating.flags, rating.comment) == (
        {"grammaticality": 4, "coherence": 5, "appropriateness": 3},
        frozenset(),
        "strana",
    )
    config = potato_config(store.scheme)
    assert [s["name"] for s in config["annotation_schemes"]] == [*rating.values, "flags", "comment"]


def test_the_history_goes_out_whole(store: Store) -> None:
    unit = store.unit_at("anna", 1)
    assert unit is not None
    store.save(Rating("anna", unit, {"grammaticality": 5, "coherence": 4, "appropriateness": 3}, time="t"))
    store.undo("anna")
    rows = list(history_rows(store.history()))
    assert [(r["event"], r["kind"], r["undoes"]) for r in rows] == [(1, "rating", None), (2, "undo", 1)]
