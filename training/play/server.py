"""The local server of the page: one game, for any number of tabs of the person who started it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from incunabula.envs.documents import show
from incunabula.envs.engine import Json
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.replay import MAX_LINE, replay_line
from incunabula.training.play.guard import App, Guard
from incunabula.training.play.html import PAGE, PARTS, packed, page_file, replay_html
from incunabula.training.play.saves import Saves, replay_from_text
from incunabula.training.play.session import Moment, Session, StaleError, check_seed

HOST = "127.0.0.1"
MOST_BYTES = MAX_LINE + (1 << 20)  # of a body: a replay as text within JSON, and some room
TOKEN_BYTES = 24


class Room:
    """A session as requests see it: changes one after the other, looking at any time.

    Args:
        session: the game.
        saves: where games are saved.
    """

    def __init__(self, session: Session, saves: Saves) -> None:
        self.session, self.saves = session, saves
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """What is answered."""
        changes: dict[str, Callable[[Json], Json]] = {
            "act": self._act,
            "undo": self._undo,
            "hint": self._hint,
            "save": self._save,
            "load": self._load,
            "new": self._new,
        }
        return [
            Route("/", _file(PAGE, "text/html")),
            *(Route(f"/{name}", _file(name, kind)) for name, kind in PARTS.items()),
            Route("/state", self._state),
            Route("/why", self._why),
            Route("/game.html", self._page_of_game),
            Route("/game.jsonl", self._file_of_game),
            *(
                Route(f"/{name}", self._change(done), methods=["POST"])
                for name, done in changes.items()
            ),
        ]

    # Looking ------------------------------------------------------------------------------------

    async def _state(self, request: Request) -> Response:
        """The game, if its number isn't the one that the page knows; frames it has are left out."""
        moment = self.session.moment
        known = request.query_params
        if known.get("number") == str(moment.number):
            return JSONResponse({})
        return JSONResponse({"state": _state(moment, _integer(known.get("seen", "-1")))})

    async def _why(self, request: Request) -> Response:
        """Why nothing can be done with a thing."""
        mark = request.query_params.get("mark", "")
        async with self._turn:
            reasons = await run_in_threadpool(self.session.why, mark)
        if not reasons:
            return JSONResponse({"error": "Nothing is ever done with this; it is there to see."})
        return JSONResponse({"reasons": [reason._asdict() for reason in reasons]})

    async def _page_of_game(self, request: Request) -> Response:
        """A finished game as one file for browsers."""
        moment = self.session.moment
        if not moment.facts["over"]:
            return _still_secret()
        game = {**moment.facts, "frames": list(moment.frames)}
        return await run_in_threadpool(lambda: _attached(replay_html(game), "text/html", "html"))

    async def _file_of_game(self, request: Request) -> Response:
        """A finished game as a replay."""
        async with self._turn:
            if not self.session.over:
                return _still_secret()
            return _attached(replay_line(self.session.replay), "application/jsonl", "jsonl")

    # Changing -----------------------------------------------------------------------------------

    def _change(self, done: Callable[[Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        """What answers a request to change something: one at a time, each of the position that it
        names."""

        def answer(body: Json) -> tuple[int, Json]:
            try:
                self.session.check_number(body.get("at"))
                return 200, done(body)
            except StaleError as error:
                return 409, {"error": str(error)}
            except IllegalActionError as error:
                reason = {"clause": error.clause, "reason": error.reason, "actions": 1}
                return 422, {"error": str(error), "reasons": [reason]}
            except IncunabulaError as error:
                return 422, {"error": str(error)}

        async def endpoint(request: Request) -> Response:
            try:
                body = json.loads(await request.body())
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                return JSONResponse({"error": "expected a JSON object"}, 400)
            async with self._turn:
                status, content = await run_in_threadpool(answer, body)
                moment = self.session.moment
            if moment.number != body.get("at"):
                content["state"] = _state(moment, _integer(body.get("seen")))
            return JSONResponse(content, status)

        return endpoint

    def _act(self, body: Json) -> Json:
        action = body.get("action")
        if type(action) is not int:
            raise IncunabulaError(f"action: expected a number, got {show(action)}")
        self.session.act(action)
        self.saves.finished(self.session)
        return {}

    def _undo(self, body: Json) -> Json:
        self.session.undo()
        return {}

    def _hint(self, body: Json) -> Json:
        return {"hint": self.session.hint(str(body.get("agent", "")))}

    def _save(self, body: Json) -> Json:
        return {"saved": str(self.saves.save(self.session))}

    def _load(self, body: Json) -> Json:
        text, name = body.get("text"), body.get("name", "file")
        if not isinstance(text, str) or not isinstance(name, str):
            raise IncunabulaError("load: expected the text of a replay and its name")
        self.session.load(replay_from_text(text, name))
        return {}

    def _new(self, body: Json) -> Json:
        seed = body.get("seed")
        if seed is None:
            self.session.restart()
            return {}
        if not (isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) <= 20):
            raise IncunabulaError(f"seed: expected digits, got {show(seed)}")
        check_seed(int(seed))
        self.session.restart({"seed": str(int(seed))})
        return {}


def _state(moment: Moment, seen: int) -> Json:
    """A moment for a page that knows the frames up to a serial number."""
    new = [k for k, serial in enumerate(moment.serials) if serial > seen]
    return {
        "number": moment.number,
        "serial": max(moment.serials),
        "ids": list(moment.serials),
        "game": {**moment.facts, "most_bytes": MAX_LINE},
        **packed({**moment.frames[k], "id": moment.serials[k]} for k in new),
    }


def _integer(value: object) -> int:
    """A page's number; all is new to a page that gives none."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else -1


def _file(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    text = page_file(name)

    async def endpoint(request: Request) -> Response:
        return Response(text, media_type=kind)

    return endpoint


def _attached(content: str | bytes, kind: str, ending: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="game.{ending}"'}
    return Response(content, media_type=kind, headers=headers)


def _still_secret() -> Response:
    text = "the game isn't over: its replay would tell what is to come"
    return JSONResponse({"error": text}, 403)


async def _failed(request: Request, error: Exception) -> Response:
    """What the page is told of a fault of the program, which the terminal shows in full."""
    text = "The program has failed; the terminal that it runs in says how."
    return JSONResponse({"error": text}, 500)


def make_app(session: Session, saves: Saves, host: str, token: str) -> App:
    """The application: the page of a game, behind its guard."""
    routes = Room(session, saves).routes()
    app = Starlette(routes=routes, exception_handlers={Exception: _failed})
    return Guard(app, host, token, MOST_BYTES)


class Server:
    """A server of one game on this machine, at ``address``.

    Args:
        session: the game.
        saves: where games are saved.
        port: 0: any that is free.

    Raises:
        IncunabulaError: the port can't be used.
    """

    def __init__(self, session: Session, saves: Saves, port: int = 0) -> None:
        self._socket = _bound(port)
        host = f"{HOST}:{self._socket.getsockname()[1]}"
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self.address = f"http://{host}/{token}/"
        config = uvicorn.Config(
            make_app(session, saves, host, token),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self, on_start: Callable[[], object] | None = None) -> None:
        """Serve until ``stop``, or until the program is interrupted; then KeyboardInterrupt.

        ``on_start``: called by another thread once requests are answered.
        """
        if on_start is not None:
            threading.Thread(target=self._when_started, args=(on_start,), daemon=True).start()
        with contextlib.closing(self._socket):
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End ``run``, from another thread."""
        self._server.should_exit = True

    def _when_started(self, done: Callable[[], object]) -> None:
        while not self._server.started:
            threading.Event().wait(0.02)
        done()


def _bound(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise IncunabulaError(f"port: expected a number in 0..65535, got {port}")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if hasattr(socket, "SO_REUSEADDR") and hasattr(socket, "AF_UNIX"):  # elsewhere it lets two in
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise IncunabulaError(
            f"port: {port} can't be used: {error.strerror or error}; name another, or leave it "
            "out for any that is free"
        ) from None
    return listener
