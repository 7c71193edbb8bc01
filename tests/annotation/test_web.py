"""The rating pages over HTTP: who may do what, and that nothing is lost or leaked."""

# what the extra brings is asked for before anything that needs it
from __future__ import annotations

import html
import re
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

from starlette.testclient import TestClient

from oulibench.annotation.scheme import describe
from oulibench.annotation.store import Rating, Store, read_links
from oulibench.annotation.web import create_app, is_loopback, visible

BASE = "http://127.0.0.1:8741"
GOOD = {"grammaticality": "5", "coherence": "4", "appropriateness": "3"}


def at(store: Store, person: str, place: int) -> str:
    """The unit that somebody rates at a place."""
    unit = store.unit_at(person, place)
    assert unit is not None
    return unit


def rated(store: Store, person: str, unit: str) -> Rating:
    rating = store.rating(person, unit)
    assert rating is not None
    return rating


@pytest.fixture
def client(store: Store) -> TestClient:
    return TestClient(create_app(store), base_url=BASE, follow_redirects=False)


@pytest.fixture
def anna(store: Store) -> str:
    return "/r/" + read_links(store.folder)["anna"]


@pytest.fixture
def carla(store: Store) -> str:
    return "/r/" + read_links(store.folder)["carla"]


def field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found
    return html.unescape(found[1])


def post(client: TestClient, path: str, data: dict[str, str], page: str | None = None, **headers: str) -> Any:
    form = page or path
    given = client.get(form).text
    fields = {"csrf": field(given, "csrf")}
    if "submission" in given:
        fields |= {"submission": field(given, "submission"), "shown": field(given, "shown")}
    return client.post(path, data=fields | data, headers={"origin": BASE, **headers})


def test_a_rating_is_saved_and_the_next_sentence_comes(client: TestClient, store: Store, anna: str) -> None:
    answer = post(client, f"{anna}/items/1", GOOD | {"comment": "  bella  "})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{anna}/items/2")
    rating = rated(store, "anna", at(store, "anna", 1))
    assert rating.values == {"grammaticality": 5, "coherence": 4, "appropriateness": 3}
    assert rating.comment == "bella"
    assert rating.seconds is not None
    assert store.rating("bruno", rating.unit) is None


def test_the_same_form_sent_twice_is_one_rating_but_a_changed_one_is_another(
    client: TestClient, store: Store, anna: str
) -> None:
    page = client.get(f"{anna}/items/1").text
    form = {name: field(page, name) for name in ("csrf", "submission", "shown")}
    for _ in range(2):
        client.post(f"{anna}/items/1", data=form | GOOD, headers={"origin": BASE})
    assert len(store.history()) == 1
    client.post(f"{anna}/items/1", data=form | GOOD | {"coherence": "1"}, headers={"origin": BASE})
    assert len(store.history()) == 2
    assert rated(store, "anna", at(store, "anna", 1)).values["coherence"] == 1


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"grammaticality": "5"},
        GOOD | {"coherence": "6"},
        GOOD | {"coherence": "0"},
        GOOD | {"coherence": "4.0"},
        GOOD | {"coherence": "-4"},
        GOOD | {"coherence": "٤"},  # a digit, of another script
        GOOD | {"coherence": "4" * 5000},
        {"not_a_flag": "1"},
    ],
)
def test_what_is_no_whole_rating_is_refused_with_the_page_again(
    client: TestClient, store: Store, anna: str, data: dict[str, str]
) -> None:
    answer = post(client, f"{anna}/items/1", data)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert store.history() == []


def test_a_flag_that_excuses_needs_no_ratings(client: TestClient, store: Store, anna: str) -> None:
    assert post(client, f"{anna}/items/1", {"cannot_judge": "1"}).status_code == 303
    assert rated(store, "anna", at(store, "anna", 1)).flags == {"cannot_judge"}


def test_undo_brings_back_what_was_before_and_the_history_keeps_all(
    client: TestClient, store: Store, anna: str
) -> None:
    unit = at(store, "anna", 1)
    post(client, f"{anna}/items/1", GOOD)
    post(client, f"{anna}/items/1", GOOD | {"coherence": "1"})
    answer = post(client, f"{anna}/undo", {}, page=f"{anna}/items/2")
    assert answer.headers["location"] == f"{anna}/items/1?undone"
    assert (
        "tolta" in client.get(f"{anna}/items/1?undone").text or "Annullata" in client.get(f"{anna}/items/1?undone").text
    )
    assert rated(store, "anna", unit).values["coherence"] == 4
    post(client, f"{anna}/undo", {}, page=f"{anna}/items/2")
    assert store.rating("anna", unit) is None
    post(client, f"{anna}/undo", {}, page=f"{anna}/items/2")  # nothing is left to undo
    assert [event.kind for event in store.history()] == ["rating", "rating", "undo", "undo"]


