"""Two people rate in real browsers, one by keyboard, one by mouse, while the server is killed under them."""

# ruff: noqa: E402  # what the extra brings is asked for before anything that needs it
from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
for needed in ("starlette", "uvicorn", "jinja2"):
    pytest.importorskip(needed)

from oulibench.annotation.store import Store, read_links

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (apt-get install chromium)")


class Server:
    """`oulibench annotate` as a process of its own, on one port for all its lives."""

    def __init__(self, run: Path, port: int) -> None:
        self.run, self.base = run, f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "oulibench", "annotate", str(run), "--port", str(port)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        self._process = subprocess.Popen([*self._command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = b""
        for line in self._process.stdout or ():
            output += line
            if b"Stop with" in line:
                return
        raise AssertionError(output.decode())

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(10)
            self._process = None


@pytest.fixture
def server(run: Path) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Server(run, port)
    server.start("--annotators", "anna,bruno", "--adjudicators", "carla", "--per-cell", "1", "--overlap", "1")
    yield server
    server.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


DIMENSIONS = ("grammaticality", "coherence", "appropriateness")


def by_keyboard(page: Any, values: tuple[int, int, int]) -> None:
    for value in values:
        page.keyboard.press(str(value))


def by_mouse(page: Any, values: tuple[int, int, int]) -> None:
    for dimension, value in zip(DIMENSIONS, values, strict=True):
        page.locator(f'.point:has(input[name="{dimension}"][value="{value}"])').click()


def place(page: Any) -> int:
    return int(page.url.split("?")[0].rsplit("/", 1)[1])


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def ratings(run: Path) -> dict[tuple[str, int], tuple[int, ...]]:
    """(person, place) → values, read by a store of our own beside the running server."""
    with Store(run) as store:
        return {
            (r.person, store.position_of(r.person, r.unit) or 0): tuple(r.values.get(d, 0) for d in DIMENSIONS)
            for r in store.ratings()
        }


def test_two_people_rate_while_the_server_is_killed_and_nothing_is_lost(server: Server, browser: Any) -> None:
    links = read_links(server.run / "annotation")
    contexts = [browser.new_context(viewport={"width": 1280, "height": 800}) for _ in range(2)]
    anna, bruno = (context.new_page() for context in contexts)
    errors: list[str] = []
    for page in (anna, bruno):
        page.on("pageerror", lambda error: errors.append(str(error)))
    expected: dict[tuple[str, int], tuple[int, ...]] = {}

    for page, name in ((anna, "anna"), (bruno, "bruno")):
        page.goto(f"{server.base}/r/{links[name]}")
        page.locator("#begin").click()
        page.wait_for_url("**/items/1")

    for i in range(1, 4):  # taking turns
        by_keyboard(anna, (i, 5, 4))
        anna.keyboard.press("Enter")
        by_mouse(bruno, (5, i, 3))
        bruno.locator("#save").click()
        for page, name, values in ((anna, "anna", (i, 5, 4)), (bruno, "bruno", (5, i, 3))):
            page.wait_for_url(f"**/items/{i + 1}")
            expected[name, i] = values
    assert ratings(server.run) == expected

    # Both have a sentence half or wholly rated when the server dies without warning.
    by_keyboard(anna, (2, 2, 2))
    by_mouse(bruno, (4, 4, 4))
    bruno.locator("textarea").fill("commento che non va perso")
    server.kill()
    anna.keyboard.press("Enter")
    bruno.locator("#save").click()
    for page in (anna, bruno):
        page.wait_for_selector("#problem:not([hidden])")
        assert "non risponde" in page.locator("#problem").inner_text()
    bruno.close()  # and one of them even closes the tab
    assert ratings(server.run) == expected

    server.start()
    expected["anna", 4], expected["bruno", 4] = (2, 2, 2), (4, 4, 4)
    anna.wait_for_url("**/items/5")
    bruno = contexts[1].new_page()
    bruno.on("pageerror", lambda error: errors.append(str(error)))
    bruno.goto(f"{server.base}/r/{links['bruno']}/next")
    wait_until(lambda: ratings(server.run) == expected)
    bruno.wait_for_url("**/items/5")
    with Store(server.run) as store:
        unit = store.unit_at("bruno", 4)
        assert [r.comment for r in store.ratings() if r.unit == unit and r.person == "bruno"] == [
            "commento che non va perso"
        ]
        assert len(store.history()) == 8  # nobody's rating came in twice

    # Both go on; one takes a rating back and gives another.
    by_keyboard(anna, (1, 1, 1))
    anna.keyboard.press("Enter")
    anna.wait_for_url("**/items/6")
    anna.keyboard.press("u")
    anna.wait_for_url("**/items/5?undone")
    by_keyboard(anna, (3, 3, 3))
    anna.keyboard.press("Enter")
    anna.wait_for_url("**/items/6")
    expected["anna", 5] = (3, 3, 3)
    bruno.locator('.flag:has(input[name="not_italian"])').click()
    bruno.locator("#save").click()
    bruno.wait_for_url("**/items/6")
    expected["bruno", 5] = (0, 0, 0)
    assert ratings(server.run) == expected
    assert errors == []


def test_a_draft_survives_a_closed_tab(server: Server, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    address = f"{server.base}/r/{read_links(server.run / 'annotation')['anna']}/items/2"
    page.goto(address)
    by_keyboard(page, (4, 2, 1))
    page.close(run_before_unload=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("input:checked").evaluate_all("all => all.map(i => i.value)") == ["4", "2", "1"]
    assert ratings(server.run) == {}


def test_the_pages_work_without_scripts(server: Server, browser: Any) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{server.base}/r/{read_links(server.run / 'annotation')['bruno']}/items/1")
    page.locator("#save").click()
    assert "Manca" in page.locator("#problem").inner_text()
    by_mouse(page, (5, 4, 3))
    page.locator("#save").click()
    page.wait_for_url("**/items/2")
    assert ratings(server.run) == {("bruno", 1): (5, 4, 3)}


def test_an_incomplete_rating_is_not_sent_and_says_what_is_missing(server: Server, browser: Any) -> None:
    page = browser.new_context(locale="it-IT").new_page()
    page.goto(f"{server.base}/r/{read_links(server.run / 'annotation')['anna']}/items/1")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    assert "Coerenza" in page.locator("#problem").inner_text()
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/2")
    assert place(page) == 2
