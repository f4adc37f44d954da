"""Replays played again by the rules: whether they are what they claim, and position by position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from incunabula import __version__
from incunabula.envs.backend import Rows
from incunabula.envs.bibliogamo import edition as bibliogamo_edition
from incunabula.envs.bibliogamo.deals import BibliogamoDeals
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.deals import Deals
from incunabula.envs.editions import BaseEdition, edition_by_hash, load_any_edition
from incunabula.envs.engine import Engine, Json
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.replay import Replay, read_replays
from incunabula.envs.scriptorium import edition as scriptorium_edition
from incunabula.envs.scriptorium.deals import ScriptoriumDeals
from incunabula.envs.scriptorium.engine import ScriptoriumEngine

BATCH = 1024  # games played again at once
ROW = np.arange(1)


def edition_of(replay: Replay, edition: str | Path | BaseEdition | None = None) -> BaseEdition:
    """The edition a replay is of: the one given, or the shipped one whose hash it names.

    Raises:
        IncunabulaError: none has this hash, or the one given hasn't.
    """
    named = f"{replay.edition!r} ({replay.edition_sha256[:12]})"
    if edition is None:
        try:
            found = edition_by_hash(replay.edition_sha256)
        except IncunabulaError:
            raise IncunabulaError(
                f"{replay.where}: edition_sha256: no shipped edition is {named}; give the "
                "edition's file (--edition, edition=)"
            ) from None
    else:
        found = load_any_edition(edition)
        if found.sha256 != replay.edition_sha256:
            raise IncunabulaError(
                f"{replay.where}: edition_sha256: was played with edition {named}, not with "
                f"{found.name!r} ({found.sha256[:12]})"
            )
    if found.game != replay.game:
        raise IncunabulaError(
            f"{replay.where}: game: is {replay.game!r}, but its edition is one of {found.game!r}"
        )
    return found


def new_engine(
    edition: BaseEdition, num_envs: int, num_players: int, backend: str = "numpy"
) -> tuple[Engine, Deals]:
    """An engine of the edition's game, and what deals in it.

    Raises:
        IncunabulaError: the edition isn't for so many players.
    """
    if edition.game == ScriptoriumEngine.game:
        table = ScriptoriumEngine(
            scriptorium_edition.load_edition(edition), num_envs, num_players, backend
        )
        return table, ScriptoriumDeals(table, None)
    if num_players != 1:
        raise IncunabulaError(f"players: {edition.game} is for one, got {num_players}")
    city = BibliogamoEngine(bibliogamo_edition.load_edition(edition), num_envs, backend)
    return city, BibliogamoDeals(city, None, None)


def deal_as(engine: Engine, deals: Deals, rows: Rows, given: Sequence[Json]) -> None:
    """Deal in these rows, (n,), what ``Replay.deal`` says, n of them that differ in seeds alone.

    Raises:
        IncunabulaError: there is no such deal in this game.
    """
    options = {name: value for name, value in given[0].items() if name != "seed"}
    if "prestige" in options and "prestige" not in deals.options:
        raise IncunabulaError(f"prestige: {engine.game} has none; leave it out")
    seeds = np.array([int(deal.get("seed", 0)) for deal in given], np.uint64)
    deals.deal(rows, seeds, deals.read(options))


def load_replays(path: str | Path, edition: str | Path | BaseEdition | None = None) -> list[Replay]:
    """All replays of a file, each verified.

    Raises:
        IncunabulaError: as ``read_replays``, ``edition_of`` and ``verify``.
    """
    found = list(read_replays(path))
    verify(found, edition)
    return found


def verify(replays: Iterable[Replay], edition: str | Path | BaseEdition | None = None) -> None:
    """Play games again: every action must be legal, the last must end the game (or not, where a
    replay says so), and every score must be what is claimed.

    Args:
        replays: of any games and editions.
        edition: of all of them; by default each the shipped edition whose hash it names.

    Raises:
        IncunabulaError: one isn't so; names the line, the field and the action's index.
    """
    given = None if edition is None else load_any_edition(edition)
    batch: list[Replay] = []
    known: dict[str, BaseEdition] = {}
    for replay in replays:
        if replay.edition_sha256 not in known or known[replay.edition_sha256].game != replay.game:
            known[replay.edition_sha256] = edition_of(replay, given)
        # A tape that runs out stops all games that are played with it.
        fits = not batch or (_kind(batch[0]) == _kind(replay) and "seed" in batch[0].deal)
        if batch and (not fits or len(batch) == BATCH):
            _verify_batch(batch, known[batch[0].edition_sha256])
            batch = []
        batch.append(replay)
    if batch:
        _verify_batch(batch, known[batch[0].edition_sha256])


def positions(replay: Replay, edition: BaseEdition, backend: str = "numpy") -> Iterator[Engine]:
    """The engine, whose only row is the game, before each action and after the last: one more
    than there are actions. It is the same engine each time, moved on.

    Args:
        replay: one that was verified.
        edition: its own, as ``edition_of`` gives it.
    """
    engine, deals = new_engine(edition, 1, len(replay.players), backend)
    deal_as(engine, deals, ROW, [replay.deal])
    yield engine
    for action in replay.actions:
        engine.apply(np.array([action]))
        yield engine


def _kind(replay: Replay) -> tuple[Any, ...]:
    """What games have in common that can be played in one engine."""
    return replay.game, replay.edition_sha256, len(replay.players), "seed" in replay.deal


def _verify_batch(replays: Sequence[Replay], edition: BaseEdition) -> None:
    """``verify`` of games that can be played in one engine; the first that is wrong is named."""
    n, first = len(replays), replays[0]
    try:
        engine, deals = new_engine(edition, n, len(first.players))
    except IncunabulaError as error:
        raise IncunabulaError(f"{first.where}: {error}") from None
    wrong: dict[int, str] = {}
    live = np.ones(n, np.bool_)
    chosen = [replay.deal.get("prestige") for replay in replays]
    for prestige in dict.fromkeys(chosen):
        rows = np.array([row for row in range(n) if chosen[row] == prestige], np.intp)
        try:
            deal_as(engine, deals, rows, [replays[row].deal for row in rows])
        except IncunabulaError as error:
            live[rows] = False
            wrong |= {int(row): f"deal: {error}" for row in rows}
    lengths = np.array([len(replay.actions) for replay in replays])
    for k in count():
        rows = np.flatnonzero(live & (lengths > k))
        if not rows.size:
            break
        actions = np.array([replays[row].actions[k] for row in rows.tolist()], np.int64)
        known = np.minimum(actions, engine.actions.n - 1)
        legal = engine.mask[rows, known] & (known == actions)
        for bad, action in zip(rows[~legal].tolist(), actions[~legal].tolist(), strict=True):
            wrong[bad] = f"actions[{k}]: {_refused(engine, bad, action)}"
            live[bad] = False
        rows, actions = rows[legal], actions[legal]
        try:
            engine.apply(actions, rows)
        except IncunabulaError as error:  # a tape has run out; it is the only game
            wrong[0], live[0] = f"actions[{k}]: {error}", False
    for row in np.flatnonzero(live).tolist():
        why = _ended(engine, row, replays[row])
        if why:
            wrong[row] = why
    if wrong:
        named = min(wrong)
        replay = replays[named]
        other = ""
        if replay.incunabula != __version__:
            other = f" (recorded by version {replay.incunabula}, this is {__version__})"
        raise IncunabulaError(f"{replay.where}: {wrong[named]}{other}")


def _refused(engine: Engine, row: int, action: int) -> str:
    """Why an action can't be taken in a row."""
    if engine.state.phase[row] == engine.over:
        return f"the game was over before action {action}; expected no more"
    if action >= engine.actions.n:
        return f"{action} is not an action; expected 0..{engine.actions.n - 1}"
    why = engine.why_illegal(row, action)
    assert why is not None
    return f"action {action} is illegal ({why[0]}): {why[1]}"


def _ended(engine: Engine, row: int, replay: Replay) -> str:
    """What is wrong with the end of a game, "" if nothing is."""
    over = engine.state.phase[row] == engine.over
    if replay.finished and not over:
        return (
            f"actions: the game isn't over after the {len(replay.actions)} that are given; is the "
            "rest missing?"
        )
    if over and not replay.finished:
        return f"finished: is false, but the game is over after the {len(replay.actions)} actions"
    scores = np.atleast_1d(engine.state.score[row]).tolist()
    for seat, (right, claimed) in enumerate(zip(scores, replay.scores, strict=True)):
        if right != claimed:
            return f"scores[{seat}]: the actions score {right}, not {claimed}"
    return ""
