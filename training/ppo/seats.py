"""The learner's side of Scriptorium: many games at once, and who holds each seat.

Every seat that the latest policy holds is a learner of its own, whoever holds the others: these are
held by the same policy, by a snapshot of it, or by a baseline. Opponents are drawn anew for each
game, from the run's seed alone.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.vec_env import VecEnv

from incunabula.agents.agent import Agent, View, ask
from incunabula.envs.chance import episode_seeds, key
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import Edition, load_edition
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.payoffs import margins, outcome, winners
from incunabula.envs.scriptorium.state import State
from incunabula.training.ppo.config import Opponents, Reward

Float32Array = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

# Who holds a seat: the learner, a baseline, or (from PAST on) a snapshot by its number.
SELF, GREEDY, RANDOM, PAST = 0, 1, 2, 3
OPPONENTS = ("self", "past", "greedy", "random")

# Draws: key(seed, SEATING_STREAM + what, game).
SEATING_STREAM = 1 << 37

STATISTICS_WINDOW = 1024
"""Finished games that the reported figures look back on."""


class Group:
    """Games of one number of players: the deals, and who holds which seat.

    Attributes:
        seats: int8 (n, P), who holds each seat.
        main: intp (n,), the seat that is always the learner's; it rotates.
        opponent: int8 (n,), who holds the other seats, an index of OPPONENTS.
    """

    def __init__(
        self, edition: Edition, players: int, rows: slice, seed: int, backend: str
    ) -> None:
        n = rows.stop - rows.start
        self.engine = ScriptoriumEngine(edition, n, players, backend)
        self.rows, self.all, self.players = rows, np.arange(n), players
        self.base = np.array([(seed + i) % 2**64 for i in range(rows.start, rows.stop)], np.uint64)
        self.episode = np.zeros(n, np.uint64)
        self.seats = np.zeros((n, players), np.int8)
        self.main = np.zeros(n, np.intp)
        self.opponent = np.zeros(n, np.int8)
        self.length = np.zeros(n, np.int64)
        self.margin = np.zeros((n, players), np.int64)

    def deal(self, rows: Rows) -> None:
        """Deal each row's next game."""
        self.engine.deal(rows, episode_seeds(self.base[rows], self.episode[rows]))
        self.length[rows] = 0
        self.margin[rows] = 0

    def mover(self) -> Rows:
        """The seat to act in each row, intp (n,)."""
        return self.engine.state.player.astype(np.intp)


