"""What the page's process serves beside the page: answers, charts and memos at addresses of their own.

They are read only and stateless: GET, a query as in a link, nothing from a file. Nothing here allows other
origins to read answers; pictures can be shown anywhere, as pictures can.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from pdexplorer.export.links import LOCAL_ADDRESS
from pdexplorer.scenario.presets import Preset, load_presets

if TYPE_CHECKING:
    from pdexplorer.export.live import LiveAnswers, LiveFile

_API = "/api/v1/evaluate"
_AT_ONCE = 4  # most of them wait for the one that draws
_MOST_WAITING = 32
_SECONDS_KEPT = 60
_HOST = re.compile(r"[A-Za-z0-9._\-\[\]:]{1,255}")
_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    # an SVG or HTML file opened on its own runs and loads nothing
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'",
}

Answer = Callable[[str, Mapping[str, Preset], str], "LiveFile"]


@dataclass(frozen=True)
class _Served:
    """One address. shared: whether its file is the same whatever host name it was asked under."""

    path: str
    media_type: str
    answer: "Callable[[LiveAnswers], Answer]"
    shared: bool


@dataclass(frozen=True)
class _Turns:
    """How many may wait for an answer, and how many are worked out in threads at once."""

    waiting: asyncio.Semaphore
    working: asyncio.Semaphore


def routes(base_path: str | None = None) -> list[Route]:
    """Routes for `st.App`. base_path: where the page stands below its host; None: as `server.baseUrlPath`
    says, read when the server starts."""
    if base_path is None:
        base_path = str(st.get_option("server.baseUrlPath") or "")
    turns = _Turns(asyncio.Semaphore(_MOST_WAITING), asyncio.Semaphore(_AT_ONCE))
    start = f"/{base_path.strip('/')}".rstrip("/")

    @cache
    def live() -> "LiveAnswers":
        # With the first question: the server answers in half the time without what these import.
        from pdexplorer.export.live import LiveAnswers
        from pdexplorer.ui.compute import confident

        # In a process beside the page: worked out in a thread here, answers would hold up everybody's page.
        return LiveAnswers(confident)

    served = (
        _Served(_API, "application/json", lambda live: live.evaluate, True),
        _Served("/chart.svg", "image/svg+xml", lambda live: live.svg, True),
        _Served("/chart.png", "image/png", lambda live: live.png, True),
        _Served("/memo.md", "text/markdown", lambda live: live.memo, False),
        _Served("/page.html", "text/html", lambda live: live.page, False),
    )
    found = [
        Route(start + one.path, _endpoint(one, start, turns, live), methods=["GET"], name=one.path)
        for one in served
    ]
    # Anything else would be answered with the page, which a program takes for a success.
    return [*found, Route(f"{start}/api/{{rest:path}}", _no_such_address, name="no such address")]


def _endpoint(
    served: _Served, start: str, turns: _Turns, live: "Callable[[], LiveAnswers]"
) -> Callable[[Request], Awaitable[Response]]:
    def work(query: str, root: str) -> "LiveFile":
        return served.answer(live())(query, load_presets(), root)

    async def endpoint(request: Request) -> Response:
        if turns.waiting.locked():
            return _error(served, "busy: too many questions at once; ask again in a few seconds", 503)
        async with turns.waiting, turns.working:
            try:
                file = await run_in_threadpool(work, request.url.query, _root(request, start))
            except ValueError as error:
                return _error(served, str(error), 400)
            except RuntimeError as error:
                return _error(served, str(error), 500)
        scope = "public" if served.shared else "private"
        headers = {
            **_HEADERS,
            "Cache-Control": f"{scope}, max-age={_SECONDS_KEPT}",
            "Content-Disposition": f'inline; filename="{file.name}"',
        }
        return Response(file.body, media_type=served.media_type, headers=headers)

    return endpoint


async def _no_such_address(request: Request) -> Response:
    line = f"no such address; allowed is {_API}?preset=NAME and other settings, as in a link"
    return JSONResponse({"error": line}, 404, {**_HEADERS, "Cache-Control": "no-store"})


def _root(request: Request, start: str) -> str:
    """The page's own address as the reader asked for it; a host name that cannot be one is not repeated."""
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        return LOCAL_ADDRESS
    return f"{request.url.scheme}://{host}{start}/"


def _error(served: _Served, message: str, status: int) -> Response:
    line = " ".join(message.split())
    headers = {**_HEADERS, "Cache-Control": "no-store"} | ({"Retry-After": "5"} if status == 503 else {})
    if served.media_type == "application/json":
        return JSONResponse({"error": line}, status, headers)
    return PlainTextResponse(f"{line}\n", status, headers)
