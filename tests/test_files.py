"""Folders and Parquet: nothing lost, nothing mixed, and a second run does what is missing."""

from __future__ import annotations

import datetime
import decimal
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from oulibench.cli import main
from oulibench.files import Part, PartWork, Shard, local_engine, read_parts
from oulibench.scoring import Totals, score, score_block
from oulibench.tables import TableBlock, misfit, read_blocks, survey
from oulibench.verdict import FIELDS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

GOOD: dict[str, Any] = {"task": "lipogram", "target": "e", "text": "Oggi vado in montagna"}
BAD: dict[str, Any] = {"task": "lipogram", "target": "e", "text": "Perché no"}
RESPONSE: dict[str, Any] = {"task": "word_length", "target": 3, "n": 2, "response": "1. Il gatto dorme.\n2. Piove."}


def write_lines(path: Path, rows: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def write_table(path: Path, rows: Sequence[dict[str, Any]], schema: Any = None, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, **options)
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def score_to(*arguments: object) -> int:
    return main(["score", *map(str, arguments)])


# --- Parquet ---


def test_a_table_keeps_its_columns_and_their_types(tmp_path: Path) -> None:
    moment = datetime.datetime(2024, 2, 29, 23, 59, 1, 5, tzinfo=datetime.UTC)
    rows = [
        {**GOOD, "id": 7, "at": moment, "raw": b"\x00\xff", "price": decimal.Decimal("1.50"), "deep": {"a": [1, 2]}},
        {**BAD, "id": None, "at": None, "raw": None, "price": None, "deep": None},
    ]
    source = write_table(tmp_path / "in.parquet", rows)
    assert score_to(source, "-o", tmp_path / "out.parquet") == 0
    before, after = pq.read_table(source), pq.read_table(tmp_path / "out.parquet")
    assert after.select(before.column_names).equals(before)
    assert after.column_names == [*before.column_names, "status", *FIELDS]
    assert after.column("passed").to_pylist() == [True, False]
    assert after.column("violations").to_pylist() == [[], [{"word": "Perché", "start": 0, "end": 6}]]
    assert after.column("measured").to_pylist() == ["0", "1"]


def test_a_table_as_json_lines_has_what_json_can_say(tmp_path: Path) -> None:
    moment = datetime.datetime(2024, 2, 29, 23, 59, 1, tzinfo=datetime.UTC)
    row = {**GOOD, "at": moment, "raw": b"\x00\xff", "price": decimal.Decimal("1.50"), "deep": {"a": [b"x", None]}}
    row |= {"long": datetime.timedelta(seconds=90), "day": datetime.date(2024, 2, 29), "share": float("nan")}
    source = write_table(tmp_path / "in.parquet", [row])
    assert score_to(source, "-o", tmp_path / "out.jsonl") == 0
    (scored,) = read_lines(tmp_path / "out.jsonl")
    assert scored["at"] == "2024-02-29T23:59:01+00:00"
    assert (scored["raw"], scored["price"], scored["deep"]) == ("AP8=", "1.50", {"a": ["eA==", None]})
    assert (scored["long"], scored["day"], scored["share"]) == (90.0, "2024-02-29", None)
    assert scored["passed"] is True


def test_nanoseconds_do_not_stop_a_table(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([GOOD]).append_column("at", pa.array([1], pa.timestamp("ns")))
    pq.write_table(table, tmp_path / "in.parquet")
    assert score_to(tmp_path / "in.parquet", "-o", tmp_path / "out.jsonl") == 0
    assert read_lines(tmp_path / "out.jsonl")[0]["at"] == "1970-01-01T00:00:00"
    assert score_to(tmp_path / "in.parquet", "-o", tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").column("at").cast(pa.int64()).to_pylist() == [1]


def test_tables_and_lines_give_the_same_verdicts(tmp_path: Path) -> None:
    rows = [
        {key: value for key, value in json.loads(line).items() if key in ("task", "target", "text")}
        for line in Path("tests/golden/verdicts.jsonl").read_text("utf-8").splitlines()
    ]
    assert len({row["task"] for row in rows}) == 11
    texts = [{**row, "target": None if row["target"] is None else str(row["target"])} for row in rows]
    source = write_table(tmp_path / "in.parquet", texts, row_group_size=10)
    assert score_to(source, "-o", tmp_path / "out.jsonl") == 0
    assert score_to(source, "-o", tmp_path / "out.parquet", "-j", 2) == 0
    expected = score(rows)
    for field in FIELDS:
        assert [row[field] for row in read_lines(tmp_path / "out.jsonl")] == [row[field] for row in expected]
        if field != "measured":
            column = pq.read_table(tmp_path / "out.parquet").column(field).to_pylist()
            assert column == [row[field] for row in expected]


def test_responses_in_a_table_give_one_row_per_item(tmp_path: Path) -> None:
    rows = [{**RESPONSE, "id": "a"}, {**RESPONSE, "id": "b", "response": ""}, {**RESPONSE, "id": "c", "n": None}]
    source = write_table(tmp_path / "in.parquet", rows)
    assert score_to(source, "-o", tmp_path / "out.parquet") == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("id").to_pylist() == ["a", "a", "b", "c", "c"]
    assert table.column("item").to_pylist() == [1, 2, None, 1, 2]
    assert table.column("text").to_pylist() == ["Il gatto dorme.", "Piove.", None, "Il gatto dorme.", "Piove."]
    assert table.column("response").to_pylist() == [None, None, "", None, None]
    assert table.column("status").to_pylist() == ["ok", "ok", "no_response", "ok", "ok"]
    assert score_to(source, "-o", tmp_path / "out.jsonl") == 0
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows]
    assert read_lines(tmp_path / "out.jsonl") == score(rows)


def test_texts_and_responses_may_share_a_table(tmp_path: Path) -> None:
    source = write_table(tmp_path / "in.parquet", [{**GOOD, "response": None}, {**RESPONSE, "target": "3"}])
    table = pq.read_table(source)
    assert table.column("text").to_pylist() == [GOOD["text"], None]
    assert score_to(source, "-o", tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").column("text").to_pylist() == [
        GOOD["text"],
        "Il gatto dorme.",
        "Piove.",
    ]


def test_scoring_a_scored_table_changes_nothing(tmp_path: Path) -> None:
    source = write_table(tmp_path / "in.parquet", [GOOD, BAD])
    assert score_to(source, "-o", tmp_path / "once.parquet") == 0
    assert score_to(tmp_path / "once.parquet", "-o", tmp_path / "twice.parquet") == 0
    assert (tmp_path / "once.parquet").read_bytes() == (tmp_path / "twice.parquet").read_bytes()


def test_rows_of_a_table_fail_alone_and_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [GOOD, {**GOOD, "task": "lipogramm"}, {**GOOD, "text": None}, {**GOOD, "target": None}, GOOD]
    source = write_table(tmp_path / "in.parquet", rows)
    assert score_to(source, "-o", tmp_path / "out.parquet") == 1
    said = capsys.readouterr().err
    assert all(f"{source}:{row}: " in said for row in (2, 3, 4))
    assert "received 5 lines = scored 2 + failed 3; 5 rows written, 2 passed" in said
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("passed").to_pylist() == [True, None, None, None, True]


def test_text_that_is_not_utf_8_fails_alone(tmp_path: Path) -> None:
    broken = pa.array([b"ci\xffao", b"Oggi vado"], pa.binary()).view(pa.string())
    table = pa.table({"task": ["lipogram"] * 2, "target": ["e"] * 2, "text": broken})
    pq.write_table(table, tmp_path / "in.parquet")
    assert score_to(tmp_path / "in.parquet", "-o", tmp_path / "out.jsonl") == 1
    assert [row["status"] for row in read_lines(tmp_path / "out.jsonl")] == ["scoring_failed", "ok"]


def test_bytes_are_text_where_text_is_read(tmp_path: Path) -> None:
    """Some writers of Parquet do not say that their bytes are text; base 64 is nothing to judge."""
    rows = [{key: value.encode() for key, value in row.items()} for row in (GOOD, BAD)]
    table = write_table(tmp_path / "in.parquet", rows)
    for name, read in (("out.jsonl", read_lines), ("out.parquet", lambda path: pq.read_table(path).to_pylist())):
        assert score_to(table, "-o", tmp_path / name) == 0
        assert [row["passed"] for row in read(tmp_path / name)] == [True, False]
    assert read_lines(tmp_path / "out.jsonl")[1]["text"] == BAD["text"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (lambda: pa.array([2**59], pa.timestamp("us")), "20237-04-25T10:45:03.423488"),
        (lambda: pa.array([2**62], pa.timestamp("us", "UTC")), "<value out of range: 4611686018427387904>"),
        (lambda: pa.array([[-(2**56)]], pa.list_(pa.timestamp("us"))), ["-0314-08-02T01:39:22.072064"]),
        (lambda: pa.array([3_000_000], pa.date32()), "10183-09-21"),
        (lambda: pa.array([2**62], pa.duration("s")), float(2**62)),
        (lambda: pa.array([0], pa.timestamp("us", "+25:61")), "1970-01-01T00:00:00.000000+00:00"),
        (lambda: pa.array([{"a": [1]}], pa.struct([("a", pa.list_(pa.timestamp("ns")))])), None),
        (lambda: pa.ListArray.from_arrays([0, 1], pa.array([b"\xff"]).view(pa.string())), ["\udcff"]),
    ],
)
def test_values_that_python_has_not_do_not_stop_a_table(column: Any, said: object, tmp_path: Path) -> None:
    table = pa.Table.from_pylist([GOOD]).append_column("other", column())
    pq.write_table(table, tmp_path / "in.parquet")
    assert score_to(tmp_path / "in.parquet", "-o", tmp_path / "out.jsonl") == 0
    (row,) = read_lines(tmp_path / "out.jsonl")
    assert row["passed"] is True
    assert said is None or row["other"] == said


def test_an_item_that_rows_bring_along_stays(tmp_path: Path) -> None:
    """Of rows that were scored already, and where the word means something else."""
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    assert score_to(write_table(tmp_path / "in.parquet", [RESPONSE]), "-o", first) == 0
    assert score_to(first, "-o", second) == 0
    one, two = (pq.read_table(path).drop_columns("signature") for path in (first, second))  # it names the reader
    assert two.equals(one)
    assert pq.read_table(second)["item"].to_pylist() == [1, 2]
    for item in ("a", 2**40, 0.5):
        lines = write_lines(tmp_path / "in.jsonl", [{**GOOD, "item": item}, RESPONSE])
        assert score_to(lines, "-o", first) == 0
        expected = [item, "1", "2"] if item == "a" else [item, 1, 2]
        assert pq.read_table(first)["item"].to_pylist() == expected
        table = write_table(tmp_path / "in.parquet", [{**GOOD, "item": item, "response": None}])
        assert score_to(table, "-o", first) == 0
        assert pq.read_table(first)["item"].to_pylist() == [item]


def test_a_field_whose_name_is_damaged_becomes_a_column(tmp_path: Path) -> None:
    lines = tmp_path / "in.jsonl"
    lines.write_text(json.dumps({**GOOD, "\ud800": 1}) + "\n", "ascii")
    assert score_to(lines, "-o", tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").to_pylist()[0]["\\ud800"] == 1


def test_a_policy_may_be_a_column(tmp_path: Path) -> None:
    text = {"task": "word_length", "target": "4", "text": "C'è un po' d'acqua"}  # six words, four between blanks
    rows: list[dict[str, Any]] = [{**text, "policy": {"words": "graphic", "names": None}}, {**text, "policy": None}]
    assert score_to(write_table(tmp_path / "in.parquet", rows), "-o", tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").column("passed").to_pylist() == [True, False]
    rows = [{**text, "policy": '{"words": "graphic"}'}, {**text, "policy": "graphic"}]
    assert score_to(write_table(tmp_path / "in.parquet", rows), "-o", tmp_path / "out.parquet") == 1
    assert pq.read_table(tmp_path / "out.parquet").column("passed").to_pylist() == [True, None]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"tasks": "lipogram", "text": "x"}], 'no column "task". The columns are: tasks, text'),
        ([{"task": "lipogram", "testo": "x"}], 'neither a column "text" nor "response". The columns are: task, testo'),
    ],
)
def test_a_table_without_the_columns_says_which_it_has(
    rows: list[dict[str, Any]], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_table(tmp_path / "in.parquet", rows)
    assert score_to(source, "-o", tmp_path / "out.parquet") == 2
    assert says in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_rows_of_json_become_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {**GOOD, "id": 1, "share": 1, "sure": True, "mixed": 1, "none": None, "list": [1]},
        {**GOOD, "target": 5, "id": 2, "share": 0.5, "sure": None, "mixed": "due", "huge": 2**70, "text": "a\ud800"},
        {**GOOD, "late": "x"},
    ]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows) + "no json\n", "utf-8")
    assert score_to(source, "-o", tmp_path / "out.parquet") == 1
    assert f"{source}:4: the line is not JSON" in capsys.readouterr().err
    table = pq.read_table(tmp_path / "out.parquet")
    types = {field.name: str(field.type) for field in table.schema}
    assert types["id"] == "int64"
    assert types["share"] == "double"
    assert types["sure"] == "bool"
    assert {types[name] for name in ("mixed", "none", "list", "huge", "late", "target")} == {"string"}
    assert table.column("mixed").to_pylist() == ["1", "due", None]
    assert table.column("list").to_pylist() == ["[1]", None, None]
    assert table.column("huge").to_pylist() == [None, str(2**70), None]
    assert table.column("target").to_pylist() == ["e", "5", "e"]
    assert table.column("text").to_pylist()[1] == "a?"  # UTF-8 has no lone surrogates


