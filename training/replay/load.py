"""Files of games, verified: replays, and lines found in hindsight."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from incunabula.agents.hindsight.certificate import KIND, check_certificate, read_certificate
from incunabula.envs.bibliogamo import edition as bibliogamo
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import BaseEdition
from incunabula.envs.lines import Line, read_lines
from incunabula.envs.playback import edition_of, verify
from incunabula.envs.replay import REPLAYS, Replay, read_replay

HINDSIGHT = "hindsight"  # who plays such a line


def load_games(path: str | Path, edition: BaseEdition | None = None) -> list[Replay]:
    """All games of a file, verified: of replays, or of lines that ``hindsight --save`` wrote.

    Args:
        edition: what they were played with; by default the shipped editions whose hashes they name.

    Returns:
        the games, with the edition's own name whatever the file calls it.

    Raises:
        IncunabulaError: as ``load_replays``; or a line found in hindsight isn't what it claims.
    """
    games = list(_games(path, edition))
    verify(games, edition)
    first = {game.edition_sha256: game for game in games}
    names = {sha256: edition_of(game, edition).name for sha256, game in first.items()}
    return [dataclasses.replace(game, edition=names[game.edition_sha256]) for game in games]


def _games(path: str | Path, edition: BaseEdition | None) -> Iterator[Replay]:
    for line in read_lines(path, REPLAYS):
        found = line.form.get("kind") == KIND
        yield _from_certificate(line, edition) if found else read_replay(line)


def _from_certificate(line: Line, edition: BaseEdition | None) -> Replay:
    """A line found in hindsight as a replay."""
    form = read_certificate(json.dumps(line.form), line.where)
    drawn = {} if form["prestige_drawn"] else {"prestige": form["prestige"]}
    replay = Replay(
        game=bibliogamo.GAME,
        edition=form["edition"],
        edition_sha256=form["edition_sha256"],
        players=(HINDSIGHT,),
        deal={"seed": str(form["seed"])} | drawn,
        actions=(),
        scores=(form["score"],),
        where=line.where,
    )
    played = bibliogamo.load_edition(edition_of(replay, edition))
    check_certificate(form, played, line.where)
    engine = BibliogamoEngine(played)
    engine.deal(np.arange(1), np.array([form["seed"]], np.uint64), drawn.get("prestige"))
    actions = []
    for action in form["actions"]:
        actions.append(engine.action_from_json(0, action))
        engine.apply(np.array(actions[-1:]))
    return dataclasses.replace(replay, actions=tuple(actions))
