"""Many steps of play in one call: the rollouts of planners and studies.

On the compiled backend the random and the greedy agent play inside compiled code, row after row,
without a way back to Python in between. Any other agent, and any agent on the NumPy backend, is
asked for the actions of all rows at once. The games are the same either way.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import AGENT_STREAM, Agent, RandomAgent, View, ask
from incunabula.agents.baselines import make_greedy
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.backend import CompiledBackend, linked_kernels
from incunabula.envs.compiled.functions import Compiled, compiled_apart
from incunabula.envs.compiled.loops import advance, deal_next, legal
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.stepper import Stepper

Int64Array = npt.NDArray[np.int64]
POLICIES = ("random", "greedy")
NO_END = 1 << 62  # steps


class Rollout(NamedTuple):
    """What a rollout came to, row by row."""

    steps: Int64Array  # (n,) actions taken
    games: Int64Array  # (n,) games that ended
    score: Int64Array  # (n, P) their final scores, summed


# Compiled -----------------------------------------------------------------------------------------


@compiled_apart
def prepare(t: Any, policy: Any) -> Any:
    """What the policy works out once for many decisions."""
    raise NotImplementedError


@compiled_apart
def choose(t: Any, p: Any, i: int, mask: Any, ready: Any, stream: Any, decision: int) -> int:
    """The policy's action in row ``i`` of the public state ``p``; ``ready`` is what ``prepare``
    gave, ``stream`` and ``decision`` name its draw."""
    raise NotImplementedError


@compiled_apart
def play_rows(g: Any, rows: Any, policy: Any, most: int) -> None:
    """Play each row on, ``most`` steps at most; see ``rollout``.

    ``g``: t, a, s and p (the public state), and the rollout's own arrays.
    """
    t, a, s, p = g.t, g.a, g.s, g.p
    ready = prepare(t, policy)
    for k in range(len(rows)):
        i, steps = rows[k], 0
        stream, decision = g.stream[k], g.decision[k]
        mask = g.mask[i]
        while steps < most and s.phase[i] != g.over and g.turn[i] < g.until[k]:
            advance(t, a, s, i, choose(t, p, i, mask, ready, stream, decision + steps))
            steps += 1
            if s.phase[i] == g.over:
                g.games[k] += 1
                for seat in range(g.score.shape[1]):
                    g.total[k, seat] += g.score[i, seat]
                if g.for_ever:
                    deal_next(t, s, g, i)
            if g.by_mask:
                legal(t, a, s, i, mask)
        g.steps[k] = steps
        if not g.by_mask:
            legal(t, a, s, i, mask)


class _Task(NamedTuple):
    """What is asked of a rollout, checked; each (n,)."""

    rows: npt.NDArray[np.intp]
    episode: npt.NDArray[np.uint64]
    decision: Int64Array
    most: int  # steps in each row
    until: Int64Array  # turn at which each stops
    done: Rollout  # written


class _Policy(NamedTuple):
    """An agent that plays inside compiled code."""

    value: Any  # what prepare takes
    by_mask: bool  # whether it looks at the legal actions
    loop: Compiled[None]


@cache
def _loop(game: str, name: str) -> Compiled[None]:
    """``play_rows`` of a game and a policy."""
    kernels = dict(linked_kernels(game))
    policy: Any
    if name == "random":
        from incunabula.agents import random_kernels as policy
    elif game == "scriptorium":
        from incunabula.agents import greedy_scriptorium as policy
    else:
        from incunabula.agents import greedy_bibliogamo as policy
    kernels |= {"prepare": policy.prepare, "choose": policy.choose}
    return play_rows.with_kernels(kernels)


def _compiled_policy(engine: Engine, agent: Agent) -> _Policy | None:
    """How the agent plays inside compiled code; None if it can't, or on another backend."""
    if not isinstance(engine.backend, CompiledBackend):
        return None
    if type(agent) is RandomAgent:
        return _Policy(np.uint64(agent.seed), True, _loop(engine.game, "random"))
    if type(agent) is type(make_greedy(engine.game)):
        return _Policy(agent.params, False, _loop(engine.game, "greedy"))  # type: ignore[attr-defined]
    return None


# What is called -----------------------------------------------------------------------------------


