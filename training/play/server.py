"""The local server of the page: one game, for any number of tabs of the person who started it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import threading
import time
from collections.abc import Awaitable, Callable

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from incunabula.envs.chance import check_seed
from incunabula.envs.documents import show
from incunabula.envs.engine import Json
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.lines import MAX_LINE
from incunabula.envs.replay import replay_line
from incunabula.training.play.guard import NOTHING_HERE, App, AsciiJSON, Guard, refusal
from incunabula.training.play.html import PAGE, PARTS, packed, page_file, replay_html
from incunabula.training.play.saves import Saves, replay_from_text
from incunabula.training.play.session import Moment, Session, StaleError
from incunabula.training.play.work import EndedError, Workers

HOST = "127.0.0.1"
MOST_BYTES = MAX_LINE + (1 << 20)  # of a body: a replay as text within JSON, and some room
TOKEN_BYTES = 24


class Room:
    """A session as requests see it: changes one after the other, looking at any time, hints beside.

    Args:
        session: the game.
        saves: where games are saved.
    """

    def __init__(self, session: Session, saves: Saves) -> None:
        self.session, self.saves = session, saves
        self.workers = Workers()
        self._turn = asyncio.Lock()
        self._changing: tuple[str, float] | None = None  # what is being done, and since when
        self._hints: dict[tuple[int, str], asyncio.Task[Json]] = {}  # by position and agent
        self._agents: dict[str, asyncio.Lock] = {}  # each gives one hint at a time

    def routes(self) -> list[Route]:
        """What is answered."""
        changes: dict[str, Callable[[Json], Json]] = {
            "act": self._act,
            "undo": self._undo,
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
            Route("/hint", self._answer(self._hint), methods=["POST"]),
            *(
                Route(f"/{name}", self._answer(self._change(name, done)), methods=["POST"])
                for name, done in changes.items()
            ),
        ]

    # Looking ------------------------------------------------------------------------------------

    async def _state(self, request: Request) -> Response:
        """The game, if its number isn't the one that the page knows; frames it has are left out.
        And what is waited for, if something is being done."""
        moment, content = self.session.moment, dict[str, object]()
        known = request.query_params
        if known.get("number") != str(moment.number):
            content["state"] = _state(moment, _integer(known.get("seen", "-1")))
        if self._changing is not None:
            what, since = self._changing
            content["doing"] = {"what": what, "seconds": round(time.monotonic() - since, 1)}
        return AsciiJSON(content)

    async def _why(self, request: Request) -> Response:
        """Why nothing can be done with a thing."""
        if self._changing is not None:
            return AsciiJSON({"error": "One moment: the last move is still being played."})
        mark = request.query_params.get("mark", "")
        async with self._turn:
            reasons = await self.workers.do(lambda: self.session.why(mark))
        if not reasons:
            return AsciiJSON({"error": "Nothing is ever done with this; it is there to see."})
        return AsciiJSON({"reasons": [reason._asdict() for reason in reasons]})

    async def _page_of_game(self, request: Request) -> Response:
        """A finished game as one file for browsers."""
        moment = self.session.moment
        if not moment.facts["over"]:
            return _still_secret(request)
        game = {**moment.facts, "frames": list(moment.frames)}
        page = await self.workers.do(lambda: replay_html(game))
        return _attached(page, "text/html", "html")

    async def _file_of_game(self, request: Request) -> Response:
        """A finished game as a replay."""
        replay = self.session.replay
        if not replay.finished:
            return _still_secret(request)
        return _attached(replay_line(replay), "application/jsonl", "jsonl")

    # Changing -----------------------------------------------------------------------------------

    def _answer(
        self, done: Callable[[Json], Awaitable[Json]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """What answers a request to do something with the position that it names."""

        async def endpoint(request: Request) -> Response:
            try:
                body = json.loads(await request.body())
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                return AsciiJSON({"error": "expected a JSON object"}, 400)
            try:
                status, content = 200, await done(body)
            except IncunabulaError as error:
                status, content = _told(error)
            moment = self.session.moment
            if moment.number != body.get("at"):
                content["state"] = _state(moment, _integer(body.get("seen")))
            return AsciiJSON(content, status)

        return endpoint

    def _change(self, name: str, done: Callable[[Json], Json]) -> Callable[[Json], Awaitable[Json]]:
        """What changes the game: one change at a time."""

        def change(body: Json) -> Json:
            self.session.check_number(body.get("at"))
            return done(body)

        async def in_turn(body: Json) -> Json:
            async with self._turn:
                self._changing = name, time.monotonic()
                try:
                    return await self.workers.do(lambda: change(body))
                finally:
                    self._changing = None

        return in_turn

    async def _hint(self, body: Json) -> Json:
        """A hint, for which nothing else waits. Who asks for the same gets the same, and nobody
        gets one of a position that is past."""
        at, agent = body.get("at"), str(body.get("agent", ""))
        async with self._turn:
            self.session.check_number(at)
            later = self.session.hint_later(agent)
        number = self.session.moment.number
        asked = self._hints.get((number, agent))
        if asked is None or (asked.done() and asked.exception() is not None):
            asked = asyncio.create_task(self._one_hint(number, agent, later))
            past = [key for key, task in self._hints.items() if key[0] != number and task.done()]
            for key in past:
                del self._hints[key]
            self._hints[number, agent] = asked
        hint = await asyncio.shield(asked)
        self.session.check_number(at)
        return {"hint": hint}

    async def _one_hint(self, number: int, agent: str, later: Callable[[], Json]) -> Json:
        async with self._agents.setdefault(agent, asyncio.Lock()):
            self.session.check_number(number)
            return await self.workers.do(later)

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


def _told(error: IncunabulaError) -> tuple[int, Json]:
    """A status and what a page is told of an error."""
    content: Json = {"error": str(error)}
    if isinstance(error, StaleError):
        return 409, content
    if isinstance(error, EndedError):
        return 503, content
    if isinstance(error, IllegalActionError):
        content["reasons"] = [{"clause": error.clause, "reason": error.reason, "actions": 1}]
    return 422, content


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


def _still_secret(request: Request) -> Response:
    return refusal(request.scope, 403, "the game isn't over: its replay would tell what is to come")


async def _not_found(request: Request, error: Exception) -> Response:
    """What is answered where there is nothing, or nothing of this method."""
    assert isinstance(error, HTTPException)
    allowed = (error.headers or {}).get("Allow")
    text = NOTHING_HERE  # Starlette names methods in the order of a set
    if allowed is not None:
        text = f"expected {' or '.join(sorted(allowed.split(', ')))}"
    return refusal(request.scope, error.status_code, text, error.headers)


async def _gone(request: Request, error: Exception) -> Response:
    """What nobody gets: the page was closed before its request was sent in full."""
    return refusal(request.scope, 400, "expected a body of the length that was told")


async def _failed(request: Request, error: Exception) -> Response:
    """What the page is told of a fault of the program, which the terminal shows in full."""
    text = "The program has failed; the terminal that it runs in says how."
    return AsciiJSON({"error": text}, 500)


def make_app(room: Room, host: str, token: str) -> App:
    """The application: the page of a game, behind its guard."""
    handlers = {HTTPException: _not_found, ClientDisconnect: _gone, Exception: _failed}
    app = Starlette(routes=room.routes(), exception_handlers=handlers)
    app.router.redirect_slashes = False  # an address is one of those that there are, or it isn't
    return Guard(app, host, token, MOST_BYTES)


class _Loop(uvicorn.Server):
    """A server that leaves behind what it is still waiting for when it ends."""

    def __init__(self, config: uvicorn.Config, workers: Workers) -> None:
        super().__init__(config)
        self._workers = workers

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._workers.end()
        await super().shutdown(sockets)


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
        room = Room(session, saves)
        config = uvicorn.Config(
            make_app(room, host, token),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # its warnings are of requests, which are answered
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Loop(config, room.workers)

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
        listener.listen()  # two may bind the same, but not listen
    except OSError as error:
        listener.close()
        raise IncunabulaError(
            f"port: {port} can't be used: {error.strerror or error}; name another, or leave it "
            "out for any that is free"
        ) from None
    return listener