def test_an_empty_file_gives_an_empty_one(tmp_path: Path) -> None:
    schema = pa.schema([("task", pa.string()), ("text", pa.string())])
    write_lines(tmp_path / "in" / "a.jsonl", [])
    write_table(tmp_path / "in" / "b.parquet", [], schema=schema)
    assert score_to(tmp_path / "in", "-o", tmp_path / "out") == 0
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == b""
    assert pq.read_table(tmp_path / "out" / "b.parquet").num_rows == 0
    assert score_to(tmp_path / "in", "-o", tmp_path / "tables", "--to", "parquet", "-j", 2) == 0
    assert [pq.read_table(tmp_path / "tables" / f"{name}.parquet").num_rows for name in "ab"] == [0, 0]


def test_large_rows_are_read_few_at_a_time(tmp_path: Path) -> None:
    rows = [{**GOOD, "more": str(i) * 200_000} for i in range(100)]
    source = write_table(tmp_path / "in.parquet", rows, compression="none", use_dictionary=False)
    blocks = list(read_blocks(source))
    assert sum(map(len, blocks)) == 100
    assert max(len(block.stream) for block in blocks) < 8_000_000
    assert [block.first for block in blocks] == [1 + sum(map(len, blocks[:i])) for i in range(len(blocks))]


