"""A list of games played in the rows of one engine, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from incunabula.envs.engine import Engine
from incunabula.envs.errors import IllegalActionError, IncunabulaError

IntpArray = npt.NDArray[np.intp]
Int64Array = npt.NDArray[np.int64]

DEFAULT_BATCH = 512
BETWEEN = 0.25  # seconds between two reports of progress


class Part(NamedTuple):
    """Some of the games being played, each array (n,)."""

    rows: IntpArray  # the engine's rows
    games: IntpArray  # numbers in the list of games
    decisions: Int64Array  # decisions taken before in each game


class Watch(Protocol):
    """Is shown every step of the games being played."""

    def before(self, engine: Any, part: Part, actions: npt.NDArray[Any]) -> None:
        """These actions, (n,), are about to be taken."""

    def after(self, engine: Any, part: Part) -> None:
        """They have been; ``part`` is the same."""


class Watches:
    """Several that are shown the same steps."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self._watches = tuple(watches)

    def before(self, engine: Any, part: Part, actions: npt.NDArray[Any]) -> None:
        for watch in self._watches:
            watch.before(engine, part, actions)

    def after(self, engine: Any, part: Part) -> None:
        for watch in self._watches:
            watch.after(engine, part)


def play_list(
    engine: Engine,
    n: int,
    *,
    deal: Callable[[IntpArray, IntpArray], None],
    act: Callable[[Part], npt.NDArray[np.integer[Any]]],
    finish: Callable[[Part], None],
    who: Callable[[int, int], str],
    watch: Watch | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> None:
    """Play games 0 to n - 1.

    A row whose game has ended takes the next game of the list. Since no game is left out, cut short
    or played twice, quick games weigh no more than slow ones, and the result is that of playing
    the games one after the other, however many rows the engine has (at most n).

    Args:
        deal: (rows, games): deal these games in these rows.
        act: the actions of the games given, all of which wait for one.
        finish: called with games that have just ended.
        who: (row, game): the agent to move and the game, for an error's message.
        watch: is shown every step.
        on_progress: called now and then with how many games' worth has been played since the last
            call; games under way count in part.

    Raises:
        IncunabulaError: an action is not legal; names the agent, the game and the rule.
    """
    active = np.arange(engine.num_envs)
    game = active.copy()  # the game played in each row
    decision = np.zeros(engine.num_envs, np.int64)
    dealt = len(active)
    told, told_at = 0.0, time.monotonic()
    deal(active, game)
    while active.size:
        part = Part(active, game[active], decision[active])
        actions = act(part)
        if watch is not None:
            watch.before(engine, part, actions)
        try:
            _, terminated = engine.apply(actions, active)
        except IllegalActionError as error:
            where = f"{who(error.row, int(game[error.row]))}, decision {decision[error.row]}"
            raise IncunabulaError(
                f"{where}: action {error.action} is illegal ({error.clause}): {error.reason}"
            ) from error
        if watch is not None:
            watch.after(engine, part)
        decision[active] += 1
        if on_progress is not None and time.monotonic() - told_at > BETWEEN:
            played = dealt - len(active) + float(engine.share_played(active).sum())
            on_progress(max(played - told, 0.0))
            told, told_at = max(played, told), time.monotonic()
        if not terminated.any():
            continue
        ended = active[terminated]
        finish(Part(ended, game[ended], decision[ended]))
        fresh = ended[: n - dealt]
        if fresh.size:
            game[fresh] = np.arange(dealt, dealt + len(fresh))
            decision[fresh] = 0
            deal(fresh, game[fresh])
            dealt += len(fresh)
        if len(fresh) < len(ended):
            active = np.setdiff1d(active, ended[len(fresh) :], assume_unique=True)
    if on_progress is not None:
        on_progress(n - told)
