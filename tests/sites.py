"""Games that are served, for the tests of the page's server."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from incunabula.training.play.saves import Saves
from incunabula.training.play.server import Server
from incunabula.training.play.session import Session
from tests.tables import seated


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body's value."""
        return json.loads(self.body)


class Site(NamedTuple):
    """A game that is served."""

    session: Session
    folder: Path
    address: str

    @property
    def host(self) -> str:
        """127.0.0.1:PORT."""
        return self.address.split("/")[2]

    def ask(
        self,
        path: str = "",
        body: object = None,
        headers: dict[str, str] | None = None,
        method: str | None = None,
        token: str | None = None,
    ) -> Answer:
        """What comes of a request, which is a POST of JSON if it has a body."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        root = f"/{token or self.address.split('/')[3]}/"
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        method = method or ("GET" if body is None else "POST")
        try:
            connection.request(method, root + path, sent, kind | (headers or {}))
            response = connection.getresponse()
            got = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, got, response.read())
        finally:
            connection.close()

    @property
    def state(self) -> Any:
        """The game as a page that knows nothing gets it."""
        return self.ask("state").json["state"]


@contextmanager
def running(session: Session, folder: Path, record: bool = False) -> Iterator[Site]:
    """A game that is served."""
    server = Server(session, Saves(folder, record))
    started = threading.Event()
    thread = threading.Thread(target=server.run, args=(started.set,))
    thread.start()
    try:
        assert started.wait(30)
        yield Site(session, folder, server.address)
    finally:
        server.stop()
        thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A game of Bibliogamo that is served."""
    with running(seated("bibliogamo"), tmp_path / "saves", record=True) as found:
        yield found