def test_scripts_get_json(client: TestClient, anna: str) -> None:
    answer = post(client, f"{anna}/items/1", GOOD, accept="application/json")
    assert answer.json() == {"next": f"{anna}/items/2"}
    answer = post(client, f"{anna}/items/1", {}, accept="application/json")
    assert answer.status_code == 422
    assert "Grammaticalità" in answer.json()["problem"]


# --- who may not ---


@pytest.mark.parametrize("path", ["", "/items/1", "/list", "/guide", "/next", "/gold/x"])
def test_a_wrong_token_opens_nothing(client: TestClient, path: str) -> None:
    for token in ("x", "A" * 32, "%00", "..%2f..", "é", "%F0%90"):
        assert client.get(f"/r/{token}{path}").status_code == 404


def test_there_is_nothing_without_a_link(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 404
    assert "anna" not in answer.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "10.0.0.5:8741", "", "[::2]", "[", "0.0.0.0"],  # noqa: S104
)
def test_a_foreign_host_is_refused(client: TestClient, anna: str, host: str) -> None:
    assert client.get(anna, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8741", "localhost", "localhost:9000", "[::1]:8741"])
def test_this_machine_is_served_by_all_its_names(client: TestClient, anna: str, host: str) -> None:
    assert is_loopback(host)
    assert client.get(anna, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8741"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": BASE, "sec-fetch-site": "cross-site"},
        {"origin": BASE, "sec-fetch-site": "same-site"},
        {},
    ],
)
def test_a_post_from_elsewhere_is_refused(client: TestClient, store: Store, anna: str, headers: dict[str, str]) -> None:
    page = client.get(f"{anna}/items/1").text
    answer = client.post(f"{anna}/items/1", data=GOOD | {"csrf": field(page, "csrf")}, headers=headers)
    assert answer.status_code == 403
    assert store.history() == []


@pytest.mark.parametrize("csrf", [None, "", "x", "é"])
def test_a_form_needs_its_own_token(client: TestClient, store: Store, anna: str, csrf: str | None) -> None:
    data = GOOD if csrf is None else GOOD | {"csrf": csrf}
    assert client.post(f"{anna}/items/1", data=data, headers={"origin": BASE}).status_code == 403
    assert store.history() == []


def test_another_persons_form_token_does_not_fit(client: TestClient, store: Store, anna: str) -> None:
    bruno = "/r/" + read_links(store.folder)["bruno"]
    theirs = field(client.get(f"{bruno}/items/1").text, "csrf")
    answer = client.post(f"{anna}/items/1", data=GOOD | {"csrf": theirs}, headers={"origin": BASE})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../web.py", "/static/..%2fweb.py", "/static/%2e%2e/store.py", "/static/", "/static/rate.js/x",
        "/static/....//web.py", "/static/%00",
    ],
)  # fmt: skip
def test_only_the_two_files_are_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_places_that_are_not_there(client: TestClient, anna: str) -> None:
    for place in ("0", "9999", "99999999999999999999", "-1", "x", "1.5"):
        assert client.get(f"{anna}/items/{place}").status_code == 404


def test_a_form_larger_than_a_rating_is_refused(client: TestClient, store: Store, anna: str) -> None:
    page = client.get(f"{anna}/items/1").text
    data = GOOD | {"csrf": field(page, "csrf"), "comment": "x" * 100_000}
    assert client.post(f"{anna}/items/1", data=data, headers={"origin": BASE}).status_code == 413
    fields = "&".join(f"a{i}=1" for i in range(1000))
    headers = {"origin": BASE, "content-type": "application/x-www-form-urlencoded"}
    assert client.post(f"{anna}/items/1", content=fields, headers=headers).status_code == 400
    assert store.history() == []


