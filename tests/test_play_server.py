"""The local server: what it answers, what it refuses, and that changes can't get mixed up."""

from __future__ import annotations

import html
import json
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from incunabula.envs.errors import IncunabulaError
from incunabula.training.play.html import PAGE, PARTS, page_file, replay_html
from incunabula.training.play.saves import Saves, replay_from_text
from incunabula.training.play.server import MOST_BYTES, Server
from tests.sites import Site, site
from tests.tables import SEED, legal, play_on, seated, uncompiled

__all__ = ["site", "uncompiled"]


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
    first = Server(seated("bibliogamo"), Saves())  # not running yet
    port = int(first.address.split("/")[2].split(":")[1])
    with pytest.raises(IncunabulaError, match=f"port: {port} can't be used: .*; name another"):
        Server(seated("bibliogamo"), Saves(), port)
    first._socket.close()
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


@pytest.mark.parametrize(
    ("path", "method", "status", "said"),
    [
        ("nowhere", "GET", 404, "there is nothing here; open the address that the program"),
        ("state/", "GET", 404, "there is nothing here"),  # and no redirect
        ("act/", "GET", 404, "there is nothing here"),
        ("/", "GET", 404, "there is nothing here"),
        ("act", "GET", 405, "expected POST"),
        ("page.css", "POST", 405, "expected GET or HEAD"),
        ("state", "DELETE", 405, "expected GET or POST"),
        ("game.html", "GET", 403, "the game isn't over: its replay would tell"),
    ],
)
def test_errors_are_json_or_a_page_for_those_who_open_the_address(
    site: Site, path: str, method: str, status: int, said: str
) -> None:
    body: object = {} if method == "POST" else None
    answer = site.ask(path, body, method=method)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    assert answer.json["error"].startswith(said)
    shown = site.ask(path, body, {"Accept": "text/html,*/*;q=0.8"}, method=method)
    assert (shown.status, shown.headers["content-type"]) == (status, "text/html; charset=utf-8")
    sentence = html.escape(said[0].upper() + said[1:])
    assert f"<p>{sentence}" in shown.body.decode()
    for each in (answer, shown):
        assert "location" not in each.headers
        assert each.headers["cache-control"] == "no-store"


def test_a_method_that_no_address_takes_is_answered_with_those_that_there_are(site: Site) -> None:
    for path in ("", "state", "act"):
        answer = site.ask(path, method="DELETE")
        assert (answer.status, answer.headers.get("allow")) == (405, "GET, HEAD, POST")
    assert site.ask("act").headers["allow"] == "POST"


def test_half_of_a_surrogate_pair_is_quoted(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    at, half = site.state["number"], "\ud800"
    loads = {
        '{"format":1,"\\ud800":1}': "bad.jsonl",
        "{}": half,
        f'{{"format":1,"{half}":1}}': half,
    }
    bodies = [("load", {"at": at, "text": text, "name": name}) for text, name in loads.items()]
    bodies += [("hint", {"at": at, "agent": half}), ("act", {"at": at, "action": half})]
    for path, body in bodies:
        answer = site.ask(path, body)
        assert answer.status == 422
        assert answer.json["error"]
        assert answer.body.isascii()
    assert site.ask("load", {"at": at, "text": "{}", "name": half}).json["error"].startswith(half)
    assert caplog.records == []


def sent(site: Site, request: str, *, close: bool = False) -> str:
    """What comes of a request's text: the first line, or nothing if it isn't waited for."""
    host, port = site.host.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode())
        return "" if close else connection.recv(1 << 16).decode().partition("\r\n")[0]


def test_requests_that_break_off_or_ask_for_more_are_no_news_in_the_terminal(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    token = site.address.split("/")[3]
    head = f"Host: {site.host}\nContent-Type: application/json\n"
    for rest in ("", "{}"):
        sent(site, f"POST /{token}/act HTTP/1.1\n{head}Content-Length: 100\n\n{rest}", close=True)
    upgrade = "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n"
    for path in ("", "state", "nowhere"):
        asked = f"GET /{token}/{path} HTTP/1.1\n{head}{upgrade}Sec-WebSocket-Key: aaaa\n\n"
        assert sent(site, asked) == "HTTP/1.1 404 Not Found"
    assert sent(site, "no request\n\n") == "HTTP/1.1 400 Bad Request"
    for _ in range(3):  # by when what broke off is over
        assert site.ask("state").status == 200
    assert caplog.records == []


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
    for wrong in ("0", None, 1.0, True, -1, 10**30, 10**4000):
        answer = site.ask("act", {"at": site.state["number"], "action": wrong})
        assert answer.status == 422
        assert "action" in answer.json["error"]
        assert len(answer.json["error"]) < 200


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
    def fail(name: str) -> Any:
        def later() -> None:
            raise RuntimeError("out of ideas")

        return later

    monkeypatch.setattr(site.session, "hint_later", fail)
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
    surrogate = site.ask("load", {"at": 0, "text": "\ud800", "name": "\ud800"})
    assert surrogate.status == 409
    odd = {"at": site.state["number"], "text": "\ud800", "name": "odd.jsonl"}
    assert site.ask("load", odd).json["error"] == "odd.jsonl, line 1: isn't UTF-8 text (byte 0)"
    bad = site.ask("load", {"at": site.state["number"], "text": "{}", "name": "bad.jsonl"})
    assert bad.status == 422
    assert "bad.jsonl" in bad.json["error"]


# One file ---------------------------------------------------------------------------------------


def test_what_is_in_a_game_stays_text() -> None:
    session = seated("bibliogamo")
    nasty = "</script><script>alert(1)</script><!-- \u2028 ' \" & <img src=x>"
    game = {**session.moment.facts, "players": [nasty], "frames": list(session.moment.frames)}
    page = replay_html(game)
    assert nasty not in page
    assert "alert(1)</script>" not in page
    assert "\u2028" not in page
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert block is not None
    data = json.loads(block[1])
    assert data["players"] == [nasty]
    shapes = [data["shapes"][k] for k in data["frames"][0]["scene"]["shapes"]]
    assert shapes == json.loads(json.dumps(game["frames"][0]["scene"]["shapes"]))
    assert "src=" not in page.replace(block[0], "")
    assert 'href="page.css"' not in page
    assert page.count("<script") == 4
