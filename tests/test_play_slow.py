"""Agents that take their time: nobody waits for hints, and others' moves are seen one by one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from incunabula.agents.agent import RandomAgent, View
from incunabula.envs.engine import Engine
from incunabula.training.play.saves import Saves
from incunabula.training.play.server import Server
from incunabula.training.play.session import Session
from incunabula.training.play.table import Table, set_table
from incunabula.training.replay.advice import Advice, Adviser
from tests.sites import Site, running, site
from tests.tables import SEED, legal, seated, uncompiled

__all__ = ["site", "uncompiled"]


class Slow(Adviser):
    """Thinks until it is let go."""

    def __init__(self) -> None:
        super().__init__("greedy", set_table("bibliogamo", "bibliogamo-tiny").edition)
        self.asked, self.go, self.times = threading.Event(), threading.Event(), 0

    def advise(self, engine: Engine, row: int, decision: int) -> Advice:
        self.times += 1
        self.asked.set()
        assert self.go.wait(30)
        return super().advise(engine, row, decision)


@pytest.fixture
def slow(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """The site's agent for hints, which is slow now."""
    agent = Slow()
    monkeypatch.setitem(site.session.table._made, "greedy", agent)
    yield agent
    agent.go.set()


def test_one_can_play_on_while_an_agent_thinks_of_a_hint(site: Site, slow: Slow) -> None:
    old = site.state["number"]
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(site.ask, "hint", {"at": old, "agent": "greedy"}) for _ in range(2)]
        assert slow.asked.wait(30)
        action = legal(site.session)[0]
        new = site.ask("act", {"at": old, "action": action}).json["state"]["number"]
        assert len(site.session.actions) == 1
        slow.go.set()
        for answer in (each.result() for each in asked):
            assert answer.status == 409
            assert "hint" not in answer.json
            assert answer.json["state"]["number"] == new


def test_two_tabs_that_ask_for_one_hint_get_it_once_thought_of(site: Site, slow: Slow) -> None:
    body = {"at": site.state["number"], "agent": "greedy"}
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(site.ask, "hint", body)
        assert slow.asked.wait(30)
        second = pool.submit(site.ask, "hint", body)
        while not second.running():
            pass
        assert site.ask("state").status == 200  # it has been heard by then, or soon
        slow.go.set()
        hints = [first.result().json["hint"], second.result().json["hint"]]
    assert hints[0] == hints[1]
    assert hints[0]["action"] in legal(site.session)
    assert site.ask("hint", body).json["hint"] == hints[0]
    assert slow.times == 1


def test_the_program_ends_though_an_agent_still_thinks(tmp_path: Path, slow: Slow) -> None:
    session = seated("bibliogamo")
    server = Server(session, Saves(tmp_path))
    started = threading.Event()
    thread = threading.Thread(target=server.run, args=(started.set,))
    thread.start()
    assert started.wait(30)
    site = Site(session, tmp_path, server.address)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(site.ask, "hint", {"at": site.state["number"], "agent": "greedy"})
        assert slow.asked.wait(30)
        server.stop()
        thread.join(10)
        assert not thread.is_alive()
        assert asked.result().status == 503


class Pausing(RandomAgent):
    """Waits before its second move until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.moves, self.waits, self.go = 0, threading.Event(), threading.Event()

    def act(self, view: View) -> Any:
        self.moves += 1
        if self.moves == 2:
            self.waits.set()
            assert self.go.wait(30)
        return super().act(view)


def test_the_moves_of_others_are_seen_as_they_are_made(tmp_path: Path) -> None:
    other = Pausing()
    usual = set_table("scriptorium", "scriptorium-tiny")
    session = Session(Table(usual.edition, (None, other)), SEED)
    with running(session, tmp_path) as site, ThreadPoolExecutor(2) as pool:
        while not other.waits.is_set():
            old = site.state
            change = {"at": old["number"], "action": legal(session)[0]}
            acting = pool.submit(site.ask, "act", change)
            while not (acting.done() or other.waits.wait(0.05)):
                pass
        now = site.ask("state").json
        assert now["doing"]["what"] == "act"
        assert now["doing"]["seconds"] >= 0
        assert now["state"]["number"] > old["number"]
        assert len(now["state"]["ids"]) > len(old["ids"])
        assert "One moment" in site.ask("why?mark=end").json["error"]
        late = pool.submit(site.ask, "act", change | {"at": now["state"]["number"]})
        kept = session.replay.actions
        assert len(kept) == len(now["state"]["ids"]) - 1
        other.go.set()
        assert acting.result().status == 200
        assert late.result().status == 409  # it wasn't that seat's turn
        assert "doing" not in site.ask("state").json
        assert session.replay.actions[: len(kept)] == kept
