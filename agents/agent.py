"""What an agent is: a batched function from what it may see to actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.chance import check_seed, key
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError

# Agents draw from key(agent seed, AGENT_STREAM + episode, decision): never from the game's seed.
AGENT_STREAM = 1 << 33


class View:
    """What an agent may see of n games that wait for its action. Arrays are copies.

    Attributes:
        episode: uint64 (n,), names each game for the agent's own draws.
        decision: int64 (n,), decisions taken before in each game, by all seats.
    """

    def __init__(
        self,
        engine: Engine,
        rows: npt.NDArray[np.intp],
        episode: npt.NDArray[np.uint64],
        decision: npt.NDArray[np.int64],
    ) -> None:
        self._engine = engine
        self._rows = rows
        self.episode = episode
        self.decision = decision

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def edition(self) -> Any:
        """The edition, of its game's own type."""
        return self._engine.edition

    @property
    def tables(self) -> Any:
        """The edition as arrays (the game's ``Tables``)."""
        return self._engine.tables

    @property
    def actions(self) -> Any:
        """What each action is (the game's ``Actions``)."""
        return self._engine.actions

    @property
    def layout(self) -> Any:
        """The observation's table (the game's ``Layout``)."""
        return self._engine.layout

    @property
    def num_players(self) -> int:
        """Players of each game, 1 in a solitaire."""
        return self._engine.num_players

    @cached_property
    def seat(self) -> npt.NDArray[np.intp]:
        """Who is asked in each game, intp (n,): a seat 0..P-1 as the rules number them."""
        if self.num_players == 1:
            return np.zeros(len(self), np.intp)
        return np.asarray(self._engine.state.player[self._rows], np.intp)

    @cached_property
    def observation(self) -> npt.NDArray[np.float32]:
        """float32 (n, F), from the seat that is asked."""
        return self._engine.observe_rows(self._rows)

    @cached_property
    def action_mask(self) -> npt.NDArray[np.bool_]:
        """bool (n, A), at least one True in each row."""
        return self._engine.mask[self._rows]

    @cached_property
    def public(self) -> Any:
        """The public state of the n games (the game's ``PublicState``)."""
        return self._engine.state.public().take(self._rows)

    @property
    def arrays(self) -> tuple[Arrays, Arrays, npt.NDArray[np.intp]]:
        """The edition, the public state of the engine's games, and rows (n,) in it: what is
        ``tables`` and ``public`` otherwise, for compiled functions. Not copies: to be read only."""
        return self._engine.table_arrays, self._engine.public_arrays, self._rows

    def determinise(self, seeds: npt.NDArray[np.uint64], backend: str = "auto") -> Engine:
        """An engine of n games that agree with what is public; what is hidden comes from seeds."""
        return self.imagine(np.arange(len(self)), seeds, backend=backend)

    def imagine(
        self,
        games: npt.NDArray[np.intp],
        seeds: npt.NDArray[np.uint64],
        engine: Engine | None = None,
        backend: str = "auto",
    ) -> Engine:
        """As ``determinise``, of these of the n games, intp (m,), any of them repeatedly; equal
        seeds (m,) give copies of one game the same hidden order.

        ``engine``: what this has given before, whose first m rows are overwritten if it has as many
        and plays the same; saves making another.
        """
        rows = np.arange(len(games))
        own = self._engine
        fits = (
            engine is not None
            and engine.num_envs >= len(games)
            and engine.edition is own.edition
            and engine.num_players == own.num_players
        )
        if engine is None or not fits:
            engine = own.empty_like(max(len(games), 1), backend)
        engine.put(rows, own.state.take(self._rows[games]))
        engine.determinise(rows, seeds)
        return engine


class Agent(ABC):
    """Chooses an action for each of n games.

    An agent keeps nothing from one call to the next: its choice depends on the view and on its own
    seed alone, so that results don't depend on the batch size.

    Attributes:
        name: how results call it; the class's name unless it says otherwise.
    """

    name: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @abstractmethod
    def act(self, view: View) -> npt.NDArray[np.intp]:
        """Actions, intp (n,), each legal."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Agent:
        """Itself: copies of an environment can share its agents."""
        return self


def ask(agent: Agent, view: View) -> npt.NDArray[np.intp]:
    """What an agent does in the games of a view, intp (n,), each one of the game's actions.

    Raises:
        IncunabulaError: it answers with anything else; whether an action is legal is the engine's
            to say.
    """
    given, n, actions = agent.act(view), len(view), view._engine.actions.n
    try:
        chosen = np.asarray(given)
    except ValueError:  # lists of different lengths
        chosen = np.empty(0, object)
    what = f"shape {chosen.shape} of {chosen.dtype}"
    if chosen.shape == (n,) and chosen.dtype.kind in "iu":
        outside = (chosen < 0) | (chosen >= actions)
        if not np.count_nonzero(outside):
            return chosen.astype(np.intp, copy=False)
        what = str(chosen[outside.argmax()])
    raise IncunabulaError(
        f"agent {agent.name!r}: act must return an array of {n} integers in 0..{actions - 1}, one "
        f"for each game, got {what}"
    )


class RandomAgent(Agent):
    """Uniform over the legal actions."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed = check_seed(seed)

    def act(self, view: View) -> npt.NDArray[np.intp]:
        stream = np.uint64(AGENT_STREAM) + view.episode
        draws = key(self.seed, stream, view.decision.astype(np.uint64))
        return nth_legal(view.action_mask, draws)


def nth_legal(
    action_mask: npt.NDArray[np.bool_], draws: npt.NDArray[np.uint64]
) -> npt.NDArray[np.intp]:
    """The legal action that a 64-bit draw chooses in each row, intp (n,).

    The top 32 bits are scaled to the number of legal actions; the bias is below 2^-25.
    """
    ranks = np.cumsum(action_mask, axis=1, dtype=np.int16)
    count = ranks[:, -1].astype(np.uint64)
    chosen = (draws >> np.uint64(32)) * count >> np.uint64(32)
    return np.asarray((ranks > chosen.astype(np.int16)[:, None]).argmax(axis=1))
