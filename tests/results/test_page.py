"""The page: in a real browser (headless Chromium), and its text without one. A script error fails the test."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.results.make_runs import Fake, invented_demonstrations, response_rows, write_run

from oulibench.cli import main

HOSTILE = '=HYPERLINK("http://x")</script><script>document.title="taken"</script><img src=x onerror=alert(1)> $x_1^2$'
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


def build(folder: Path, rows: list[dict[str, Any]], *options: str, **settings: Any) -> Path:
    run = write_run(folder / "run", rows, **settings)
    main(["report", str(run), "-o", str(folder / "report"), "--no-parse", "--resamples", "100", "-j", "1", *options])
    return folder / "report"


def hostile_rows() -> list[dict[str, Any]]:
    rows = list(response_rows(Fake(HOSTILE, 0.5), ("lipogram", "word_length", "palindrome"), (0, 5), n=5))
    rows[0]["response"] = "1. </script><script>document.title='taken'</script> perché è così\n2. Il mare è calmo"
    rows[1]["response"] = "=cmd|' /C calc'!A0"
    assert rows[2]["target"] == "e"
    rows[2]["response"] = "1. Il 👩🏽🚀𝄞 mare è bello"
    return rows


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    demonstrations = invented_demonstrations()
    fakes = [
        Fake("good/brava-7b", 0.8),
        Fake("hf/sapienzanlp/Minerva-7B-instruct-v1.0", 0.3, english=0.3, refusing=0.1),
        Fake("bad/copiona-1b", 0.1, copying=0.95, repeating=0.0, truncating=0.2, failing=0.1),
    ]
    rows = [r for f in fakes for r in response_rows(f, shots=(0, 5), n=8, demonstrations=demonstrations)]
    return build(tmp_path_factory.mktemp("several"), rows, "--intervals")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hostile"), hostile_rows())


# --- without a browser ---


def payload(page: str) -> dict[str, Any]:
    packed = re.search(r'<script type="application/octet-stream" id="data">([^<]+)</script>', page)
    assert packed
    data = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert isinstance(data, dict)
    return data


def test_the_page_needs_nothing_but_itself(several: Path) -> None:
    page = (several / "report.html").read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!#|data:,)', re.sub(r"xlink:href", "", page))
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_everything_is_written(several: Path) -> None:
    for name in ("main", "details", "length", "difficulty", "comparisons", "conventions", "published", "copying"):
        for kind in ("md", "csv", "tex"):
            assert (several / "tables" / f"{name}.{kind}").stat().st_size > 0
    for name in ("few_shot", "length", "difficulty"):
        assert (several / "figures" / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
        assert (several / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    numbers = json.loads((several / "report.json").read_text(encoding="utf-8"))
    assert {r["model"] for r in numbers["results"]} == {
        "good/brava-7b",
        "hf/sapienzanlp/Minerva-7B-instruct-v1.0",
        "bad/copiona-1b",
    }


def test_the_run_that_copies_is_not_assessable(several: Path) -> None:
    numbers = json.loads((several / "report.json").read_text(encoding="utf-8"))
    by_model: dict[str, list[bool]] = {}
    for habits in numbers["behaviour"]:
        if habits["copying"] and habits["copying"]["items"] and habits["task"] == "word_length":
            by_model.setdefault(habits["model"], []).append(habits["copying"]["assessable"])
    assert by_model["bad/copiona-1b"] == [False]
    assert by_model["good/brava-7b"] == [True]
    assert "†" in (several / "tables" / "main.md").read_text(encoding="utf-8")


def test_published_figures_stand_beside_ones_own_with_the_difference(several: Path) -> None:
    numbers = json.loads((several / "report.json").read_text(encoding="utf-8"))
    own = next(
        r["sr"] for r in numbers["results"] if "Minerva" in r["model"] and r["task"] == "lipogram" and r["shots"] == 0
    )
    lines = (several / "tables" / "published.csv").read_text(encoding="utf-8").splitlines()
    line = next(x for x in lines if x.startswith("Minerva-7B-instruct-v1.0,Lipogram,0,"))
    assert line.split(",")[3] == "0.28"
    assert float(line.split(",")[5]) == pytest.approx(own, abs=1e-6)
    assert float(line.split(",")[6]) == pytest.approx(own - 0.28, abs=2e-6)


def test_rows_as_parquet(several: Path) -> None:
    import pyarrow.parquet as pq

    rows = pq.read_table(several / "items.parquet").to_pylist()
    stored = (several.parent / "run" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(stored)
    assert sum(r["passed"] is True for r in rows) == sum(json.loads(s)["passed"] is True for s in stored)


def test_building_twice_gives_the_same_page_and_figures(tmp_path: Path) -> None:
    rows = list(response_rows(Fake("m", 0.5), ("word_length", "lipogram"), (0, 5), n=4))
    first, second = build(tmp_path / "a", rows), build(tmp_path / "b", rows)
    for name in ("report.html", "figures/few_shot.svg", "figures/length.pdf", "tables/main.tex", "report.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_hostile_text_stays_text(hostile: Path) -> None:
    page = (hostile / "report.html").read_text(encoding="utf-8")
    assert page.count("<script") == 3, "ours and no other"
    assert "<img" not in page
    assert "onerror=alert(1)&gt;" in page
    assert any("</script>" in text for text in payload(page)["texts"]), "nothing is taken out of a model's text"
    for table in (hostile / "tables").glob("*.csv"):
        assert not re.search(r'(?:^|,)"?[=@]', table.read_text(encoding="utf-8"), re.MULTILINE), table.name
    for table in (hostile / "tables").glob("*.tex"):
        assert "$x_1^2$" not in table.read_text(encoding="utf-8")


def test_a_large_run_shows_a_stated_sample(tmp_path: Path) -> None:
    rows = list(response_rows(Fake("m", 0.5), ("tautogram",), (0,), n=40))
    page = (build(tmp_path, rows, "--items", "30") / "report.html").read_text(encoding="utf-8")
    assert len(payload(page)["rows"]["text"]) == 30
    assert "30 of 120 rows" in page
    assert "An evenly spread sample" in page


def test_two_runs_of_one_model_are_not_averaged(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / name, list(response_rows(Fake("m", 0.5), ("tautogram",), (0,), seed=i)), seed=i)
        for i, name in enumerate(("first", "second"))
    ]
    main(["report", *map(str, runs), "-o", str(tmp_path / "report"), "--no-parse", "-j", "1"])
    numbers = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert [r["model"] for r in numbers["results"]] == ["m (first)", "m (second)"]


def test_zero_and_few_shot_runs_of_one_model_are_one_system(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / f"shots{k}", list(response_rows(Fake("m", 0.5), ("lipogram",), (k,))), shots=[k])
        for k in (0, 5)
    ]
    main(["report", *map(str, runs), "-o", str(tmp_path / "report"), "--no-parse", "-j", "1"])
    numbers = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert [(r["model"], r["shots"]) for r in numbers["results"]] == [("m", 0), ("m", 5)]


# --- in the browser ---


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: the page is not looked at in a browser")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser is driven")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


class Visit:
    """A page that was opened, with the errors and the requests that it made."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.page.set_default_timeout(120_000)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())

    def ready(self) -> Any:
        self.page.wait_for_selector("html[data-items=ready]")
        return self.page


