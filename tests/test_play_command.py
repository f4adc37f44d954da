"""The command that serves the page: what it refuses, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from incunabula.envs.editions import GAMES
from incunabula.training.play import command, server
from incunabula.training.play.saves import Saves, replay_from_file
from incunabula.training.play.server import Server
from incunabula.training.play.session import Session
from tests.commands import Cli, cli
from tests.sites import Site
from tests.tables import legal, play_on, seated, uncompiled

__all__ = ["cli", "uncompiled"]


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
        (("bibliogamo", "--edition", ""), "edition: expected an edition's name or file, got ''"),
        (("bibliogamo", "--hint", " "), "hint: expected an agent, got ' '"),
        (("bibliogamo", "--load", ""), "load: expected the file of a replay, got ''"),
        (("bibliogamo", "--seat", ""), "seat: expected a seat, several separated by commas, or"),
        (("scriptorium", "--load", "no.jsonl", "--against", ""), "against: expected an agent, or"),
        (("scriptorium", "--against", ""), "against: expected an agent, or several separated"),
        (("bibliogamo", "--record", ""), "record: the folder's name is empty"),
        (("bibliogamo", "--record", f"{__file__}/x"), "record: "),
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
    assert len(outcome.err.strip().splitlines()) == 1


def test_where_games_cannot_be_recorded_nothing_is_begun(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(*arguments: Any, **options: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(command, "set_table", begun)
    (tmp_path / "file").touch()
    outcome = cli("play", "bibliogamo", "--record", tmp_path / "file", "--no-browser")
    assert (outcome.status, outcome.out) == (2, "")
    assert f"record: {tmp_path / 'file'}: files can't be written there" in outcome.err


def test_the_command_says_which_extra_is_missing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "incunabula.training.play.server")
    outcome = cli("play", GAMES[0], "--no-browser")
    assert outcome.status == 2
    assert "pip install 'incunabula[play]'" in outcome.err


class Program(NamedTuple):
    """The command in a process of its own, once it has told its address."""

    process: subprocess.Popen[str]
    who: str
    site: Site

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        """Send a signal; exit status, what else was printed, and what was told of errors."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out.strip(), err.strip()


@contextmanager
def program(session: Session, folder: Path, *options: object) -> Iterator[Program]:
    """`incunabula play` going on with a saved game."""
    file = Saves(folder).save(session)
    given = ("play", session.table.edition.game, "--load", file, *options, "--no-browser")
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "incunabula", *map(str, given)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        who, opened = process.stdout.readline(), process.stdout.readline()
        yield Program(process, who.strip(), Site(session, folder, opened.split()[1]))
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="sends the signals of Ctrl-C and of kill")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_goes_on_with_a_game_and_ends_with_a_signal(
    tmp_path: Path, number: signal.Signals
) -> None:
    session = seated("scriptorium", players=3, seat="1", deal={"seed": "5"})
    session.act(legal(session)[0])
    with program(session, tmp_path, "--record", tmp_path / "more") as running:
        assert running.who.endswith("seat 0: random, seat 1: person, seat 2: random.")
        state = running.site.state
        assert state["game"]["persons"] == [1]
        assert len(state["frames"]) == len(session.moment.frames)
        status, out, err = running.end(number)
        assert (status, err) == (0, "")
        (saved,) = (tmp_path / "more").iterdir()
        assert out == f"Saved: {saved}"
        (file,) = tmp_path.glob("*.jsonl")
        assert saved.read_bytes() == file.read_bytes()
        address = ("127.0.0.1", int(running.site.host.split(":")[1]))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=5).close()
        socket.create_server(address).close()  # it can be had again


@pytest.mark.skipif(os.name != "posix", reason="sends the signal of Ctrl-C")
def test_what_is_lost_is_told_and_a_port_is_for_one(tmp_path: Path, cli: Cli) -> None:
    session = seated("bibliogamo")
    with program(session, tmp_path) as running:
        port = running.site.host.split(":")[1]
        second = cli("play", "bibliogamo", "--edition", "bibliogamo-tiny", "--port", port)
        assert (second.status, second.out) == (2, "")
        assert f"port: {port} can't be used: " in second.err
        assert len(second.err.strip().splitlines()) == 1
        change = {"at": running.site.state["number"], "action": legal(session)[0]}
        assert running.site.ask("act", change).status == 200
        status, out, err = running.end(signal.SIGINT)
    assert (status, err) == (0, "")
    assert out.startswith("Not saved: the game is gone.")


@pytest.mark.parametrize("played", [True, False])
def test_a_game_that_cannot_be_recorded_at_the_end_is_said_to_be_lost(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: bool
) -> None:
    class Ends(Server):
        """Is interrupted when the folder can no longer be written."""

        def __init__(self, session: Session, saves: Saves, port: int) -> None:
            super().__init__(session, saves, port)
            self.game, self.folder = session, saves.folder

        def run(self, on_start: Callable[[], object] | None = None) -> None:
            self._socket.close()
            if played:
                play_on(self.game, 1)
            self.folder.rmdir()
            self.folder.touch()
            raise KeyboardInterrupt

    monkeypatch.setattr(server, "Server", Ends)
    first = seated("bibliogamo")
    play_on(first, 2)
    given = ("--load", Saves(tmp_path).save(first), "--record", tmp_path / "more")
    outcome = cli("play", "bibliogamo", *given, "--no-browser")
    assert outcome.status == 2
    (line,) = outcome.err.strip().splitlines()
    assert f"{tmp_path / 'more'}: can't be written: " in line
    assert ("the game is gone" in line) == played


def test_what_was_saved_or_loaded_is_not_lost(tmp_path: Path) -> None:
    session, saves = seated("bibliogamo"), Saves(tmp_path)
    assert not saves.lost(session)
    play_on(session, 2)
    assert saves.lost(session)
    file = saves.save(session)
    assert not saves.lost(session)
    play_on(session, 1)
    assert saves.lost(session)
    session.load(replay_from_file(file))
    assert not saves.lost(session)
