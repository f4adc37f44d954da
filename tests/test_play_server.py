"""The local server: what it answers, what it refuses, and that changes can't get mixed up."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from incunabula.envs.editions import GAMES
from incunabula.envs.errors import IncunabulaError
from incunabula.training.play.html import PAGE, PARTS, page_file, replay_html
from incunabula.training.play.saves import Saves, replay_from_text
from incunabula.training.play.server import MOST_BYTES, Server
from incunabula.training.play.session import Session
from tests.commands import Cli, cli
from tests.tables import SEED, legal, play_on, seated, uncompiled

__all__ = ["cli", "uncompiled"]


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


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A game of Bibliogamo that is served."""
    session = seated("bibliogamo")
    server = Server(session, Saves(tmp_path / "saves", record=True))
    started = threading.Event()
    thread = threading.Thread(target=server.run, args=(started.set,))
    thread.start()
    try:
        assert started.wait(30)
        yield Site(session, tmp_path / "saves", server.address)
    finally:
        server.stop()
        thread.join(30)
    assert not thread.is_alive()


# What is served ---------------------------------------------------------------------------------


def test_the_page_loads_nothing_from_elsewhere(site: Site) -> None:
    for name in ("", *PARTS):
        answer = site.ask(name)
        assert answer.status == 200
        assert answer.body.decode() == page_file(name or PAGE)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert not any("unsafe" in part or "http" in part for part in policy)
    addresses = re.findall(r"https?://[^\s'\"]+", "".join(map(page_file, (PAGE, *PARTS))))
    assert set(addresses) == {"http://www.w3.org/2000/svg"}


def test_it_listens_on_this_machine_alone(site: Site) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", site.address)
    with pytest.raises((ConnectionRefusedError, TimeoutError)):
        socket.create_connection(("127.0.0.2", int(site.host.split(":")[1])), timeout=5).close()


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(IncunabulaError, match=f"port: {port} can't be used"):
            Server(seated("bibliogamo"), Saves(), port)
    with pytest.raises(IncunabulaError, match="port: expected a number in"):
        Server(seated("bibliogamo"), Saves(), 65536)


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"token": "x" * 32}, 404),
        ({"token": "%00"}, 404),
        ({"path": "nowhere"}, 404),
        ({"path": "../../etc/passwd"}, 404),
        ({"headers": {"Host": "example.org"}}, 421),
        ({"headers": {"Host": "localhost:80"}}, 421),
        ({"headers": {"Origin": "http://example.org"}}, 403),
        ({"headers": {"Origin": "null"}}, 403),
        ({"headers": {"Origin": "http://127.0.0.1:1"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}}, 403),
        ({"method": "PUT"}, 405),
        ({"path": "act"}, 405),
        ({"path": "state", "body": {}}, 405),
        ({"path": "act", "body": {}, "headers": {"Content-Type": "text/plain"}}, 415),
        ({"path": "act", "body": {}, "headers": {"Origin": "http://example.org"}}, 403),
        ({"path": "act", "body": {}, "headers": {"Sec-Fetch-Site": "same-site"}}, 403),
        ({"path": "act", "body": b"", "headers": {"Content-Length": str(MOST_BYTES + 1)}}, 413),
        ({"path": "act", "body": b"0\r\n\r\n", "headers": {"Transfer-Encoding": "chunked"}}, 411),
        ({"path": "act", "body": b"{"}, 400),
        ({"path": "act", "body": []}, 400),
        ({"path": "act", "body": b"[" * 100_000}, 400),
    ],
)
def test_requests_of_others_are_refused(site: Site, request_: dict[str, Any], status: int) -> None:
    number = site.session.moment.number
    answer = site.ask(**request_)
    assert answer.status == status
    assert site.address.split("/")[3] not in answer.body.decode()
    assert site.session.moment.number == number


def test_an_address_that_another_page_links_to_opens(site: Site) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert site.ask(headers=link).status == 200


# Changes ----------------------------------------------------------------------------------------