def test_every_answer_carries_the_security_headers(client: TestClient, anna: str) -> None:
    for path in (anna, "/", "/static/rate.js", f"{anna}/items/1"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_pages_hold_no_inline_script_or_style(client: TestClient, anna: str, carla: str) -> None:
    for path in (anna, f"{anna}/items/1", f"{anna}/list", f"{anna}/guide", carla):
        page = client.get(path).text
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", page)


# --- blind, and text stays text ---


def test_no_page_of_an_annotator_names_model_shots_or_others(client: TestClient, store: Store, anna: str) -> None:
    bruno = "/r/" + read_links(store.folder)["bruno"]
    post(client, f"{bruno}/items/1", GOOD | {"comment": "commento di un altro"})
    total = store.progress("anna").total
    for path in (anna, f"{anna}/list", f"{anna}/guide", *(f"{anna}/items/{i}" for i in range(1, total + 1))):
        page = client.get(path).text
        assert not re.search(r"\b(alfa|beta|gamma|shots|explicit)\b|bruno|commento di un altro", page)
    unit = at(store, "bruno", 1)
    assert client.get(f"{anna}/gold/{unit}").status_code == 404


def test_hostile_text_stays_text(client: TestClient, store: Store, anna: str) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)> {{ 7*7 }} &lt; \"'"
    post(client, f"{anna}/items/1", GOOD | {"comment": hostile})
    page = client.get(f"{anna}/items/1").text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert html.escape(hostile, quote=False)[:40] in page.replace("&#34;", '"').replace("&#39;", "'")
    assert rated(store, "anna", at(store, "anna", 1)).comment == hostile


def test_characters_that_would_not_show_are_named() -> None:
    assert visible("a\u202eb\x07c\nd") == "a⟨U+202E⟩b⟨U+0007⟩c\nd"
    assert visible("Perché no? «È così»") == "Perché no? «È così»"


def test_preferences_change_language_and_look_and_go_nowhere_else(client: TestClient, store: Store, anna: str) -> None:
    answer = post(client, f"{anna}/preferences", {"language": "en", "back": f"{anna}/list"}, page=anna)
    assert answer.headers["location"] == f"{anna}/list"
    assert 'lang="en"' in client.get(anna).text
    for back in ("http://evil.example", "//evil.example", f"{anna}evil", "/r/x"):
        answer = post(client, f"{anna}/preferences", {"theme": "dark", "back": back}, page=anna)
        assert answer.headers["location"] == anna
    post(client, f"{anna}/preferences", {"theme": '"><script>', "language": "xx"}, page=anna)
    assert 'data-theme="dark"' in client.get(anna).text


# --- adjudication ---


def test_the_most_disputed_sentence_comes_first_and_a_decision_is_kept_with_its_name(
    client: TestClient, store: Store, anna: str, carla: str
) -> None:
    bruno = "/r/" + read_links(store.folder)["bruno"]
    assert "due persone" in client.get(carla).text
    units = [at(store, "anna", i) for i in (1, 2)]
    for i, unit in enumerate(units, 1):
        post(client, f"{anna}/items/{i}", GOOD)
        place = store.position_of("bruno", unit)
        post(client, f"{bruno}/items/{place}", GOOD | {"coherence": "3" if i == 1 else "1"})
    page = client.get(carla).text
    assert page.index(units[1]) < page.index(units[0])
    answer = post(client, f"{carla}/gold/{units[1]}", GOOD | {"comment": "deciso"})
    assert answer.headers["location"] == f"{carla}/gold/{units[0]}"
    gold = store.gold(units[1])
    assert gold is not None
    assert (gold.person, gold.comment, gold.values["coherence"]) == ("carla", "deciso", 4)
    assert rated(store, "anna", units[1]).values["coherence"] == 4
    assert rated(store, "bruno", units[1]).values["coherence"] == 1
    assert "decisa da carla" in client.get(carla).text


def test_an_adjudicator_rates_nothing(client: TestClient, carla: str) -> None:
    assert client.get(f"{carla}/items/1").status_code == 404


def test_the_guide_shows_every_point_of_the_configuration(client: TestClient, store: Store, anna: str) -> None:
    page = html.unescape(client.get(f"{anna}/guide").text)
    for dimension in store.scheme.dimensions:
        for point in dimension.points:
            assert point.guideline["it"] in page
            assert point.example in page


def test_constraints_are_said_in_plain_words() -> None:
    assert describe("word_length", 5, "it").text == "Una frase di esattamente 5 parole."
    assert describe("word_length", 1, "it").text == "Una frase di una sola parola."
    assert describe("word_order", "VOS", "it").text.endswith("verbo, oggetto, soggetto.")
    assert describe("word_order", "VOS", "en").text.endswith("verb, object, subject.")
    assert describe("voice", "passive", "it").text == "Una frase passiva."
    assert describe("palindrome", None, "it").severe
    assert not describe("lipogram", "e", "it").severe
    assert describe("acrostic", "sole", "it", {"acrostic": "lines"}).text.startswith("Una breve poesia")
    assert describe("unknown_task", "x", "it").text == "unknown_task: x"
    assert describe("lipogram", "{order}{0}", "it").text == "Una frase senza la lettera «{order}{0}»."
