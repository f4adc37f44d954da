"""What the server lets through: requests of its own page, and of nobody else."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from html import escape
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
JSON_TYPE = "application/json"
METHODS = ("GET", "HEAD", "POST")  # each of some address
NOTHING_HERE = "there is nothing here; open the address that the program has printed"
PLAIN_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>incunabula</title></head>
<body><h1>incunabula</h1><p>{text}</p></body></html>
"""


class AsciiJSON(JSONResponse):
    """JSON in ASCII: what a request quotes may hold half of a surrogate pair, which is no UTF-8."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def refusal(
    scope: Scope, status: int, text: str, headers: Mapping[str, str] | None = None
) -> Response:
    """An error in one sentence: {"error": …} as JSON, or a small page for a browser that opens the
    address."""
    if "text/html" in Headers(scope=scope).get("accept", ""):
        page = PLAIN_PAGE.format(text=escape(f"{text[0].upper()}{text[1:]}."))
        return HTMLResponse(page, status, headers)
    return AsciiJSON({"error": text}, status, headers)


class Guard:
    """Answers what isn't of the page with an error, and passes on the rest, its path without token.

    A request must name this host and port (or else another site's name could lead here), must not
    come from another origin, and its path must begin with the token. What changes something must
    be a POST of JSON, which no form of another site can send.

    Args:
        app: what answers the rest.
        host: ``127.0.0.1:PORT``.
        token: the first part of every path.
        most_bytes: of a body.
    """

    def __init__(self, app: App, host: str, token: str, most_bytes: int) -> None:
        self.app, self.host, self.token, self.most_bytes = app, host, token, most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", []),
                    *((name.encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        refused = self._refusal(scope)
        if refused is not None:
            status, text = refused
            headers = {"Allow": ", ".join(METHODS)} if status == 405 else None
            await refusal(scope, status, text, headers)(scope, receive, send_guarded)
            return
        _, _, rest = scope["path"][1:].partition("/")
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode(), "root_path": ""}
        await self.app(inner, receive, send_guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason why a request isn't answered, or None."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

        def only(name: str, default: str = "") -> str:
            values = headers.get(name, [default])
            return values[0] if len(values) == 1 else "several"

        if only("host") != self.host:
            return 421, f"this server answers as {self.host} alone"
        if only("origin", f"http://{self.host}") != f"http://{self.host}":
            return 403, "requests from other pages are refused"
        navigates = scope["method"] == "GET" and only("sec-fetch-mode") == "navigate"
        if only("sec-fetch-site", "none") not in ("same-origin", "none") and not navigates:
            return 403, "requests from other pages are refused"
        token, slash, _ = scope["path"][1:].partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.token.encode()):
            return 404, NOTHING_HERE
        if only("upgrade").strip().lower() == "websocket":
            return 404, NOTHING_HERE
        if scope["method"] == "POST":
            if only("content-type").partition(";")[0].strip().lower() != JSON_TYPE:
                return 415, f"expected a body of type {JSON_TYPE}"
            length = only("content-length")
            if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
                return 411, "expected a body with its length"
            if len(length) > 12 or int(length) > self.most_bytes:
                return 413, f"expected a body of at most {self.most_bytes:,} bytes"
        elif scope["method"] not in METHODS:
            return 405, "expected GET or POST"
        return None