def test_an_action_is_done_and_what_is_new_comes_back(site: Site) -> None:
    state = site.state
    action = legal(site.session)[0]
    origin = {"Origin": f"http://{site.host}", "Sec-Fetch-Site": "same-origin"}
    answer = site.ask(
        "act", {"at": state["number"], "action": action, "seen": state["serial"]}, origin
    )
    assert answer.status == 200
    new = answer.json["state"]
    assert new["ids"][:-1] == state["ids"]
    (frame,) = new["frames"]
    assert (frame["id"], frame["done"]["action"]) == (new["ids"][-1], action)
    frame["scene"]["shapes"] = [new["shapes"][k] for k in frame["scene"]["shapes"]]
    frame.pop("id")
    assert frame == json.loads(json.dumps(site.session.moment.frames[-1]))
    assert site.ask(f"state?number={new['number']}").json == {}


def test_a_change_of_an_old_position_is_refused(site: Site) -> None:
    old = site.state["number"]
    site.ask("act", {"at": old, "action": legal(site.session)[0]})
    actions = list(site.session.actions)
    for path in ("act", "undo", "new", "load", "save", "hint"):
        answer = site.ask(path, {"at": old, "action": 0})
        assert answer.status == 409
        assert "moved on" in answer.json["error"]
        assert answer.json["state"]["number"] == site.session.moment.number
    assert site.session.actions == actions


def test_of_many_at_once_one_is_done(site: Site) -> None:
    change = {"at": site.state["number"], "action": legal(site.session)[0]}
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: site.ask("act", change).status, range(8)))
    assert sorted(statuses) == [200] + [409] * 7
    assert len(site.session.actions) == 1


def test_an_illegal_action_is_explained(site: Site) -> None:
    illegal = next(a for a in range(site.session.engine.actions.n) if a not in legal(site.session))
    answer = site.ask("act", {"at": site.state["number"], "action": illegal})
    assert answer.status == 422
    (reason,) = answer.json["reasons"]
    why = site.session.engine.why_illegal(0, illegal)
    assert (reason["clause"], reason["reason"]) == why
    for wrong in ("0", None, 1.0, True, -1, 10**30):
        answer = site.ask("act", {"at": site.state["number"], "action": wrong})
        assert answer.status == 422
        assert "action" in answer.json["error"]


def test_things_say_why_not(site: Site) -> None:
    marks = {shape.get("mark") for shape in site.state["shapes"]} - {None}
    usable = {each["mark"] for each in site.session.moment.frames[-1]["legal"]}
    answers = {mark: site.ask(f"why?mark={mark}").json for mark in marks - usable}
    assert any(answer.get("reasons") for answer in answers.values())
    for answer in answers.values():
        assert answer.get("error") or all(reason["clause"] for reason in answer["reasons"])


