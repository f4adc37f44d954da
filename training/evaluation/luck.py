"""Luck of a game: what chance gave a player beyond what could be expected of it.

Wherever cards are drawn, what a value function says of the position that came is set against its
mean over positions that could have come, after the same action. By itself that difference is zero
on average, whatever is played and however bad the value function is: a score less its luck has the
same expectation as the score, and, the better the value function, the less spread. The advantage
sum estimator (Zinkevich, Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for
evaluating agent performance", AAAI 2006), with means over draws as in AIVAT (Burch, Schmid,
Moravčík, Morrill and Bowling, AAAI 2018).

The draws are of what a player doesn't know, uniform over all hidden orders, as the true one is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.policy_folder import Policy, load_policy
from incunabula.agents.registry import GUIDES, with_shipped
from incunabula.agents.search.guide import Guide
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import Phase
from incunabula.envs.chance import key
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.rows import Part
from incunabula.training.evaluation.statistics import DIGITS, mean_interval

Float64Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

OUTCOMES = 16  # that could have come, drawn for each that came
ROUND = 4096  # positions looked at together, at most
STREAM = 1 << 39  # of the keys that name those draws


class Judge(NamedTuple):
    """What judges positions of an edition.

    Attributes:
        policy: whose value network it is.
        guide: the network, ready to be asked.
    """

    policy: Policy
    guide: Guide


def load_judge(edition: Edition) -> Judge:
    """The judge of an edition's positions: many meters can share one.

    Raises:
        IncunabulaError: there is no value network for this edition.
    """
    try:
        policy = with_shipped(GUIDES[edition.game], lambda folder: load_policy(folder, edition))
    except IncunabulaError as error:
        raise IncunabulaError(
            f"luck: its value network isn't of this edition; leave --luck out ({error})"
        ) from None
    return Judge(policy, Guide(policy, BibliogamoEngine(edition, 1).tables))


def luck_possible(edition: BaseEdition) -> bool:
    """Whether there is a value network for this edition, so that luck can be measured."""
    if not isinstance(edition, Edition):
        return False
    try:
        load_judge(edition)
    except IncunabulaError:
        return False
    return True


def drew(engine: Engine, rows: Rows, turn: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
    """Where the last action drew cards, bool (n,): at the start of a turn other than the one before
    it, (n,), and where there is an offer."""
    phase = engine.state.phase[rows]
    drawn: npt.NDArray[np.bool_] = (phase == Phase.PRICE) | (engine.turn[rows] != turn)
    return drawn & (phase != engine.over)  # the last turn draws nothing


class LuckMeter:
    """Watches games and adds up the luck of each.

    Args:
        edition: what is played.
        games: how many games there are in the list.
        start: number of the first, so that a game is measured alike wherever it stands in a list.
        judge: of this edition, if it is loaded already.

    Attributes:
        cards: luck in cards drawn between turns, points, float64 (games,).
        prices: luck in the offers of sales.
        policy: whose value network judges.
        seconds: that this has taken.

    Raises:
        IncunabulaError: there is no value network for this edition.
    """

    def __init__(
        self, edition: Edition, games: int, start: int = 0, judge: Judge | None = None
    ) -> None:
        self.policy, self._value = judge or load_judge(edition)
        self.cards, self.prices = np.zeros(games), np.zeros(games)
        self.seconds = 0.0
        self._start = start
        self._room: BibliogamoEngine | None = None

    @property
    def luck(self) -> Float64Array:
        """Of each game, points, float64 (games,)."""
        total: Float64Array = self.cards + self.prices
        return total

    def before(self, engine: BibliogamoEngine, part: Part, actions: npt.NDArray[Any]) -> None:
        """Note what is about to be done."""
        began = time.perf_counter()
        self._state, self._actions = engine.state.take(part.rows), np.asarray(actions, np.intp)
        self.seconds += time.perf_counter() - began

    def after(self, engine: BibliogamoEngine, part: Part) -> None:
        """Add the luck of what came of it, for the same games."""
        began = time.perf_counter()
        offer = engine.state.phase[part.rows] == Phase.PRICE
        size = max(1, ROUND // OUTCOMES)
        drawn = np.flatnonzero(drew(engine, part.rows, self._state.turn))
        for first in range(0, len(drawn), size):
            at = drawn[first : first + size]
            came = self._value.payoffs(engine, part.rows[at])[:, 0]
            luck = came - self._expected(engine, at, part)
            # A game is in the list once, so no place is written to twice.
            self.prices[part.games[at[offer[at]]]] += luck[offer[at]]
            self.cards[part.games[at[~offer[at]]]] += luck[~offer[at]]
        self.seconds += time.perf_counter() - began

    def _expected(self, engine: BibliogamoEngine, at: Rows, part: Part) -> Float64Array:
        """What these, (n,) of the part, could expect of the actions taken, float64 (n,)."""
        n = len(at) * OUTCOMES
        if self._room is None or self._room.num_envs < n:
            self._room = engine.empty_like(n, "auto")
        room, rows = self._room, np.arange(n)
        room.put(rows, self._state.take(np.repeat(at, OUTCOMES)))
        game = (part.games[at] + self._start).astype(np.uint64)
        move = key(game, STREAM, part.decisions[at].astype(np.uint64))
        outcome = np.tile(np.arange(OUTCOMES, dtype=np.uint64), len(at))
        room.determinise(rows, key(np.repeat(move, OUTCOMES), STREAM, outcome))
        room.apply(np.repeat(self._actions[at], OUTCOMES), rows)
        return self._value.payoffs(room, rows)[:, 0].reshape(len(at), OUTCOMES).mean(axis=1)


def add_luck(
    result: dict[str, Any],
    scores: Mapping[str, npt.NDArray[np.int64]],
    meters: Mapping[str, LuckMeter],
) -> None:
    """Add to the result of an evaluation what scores (n,) less their luck come to.

    Args:
        scores: of the agents, by name, in the order of the deals.
        meters: that have watched these games.
    """
    adjusted = {name: score - meters[name].luck for name, score in scores.items()}
    for agent in result["agents"]:
        meter, left = meters[agent["name"]], adjusted[agent["name"]]
        mean, ci95 = mean_interval(left)
        agent["luck_adjusted"] = {
            "mean": mean,
            "ci95": ci95,
            "sd": _spread(left),
            "cards_sd": _spread(meter.cards),
            "prices_sd": _spread(meter.prices),
            "value_sha256": meter.policy.sha256,
        }
    for pair in result["paired"]:
        pair["luck_adjusted"] = adjusted_pair(adjusted[pair["a"]] - adjusted[pair["b"]])


def adjusted_pair(difference: Float64Array) -> dict[str, Any]:
    """What a difference by deal (n,) of scores less their luck comes to, as JSON values."""
    mean, ci95 = mean_interval(difference)
    return {"mean_difference": mean, "ci95": ci95}


def _spread(values: Float64Array) -> float | None:
    """Standard deviation of (n,); None of a single value."""
    return round(float(np.std(values, ddof=1)), DIGITS) if len(values) > 1 else None