class SelfPlayVecEnv(VecEnv):
    """N games that restart by themselves, with the rewards PPO learns from.

    As a VecEnv it is only what SB3 needs to set up: games are played by `step_arrays`.

    Args:
        num_envs: N, shared out among the numbers of players.
        edition: a name, a file or an edition.
        players: numbers of players.
        seed: row i plays the games of a single environment seeded seed + i.
        reward: what a seat is paid, times `reward_scale`.
        opponents: weights of who holds the other seats.
        backend: the engines'.

    Attributes:
        seats: the most players of a game, S.
        filled: how many snapshots there are; games dealt from now on may seat them.
    """

    render_mode: str | None = None

    def __init__(
        self,
        num_envs: int,
        edition: Any = "scriptorium",
        *,
        players: Sequence[int] = (2,),
        seed: int = 0,
        reward: Reward,
        reward_scale: float = 1.0,
        opponents: Opponents,
        backend: str = "numpy",
    ) -> None:
        self.edition = load_edition(edition)
        allowed = self.edition.rules.players
        for count in players:
            if count not in allowed:
                raise IncunabulaError(
                    f"players: edition {self.edition.name!r} is for "
                    f"{', '.join(map(str, allowed))} players, not for {count}"
                )
        self._seed = seed
        self._reward, self._scale = reward, np.float32(reward_scale)
        weights = np.array(opponents.weights)
        self._bounds = np.cumsum(weights / weights.sum())[:-1]
        self.filled = 0
        parts = np.array_split(np.arange(num_envs), len(players))
        self.groups = [
            Group(self.edition, count, slice(int(part[0]), int(part[-1]) + 1), seed, backend)
            for count, part in zip(sorted(players), parts, strict=True)
        ]
        self.seats = max(players)
        first = self.groups[0].engine
        self.layout, self.actions = first.layout, first.actions
        self._obs = np.zeros((num_envs, self.layout.size), np.float32)
        # The last finished games, oldest first; see `_end`.
        self._finished = np.zeros((0, 6), np.float64)
        self.games_finished = 0
        self.decisions = 0
        super().__init__(
            num_envs,
            Box(np.zeros_like(self.layout.high), self.layout.high, dtype=np.float32),
            Discrete(self.actions.n),
        )

    # Playing --------------------------------------------------------------------------------------

    def reset(self) -> Float32Array:
        """Deal the first game in every row; observations float32 (N, F)."""
        for group in self.groups:
            group.episode[:] = 0
            self._begin(group, group.all)
        return self.observe()

    @property
    def masks(self) -> BoolArray:
        """Legal actions of the seats to act, bool (N, A)."""
        return np.concatenate([group.engine.mask for group in self.groups])

    @property
    def movers(self) -> Rows:
        """The seats to act, intp (N,)."""
        return np.concatenate([group.mover() for group in self.groups])

    @property
    def holders(self) -> npt.NDArray[np.int8]:
        """Who holds the seats to act, int8 (N,)."""
        return np.concatenate([group.seats[group.all, group.mover()] for group in self.groups])

    def observe(self) -> Float32Array:
        """What the seats to act see, float32 (N, F); overwritten by the next call."""
        for group in self.groups:
            group.engine.observe(out=self._obs[group.rows])
        return self._obs

    def ask(self, agent: Agent, rows: Rows) -> Rows:
        """What an agent would do in these rows (ascending), intp (n,)."""
        chosen = []
        for group in self.groups:
            start, stop = np.searchsorted(rows, [group.rows.start, group.rows.stop])
            own = rows[start:stop] - group.rows.start
            if own.size:
                episode = rows[start:stop].astype(np.uint64) << np.uint64(32)
                episode |= group.episode[own]
                view = View(group.engine, own, episode, group.length[own])
                chosen.append(ask(agent, view))
        return np.concatenate(chosen) if chosen else rows[:0]

    def step_arrays(self, actions: npt.NDArray[np.integer]) -> tuple[Float32Array, BoolArray]:
        """Take an action in each game. Returns rewards float32 (N, S), of every seat (0 where
        there is none), and dones bool (N,).

        Games that are done have been dealt again.
        """
        rewards = np.zeros((self.num_envs, self.seats), np.float32)
        dones = np.zeros(self.num_envs, np.bool_)
        for group in self.groups:
            changes, over = group.engine.apply(actions[group.rows])
            group.length += 1
            rewards[group.rows, : group.players] = self._paid(group, changes, over)
            dones[group.rows] = over
            ended = np.flatnonzero(over)
            if ended.size:
                self._end(group, ended)
                group.episode[ended] += np.uint64(1)
                self._begin(group, ended)
        self.decisions += self.num_envs
        return rewards, dones

    def _paid(
        self, group: Group, changes: npt.NDArray[np.integer], over: BoolArray
    ) -> npt.NDArray[np.float64]:
        reward, scores = self._reward, group.engine.state.score
        paid = reward.score * changes.astype(np.float64)
        if reward.margin:
            margin = margins(scores)
            paid += reward.margin * (margin - group.margin)
            group.margin[:] = margin
        if reward.outcome and over.any():
            paid[over] += reward.outcome * outcome(scores[over])
        paid *= self._scale
        return paid

    def _begin(self, group: Group, rows: Rows) -> None:
        """Start games: deal, and say who holds which seat."""
        group.deal(rows)
        row = (rows + group.rows.start).astype(np.uint64)
        group.main[rows] = (row + group.episode[rows]) % np.uint64(group.players)
        number = group.episode[rows] * np.uint64(self.num_envs) + row
        chance = key(self._seed, SEATING_STREAM, number)
        part = (chance >> np.uint64(11)).astype(np.float64) * 2.0**-53
        opponent = np.searchsorted(self._bounds, part, side="right")
        group.opponent[rows] = opponent
        holder = np.array([SELF, SELF, GREEDY, RANDOM], np.int8)[opponent]
        if self.filled:
            drawn = key(self._seed, SEATING_STREAM + 1, number) % np.uint64(self.filled)
            past = opponent == OPPONENTS.index("past")
            holder[past] = PAST + drawn[past].astype(np.int8)
        group.seats[rows] = holder[:, None]
        group.seats[rows, group.main[rows]] = SELF

    def _end(self, group: Group, rows: Rows) -> None:
        scores, main = group.engine.state.score[rows].astype(np.int64), group.main[rows]
        at = np.arange(len(rows))
        best = winners(scores)
        finished = [
            group.opponent[rows],
            outcome(scores)[at, main],
            best[at, main] / best.sum(axis=1),
            margins(scores)[at, main],
            scores[at, main],
            group.length[rows],
        ]
        self._finished = np.concatenate([self._finished, np.stack(finished, axis=1)])
        self._finished = self._finished[-STATISTICS_WINDOW:]
        self.games_finished += len(rows)

    def statistics(self) -> dict[str, float]:
        """Means over the last finished games: the learner's `score`, the `length` (decisions), and
        by opponents the `outcome` (0 is as good as they), `win_share` and `margin`."""
        if not len(self._finished):
            return {}
        opponent, *figures = self._finished.T
        found = {"score": float(figures[3].mean()), "length": float(figures[4].mean())}
        for number, name in enumerate(OPPONENTS):
            games = opponent == number
            if name != "self" and games.any():
                for what, values in zip(("outcome", "win_share", "margin"), figures, strict=False):
                    found[f"{name}/{what}"] = float(values[games].mean())
        return found

    # Checkpoints ----------------------------------------------------------------------------------

    def get_state(self) -> dict[str, np.ndarray]:
        """Everything that decides what comes next, as arrays."""
        arrays: dict[str, np.ndarray] = {
            "finished": self._finished,
            "counts": np.array([self.games_finished, self.decisions, self.filled], np.int64),
        }
        for group in self.groups:
            state = group.engine.state
            found = {f"state.{name}": getattr(state, name) for name in STATE_ARRAYS}
            found |= {name: getattr(group, name) for name in GROUP_ARRAYS}
            arrays |= {f"{group.players}.{name}": array for name, array in found.items()}
        return arrays

    def set_state(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` gave; KeyError or ValueError if it doesn't fit."""
        for name, array in self.get_state().items():
            given = arrays[name]
            wanted = (-1, 6) if name == "finished" else array.shape
            fits = len(wanted) == given.ndim and all(
                w in (-1, g) for w, g in zip(wanted, given.shape, strict=True)
            )
            if given.dtype != array.dtype or not fits:
                raise ValueError(f"{name}: expected {array.dtype} {wanted}")
        for group in self.groups:
            found = {
                name.removeprefix(f"{group.players}."): array.copy()
                for name, array in arrays.items()
                if name.startswith(f"{group.players}.")
            }
            columns = [found[f"state.{name}"] for name in STATE_ARRAYS]
            group.engine.put(group.all, State(group.engine.tables, *columns))
            for name in GROUP_ARRAYS:
                setattr(group, name, found[name])
        self._finished = arrays["finished"].copy()
        self.games_finished, self.decisions, self.filled = (int(n) for n in arrays["counts"])

    # What SB3 asks of a VecEnv --------------------------------------------------------------------

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Nothing: the games were fixed when this was made."""
        return [None] * self.num_envs

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        raise NotImplementedError("games are played by step_arrays, which pays every seat")

    def step_wait(self) -> Any:
        raise NotImplementedError("games are played by step_arrays, which pays every seat")

    def close(self) -> None:
        """Nothing to release."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        raise AttributeError(f"{method_name}: not a method of a game")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


STATE_ARRAYS = tuple(f.name for f in fields(State) if f.name != "tables")
GROUP_ARRAYS = ("base", "episode", "seats", "main", "opponent", "length", "margin")
