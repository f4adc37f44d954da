"""Games played at random, as replays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from incunabula.agents.agent import nth_legal
from incunabula.envs.chance import key
from incunabula.envs.editions import BaseEdition, load_any_edition
from incunabula.envs.engine import Json
from incunabula.envs.playback import deal_as, new_engine
from incunabula.envs.replay import Replay

ROW = np.arange(1)


@lru_cache
def loaded(name: str) -> BaseEdition:
    """A shipped edition, read once."""
    return load_any_edition(name)


def random_replay(
    edition: str | Mapping[str, Any] | BaseEdition,
    players: int = 1,
    deal: Json | None = None,
    steps: int | None = None,
    choose: Callable[[Any], int] | None = None,
) -> Replay:
    """A game of uniformly random legal actions; ``steps``: not played on after so many."""
    played = loaded(edition) if isinstance(edition, str) else load_any_edition(edition)
    deal = {"seed": "7"} if deal is None else deal
    engine, deals = new_engine(played, 1, players)
    deal_as(engine, deals, ROW, [deal])
    seed = np.array([int(deal.get("seed", 0))], np.uint64)
    actions: list[int] = []
    while engine.state.phase[0] != engine.over and len(actions) != steps:
        if choose is None:
            draw = key(seed, 1 << 50, np.array([len(actions)], np.uint64))
            actions.append(int(nth_legal(engine.mask, draw)[0]))
        else:
            actions.append(choose(engine))
        engine.apply(np.array(actions[-1:]))
    return Replay(
        game=played.game,
        edition=played.name,
        edition_sha256=played.sha256,
        players=tuple(f"player {seat}" for seat in range(players)),
        deal=deal,
        actions=tuple(actions),
        scores=tuple(np.atleast_1d(engine.state.score[0]).tolist()),
        finished=bool(engine.state.phase[0] == engine.over),
    )
