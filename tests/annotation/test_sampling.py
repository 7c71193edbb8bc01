"""The sample: stratified, seeded, blind to repetition, fair to everybody."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oulibench.annotation.sampling import Settings, draw, item_id
from oulibench.errors import DataError

Row = dict[str, Any]


def row(model: str, target: Any, text: str | None, item: int, *, passed: bool | None = True, **more: Any) -> Row:
    base = {"model": model, "id": f"lipogram/{target}/0", "epoch": 1, "item": item, "task": "lipogram"}
    return {**base, "family": "stylistic", "target": target, "shots": 0, "text": text, "passed": passed, **more}


def cells(models: int, targets: str, per: int) -> list[Row]:
    return [row(f"m{m}", t, f"Testo {m} {t} {i}", i) for m in range(models) for t in targets for i in range(1, per + 1)]


def test_each_cell_gives_its_number() -> None:
    sample = draw(cells(3, "abc", 10), Settings(per_cell=4), ["a"])
    drawn = Counter(o.cell for u in sample.units for o in u.occurrences if o.drawn)
    assert len(drawn) == 9
    assert set(drawn.values()) == {4}
    assert sample.short_cells == 0
    assert draw(cells(3, "abc", 2), Settings(per_cell=4), ["a"]).short_cells == 9


def test_the_seed_decides_all_and_the_order_of_rows_nothing() -> None:
    rows = cells(2, "abcd", 20)
    one = draw(rows, Settings(seed=5), ["a", "b"])
    assert draw(rows, Settings(seed=5), ["a", "b"]) == one
    assert {u.id for u in draw(rows[::-1], Settings(seed=5), ["a", "b"]).units} == {u.id for u in one.units}
    assert draw(rows, Settings(seed=6), ["a", "b"]).units != one.units


def test_a_text_that_two_models_wrote_is_one_unit_that_counts_for_both() -> None:
    rows = [row("m1", "e", "Oggi vado via.", 1), row("m2", "e", "1. Oggi  vado via. ", 1), row("m2", "e", "Altro", 2)]
    sample = draw(rows, Settings(per_cell=2), ["a"])
    assert [u.text for u in sample.units] == ["Altro", "Oggi vado via."]
    both = sample.units[1].occurrences
    assert [(o.cell[0], o.drawn) for o in both] == [("m1", True), ("m2", True)]
    assert len(sample.assignments["a"]) == 2


def test_a_repetition_within_a_cell_is_shown_once_and_one_elsewhere_is_remembered() -> None:
    rows = [row("m1", "e", "Uno", i) for i in range(1, 6)] + [row("m2", "e", "Uno", 1), row("m2", "e", "Due", 2)]
    sample = draw(rows, Settings(per_cell=1, seed=1), ["a"])
    unit = next(u for u in sample.units if u.text == "Uno")
    assert sum(o.cell[0] == "m1" for o in unit.occurrences) == 5


def test_the_same_text_for_another_target_is_another_unit() -> None:
    rows = [row("m", "e", "Uno", 1), row("m", "z", "Uno", 2), row("m", 5, "Uno", 3), row("m", "5", "Uno", 4)]
    assert len(draw(rows, Settings(), ["a"]).units) == 4


def test_only_what_passed_unless_asked_for() -> None:
    rows = [row("m", "e", "Sì", 1), row("m", "e", "No", 2, passed=False), row("m", "e", None, 3, passed=None)]
    assert [u.text for u in draw(rows, Settings(), ["a"]).units] == ["Sì"]
    assert {u.text for u in draw(rows, Settings(failed=1), ["a"]).units} == {"Sì", "No"}
    with pytest.raises(DataError, match="no item"):
        draw(rows[1:], Settings(), ["a"])


def test_damaged_texts_are_left_out_and_counted() -> None:
    rows = [row("m", "e", "Sì", 1), row("m", "e", "a\ud800", 2), row("m", "e", "a\x00", 3), row("m", "e", " ", 4)]
    sample = draw(rows, Settings(), ["a"])
    assert ([u.text for u in sample.units], sample.unreadable) == (["Sì"], 2)


def test_a_run_given_twice_counts_once() -> None:
    rows = cells(1, "e", 3)
    assert draw(rows + rows, Settings(), ["a"]) == draw(rows, Settings(), ["a"])


@given(st.integers(1, 4), st.floats(0, 1), st.integers(0, 50), st.integers(1, 3), st.integers(1, 5), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_everything_is_rated_and_the_work_is_even(
    people: int, overlap: float, seed: int, models: int, targets: int, per: int
) -> None:
    names = [f"p{i}" for i in range(people)]
    rows = cells(models, "abcde"[:targets], per)
    sample = draw(rows, Settings(per_cell=6, overlap=overlap, seed=seed), names)
    total = len(sample.units)
    given_to = Counter(unit for own in sample.assignments.values() for unit in own)
    assert set(given_to) == {u.id for u in sample.units}
    for unit, times in given_to.items():
        assert times == (people if unit in sample.shared else 1)
    sizes = [len(own) for own in sample.assignments.values()]
    assert max(sizes) - min(sizes) <= 1
    assert all(len(set(own)) == len(own) for own in sample.assignments.values())
    if people > 1:
        assert abs(len(sample.shared) - overlap * total) <= 1
        # The overlap is spread over the cells, and so is everybody's own part.
        for own in sample.assignments.values():
            per_cell = Counter(u.occurrences[0].cell for u in sample.units if u.id in own and u.id not in sample.shared)
            alone = Counter(u.occurrences[0].cell for u in sample.units if u.id not in sample.shared)
            assert all(abs(per_cell[c] - n / people) < 2 for c, n in alone.items())


def test_two_people_see_the_shared_texts_in_different_orders() -> None:
    sample = draw(cells(3, "abcd", 10), Settings(overlap=1.0), ["a", "b"])
    one, other = sample.assignments.values()
    assert set(one) == set(other)
    assert one != other


def test_item_ids_tell_model_request_epoch_and_item_apart() -> None:
    base = row("m", "e", "x", 1)
    others = [{**base, key: value} for key, value in (("model", "n"), ("id", "y"), ("epoch", 2), ("item", 2))]
    ids = {item_id(r) for r in (base, *others)}
    assert len(ids) == 5
    assert item_id({**base, "text": "altro", "passed": False}) == item_id(base)


@pytest.mark.parametrize("wrong", [{"per_cell": 0}, {"per_cell": -1}, {"overlap": 1.5}, {"failed": -1}])
def test_settings_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        Settings(**wrong)