def test_a_fault_of_the_program_is_told(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(name: str) -> None:
        raise RuntimeError("out of ideas")

    monkeypatch.setattr(site.session, "hint", fail)
    answer = site.ask("hint", {"at": site.state["number"], "agent": "greedy"})
    assert answer.status == 500
    assert answer.headers["cache-control"] == "no-store"
    assert "the terminal" in answer.json["error"]
    assert "out of ideas" not in answer.body.decode()
    waited = threading.Event()
    for _ in range(300):  # it is logged after the answer
        if "out of ideas" in caplog.text or waited.wait(0.1):
            break
    assert "out of ideas" in caplog.text
    assert site.state["number"] == site.session.moment.number


def test_a_new_game_can_be_dealt(site: Site) -> None:
    first = site.session.engine.snapshot(0)
    play_on(site.session, 3)
    site.ask("new", {"at": site.state["number"], "seed": "7"})
    assert site.session.engine.snapshot(0) == first
    assert site.session.actions == []
    site.ask("new", {"at": site.state["number"]})
    assert site.session.deal != SEED
    assert site.ask("new", {"at": site.state["number"], "seed": "x"}).status == 422


def test_a_finished_game_is_recorded_and_can_be_downloaded(site: Site) -> None:
    for path in ("game.html", "game.jsonl"):
        assert site.ask(path).status == 403
    saved = site.ask("save", {"at": site.state["number"]}).json["saved"]
    while not site.session.over:
        change = {"at": site.session.moment.number, "action": legal(site.session)[-1]}
        assert site.ask("act", change).status == 200
    assert [str(path) for path in site.folder.iterdir()] == [saved]
    text = site.ask("game.jsonl").body.decode()
    assert text == Path(saved).read_text()
    answer = site.ask("game.html")
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.body.decode() == replay_html(
        {**site.session.moment.facts, "frames": list(site.session.moment.frames)}
    )
    site.ask("new", {"at": site.state["number"]})
    loaded = site.ask("load", {"at": site.state["number"], "text": text, "name": "old.jsonl"})
    assert loaded.status == 200
    assert site.session.replay.scores == replay_from_text(text, "old.jsonl").scores
    bad = site.ask("load", {"at": site.state["number"], "text": "{}", "name": "bad.jsonl"})
    assert bad.status == 422
    assert "bad.jsonl" in bad.json["error"]


# One file ---------------------------------------------------------------------------------------


def test_what_is_in_a_game_stays_text() -> None:
    session = seated("bibliogamo")
    nasty = "</script><script>alert(1)</script><!-- \u2028 ' \" & <img src=x>"
    game = {**session.moment.facts, "players": [nasty], "frames": list(session.moment.frames)}
    html = replay_html(game)
    assert nasty not in html
    assert "alert(1)</script>" not in html
    assert "\u2028" not in html
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    assert block is not None
    data = json.loads(block[1])
    assert data["players"] == [nasty]
    shapes = [data["shapes"][k] for k in data["frames"][0]["scene"]["shapes"]]
    assert shapes == json.loads(json.dumps(game["frames"][0]["scene"]["shapes"]))
    assert "src=" not in html.replace(block[0], "")
    assert 'href="page.css"' not in html
    assert html.count("<script") == 4


# The command ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chess",), "there is no game 'chess'"),
        (("bibliogamo", "--against", "greedy"), "against: bibliogamo is played alone"),
        (("scriptorium", "--seat", "7"), "seats in 0..1"),
        (("bibliogamo", "--port", "70000"), "port: expected a number in"),
        (("bibliogamo", "--load", "no.jsonl"), "no.jsonl"),
        (("scriptorium", "--load", "{bibliogamo}"), "is a game of bibliogamo, not of scriptorium"),
        (("bibliogamo", "--load", "{bibliogamo}", "--against", "greedy"), "is played alone"),
        (("bibliogamo", "--load", "no.jsonl", "--seed", "1"), "seed: a game that is loaded"),
    ],
)
def test_the_command_refuses(
    cli: Cli, arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    file = ""
    if "{bibliogamo}" in arguments:
        file = str(Saves(tmp_path).save(seated("bibliogamo")))
    given = (argument.format(bibliogamo=file) for argument in arguments)
    outcome = cli("play", *given, "--no-browser")
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err
    assert "Traceback" not in outcome.err


def test_the_command_says_which_extra_is_missing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "incunabula.training.play.server")
    outcome = cli("play", GAMES[0], "--no-browser")
    assert outcome.status == 2
    assert "pip install 'incunabula[play]'" in outcome.err


@pytest.mark.skipif(os.name != "posix", reason="sends the signal of Ctrl-C")
def test_the_command_goes_on_with_a_game_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    session = seated("scriptorium", players=3, seat="1", deal={"seed": "5"})
    session.act(legal(session)[0])
    file = Saves(tmp_path).save(session)
    command = ["play", "scriptorium", "--load", file, "--record", tmp_path / "more", "--no-browser"]
    running = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "incunabula", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None
        who, opened = running.stdout.readline(), running.stdout.readline()
        address = opened.split()[1]
        state = Site(session, tmp_path, address).state
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    finally:
        running.kill()
    assert (running.returncode, err.strip()) == (0, "")
    assert who.strip().endswith("seat 0: random, seat 1: person, seat 2: random.")
    assert state["game"]["persons"] == [1]
    assert len(state["frames"]) == len(session.moment.frames)
    (saved,) = (tmp_path / "more").iterdir()
    assert out.strip() == f"Saved: {saved}"
    assert saved.read_bytes() == file.read_bytes()