def test_items_can_be_filtered_and_violations_are_marked(browser: Any, several: Path) -> None:
    visit = Visit(browser, several / "report.html", viewport={"width": 1300, "height": 900})
    page = visit.ready()
    total = int(page.inner_text("#count").split(" of ")[1].replace(",", ""))
    page.select_option("#f-task", label="Lipogram")
    page.select_option("#f-verdict", label="not passed")
    page.select_option("#f-target", label="e")
    fewer = int(page.inner_text("#count").split(" of ")[-1].replace(",", ""))
    assert 0 < fewer < total
    for card in page.query_selector_all("#list li")[:5]:
        marks = [mark.inner_text() for mark in card.query_selector_all("mark")]
        assert marks
        assert all(re.search("[eèé]", mark.lower()) for mark in marks), marks
    page.fill("#f-text", "nessun testo dice questo")
    page.wait_for_function("() => !document.querySelector('#list li')")
    assert page.inner_text("#count") == "No item matches."
    assert not visit.errors
    assert all(url.startswith(("file:", "data:", "blob:")) for url in visit.requests)


def test_the_main_table_sorts_by_keyboard(browser: Any, several: Path) -> None:
    visit = Visit(browser, several / "report.html")
    page = visit.ready()
    column = "#table-main thead th:nth-child(3) button"
    page.focus(column)
    page.keyboard.press("Enter")
    values = [
        float(v) for v in page.eval_on_selector_all("#table-main td:nth-child(3)", "x => x.map(c => c.dataset.value)")
    ]
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Enter")
    values = [
        float(v) for v in page.eval_on_selector_all("#table-main td:nth-child(3)", "x => x.map(c => c.dataset.value)")
    ]
    assert values == sorted(values)
    assert page.get_attribute("#table-main thead th:nth-child(3)", "aria-sort") == "ascending"
    assert not visit.errors


