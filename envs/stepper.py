"""Games that go on for ever, stepped with one call into arrays that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.backend import Rows
from incunabula.envs.chance import as_seed, checked_seeds, episode_seeds
from incunabula.envs.compiled import loops
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.backend import Bound, CompiledBackend, linked
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError

_INTP = np.dtype(np.intp)
_DENSE = (_INTP.itemsize,)


class Stepper:
    """N games of an engine; one that ends is dealt anew in the same step.

    For loops that need speed rather than an interface: the arrays are written over by every step,
    so copy what must be kept. Row i plays the games of an environment seeded s + i, one after the
    other (the rules, "Chance").

    Args:
        engine: the games, all of which are dealt anew; leave it to the stepper from then on.
        seed: s, or one seed for each row.

    Attributes:
        observation: float32 (N, F), of the player to move.
        action_mask: bool (N, A), his legal actions; never empty.
        reward: int32 (N, P), change of each player's score by the last step, before a new deal.
        terminated: bool (N,), whether the last step ended a game.
        final_score: int32 (N, P), scores of each row's last finished game.
        base, episode: uint64 (N,), each row's seed and which of its games it plays, from 0.

    Example:
        >>> stepper = Stepper(BibliogamoEngine(num_envs=1024, backend="auto"), seed=0)
        >>> stepper.step(stepper.action_mask.argmax(axis=1))
        >>> stepper.reward.shape
        (1024, 1)
    """

    def __init__(self, engine: Engine, seed: int | Sequence[int] = 0) -> None:
        n, players = engine.num_envs, engine.num_players
        self.engine = engine
        if isinstance(seed, (int, np.integer)):
            with np.errstate(over="ignore"):
                self.base = np.uint64(as_seed(seed)) + np.arange(n, dtype=np.uint64)
        else:
            self.base = checked_seeds(seed)
        if self.base.shape != (n,):
            raise IncunabulaError(f"seed: expected one or {n} seeds, got {len(self.base)}")
        self.episode = np.zeros(n, np.uint64)
        self.observation = np.empty((n, engine.layout.size), np.float32)
        self.action_mask = engine.mask
        self.reward = np.zeros((n, players), np.int32)
        self.terminated = np.zeros(n, np.bool_)
        self.final_score = np.zeros((n, players), np.int32)
        self._rows = np.arange(n)
        self._shape = self._rows.shape
        engine.deal(self._rows, self.base)
        engine.observe(self.observation)
        self._look()

    def _look(self) -> None:
        """Find what follows from the engine, which isn't copied with the rest."""
        self._state = self.engine.state
        self._score = self._state.score.reshape(len(self._rows), -1)
        if not np.shares_memory(self._score, self._state.score):
            raise AssertionError("scores must be a view")
        self._grown = -1
        self._arrays: Arrays | None = None
        self._code: Any = None

    def __getstate__(self) -> dict[str, Any]:
        found = ("_state", "_score", "_grown", "_arrays", "_code")
        return {name: value for name, value in vars(self).items() if name not in found}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._look()

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Take one action in each game; the results lie in the arrays.

        Args:
            actions: integers (N,), each legal.

        Raises:
            IllegalActionError: an action is illegal.
            TapeError: a row was dealt from a tape, which has run out. Nothing is changed in either
                case.
        """
        chosen = actions
        # One comparison for what learners pass, as a single game's step takes but a microsecond.
        if type(chosen) is not np.ndarray or chosen.dtype is not _INTP or chosen.strides != _DENSE:
            chosen = self._as_intp(actions)
        if chosen.shape != self._shape:
            raise IncunabulaError(
                f"actions: expected {len(self._rows)} integers, one for each game, "
                f"got shape {chosen.shape}"
            )
        if self._state.grown != self._grown:
            self._bind()
        if self._code is None:
            self._step(chosen)
        elif self._code(self._arrays, chosen) != loops.ALL_DONE:
            self.engine.check_actions(chosen, self._rows)

    @staticmethod
    def _as_intp(actions: Any) -> npt.NDArray[np.intp]:
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu":
            raise IncunabulaError(f"actions: expected integers, got {chosen.dtype}")
        return np.ascontiguousarray(chosen, np.intp)

    def _step(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        engine = self.engine
        change, self.terminated[:] = engine.apply(actions)
        self.reward[:] = change.reshape(self.reward.shape)
        done = np.flatnonzero(self.terminated)
        if done.size:
            self.final_score[done] = self._score[done]
            self.deal_next(done)
        engine.observe(self.observation)

    def deal_next(self, rows: Rows) -> None:
        """Deal the next game in each of these rows; their observations stay as they are."""
        self.episode[rows] += np.uint64(1)
        self.engine.deal(rows, episode_seeds(self.base[rows], self.episode[rows]))

    def arrays(self, bound: Bound) -> Arrays:
        """What compiled loops over these games work on."""
        kept = ("observation", "reward", "terminated", "final_score", "base", "episode")
        return Arrays(
            {
                **bound._asdict(),
                **{name: getattr(self, name) for name in kept},
                "mask": self.engine.mask,
                "score": self._score,
                "over": self.engine.over,
                "how": -1,
            }
        )

    def _bind(self) -> None:
        """Prepare the compiled step, if the backend is compiled, for the arrays as they are."""
        self._grown = self._state.grown
        backend, self._code = self.engine.backend, None
        # A tape may run out, and then no game must have moved: the engine sees to that.
        if isinstance(backend, CompiledBackend) and not self._state.tape.shape[1]:
            self._arrays = self.arrays(backend.bound)
            step = linked(loops.step_games, backend.game)
            self._code = step.prepare(self._arrays, self._rows)
