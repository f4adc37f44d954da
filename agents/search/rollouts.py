"""A rollout player: it tries each choice in imagined games that a base policy plays on.

Policy improvement on line by Monte-Carlo search (Tesauro and Galperin, "On-line policy improvement
using Monte-Carlo search", NIPS 1996), a rollout algorithm (Bertsekas, Tsitsiklis and Wu, "Rollout
algorithms for combinatorial optimization", Journal of Heuristics 3, 1997; Bertsekas, "Rollout,
policy iteration, and distributed reinforcement learning", 2020). What is hidden is drawn anew in
every imagined game from what the player knows, and in all of a move's choices alike (common random
numbers), so that their payoffs are compared pair by pair. Imagined games are given out by
sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits",
ICML 2013), and choices that are clearly worse are given no more.

Who plays on sees of an imagined game only what a player sees, so that no choice is judged by
what only somebody who knows the hidden order could do with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import AGENT_STREAM, Agent, View, ask
from incunabula.agents.rollout import rollout
from incunabula.agents.search.budget import Budget
from incunabula.envs.chance import check_seed, key
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError

IntpArray = npt.NDArray[np.intp]
Float64Array = npt.NDArray[np.float64]
UInt64Array = npt.NDArray[np.uint64]
# Worth of rows (n,) at the first decision of a turn, to the seat numbered in (n,); float64 (n,).
Value = Callable[[Engine, IntpArray], Float64Array]

SIMULATION_STREAM = 1 << 35  # of the key that names a move, to its imagined games
CHUNK = 2048  # imagined games played at once
STEP = 4  # imagined games that a choice is given between two looks at the clock
FIRST_LOOK = 1 << 32  # numbers of the imagined games of a first look


class Settings(NamedTuple):
    """How choices are compared.

    Attributes:
        evidence: standard errors by which another choice must be better than the base's.
        margin: payoff by which it must be, so much as the value at the cut may err.
        worse: standard errors behind the best at which a choice is given up.
        enough: imagined games before a choice can be given up so.
        horizon: turns (rounds) after this one that imagined games are played on; None: to the end.
        outcome: in a game of several players, points of margin that winning is worth.
        tried: choices, the base's among them, that are compared so; others are passed over after a
            first look, in which the first judge alone has a say.
        first_look: imagined games of each choice for that, cut off at the next turn (round).
    """

    evidence: float = 1.0
    margin: float = 0.0
    worse: float = 2.0
    enough: int = 8
    horizon: int | None = None
    outcome: float = 0.0
    tried: int | None = None
    first_look: int = 8


class Rollouts(Agent):
    """Plays the base's action unless another is seen to do better.

    Args:
        base: whose action is played unless another does better.
        budget: for each move; imagined games of all choices are counted together.
        seed: of what is drawn for the imagined games.
        settings: how choices are compared.
        play: who plays the imagined games, for all seats; the base by default.
        judges: who say what a position is worth where imagined games are cut off; needed with a
            horizon. Of several the mean counts, with the largest of their standard errors: where
            one promises too much, a search goes, and the others hold it back.
        name: how results call it; by default with base and budget.

    Raises:
        IncunabulaError: an argument can't be used.
    """

    def __init__(
        self,
        base: Agent,
        budget: Budget,
        *,
        seed: int = 0,
        settings: Settings | None = None,
        play: Agent | None = None,
        judges: Sequence[Value] = (),
        name: str | None = None,
    ) -> None:
        self.base, self.budget, self.seed = base, budget, check_seed(seed)
        self.play_on = base if play is None else play
        self.settings = Settings() if settings is None else settings
        self.judges = tuple(judges)
        self.name = f"rollouts({base.name}, {budget})" if name is None else name
        self.policy = getattr(base, "policy", None)  # what a learned base plays, for results
        self._engine: Engine | None = None  # room for imagined games
        horizon = self.settings.horizon
        if horizon is not None and horizon < 0:
            raise IncunabulaError(f"horizon: expected turns, at least 0, or None, got {horizon}")
        if not self.judges and (horizon is not None or self.settings.tried is not None):
            raise IncunabulaError("horizon, tried: need a judge of the games that are cut off")

    def act(self, view: View) -> IntpArray:
        """Actions, intp (n,)."""
        began = time.perf_counter()
        chosen = ask(self.base, view)
        rows, actions = np.nonzero(view.action_mask)
        counts = np.bincount(rows, minlength=len(view))
        choices = counts[rows] > 1
        race = Race(view, rows[choices], actions[choices], chosen, self)
        race.run(began)
        return race.decide()

    def play(
        self,
        view: View,
        game: IntpArray,
        action: IntpArray,
        number: npt.NDArray[np.int64],
        horizon: int | None,
        judges: int | None = None,
    ) -> Float64Array:
        """Payoffs, float64 (n, J), as each of the first J judges has them, by default all (one
        column if there is none), of actions (n,) in imagined games number (n,) of the view's games
        (n,), cut off ``horizon`` turns after this one."""
        asked = self.judges[:judges]
        payoff = np.empty((len(game), max(1, len(asked))))
        for start in range(0, len(game), CHUNK):
            part = slice(start, start + CHUNK)
            payoff[part] = self._play(view, game[part], action[part], number[part], horizon, asked)
        return payoff

    def _play(
        self,
        view: View,
        game: IntpArray,
        action: IntpArray,
        number: npt.NDArray[np.int64],
        horizon: int | None,
        judges: Sequence[Value],
    ) -> Float64Array:
        stream = np.uint64(AGENT_STREAM) + view.episode[game]
        decision = view.decision[game]
        move = key(self.seed, stream, decision.astype(np.uint64))
        seeds = key(move, SIMULATION_STREAM, number.astype(np.uint64))
        rows = np.arange(len(game))
        engine = view.imagine(game, seeds, self._engine)
        self._engine = engine
        until = None
        if horizon is not None:
            until = engine.turn[rows].astype(np.int64) + 1 + horizon
        engine.apply(action, rows)
        rollout(engine, self.play_on, rows=rows, episode=seeds, decision=decision + 1, until=until)
        return self._payoff(engine, rows, view.seat[game], judges)

    def _payoff(
        self, engine: Engine, rows: IntpArray, seat: IntpArray, judges: Sequence[Value]
    ) -> Float64Array:
        """What these rows are worth to these seats, float64 (n, J)."""
        score = engine.state.score[rows].astype(np.float64)
        if engine.num_players == 1:
            payoff = score
        else:
            own = score[rows, seat]
            score[rows, seat] = -np.inf
            payoff = own - score.max(axis=1)
            payoff += self.settings.outcome * np.sign(payoff)
        found = np.repeat(payoff[:, None], max(1, len(judges)), axis=1)
        cut = rows[engine.state.phase[rows] != engine.over]
        if cut.size:
            for judge, value in enumerate(judges):
                found[cut, judge] = value(engine, cut)
        return found


class Race:
    """The choices of all games of a view, and what their imagined games came to.

    ``game`` and ``action``, intp (m,), name the choices; ``alive``, bool (m,), those still tried.
    """

    def __init__(
        self, view: View, game: IntpArray, action: IntpArray, chosen: IntpArray, player: Rollouts
    ) -> None:
        self.view, self.player = view, player
        self.game, self.action, self.chosen = game, action, chosen
        m, n = len(game), len(view)
        self.alive = np.ones(m, np.bool_)
        self.base = np.zeros(n, np.intp)  # the choice that is the base's
        own = np.flatnonzero(action == chosen[game])
        self.base[game[own]] = own
        self.played = np.zeros(m, np.int64)  # imagined games of each choice
        self.spent = np.zeros(n, np.int64)  # imagined games of each game
        self.payoff = np.full((m, 16, max(1, len(player.judges))), np.nan)

    def run(self, began: float) -> None:
        """Spend the budget in rounds, after each of which the better half of the choices stays."""
        if not self.game.size:
            return
        if self.player.settings.tried is not None:
            self._look(self.player.settings.tried, self.player.settings.first_look)
        budget, n = self.player.budget, len(self.view)
        seconds = np.inf if budget.seconds is None else budget.seconds * n
        counts = self._left()
        halvings = np.ceil(np.log2(np.maximum(counts, 2))).astype(np.int64)  # rounds of each game
        rounds = int(halvings.max())
        for number in range(rounds):
            self._round(halvings - number, began + seconds * (number + 1) / rounds)
            if not (self._left() > 1).any():
                return
            self._halve(-(-counts // 2 ** (number + 1)))

    def _look(self, most: int, each: int) -> None:
        """Leave each game that has more choices the ``most`` that look best, with the base's."""
        left = self._left()
        games = np.full(len(left), each)
        if self.player.budget.simulations is not None:  # half of them at most
            games = np.minimum(each, self.player.budget.simulations // (2 * np.maximum(left, 1)))
        games[left <= most] = 0
        arms = np.flatnonzero(games[self.game] > 0)
        if not arms.size:
            return
        times = games[self.game[arms]]
        start = np.cumsum(times) - times
        number = FIRST_LOOK + np.arange(times.sum()) - np.repeat(start, times)
        arm = np.repeat(arms, times)
        paid = self.player.play(self.view, self.game[arm], self.action[arm], number, 0, judges=1)
        worth = np.add.reduceat(paid[:, 0], start) / times
        worth[self.base[self.game[arms]] == arms] = np.inf
        order = np.lexsort((np.arange(len(arms)), -worth, self.game[arms]))
        ordered = self.game[arms[order]]
        rank = np.arange(len(arms)) - np.searchsorted(ordered, ordered)
        self.alive[arms[order[rank >= most]]] = False
        np.add.at(self.spent, self.game[arms], times)

    def _round(self, rounds_left: npt.NDArray[np.int64], until: float) -> None:
        """Give every choice left its share of imagined games, until the clock says so.

        ``rounds_left``: of each game, below 1 after its own last round. What it has saved then
        stays unspent: other games of the batch must not decide whether there is a further round.
        """
        simulations = self.player.budget.simulations
        share = np.full(len(self.view), np.iinfo(np.int64).max)
        if simulations is not None:
            each = np.maximum(rounds_left, 1) * np.maximum(self._left(), 1)
            share = np.where(rounds_left > 0, (simulations - self.spent) // each, 0)
        while True:
            more = np.where(self._left() > 1, np.minimum(STEP, share), 0)
            if not more.any():
                return
            self._try(more)
            share -= more
            self._drop_worse()
            if time.perf_counter() >= until:
                return

    def _left(self) -> npt.NDArray[np.int64]:
        """How many choices of each game are left, int64 (n,)."""
        return np.bincount(self.game[self.alive], minlength=len(self.view))

    def _try(self, more: npt.NDArray[np.int64]) -> None:
        """Play so many more imagined games, int64 (n,), for each choice left of every game."""
        arms = np.flatnonzero(self.alive & (more[self.game] > 0))
        each = more[self.game[arms]]
        arm = np.repeat(arms, each)
        start = np.repeat(np.cumsum(each) - each, each)
        number = self.played[arm] + np.arange(len(arm)) - start
        need = int(number.max()) + 1
        if need > self.payoff.shape[1]:
            m, games, judges = self.payoff.shape
            room = np.full((m, max(need, 2 * games), judges), np.nan)
            room[:, :games] = self.payoff
            self.payoff = room
        self.payoff[arm, number] = self.player.play(
            self.view, self.game[arm], self.action[arm], number, self.player.settings.horizon
        )
        self.played[arms] += each
        np.add.at(self.spent, self.game[arms], each)

    def _means(self) -> Float64Array:
        """Mean payoff of each choice, minus infinity if it is out."""
        total = np.nansum(self.payoff, axis=1).mean(axis=1)
        means = total / np.maximum(self.played, 1)
        means[~self.alive] = -np.inf
        return means

    def _leaders(self, means: Float64Array) -> IntpArray:
        """The choice of each game with the highest mean, the first among equals; intp (n,)."""
        order = np.lexsort((-np.arange(len(means)), means, self.game))
        last = np.flatnonzero(np.diff(self.game[order], append=-1))
        leaders = np.zeros(len(self.view), np.intp)
        leaders[self.game[order[last]]] = order[last]
        return leaders

    def _compare(self, a: IntpArray, b: IntpArray) -> tuple[Float64Array, Float64Array]:
        """Mean of payoff a - b over the imagined games both have played and over judges, and the
        largest of the judges' standard errors; zeros, which settle nothing, where these games are
        fewer than two."""
        difference = self.payoff[a] - self.payoff[b]
        both = ~np.isnan(difference)
        n = both[:, :, 0].sum(axis=1)
        games = np.maximum(n, 1)[:, None]
        means = np.where(both, difference, 0.0).sum(axis=1) / games
        square = np.where(both, (difference - means[:, None]) ** 2, 0.0).sum(axis=1)
        error = np.sqrt(square / np.maximum(games - 1, 1) / games).max(axis=1)
        mean = means.mean(axis=1)
        mean[n < 2] = 0.0
        return mean, error

    def _drop_worse(self) -> None:
        """Give up choices that are clearly worse than their game's best."""
        settings = self.player.settings
        leader = self._leaders(self._means())[self.game]
        arms = np.flatnonzero(self.alive & (self.played >= settings.enough))
        arms = arms[arms != leader[arms]]
        mean, error = self._compare(leader[arms], arms)
        self.alive[arms[mean > settings.worse * error]] = False

    def _halve(self, most: npt.NDArray[np.int64]) -> None:
        """Keep the best of each game's choices, so many, int64 (n,) (two at least); and the base's,
        unless it is clearly worse."""
        means, keep = self._means(), np.maximum(2, most)
        order = np.lexsort((np.arange(len(means)), -means, self.game))
        first = np.searchsorted(self.game[order], np.arange(len(keep)))
        rank = np.empty(len(means), np.intp)
        rank[order] = np.arange(len(means)) - first[self.game[order]]
        base = self.base[self.game] == np.arange(len(means))
        self.alive &= (rank < keep[self.game]) | base

    def decide(self) -> IntpArray:
        """The best choice of each game that is seen to be better than the base's, else that."""
        if not self.game.size:
            return self.chosen
        arms = np.flatnonzero(self.alive)
        mean, error = self._compare(arms, self.base[self.game[arms]])
        settings = self.player.settings
        better = arms[mean > np.maximum(settings.margin, settings.evidence * error)]
        means = self._means()
        means[np.setdiff1d(np.arange(len(means)), better)] = -np.inf
        leader = self._leaders(means)
        chosen = self.chosen.copy()
        deviating = np.unique(self.game[better])
        chosen[deviating] = self.action[leader[deviating]]
        return chosen


# What each game is played with, unless something else is given.
DEFAULTS = {
    "bibliogamo": (
        Budget(simulations=384),
        Settings(evidence=1.5, margin=0.1, horizon=1, tried=4),
    ),
    "scriptorium": (Budget(simulations=64), Settings()),
}


def make_rollouts(base: Agent, game: str, budget: Budget | None = None, seed: int = 0) -> Rollouts:
    """A rollout player of a game, as it plays best, over a base."""
    usual, settings = DEFAULTS[game]
    judges: tuple[Value, ...] = ()
    if settings.horizon is not None:
        from incunabula.agents.search.bibliogamo_value import greedy_values

        judges = (greedy_values,)
    return Rollouts(base, budget or usual, seed=seed, settings=settings, judges=judges)
