"""Scriptorium for one learner as a native stable-baselines3 VecEnv, for MaskablePPO and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incunabula.agents.seat.driver import SeatGames
from incunabula.agents.seat.opponents import OpponentsLike
from incunabula.envs.adapters.games import Arrays, EditionLike
from incunabula.envs.adapters.sb3 import GamesSB3VecEnv
from incunabula.envs.drawing.modes import Size
from incunabula.envs.scriptorium.engine import ScriptoriumEngine


class ScriptoriumSB3VecEnv(GamesSB3VecEnv):
    """N games in one engine, in stable-baselines3's conventions (GamesSB3VecEnv).

    At the end of a game its info also holds ``score``, ``scores`` and ``seat`` as in
    ScriptoriumEnv, and ``is_success``, whether the learner has the highest score (ties included).

    Unlike the Gymnasium environments this one raises on an illegal action unless told to penalise:
    an evaluation that forgets the masks is then an error, not a wrong number.

    Args:
        num_envs: N.
        seed: row i is seeded seed + i; None = from the operating system.
        edition, num_players, opponents, seat, reward, tape, illegal_action, illegal_reward,
        backend: as for ScriptoriumEnv.
        render_mode: None, ``ansi`` or ``rgb_array``.
        render_size: width and height of each picture; None = 1200 by 820.
    """

    games: SeatGames
    engine: ScriptoriumEngine

    def __init__(
        self,
        num_envs: int = 1,
        edition: EditionLike = "scriptorium",
        *,
        seed: int | None = None,
        num_players: int = 2,
        opponents: OpponentsLike = "greedy",
        seat: str | int = "rotate",
        reward: str = "outcome",
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "raise",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        render_size: Size | None = None,
        backend: str = "numpy",
    ) -> None:
        games = SeatGames(
            edition,
            num_envs,
            num_players,
            opponents=opponents,
            seat=seat,
            reward=reward,
            tape=tape,
            illegal_action=illegal_action,
            illegal_reward=illegal_reward,
            backend=backend,
        )
        super().__init__(games, seed, render_mode, render_size)

    def set_opponents(self, opponents: OpponentsLike) -> None:
        """Change who holds the other seats, from each row's next game on; for self-play."""
        self.games.set_opponents(opponents)

    def _facts(self) -> Arrays:
        games = self.games
        return super()._facts() | {"is_success": games.won(games.rows)}