def rollout(
    games: Engine | Stepper,
    policy: str | Agent = "random",
    steps: int | None = None,
    *,
    rows: npt.NDArray[np.intp] | None = None,
    seed: int = 0,
    episode: npt.NDArray[np.uint64] | None = None,
    decision: Int64Array | None = None,
    until: Int64Array | None = None,
) -> Rollout:
    """Play rows on with one policy for all seats.

    Args:
        games: the rows of an engine stay as they ended; those of a stepper are dealt anew, and go
            on. Neither's observations are made.
        policy: ``random``, ``greedy``, or an agent.
        steps: actions in each row at most; None: until its game ends (of an engine only).
        rows: distinct row numbers (n,), all by default.
        seed: of the random policy that is given by name.
        episode: uint64 (n,), names each row's draws; its number by default. See ``View``.
        decision: int64 (n,), how many decisions came before; 0 by default. It counts on over the
            games of a stepper.
        until: int64 (n,), a row stops at the first decision of this turn (``Engine.turn``); of an
            engine only.

    Raises:
        IncunabulaError: an argument can't be used.
        TapeError: a row's tape has run out.
    """
    stepper = games if isinstance(games, Stepper) else None
    engine = games.engine if isinstance(games, Stepper) else games
    agent = _agent(engine, policy, seed)
    if steps is None and stepper is not None:
        raise IncunabulaError("steps: expected a number, as a stepper's games never end")
    whole = isinstance(steps, (int, np.integer)) and not isinstance(steps, bool)
    if steps is not None and not (whole and 0 <= steps < NO_END):
        raise IncunabulaError(f"steps: expected a whole number of at least 0, got {steps!r}")
    chosen = np.arange(engine.num_envs) if rows is None else np.array(rows, np.intp)
    n = len(chosen)
    if n and not 0 <= chosen.min() <= chosen.max() < engine.num_envs:
        raise IncunabulaError(f"rows: expected rows in 0..{engine.num_envs - 1}, got {chosen}")
    if len(np.unique(chosen)) < n:
        raise IncunabulaError(f"rows: expected distinct rows, got {chosen}")
    for name, given in (("episode", episode), ("decision", decision), ("until", until)):
        if given is not None and np.size(given) and np.asarray(given).dtype.kind not in "iu":
            raise IncunabulaError(f"{name}: expected whole numbers, got {given!r}")
    own = chosen.astype(np.uint64) if episode is None else np.asarray(episode, np.uint64)
    before = np.zeros(n, np.int64) if decision is None else np.array(decision, np.int64)
    for name, given in (("episode", own), ("decision", before)):
        if given.shape != (n,):
            raise IncunabulaError(f"{name}: expected {n}, one for each row, got {given.shape}")
    if until is not None and stepper is not None:
        raise IncunabulaError("until: turns are those of an engine's games, not of a stepper's")
    stop = np.full(n, NO_END)
    if until is not None:
        stop = np.minimum(until, NO_END).astype(np.int64)
    if stop.shape != (n,):
        raise IncunabulaError(f"until: expected {n}, one for each row, got {stop.shape}")
    total = np.zeros((n, engine.num_players), np.int64)
    done = Rollout(np.zeros(n, np.int64), np.zeros(n, np.int64), total)
    most = NO_END if steps is None else int(steps)
    task = _Task(chosen, own, before, most, stop, done)
    compiled_policy = _compiled_policy(engine, agent)
    taped = engine.state.tape.shape[1] > 0
    if compiled_policy is not None and not taped:
        _run(engine, stepper, compiled_policy, task)
    else:
        _ask(engine, stepper, agent, task)
    return done


def _agent(engine: Engine, policy: str | Agent, seed: int) -> Agent:
    if isinstance(policy, Agent):
        return policy
    if policy not in POLICIES:
        raise IncunabulaError(
            f"policy: expected {' or '.join(POLICIES)} or an agent, got {policy!r}"
        )
    return RandomAgent(seed) if policy == "random" else make_greedy(engine.game)


def _run(engine: Engine, stepper: Stepper | None, policy: _Policy, task: _Task) -> None:
    """Inside compiled code."""
    backend = engine.backend
    assert isinstance(backend, CompiledBackend)
    bound, no_games = backend.bound, np.zeros(0, np.uint64)
    arrays = Arrays(
        {
            "t": bound.t,
            "a": bound.a,
            "s": bound.s,
            "p": engine.public_arrays,
            "mask": engine.mask,
            "score": engine.state.score.reshape(engine.num_envs, -1),
            "over": engine.over,
            "how": -1,
            "for_ever": stepper is not None,
            "by_mask": policy.by_mask,
            "stream": np.uint64(AGENT_STREAM) + task.episode,
            "decision": task.decision,
            "turn": engine.turn,
            "until": task.until,
            "steps": task.done.steps,
            "games": task.done.games,
            "total": task.done.score,
            "base": no_games if stepper is None else stepper.base,
            "episode": no_games if stepper is None else stepper.episode,
        }
    )
    policy.loop(arrays, task.rows, policy.value, task.most)


def _ask(engine: Engine, stepper: Stepper | None, agent: Agent, task: _Task) -> None:
    """By asking the agent for the actions of all rows at once."""
    rows, episode, decision, most, until, done = task
    live = np.flatnonzero((engine.state.phase[rows] != engine.over) & (most > 0))
    live = live[engine.turn[rows[live]] < until[live]]
    while live.size:
        playing = rows[live]
        view = View(engine, playing, episode[live], decision[live] + done.steps[live])
        _, ended = engine.apply(ask(agent, view), playing)
        done.steps[live] += 1
        over = live[ended]
        if over.size:
            done.games[over] += 1
            done.score[over] += engine.state.score[rows[over]].reshape(len(over), -1)
            if stepper is not None:
                stepper.deal_next(rows[over])
        going = (done.steps[live] < most) & (engine.turn[playing] < until[live])
        live = live[going if stepper is not None else going & ~ended]