def test_a_hostile_page_runs_nothing(browser: Any, hostile: Path) -> None:
    visit = Visit(browser, hostile / "report.html")
    page = visit.ready()
    assert page.title() == "OuLiBench report"
    page.fill("#f-text", "</script>")
    # The list is drawn a moment after the last key: the text is waited for, not any entry.
    page.wait_for_function("() => document.querySelector('#list .said')?.innerText.includes('</script><script>')")
    assert page.eval_on_selector_all("script", "all => all.length") == 2, "the packed items are taken out once read"
    assert not visit.errors


def test_marks_stand_right_after_characters_beyond_the_first_plane(browser: Any, hostile: Path) -> None:
    visit = Visit(browser, hostile / "report.html")
    page = visit.ready()
    page.fill("#f-text", "bello")
    page.wait_for_function("() => document.querySelectorAll('#list li').length === 1")
    page.wait_for_selector("#list .said mark")
    text = page.inner_text("#list .said")
    marks = [m.inner_text() for m in page.query_selector_all("#list .said mark")]
    assert "👩🏽🚀𝄞" in text
    assert marks == ["mare", "è", "bello"], "positions are code points, not UTF-16 units"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_the_page_fits_its_window(browser: Any, several: Path, width: int, scheme: str) -> None:
    visit = Visit(browser, several / "report.html", viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = visit.ready()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark == (scheme == "dark")
    page.click("#theme")
    assert (page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)") != dark
    assert not visit.errors


def test_everything_unfolds_for_print(browser: Any, several: Path) -> None:
    visit = Visit(browser, several / "report.html")
    page = visit.ready()
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.eval_on_selector_all("details:not([open])", "all => all.length") == 0
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.querySelector('nav')).display") == "none"


UNUSUAL: dict[str, list[dict[str, Any]]] = {
    "one model": list(response_rows(Fake("only/one", 0.6), shots=(0,), n=3)),
    "everything failed": list(response_rows(Fake("broken/model", failing=1.0), n=3)),
    "everything refused": list(response_rows(Fake("shy/model", refusing=1.0), n=3)),
    "cut off": list(response_rows(Fake("half/way", 0.6), n=3))[:17],
    "nothing": [],
    "single sentences": list(response_rows(Fake("one/call", 0.5), n=1, epochs=4, shots=(0, 5))),
}


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("case", UNUSUAL)
def test_unusual_runs_give_a_whole_page(browser: Any, tmp_path: Path, case: str, language: str) -> None:
    if language == "it" and case not in ("one model", "cut off"):
        pytest.skip("one language is enough for this case")
    rows = UNUSUAL[case]
    report = build(tmp_path, rows, "--language", language, requests=71, models=["m"])
    visit = Visit(browser, report / "report.html")
    if rows:
        visit.ready()
    assert visit.page.get_attribute("html", "lang") == language
    assert visit.page.inner_text("#settings")
    if case == "cut off":
        assert re.search(r"17 (?:of|risposte su) 71", visit.page.text_content(".notes"))
    if case == "nothing":
        assert "nothing to show" in visit.page.inner_text("#overview")
    assert not visit.errors
