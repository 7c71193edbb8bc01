"""The rating pages: a local web application over a store.

Everybody has a link with an unguessable token and sees nothing of what others rated, nor which model wrote a text.
Pages work without scripts; one script of ours adds the keyboard, drafts that survive a closed tab, and sending again
until the server answers. Texts are shown as text, whatever they hold.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import tomllib
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, wraps
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oulibench.annotation.disputes import Dispute, disputes
from oulibench.annotation.sampling import Unit
from oulibench.annotation.scheme import InterfaceLanguage, Scheme, describe
from oulibench.annotation.store import MAX_COMMENT, Person, Progress, Rating, Store, now
from oulibench.errors import DataError

MAX_FORM: Final = 64 * 1024
MAX_PAUSE: Final = 600.0
"""Seconds after which the time taken for a rating is a pause and tells nothing."""
MAX_DISPUTES_SHOWN: Final = 200
LIST_LENGTH: Final = 200
_STATIC: Final = {"style.css": "text/css", "rate.js": "text/javascript"}
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def create_app(store: Store) -> Starlette:
    """The application over one store. It serves loopback hosts only, whatever address it is bound to."""
    pages = _Pages(store)
    person, personal = "/r/{token}", pages.personal
    return Starlette(
        routes=[
            Route("/", pages.nothing_here),
            Route("/static/{name}", _static),
            Route("/favicon.ico", _no_icon),
            Route(person, personal(pages.start)),
            Route(person + "/next", personal(pages.next_item)),
            Route(person + "/items/{position:int}", personal(pages.item)),
            Route(person + "/items/{position:int}", personal(pages.rate), methods=["POST"]),
            Route(person + "/undo", personal(pages.undo), methods=["POST"]),
            Route(person + "/list", personal(pages.overview)),
            Route(person + "/guide", personal(pages.guide)),
            Route(person + "/preferences", personal(pages.preferences), methods=["POST"]),
            Route(person + "/gold/{unit}", personal(pages.gold)),
            Route(person + "/gold/{unit}", personal(pages.decide), methods=["POST"]),
        ],
        middleware=[Middleware(_Guard)],
        exception_handlers={HTTPException: pages.problem},
    )


# --- what stands before the pages -------------------------------------------------------------------------------------


def is_loopback(host: str) -> bool:
    """Whether a Host header names this machine: what another name resolves to may change under our feet."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name in ("127.0.0.1", "localhost", "::1")


class _Guard:
    """Refuses foreign hosts and requests that other sites make; puts the security headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        headers = Headers(scope=scope)
        if not is_loopback(headers.get("host", "")) or (scope["method"] == "POST" and not _is_our_own(headers)):
            await _bare_page("it", "refused", 403)(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)


def _is_our_own(headers: Headers) -> bool:
    """Whether a POST comes from these pages. Every browser of today says where a POST comes from."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    return origin is not None and origin == f"http://{headers.get('host')}"


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    return Response(_asset(name), media_type=_STATIC[name])


async def _no_icon(request: Request) -> Response:
    return Response(status_code=204)


@cache
def _asset(name: str) -> bytes:
    return files("oulibench.annotation").joinpath("static", name).read_bytes()


# --- pages ------------------------------------------------------------------------------------------------------------

Handler = Callable[[Request, Person], Awaitable[Response]]


