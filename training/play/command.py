"""What the command ``play`` does."""

from __future__ import annotations

import sys
import webbrowser

from incunabula.agents.registry import AGENTS, OPTIMAL, SEARCHERS
from incunabula.envs.chance import as_seed
from incunabula.envs.errors import IncunabulaError, MissingExtraError
from incunabula.envs.playback import edition_of
from incunabula.envs.replay import Replay
from incunabula.training.evaluation.command import check_game
from incunabula.training.play.saves import Saves, replay_from_file
from incunabula.training.play.session import Session
from incunabula.training.play.table import PERSON, Table, set_table


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
    try:
        from incunabula.training.play.server import Server
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"play needs {error.name}: install the extra, pip install 'incunabula[play]'"
        ) from None
    check_game(game)
    replay = None
    if load is not None:
        if seed is not None:
            raise IncunabulaError("seed: a game that is loaded has its deal; leave this out")
        replay = replay_from_file(load)
        if replay.game != game:
            raise IncunabulaError(f"{replay.where}: is a game of {replay.game}, not of {game}")
        edition = edition or edition_of(replay).name
        if len(replay.players) > 1:
            players = players or len(replay.players)
            if seat is None:
                seat, held = _seats_of(replay)
                against = against or held
    table = set_table(game, edition, players=players, seat=seat, against=against, hint=hint)
    deal = None if seed is None else {"seed": str(as_seed(seed))}
    session = Session(table, deal, replay)
    saves = Saves(record or ".", record is not None)
    server = Server(session, saves, port)

    def started() -> None:
        print(f"{_who(table)}\nOpen {server.address} in a browser; Ctrl-C ends the game.")
        sys.stdout.flush()
        if browser:
            webbrowser.open(server.address)

    try:
        server.run(started)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    if record is not None and session.actions:
        print(f"Saved: {saves.save(session)}")


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
