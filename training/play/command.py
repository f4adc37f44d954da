"""What the command ``play`` does."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from incunabula.agents.registry import AGENTS, OPTIMAL, SEARCHERS
from incunabula.envs.chance import check_seed
from incunabula.envs.errors import IncunabulaError, needing
from incunabula.envs.playback import edition_of
from incunabula.envs.replay import Replay
from incunabula.training.arguments import check_game
from incunabula.training.evaluation.files import check_folder, kept_if_used
from incunabula.training.play.saves import Saves, replay_from_file
from incunabula.training.play.session import Session, check_game_of
from incunabula.training.play.table import PERSON, Table, set_table

SLOW = 3.0  # seconds after which the terminal says what is waited for
NAMED = {  # what options that may not be empty expect
    "edition": "an edition's name or file",
    "seat": "a seat, several separated by commas, or all",
    "against": "an agent, or several separated by commas",
    "hint": "an agent",
    "load": "the file of a replay",
}
GETTING_READY = (
    "incunabula: getting the agents ready; what they need is compiled once on a machine, which "
    "takes up to a minute"
)


def run_play(
    game: str,
    *,
    edition: str | None,
    players: int | None,
    seat: str | None,
    against: str | None,
    seed: int | None,
    hint: str,
    load: str | None,
    record: str | None,
    port: int,
    browser: bool,
) -> None:
    """Set a table, serve its page until interrupted, and save what was played if that is asked."""
    with needing("play", "play"):
        from incunabula.training.play.server import Server
    check_game(game)
    _check_named(edition=edition, seat=seat, against=against, hint=hint, load=load)
    if seed is not None:
        if load is not None:
            raise IncunabulaError("seed: a game that is loaded has its deal; leave this out")
        check_seed(seed)
    replay = None
    if load is not None:
        replay = replay_from_file(load)
        check_game_of(replay, game)
        edition = edition_of(replay).name if edition is None else edition
        if len(replay.players) > 1:
            players = len(replay.players) if players is None else players
            if seat is None:
                seat, held = _seats_of(replay)
                against = held if against is None else against
    with kept_if_used(record):
        saves = Saves("." if record is None else check_folder(record, "record"), record is not None)
        with _told_if_slow():
            table = set_table(game, edition, players=players, seat=seat, against=against, hint=hint)
            session = Session(table, None if seed is None else {"seed": str(seed)}, replay)
        server = Server(session, saves, port)

        def started() -> None:
            print(f"{_who(table)}\nOpen {server.address} in a browser; Ctrl-C ends the game.")
            sys.stdout.flush()
            if browser:
                webbrowser.open(server.address)

        saved = None
        try:
            with _ended_by_signals():
                server.run(started)
        except KeyboardInterrupt:
            pass
        finally:
            if record is not None and session.replay.actions:
                saved = _saved_at_the_end(saves, session)
        print(file=sys.stderr)
        if saved is not None:
            print(f"Saved: {saved}")
        elif saves.lost(session):
            print("Not saved: the game is gone. With --record DIR games are saved by themselves.")


def _saved_at_the_end(saves: Saves, session: Session) -> Path:
    """The file that the game is in; an IncunabulaError says if it is lost."""
    try:
        return saves.save(session)
    except IncunabulaError as error:
        if saves.lost(session):
            raise IncunabulaError(f"{error}; not saved, the game is gone") from None
        raise


def _check_named(**options: str | None) -> None:
    """Raise IncunabulaError if one of these is given and names nothing."""
    for option, value in options.items():
        if value is not None and not value.strip():
            raise IncunabulaError(f"{option}: expected {NAMED[option]}, got {value!r}")


@contextlib.contextmanager
def _told_if_slow() -> Iterator[None]:
    """Say so on the terminal if what is done inside takes its time."""
    timer = threading.Timer(SLOW, lambda: print(GETTING_READY, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP (a terminal that is closed) do inside what Ctrl-C does.

    The server answers SIGINT and SIGTERM by closing, and then raises them once more.
    """
    handlers: dict[str, Callable[[int, FrameType | None], object]] = {
        "SIGTERM": signal.default_int_handler,
        "SIGHUP": lambda number, frame: signal.raise_signal(signal.SIGTERM),
    }
    before = {}
    for name, handler in handlers.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


def _who(table: Table) -> str:
    players = ", ".join(f"seat {seat}: {name}" for seat, name in enumerate(table.names))
    return f"{table.edition.game}, edition {table.edition.name}; {players}."


def _seats_of(replay: Replay) -> tuple[str, str | None]:
    """The seats that persons had, or else the first, and the agents that had the others, if all
    can be had by their names; as the command's options."""
    names = dict(enumerate(replay.players))
    persons = [seat for seat, name in names.items() if name == PERSON] or [0]
    others = [name for seat, name in names.items() if seat not in persons]
    known = all(name in (*AGENTS, *SEARCHERS, OPTIMAL) for name in others)
    return ",".join(map(str, persons)), ",".join(others) if others and known else None