class _Pages:
    def __init__(self, store: Store) -> None:
        self.store = store
        self._disputes: tuple[int, list[Dispute]] = (-1, [])

    def personal(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A page behind a personal link; its forms carry a token of their own beside it."""

        @wraps(handler)
        async def page(request: Request) -> Response:
            person = self.store.person_of(request.path_params["token"])
            if person is None:
                raise HTTPException(404)
            if request.method == "POST":
                request.state.form = await _form(request)
                if not hmac.compare_digest(request.state.form.get("csrf", [""])[0].encode(), self._csrf(request)):
                    raise HTTPException(403)
            return await handler(request, person)

        return page

    def _csrf(self, request: Request) -> bytes:
        token = request.path_params["token"].encode("utf-8", "replace")
        return hmac.new(self.store.secret, token, hashlib.sha256).hexdigest().encode()

    # --- starting, reading ---

    async def nothing_here(self, request: Request) -> Response:
        raise HTTPException(404)

    async def problem(self, request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 500
        person = self.store.person_of(str(request.path_params.get("token", "")))
        kind = "not_found" if code in (404, 405) else "refused"
        return _bare_page(person.language if person else "it", kind, code)

    async def start(self, request: Request, person: Person) -> Response:
        if person.role == "adjudicator":
            found = self._all_disputes()
            decided = {gold.unit: gold.person for gold in self.store.golds()}
            return self._page(
                request, person, "adjudication.html", disputes=found[:MAX_DISPUTES_SHOWN], total=len(found),
                decided=decided,
            )  # fmt: skip
        return self._page(request, person, "start.html")

    async def guide(self, request: Request, person: Person) -> Response:
        return self._page(request, person, "guide.html")

    async def overview(self, request: Request, person: Person) -> Response:
        given = request.query_params.get("from", "1")
        first = int(given) if given.isascii() and given.isdecimal() and len(given) < 9 else 1
        first = max(1, first - (first - 1) % LIST_LENGTH)
        rows = self.store.overview(person.name, first, first + LIST_LENGTH - 1)
        return self._page(request, person, "list.html", rows=rows, length=LIST_LENGTH)

    async def next_item(self, request: Request, person: Person) -> Response:
        position = self.store.next_unrated(person.name)
        return RedirectResponse(self._url(request, f"/items/{position}" if position else ""), 303)

    async def item(self, request: Request, person: Person) -> Response:
        position, unit = self._item(request, person)
        rating = self.store.rating(person.name, unit.id)
        notice = "undone" if "undone" in request.query_params else None
        return self._item_page(request, person, position, unit, rating, notice=notice)

    def _item(self, request: Request, person: Person) -> tuple[int, Unit]:
        position = request.path_params["position"]
        identifier = self.store.unit_at(person.name, position) if 0 < position < 2**31 else None
        unit = self.store.unit(identifier) if identifier else None
        if unit is None:
            raise HTTPException(404)
        return position, unit

    def _item_page(
        self,
        request: Request,
        person: Person,
        position: int,
        unit: Unit,
        rating: Rating | None,
        *,
        notice: str | None = None,
        problem: str | None = None,
        code: int = 200,
    ) -> Response:
        return self._page(
            request, person, "item.html", code=code, position=position, unit=unit, rating=rating, problem=problem,
            rule=describe(unit.task, unit.target, person.language, unit.policy),
            notice=self._words(person)[notice] if notice else None,
        )  # fmt: skip

    # --- deciding ---

    async def rate(self, request: Request, person: Person) -> Response:
        position, unit = self._item(request, person)
        form: _Form = request.state.form
        rating = _read_rating(form, self.store.scheme, person.name, unit.id)
        problem = self._problem(person, rating)
        if problem is not None:
            if _wants_json(request):
                return JSONResponse({"problem": problem}, 422)
            return self._item_page(request, person, position, unit, rating, problem=problem, code=422)
        self.store.save(rating, submission=form.get("submission", [""])[0][:64] or None)
        following = self.store.next_unrated(person.name, after=position)
        return self._go(request, f"/items/{following}" if following else "")

    async def undo(self, request: Request, person: Person) -> Response:
        unit = self.store.undo(person.name)
        position = self.store.position_of(person.name, unit) if unit else None
        return self._go(request, f"/items/{position}?undone" if position else "/next")

    async def preferences(self, request: Request, person: Person) -> Response:
        form: _Form = request.state.form
        language, theme = (form.get(key, [None])[0] for key in ("language", "theme"))
        self.store.set_preference(person.name, language=language, theme=theme)
        back = form.get("back", [""])[0]
        here = f"/r/{request.path_params['token']}"
        return RedirectResponse(back if back == here or back.startswith(here + "/") else here, 303)

    # --- adjudicating ---

    async def gold(self, request: Request, person: Person) -> Response:
        dispute = self._dispute(request, person)
        return self._gold_page(request, person, dispute, self.store.gold(dispute.unit.id))

    def _all_disputes(self) -> list[Dispute]:
        """All disputes, worked out again only when a rating has changed."""
        seq = self.store.last_rating_event()
        if self._disputes[0] != seq:
            self._disputes = (seq, disputes(self.store.scheme, self.store.units(), self.store.ratings()))
        return self._disputes[1]

    def _dispute(self, request: Request, person: Person) -> Dispute:
        unit = self.store.unit(request.path_params["unit"]) if person.role == "adjudicator" else None
        if unit is None:
            raise HTTPException(404)
        found = disputes(self.store.scheme, [unit], self.store.ratings_of(unit.id))
        if not found:
            raise HTTPException(404)
        return found[0]

    def _gold_page(
        self,
        request: Request,
        person: Person,
        dispute: Dispute,
        rating: Rating | None,
        problem: str | None = None,
        code: int = 200,
    ) -> Response:
        unit = dispute.unit
        return self._page(
            request, person, "gold.html", code=code, dispute=dispute, unit=unit, rating=rating, problem=problem,
            rule=describe(unit.task, unit.target, person.language, unit.policy),
        )  # fmt: skip

    async def decide(self, request: Request, person: Person) -> Response:
        dispute = self._dispute(request, person)
        form: _Form = request.state.form
        rating = _read_rating(form, self.store.scheme, person.name, dispute.unit.id)
        problem = self._problem(person, rating)
        if problem is not None:
            if _wants_json(request):
                return JSONResponse({"problem": problem}, 422)
            return self._gold_page(request, person, dispute, rating, problem, 422)
        self.store.save(rating, kind="gold", submission=form.get("submission", [""])[0][:64] or None)
        decided = {gold.unit for gold in self.store.golds()}
        found = self._all_disputes()
        following = next((d.unit.id for d in found if d.spread and d.unit.id not in decided), None)
        return self._go(request, f"/gold/{following}" if following else "")

    # --- what pages share ---

    def _words(self, person: Person) -> Mapping[str, str]:
        return words_of(person.language)

    def _problem(self, person: Person, rating: Rating) -> str | None:
        problem = self.store.scheme.problem(rating.values, rating.flags)
        if problem is None:
            return None
        missing = self.store.scheme.dimension(problem.removeprefix("missing "))
        words = self._words(person)
        return words["missing"].format(label=missing.label[person.language]) if missing else words["invalid"]

    def _url(self, request: Request, path: str) -> str:
        return f"/r/{request.path_params['token']}{path}"

    def _go(self, request: Request, path: str) -> Response:
        url = self._url(request, path)
        return JSONResponse({"next": url}) if _wants_json(request) else RedirectResponse(url, 303)

    def _page(self, request: Request, person: Person, template: str, code: int = 200, **values: Any) -> Response:
        progress = self.store.progress(person.name)
        words = self._words(person)
        html = _templates().get_template(template).render(
            t=words, lang=person.language, person=person, scheme=self.store.scheme, progress=progress,
            time_left=_time_left(progress, words), base=self._url(request, ""), here=request.url.path,
            csrf=self._csrf(request).decode(), submission=secrets.token_urlsafe(12), shown=f"{time.time():.1f}",
            max_comment=MAX_COMMENT, **values,
        )  # fmt: skip
        return HTMLResponse(html, code)


_Form = Mapping[str, list[str]]


async def _form(request: Request) -> _Form:
    """The fields of a form.

    Raises:
        HTTPException: it is larger than a rating can be, or no form.
    """
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_FORM:
                raise HTTPException(413)
    except ClientDisconnect:
        raise HTTPException(400) from None
    try:
        return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=200)
    except ValueError:
        raise HTTPException(400) from None


def _read_rating(form: _Form, scheme: Scheme, person: str, unit: str) -> Rating:
    """The rating that a form holds; a value that is no number becomes one that no scale has."""
    values = {}
    for dimension in scheme.dimensions:
        given = form.get(dimension.id, [""])[-1].strip()
        if given:
            values[dimension.id] = int(given) if given.isascii() and given.isdecimal() and len(given) < 4 else -1
    flags = frozenset(flag.id for flag in scheme.flags if flag.id in form)
    comment = form.get("comment", [""])[0].replace("\r\n", "\n").replace("\x00", "").strip()[:MAX_COMMENT]
    return Rating(person, unit, values, flags, comment, now(), _seconds_since(form.get("shown", [""])[0]))


def _seconds_since(shown: str) -> float | None:
    try:
        seconds = round(time.time() - float(shown), 1)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= MAX_PAUSE else None


def _wants_json(request: Request) -> bool:
    return request.headers.get("accept", "") == "application/json"


def _time_left(progress: Progress, words: Mapping[str, str]) -> str:
    if progress.done == progress.total:
        return words["all_done"]
    if progress.seconds_left is None:
        return words["time_unknown"]
    hours, minutes = divmod(max(1, round(progress.seconds_left / 60)), 60)
    return words["time_left_hours" if hours else "time_left"].format(hours=hours, minutes=minutes)


@cache
def words_of(language: InterfaceLanguage) -> Mapping[str, str]:
    """The words of the pages in a language of the interface."""
    source = files("oulibench.annotation").joinpath("interface.toml").read_text(encoding="utf-8")
    table: Mapping[str, str] = tomllib.loads(source)[language]
    return table


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("oulibench.annotation"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["visible"] = visible
    return environment


def visible(text: str) -> str:
    """`text` with the characters that would not show, or would turn the text around, named instead."""
    return "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else f"⟨U+{ord(c):04X}⟩" for c in text)


def _bare_page(language: InterfaceLanguage, kind: str, code: int) -> Response:
    html = _templates().get_template("bare.html").render(t=words_of(language), lang=language, kind=kind)
    return HTMLResponse(html, code)


def serve(store: Store, port: int, announce: Callable[[str], None]) -> None:
    """Serve the pages on the loopback interface until interrupted; `announce` is told the address once it is bound.

    Raises:
        DataError: the port is taken.
    """
    import socket

    import uvicorn

    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise DataError(f"The port {port} cannot be used ({error.strerror}); choose another with --port.") from error
    announce(f"http://127.0.0.1:{listening.getsockname()[1]}")
    # No access log: the paths hold the tokens.
    config = uvicorn.Config(
        create_app(store),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
    )
    uvicorn.Server(config).run(sockets=[listening])
