"""A tree search guided by a policy and value network, for both games.

What is hidden in either game is chance alone: the order of a deck or a bag, which nobody knows. Of
the three ways to search such a game:

- Trees of one *determinisation* each (PIMC) choose as if the order were known. That is worth far
  more than any honest choice here (clairvoyant play of Bibliogamo scores about 75, honest play
  about 50), so such trees value waiting for cards that they know will come: strategy fusion
  (Frank and Basin, "Search in games with incomplete information", 1998).
- *Chance nodes* with every outcome are out of reach: a turn of Bibliogamo flips one of up to 47
  cards and draws several more.
- *Information-set MCTS* (Cowling, Powley and Whitehouse, 2012) draws a fresh order in every
  simulation, and its nodes are what the players know. This is what is done here; as nobody knows
  more than another, one tree serves all seats, and an outcome of chance that comes again finds its
  node again: chance nodes with the outcomes that were sampled.

At the root, the likeliest actions are compared by sequential halving (Karnin, Koren and Somekh,
2013), as in "Policy improvement by planning with Gumbel" (Danihelka, Guez, Schrittwieser and
Silver, ICLR 2022), which does well with few simulations: rank by logit + σ(q), q the mean payoff,
σ(q) = (c_visit + most visits) · c_scale · q. Its Gumbel noise, which is for exploration, is left
out, so that the likeliest actions are the ones tried. All actions see the same orders (common
random numbers). Below, a tree of each action is descended by PUCT (Silver et al., "Mastering the
game of Go without human knowledge", 2017), each seat looking at its own payoff (max^n: Luckhardt
and Irani, 1986). At a leaf the policy plays on for some decisions, all seats, then the value
network says what to expect: that takes much of the network's error out of a comparison.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import AGENT_STREAM, Agent, View
from incunabula.agents.policy_folder import Policy, engine_of, load_policy
from incunabula.agents.search.budget import Budget
from incunabula.agents.search.forest import Forest
from incunabula.agents.search.guide import Guide
from incunabula.envs.chance import check_seed, key
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError

Rows = npt.NDArray[np.intp]
Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

# Orders are drawn from key(key(agent seed, AGENT_STREAM + episode, decision), SEARCH_STREAM, k).
SEARCH_STREAM = 1 << 40
# Imagined games played at once.
POOL = 4096
# Imagined games of an action between two looks at the clock, if nothing is learnt in between.
STEP = 8


@dataclass(frozen=True)
class Settings:
    """How a search spends its budget.

    Attributes:
        tried: actions compared at the root, at most.
        sure: a root action at least this likely is taken without a search.
        depth: decisions that are chosen by PUCT, below the root's; 0: none.
        width: actions kept at a node below the root.
        explore: c of PUCT, in payoffs.
        horizon: decisions of all seats that the policy plays on, forced ones not counted.
        c_visit, c_scale: of σ; c_scale in logits a payoff.
    """

    tried: int = 4
    sure: float = 0.98
    depth: int = 0
    width: int = 8
    explore: float = 1.0
    horizon: int = 8
    c_visit: float = 8.0
    c_scale: float = 0.1


# Chosen on dev deals, where the payoffs of two actions were compared with games played to the end.
# In Scriptorium chance is quiet, and a day is many decisions: long horizons, more actions, fewer
# simulations. In Bibliogamo chance is loud, so that few actions get many simulations, and the
# policy plays on for a while before a value network that errs is asked. That row was chosen with
# the values that PPO had left, not with those fitted since (``fit_value``); the agent ``search``
# doesn't use it, but rollouts (see ``guided``). The policy's logits, which hear an advisor, say
# little about which of two actions is the better.
SETTINGS = {
    "bibliogamo": Settings(tried=2, horizon=16, c_visit=0.0, c_scale=0.8),
    "scriptorium": Settings(tried=8, horizon=32, c_visit=20.0, c_scale=1.0),
}


@dataclass
class Arms:
    """Actions tried at the roots, G games with up to ``tried`` each.

    Attributes:
        action: intp (G, m), the likeliest first.
        logit: float64 (G, m), -inf where there is no further action.
        alive: bool (G, m), still in the running.
        visits: int64 (G, m).
        total: float64 (G, m), payoffs to who is asked.
    """

    action: Rows
    logit: Float64Array
    alive: npt.NDArray[np.bool_]
    visits: Int64Array
    total: Float64Array

    def rank(self, settings: Settings) -> Float64Array:
        """logit + σ(q) of those in the running, -inf of the others; float64 (G, m)."""
        worth = self.total / np.maximum(self.visits, 1)
        most = self.visits.max(axis=1, keepdims=True)
        found = self.logit + (settings.c_visit + most) * settings.c_scale * worth
        return np.where(self.alive, found, -np.inf)

    def halve(self, settings: Settings) -> None:
        """Keep the better half, rounded up, of those in the running in each game."""
        keep = -(-self.alive.sum(axis=1) // 2)
        order = np.argsort(-self.rank(settings), axis=1, kind="stable")
        place = np.argsort(order, axis=1, kind="stable")
        self.alive &= place < keep[:, None]


class TreeSearch(Agent):
    """Takes the action that fares best in imagined games; see the module.

    With simulations as its budget, its choice depends on the view and on its seed alone, whatever
    the batch; with seconds it depends on the machine.

    Args:
        policy: a policy folder, or one loaded for ``edition``.
        edition: what it is to play.
        budget: simulations (imagined games) and seconds a move.
        seed: of its own draws.
        settings: by default those tuned for the game.
        name: what results call the policy.

    Raises:
        IncunabulaError: the policy can't be used, or its values' unit isn't known.
    """

    def __init__(
        self,
        policy: str | Path | Policy,
        edition: BaseEdition,
        *,
        budget: Budget,
        seed: int = 0,
        settings: Settings | None = None,
        name: str = "ppo",
    ) -> None:
        self.policy = policy if isinstance(policy, Policy) else load_policy(policy, edition)
        self.budget, self.seed = budget, check_seed(seed)
        self.name = f"search({name}, {budget})"
        self.settings = settings or SETTINGS[edition.game]
        self.guide = Guide(self.policy, engine_of(edition).tables)
        self._engine: Engine | None = None  # room for imagined games

    def act(self, view: View) -> Rows:
        began = time.perf_counter()
        if view.edition.sha256 != self.policy.description["edition_sha256"]:
            raise IncunabulaError(
                f"agent {self.name!r}: was made for edition "
                f"{self.policy.description['edition']!r}, not for {view.edition.name!r}"
            )
        logits = self.guide.logits(view).astype(np.float64)
        chosen = logits.argmax(axis=1)
        likely = np.exp(logits - logits.max(axis=1, keepdims=True))
        unsure = np.flatnonzero(self.settings.sure * likely.sum(axis=1) > 1)
        if unsure.size:
            limit = self.budget.seconds
            stop = None if limit is None else began + limit * len(view)
            search = Search(self, view, unsure, logits[unsure])
            search.run(self.budget.simulations, stop)
            chosen[unsure] = search.best()
        return chosen

    def imagine(self, view: View, games: Rows, seeds: npt.NDArray[np.uint64]) -> Engine:
        """As ``view.imagine``, in an engine that is kept."""
        self._engine = view.imagine(games, seeds, self._engine)
        return self._engine


class Search:
    """The search of some games of one view.

    Attributes:
        games: intp (G,), numbers of the view's games.
        draw: uint64 (G,), what their hidden orders are drawn from.
        arms, forest: what has been found out.
    """

    def __init__(self, agent: TreeSearch, view: View, games: Rows, logits: Float64Array) -> None:
        self.agent, self.settings, self.guide = agent, agent.settings, agent.guide
        self.view, self.games = view, games
        stream = np.uint64(AGENT_STREAM) + view.episode[games]
        self.draw = key(agent.seed, stream, view.decision[games].astype(np.uint64))
        most = min(self.settings.tried, logits.shape[1])
        action = np.argsort(-logits, axis=1, kind="stable")[:, :most]
        logit = np.take_along_axis(logits, action, axis=1)
        self.costs = least_costs(most)
        if agent.budget.simulations is not None:  # no more actions than can be compared for it
            self.costs = self.costs[self.costs <= agent.budget.simulations]
            logit[:, max(len(self.costs) - 1, 1) :] = -np.inf
        shape = action.shape
        none = np.zeros(shape, np.int64)
        self.arms = Arms(action, logit, np.isfinite(logit), none, np.zeros(shape))
        self.forest = Forest(self.settings.width, self.settings.explore)

    def best(self) -> Rows:
        """The action chosen in each game, intp (G,)."""
        place = self.arms.rank(self.settings).argmax(axis=1)
        return self.arms.action[np.arange(len(place)), place]

    def run(self, simulations: int | None, stop: float | None) -> None:
        """Sequential halving; ``stop``: by the clock ``time.perf_counter``."""
        arms = self.arms
        phases = np.ceil(np.log2(arms.alive.sum(axis=1))).astype(np.int64)
        most = int(phases.max())
        for phase in range(most):
            going = phase < phases
            if simulations is None:
                each = np.full(len(going), np.iinfo(np.int64).max)
            else:
                alive = arms.alive.sum(axis=1)
                rest = simulations - arms.visits.sum(axis=1) - self.costs[-(-alive // 2)]
                share = np.maximum(1, simulations // (np.maximum(phases, 1) * alive))
                each = np.minimum(share, rest // alive)
            until = None
            if stop is not None:
                now = time.perf_counter()
                until = now + (stop - now) / (most - phase)
            self._try(np.where(going, each, 0), until)
            arms.halve(self.settings)

    def _try(self, each: Int64Array, until: float | None) -> None:
        """``each`` (G,) simulations of every action in the running, or as many as time allows."""
        arms, done = self.arms, np.zeros_like(each)
        while (left := each - done).any():
            count = left
            if self.settings.depth:  # what one has found out guides the next
                count = np.minimum(left, 1)
            elif until is not None:
                count = np.minimum(left, STEP)
            game, place = np.nonzero(arms.alive & (count > 0)[:, None])
            times = count[game]
            game, place = np.repeat(game, times), np.repeat(place, times)
            first = np.repeat(np.cumsum(times) - times, times)
            number = arms.visits[game, place] + np.arange(len(game)) - first
            paid = np.empty(len(game))
            for start in range(0, len(game), POOL):
                part = slice(start, start + POOL)
                paid[part] = self._simulate(game[part], place[part], number[part])
            np.add.at(arms.visits, (game, place), 1)
            np.add.at(arms.total, (game, place), paid)
            done += count
            if until is not None and time.perf_counter() >= until:
                break

    def _simulate(self, game: Rows, place: Rows, number: Int64Array) -> Float64Array:
        """Play imagined games; payoffs float64 (n,) to who is asked.

        Args:
            game, place: of the actions tried.
            number: of the hidden order, the same for all actions of a game.
        """
        view, rows = self.view, np.arange(len(game))
        seeds = key(self.draw[game], SEARCH_STREAM, number.astype(np.uint64))
        engine = self.engine = self.agent.imagine(view, self.games[game], seeds)
        engine.apply(self.arms.action[game, place], rows)
        path = (
            self._descend(game * self.arms.action.shape[1] + place) if self.settings.depth else []
        )
        self._play_on(rows)
        paid = self.guide.payoffs(engine, rows)
        for at, nodes, places in path:
            self.forest.back_up(nodes, places, paid[at])
        return paid[rows, view.seat[self.games[game]]]

    def _descend(self, trees: Rows) -> list[tuple[Rows, Rows, Rows]]:
        """Choose by PUCT down to a new node; the (rows, nodes, places) that were passed."""
        engine, forest = self.engine, self.forest
        rows, path = np.arange(len(trees)), []
        for _ in range(self.settings.depth):
            rows = self._until_choice(rows)
            if not rows.size:
                break
            seen = engine.observe_rows(rows)
            nodes = forest.find(trees[rows], seen)
            new = nodes < 0
            if new.any():
                view = self._view(rows[new])
                forest.add(trees[rows[new]], seen[new], self.guide.logits(view), view.seat)
            rows, nodes = rows[~new], nodes[~new]
            places, actions = forest.select(nodes)
            path.append((rows, nodes, places))
            engine.apply(actions, rows)
        return path

    def _play_on(self, rows: Rows) -> None:
        """The policy's likeliest actions, for ``horizon`` decisions that aren't forced."""
        for _ in range(self.settings.horizon):
            rows = self._until_choice(rows)
            if not rows.size:
                break
            self.engine.apply(self.guide.logits(self._view(rows)).argmax(axis=1), rows)

    def _until_choice(self, rows: Rows) -> Rows:
        """Take forced actions; the rows in which there is a choice then."""
        engine, ready = self.engine, []
        while rows.size:
            options = np.count_nonzero(engine.mask[rows], axis=1)
            ready.append(rows[options > 1])
            rows = rows[options == 1]
            if rows.size:
                engine.apply(engine.mask[rows].argmax(axis=1), rows)
        return np.sort(np.concatenate(ready)) if ready else rows

    def _view(self, rows: Rows) -> View:
        """Imagined games; the draws of agents that are asked there don't matter."""
        return View(self.engine, rows, rows.astype(np.uint64), np.zeros(len(rows), np.int64))


def least_costs(arms: int) -> Int64Array:
    """Imagined games that sequential halving of 0..``arms`` actions takes if each is tried once in
    every round, int64 (arms + 1,); of a single action none, for there is nothing to choose."""
    costs = [0, 0]
    for n in range(2, arms + 1):
        costs.append(n + costs[-(-n // 2)])
    return np.array(costs, np.int64)