def test_what_fields_become() -> None:
    lines = [b'{"a": 1, "b": null}', b'{"a": 2.5, "c": 9223372036854775808}', b'{"b": [], "c": 1}', b"x"]
    assert survey(lines) == {"a": "number", "b": "text", "c": "text"}
    assert misfit({"a": "number", "b": "text"}, {"a": "whole", "b": "truth"}) is None
    assert misfit({"a": "whole"}, {"a": "number"}) == "a"
    assert misfit({"a": "whole"}, {"b": "text"}) == "b"
    assert misfit({"a": "whole"}, {"a": ""}) is None


# --- folders ---


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inputs = tmp_path / "in"
    write_lines(inputs / "b.jsonl", [GOOD, BAD])
    write_lines(inputs / "a" / "deep.jsonl", [GOOD])
    write_table(inputs / "c.parquet", [BAD])
    (inputs / "d.jsonl.gz").write_bytes(gzip.compress((inputs / "b.jsonl").read_bytes()))
    (inputs / "notes.txt").write_text("none of ours", "utf-8")
    (inputs / ".hidden.jsonl").write_text("none of ours", "utf-8")
    (inputs / "_manifest.jsonl").write_text("none of ours", "utf-8")
    return inputs


OUTPUTS = ["_manifest.jsonl", "a/deep.jsonl", "b.jsonl", "c.parquet", "d.jsonl"]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_gives_a_folder(folder: Path, jobs: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert score_to(folder, "-o", out, "-j", jobs) == 0
    assert "received 6 lines = scored 6 + failed 0; 6 rows written, 3 passed" in capsys.readouterr().err
    assert sorted(contents(out)) == OUTPUTS
    assert score_to(folder / "b.jsonl", "-o", tmp_path / "b.jsonl") == 0
    assert (out / "b.jsonl").read_bytes() == (out / "d.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_second_run_does_nothing_over(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    score_to(folder, "-o", out)
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in out.rglob("*.*")}
    capsys.readouterr()
    assert score_to(folder, "-o", out) == 0
    said = capsys.readouterr().err
    assert "4 of 4 files were done already" in said
    assert "received 6 lines = scored 6" in said
    assert {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in out.rglob("*.*")} == before


def test_what_is_missing_or_has_changed_is_scored(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    score_to(folder, "-o", out)
    (out / "c.parquet").unlink()
    write_lines(folder / "b.jsonl", [BAD, BAD, BAD])
    write_lines(folder / "new.jsonl", [GOOD])
    capsys.readouterr()
    assert score_to(folder, "-o", out) == 0
    said = capsys.readouterr().err
    assert "2 of 5 files were done already" in said
    assert f"{folder / 'b.jsonl'} has changed since it was scored" in said
    assert len(read_lines(out / "b.jsonl")) == 3
    assert pq.read_table(out / "c.parquet").num_rows == 1
    assert (out / "new.jsonl").exists()
    score_to(folder, "-o", tmp_path / "anew")
    everything, anew = contents(out), contents(tmp_path / "anew")
    assert {name: data for name, data in everything.items() if name != "_manifest.jsonl"} == {
        name: data for name, data in anew.items() if name != "_manifest.jsonl"
    }


def test_a_broken_file_fails_alone_and_is_done_when_it_is_whole(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, table, packed = tmp_path / "out", folder / "c.parquet", folder / "d.jsonl.gz"
    whole = table.read_bytes(), packed.read_bytes()
    table.write_bytes(whole[0][:-20])
    packed.write_bytes(whole[1][:-12])
    assert score_to(folder, "-o", out) == 1
    said = capsys.readouterr().err
    assert f"{table}: cannot be read" in said
    assert f"{packed}: cannot be read" in said
    assert "2 of 4 files failed and have no output" in said
    assert "received 3 lines = scored 3 + failed 0" in said
    assert sorted(contents(out)) == ["_manifest.jsonl", "a/deep.jsonl", "b.jsonl"]
    table.write_bytes(whole[0])
    packed.write_bytes(whole[1])
    assert score_to(folder, "-o", out) == 0
    assert "2 of 4 files were done already" in capsys.readouterr().err
    assert sorted(contents(out)) == OUTPUTS


def test_a_table_that_breaks_off_amid_its_rows_leaves_no_output(tmp_path: Path) -> None:
    rows = [{**GOOD, "text": f"Oggi vado in montagna {os.urandom(20).hex()}"} for _ in range(6_000)]
    source = write_table(tmp_path / "in" / "a.parquet", rows, row_group_size=1_000, compression="zstd")
    data = bytearray(source.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4_000] = bytes(4_000)
    source.write_bytes(data)
    assert score_to(source, "-o", tmp_path / "out.parquet") == 2
    assert score_to(tmp_path / "in", "-o", tmp_path / "out") == 1
    assert sorted(contents(tmp_path / "out")) == ["_manifest.jsonl"]
    assert not (tmp_path / "out.parquet").exists()


def test_rows_scored_otherwise_are_never_mixed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    score_to(folder, "-o", out)
    before = contents(out)
    assert score_to(folder, "-o", out, "--words", "graphic") == 2
    assert "policy.words: orthographic; now graphic" in capsys.readouterr().err
    monkeypatch.setattr("oulibench.files.READER_VERSION", "of tomorrow")
    assert score_to(folder, "-o", out) == 2
    assert "reader" in capsys.readouterr().err
    assert contents(out) == before


def test_columns_are_the_same_in_all_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", [{**GOOD, "id": 1}])
    write_lines(tmp_path / "in" / "b.jsonl", [{**GOOD, "id": "due", "more": 0.5}])
    out = tmp_path / "out"
    assert score_to(tmp_path / "in", "-o", out, "--to", "parquet") == 0
    first, second = pq.read_table(out / "a.parquet"), pq.read_table(out / "b.parquet")
    assert first.schema == second.schema
    assert first.column("id").to_pylist() + second.column("id").to_pylist() == ["1", "due"]
    write_lines(tmp_path / "in" / "c.jsonl", [{**GOOD, "id": 3}])
    assert score_to(tmp_path / "in", "-o", out, "--to", "parquet") == 0
    assert pq.read_table(out / "c.parquet").schema == first.schema
    write_lines(tmp_path / "in" / "d.jsonl", [{**GOOD, "other": 3}])
    assert score_to(tmp_path / "in", "-o", out, "--to", "parquet") == 2
    assert "the field 'other' fits no column" in capsys.readouterr().err


def test_calls_that_would_mix_or_overwrite_are_refused(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_lines(other / "b.jsonl", [GOOD])
    full = tmp_path / "full"
    write_lines(full / "mine.jsonl", [GOOD])
    assert score_to(folder) == 2  # no output
    assert score_to(folder, "-o", folder) == 2
    assert score_to(folder, "-o", folder / "out") == 2
    assert score_to(folder, other, "-o", tmp_path / "out") == 2  # two of one name
    assert score_to(folder, "-o", full) == 2
    assert score_to(folder, "-o", folder / "b.jsonl") == 2
    assert score_to(folder, "-", "-o", tmp_path / "out") == 2
    assert score_to(tmp_path / "none", folder, "-o", tmp_path / "out") == 2
    assert score_to(folder / "b.jsonl", "-o", tmp_path / "x.jsonl.gz") == 2
    (tmp_path / "empty").mkdir()
    assert score_to(tmp_path / "empty", "-o", tmp_path / "out") == 2
    assert score_to(folder, "-o", tmp_path / "out", "--workers", 2) == 2
    assert not (tmp_path / "out").exists()
    assert score_to(folder, "-o", tmp_path / "out") == 0
    assert score_to(other, "-o", tmp_path / "out") == 2  # b.jsonl is of another folder
    assert len(read_lines(tmp_path / "out" / "b.jsonl")) == 2


def test_a_folder_is_scored_into_by_one_at_a_time(folder: Path, tmp_path: Path) -> None:
    from oulibench.errors import DataError
    from oulibench.files import Manifest, settings_of

    manifest = Manifest(tmp_path / "out", settings_of({}))
    with pytest.raises(DataError, match="another process"):
        Manifest(tmp_path / "out", settings_of({}))
    manifest.close()
    assert score_to(folder, "-o", tmp_path / "out") == 0


def test_a_manifest_cut_off_in_its_last_line_is_read(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    score_to(folder, "-o", out)
    manifest = out / "_manifest.jsonl"
    held = manifest.read_bytes()
    manifest.write_bytes(held[:-30])
    (out / "d.jsonl").unlink()  # an entry is written before its output appears
    assert score_to(folder, "-o", out) == 0
    assert manifest.read_bytes() == held


@pytest.mark.parametrize(
    "line",
    [
        '{"output": "a.jsonl"}',
        '{"output": 5, "size": 1, "source": "x", "stamp": [1, 2], "totals": {}}',
        '{"output": "a.jsonl", "size": 1, "source": "x", "stamp": [1, 2], "totals": {"received": 1, "bogus": 2}}',
        '{"output": "a.jsonl", "size": 1, "source": "x", "stamp": [1, 2], "totals": {"received": "1"}}',
        '{"columns": {"x": "bogus"}}',
        '{"format": 1, "settings": 3}',
        "{}",
        "[]",
    ],
)
def test_a_manifest_that_was_damaged_is_refused(
    line: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    score_to(folder, "-o", out)
    manifest = out / "_manifest.jsonl"
    held = manifest.read_text("utf-8").splitlines(keepends=True)
    for lines in ([*held, f"{line}\n"], [f"{line}\n", *held]):
        manifest.write_text("".join(lines), "utf-8")
        assert score_to(folder, "-o", out) == 2
        assert f"_manifest.jsonl:{lines.index(line + chr(10)) + 1}: " in capsys.readouterr().err


def test_what_a_folder_holds_and_cannot_be_read_is_missed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or its rows would be missing from the figures, and nobody would know."""
    (folder / "lost.jsonl").symlink_to("nowhere")
    assert score_to(folder, "-o", tmp_path / "out") == 2
    assert "lost.jsonl: No such file" in capsys.readouterr().err
    (folder / "lost.jsonl").unlink()
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    (folder / "sub").mkdir(exist_ok=True)
    monkeypatch.setattr(os, "scandir", refuse)
    assert score_to(folder, "-o", tmp_path / "out") == 2
    assert "sub: Permission denied" in capsys.readouterr().err


def test_a_run_that_is_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    for i in range(6):
        write_lines(tmp_path / "in" / f"{i}.jsonl", [{**GOOD, "id": n} for n in range(20_000)])
    out = tmp_path / "out"
    command = [sys.executable, "-m", "oulibench", "score", tmp_path / "in", "-o", out, "-j", "2"]
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (out / "0.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    workers = _descendants(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = [file.name for file in out.glob("[0-9]*.jsonl")]
    assert 0 < len(done) < 6
    stamps = {name: (out / name).stat().st_mtime_ns for name in done}
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()], "workers outlive the command"
    assert score_to(tmp_path / "in", "-o", out) == 0
    assert {name: (out / name).stat().st_mtime_ns for name in done} == stamps
    assert [len(read_lines(out / f"{i}.jsonl")) for i in range(6)] == [20_000] * 6
    assert not list(out.glob("_*.part"))


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_descendants(child)]
    return found


def test_a_file_that_changes_while_it_is_scored_fails(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [GOOD])
    shard = Shard.of("a.jsonl", source, None)
    write_lines(source, [GOOD, GOOD])
    *_, last = read_parts(shard)
    assert last.error is not None
    assert "changed" in last.error


def _die_on_eleven(rows: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    if any(row["id"] == 11 for row in rows):
        os._exit(9)
    return score_block(rows)


def test_a_worker_that_dies_takes_its_row_of_a_table_alone(tmp_path: Path) -> None:
    source = write_table(tmp_path / "in.parquet", [{**GOOD, "id": i} for i in range(9, 13)])
    # On the way to a table, a transform sees no `id`: this is the way to JSON lines.
    shard = Shard.of("in.parquet", source, None)
    parts = list(local_engine(2)([shard], read_parts, PartWork(_die_on_eleven)))
    totals = sum((part.block.totals for part in parts), Totals())
    assert totals == Totals(received=4, scored=3, failed=1, rows=4, passed=3)
    assert [problem.line for part in parts for problem in part.block.problems] == [3]
    rows = [json.loads(line) for part in parts for line in part.block.output.splitlines()]
    assert [row["id"] for row in rows] == [9, 10, 11, 12]
    assert parts[-1].end


def test_halves_of_a_table_block_are_one_table_again(tmp_path: Path) -> None:
    source = write_table(tmp_path / "in.parquet", [{**GOOD, "id": i} for i in range(5)])
    shard = Shard.of("in.parquet", source, tmp_path / "out.parquet")
    (block,) = read_blocks(source)
    work = PartWork(score_block)
    halves = work.halves(Part(shard, block))
    assert halves is not None
    first, second = halves
    assert isinstance(second.block, TableBlock)
    assert (len(first.block), second.block.first) == (2, 3)
    joined = work.join(work(first), work(second))
    writer_in = tmp_path / "joined.parquet"
    from oulibench.tables import TableWriter

    writer = TableWriter(writer_in)
    writer.write(joined.block.output)
    writer.close()
    assert pq.read_table(writer_in).column("id").to_pylist() == list(range(5))


def test_compressed_lines_and_tables_go_to_standard_output(tmp_path: Path) -> None:
    packed = tmp_path / "in.jsonl.gz"
    packed.write_bytes(gzip.compress(write_lines(tmp_path / "in.jsonl", [GOOD]).read_bytes()))
    shown = [
        subprocess.run(
            [sys.executable, "-m", "oulibench", "score", str(source)], capture_output=True, check=True
        ).stdout
        for source in (packed, tmp_path / "in.jsonl")
    ]
    assert shown[0] == shown[1] != b""


def test_outputs_move_with_their_folder(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score_to(folder, "-o", tmp_path / "out")
    shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    capsys.readouterr()
    assert score_to(folder, "-o", tmp_path / "elsewhere") == 0
    assert "4 of 4 files were done already" in capsys.readouterr().err


def test_another_file_of_the_same_size_and_time_is_another_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As archives unpack them that hold no times."""
    for name, text in (("one", "ciao"), ("two", "mare")):
        os.utime(write_lines(tmp_path / name / "a.jsonl", [{**GOOD, "text": text}]), (0, 0))
    assert score_to(tmp_path / "one", "-o", tmp_path / "out") == 0
    assert score_to(tmp_path / "two", "-o", tmp_path / "out") == 2
    assert "holds the rows of" in capsys.readouterr().err
    shutil.move(tmp_path / "one", tmp_path / "moved")
    assert score_to(tmp_path / "moved", "-o", tmp_path / "out") == 0
    assert "1 of 1 files were done already" in capsys.readouterr().err


def test_without_ray_the_extra_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert score_to(folder, "-o", tmp_path / "out", "--engine", "ray") == 2
    assert "pip install 'oulibench[ray]'" in capsys.readouterr().err
    assert score_to(folder, "-o", tmp_path / "out") == 0
