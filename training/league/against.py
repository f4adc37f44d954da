"""One agent against copies of one opponent, from every seat, on given deals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent
from incunabula.envs.editions import BaseEdition
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.training.evaluation.rows import DEFAULT_BATCH, Watch
from incunabula.training.evaluation.statistics import DIGITS, DealBootstrap
from incunabula.training.league.play import TableGames, play_tables
from incunabula.training.league.seating import check_players, seatings
from incunabula.training.league.standings import Outcomes, agent_summary, by_seat

AGENT, OPPONENT = 0, 1


@dataclass(frozen=True)
class Against:
    """The agent's games: every deal once in every seat.

    Attributes:
        games: D deals in P seatings; in seating k the agent (number 0) has seat k.
    """

    games: TableGames

    @cached_property
    def outcomes(self) -> Outcomes:
        """What the games were worth."""
        return Outcomes(self.games.seats, self.games.scores)

    def summary(self, bootstrap: DealBootstrap | None = None) -> dict[str, Any]:
        """JSON values: ``games``, ``win_share`` with ``ci95``, ``mean_score``, ``mean_margin``, ...
        (see ``agent_summary``), the same for each of ``seats``, and ``decisions_per_game``.
        """
        outcomes = self.outcomes
        bootstrap = bootstrap or DealBootstrap(len(outcomes.scores))
        return {
            **agent_summary(outcomes, AGENT, bootstrap),
            "decisions_per_game": round(float(self.games.decisions.mean()), DIGITS),
            "seats": by_seat(outcomes, AGENT, bootstrap),
        }


def evaluate_against(
    agent: Agent,
    opponent: Agent,
    edition: BaseEdition,
    num_players: int,
    seeds: npt.NDArray[np.uint64],
    *,
    batch_size: int = DEFAULT_BATCH,
    backend: str = "auto",
    start: int = 0,
    watch: Watch | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Against:
    """Play every deal once from every seat, all other seats taken by the opponent.

    Args:
        num_players: P, as many seats as the edition allows.
        seeds: game seeds, uint64 (D,), such as ``seed_list("dev", 200)``.
        batch_size: games played at once; changes the time taken and nothing else.
        backend: the engine's; numba where it is installed, by default.
        start: number of the first deal, for the agents' own draws.
        watch: is shown every step; game k + P·d is deal d in seating k.
        on_progress: called now and then with how many games' worth has been played since the last
            call; games under way count in part.

    Raises:
        IncunabulaError: an argument can't be used, or an agent acts illegally.

    Example:
        >>> played = evaluate_against(agent, greedy, edition, 4, seed_list("dev", 200))
        >>> played.summary()["win_share"]
    """
    edition = load_edition(edition)
    num_players = check_players(num_players, edition)
    table = (AGENT, *[OPPONENT] * (num_players - 1))
    seats = np.array(seatings(table, "cyclic"))
    games = play_tables(
        [agent, opponent],
        seats,
        edition,
        seeds,
        batch_size=batch_size,
        backend=backend,
        start=start,
        watch=watch,
        on_progress=on_progress,
    )
    return Against(games)
