"""Scriptorium as a PettingZoo AEC environment; ``incunabula.envs.scriptorium_v0`` offers it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete, Space

from incunabula.envs.adapters.games import EditionLike, Games, checked_reward
from incunabula.envs.chance import as_seed
from incunabula.envs.drawing.modes import (
    FPS,
    HUMAN,
    RENDER_MODES,
    Size,
    checked_render_mode,
    checked_render_size,
)
from incunabula.envs.drawing.window import Window
from incunabula.envs.engine import Json
from incunabula.envs.errors import IncunabulaError, needing
from incunabula.envs.scriptorium.deals import ScriptoriumDeals
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.payoffs import checked_reward_mode, margins, outcome

with needing("scriptorium_v0", "pettingzoo"):
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper

Observation = dict[str, npt.NDArray[Any]]
ILLEGAL_ACTIONS = ("terminate", "penalize", "raise")


class raw_env(AECEnv[str, Observation, int | None]):  # type: ignore[misc]  # it ships no types
    """Scriptorium for 2 to 4 agents, player_0 to player_3, who are the rules' seats.

    Observation: {"observation": float32 (F,), all that is public as this agent sees it, seats being
    relative to his; "action_mask": int8 (A,), legal actions, all 0 unless he is to move}.
    ``unwrapped.layout`` is the observation's table, ``unwrapped.layout.decode`` gives the public
    state back.

    Action: Discrete(A); ``unwrapped.describe(action)`` says what a number means now.

    Reward: ``outcome`` (at the end only; with k winners of P agents a winner gets
    (P/k − 1)/(P − 1), a loser −1/(P − 1)), or the change of each agent's own running ``score`` or
    ``margin`` (own score less the best other's), paid to all at each step.

    End: all agents are terminated in the same step, never truncated; each then takes one
    ``step(None)``. An illegal action does what ``illegal_action`` says:

    - ``terminate``: ends the game, as PettingZoo's TerminateIllegalWrapper does: ``illegal_reward``
      for the agent, 0 for the others;
    - ``penalize``: ``illegal_reward`` for the agent, who is to move again; nothing else changes;
    - ``raise``: IllegalActionError; nothing changes.

    Info: ``score`` (the agent's running score), and ``illegal`` (the rule clause) after an illegal
    action. Never the deal, which is at ``unwrapped.deal``.

    Args:
        num_players: 2 to 4, as the edition allows.
        reward: ``outcome``, ``score`` or ``margin``.
        edition: shipped name, path of a YAML file, parsed mapping or Edition.
        illegal_action, illegal_reward: see above.
        render_mode: None, ``ansi`` (``render()`` returns text), ``rgb_array`` (a picture, uint8
            (H, W, 3)) or ``human`` (a window, drawn anew after each reset and step).
        render_size: width and height of pictures and the window, from (640, 480): the table is as
            large as it fits into them; None = 1200 by 820.
        tape: recorded bag and lecterns instead of seeds.
        backend: who works out the rules: ``numpy``, ``numba`` (compiled, the same games sooner) or
            ``auto`` (numba where it is installed).

    Reset options: ``tape``, for one episode; others are ignored.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "scriptorium_v0",
        "render_modes": RENDER_MODES,
        "render_fps": FPS,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        num_players: int = 2,
        reward: str = "outcome",
        edition: EditionLike = "scriptorium",
        *,
        illegal_action: str = "terminate",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        render_size: Size | None = None,
        tape: Mapping[str, Any] | None = None,
        backend: str = "numpy",
    ) -> None:
        super().__init__()
        self.render_mode = checked_render_mode(render_mode)
        self._reward = checked_reward_mode(reward)
        if illegal_action not in ILLEGAL_ACTIONS:
            raise IncunabulaError(
                f"illegal_action: expected one of {', '.join(ILLEGAL_ACTIONS)}, "
                f"got {illegal_action!r}"
            )
        self._illegal_action = illegal_action
        self._illegal_reward = checked_reward(illegal_reward)
        self.engine = ScriptoriumEngine(edition, 1, num_players, backend)
        self.layout = self.engine.layout
        self.games = Games(self.engine, ScriptoriumDeals(self.engine, tape), "raise", 0.0)
        self.games.render_size = checked_render_size(render_size)
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self.agents: list[str] = []
        self._window = Window(f"scriptorium: {self.engine.edition.name}", FPS)
        self._action_spaces = {
            agent: Discrete(self.engine.actions.n) for agent in self.possible_agents
        }
        self._observation_spaces = {
            agent: Dict(
                {
                    "observation": Box(0.0, self.layout.high, dtype=np.float32),
                    "action_mask": Box(0, 1, (self.engine.actions.n,), np.int8),
                }
            )
            for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> Space[Any]:
        """The agent's space, the same object at each call."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """The agent's space, the same object at each call."""
        return self._action_spaces[agent]

    # Playing ------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal the next game; a seed starts again at episode 0 of that seed."""
        self.games.reset(self.games.rows, [None if seed is None else as_seed(seed)], options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._tell()
        self._select()
        if self.render_mode == HUMAN:
            self.render()

    def step(self, action: int | None) -> None:
        """Take an action for ``agent_selection``; None for an agent that is terminated."""
        self._check_dealt()
        if not self.agents:
            raise IncunabulaError("the game is over and every agent is done: call reset()")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        chosen: Any = action
        if isinstance(action, np.ndarray) and action.size == 1:
            chosen = action.item()
        self.engine.actions.check(chosen)
        clause = None
        if self.engine.mask[0, chosen] or self._illegal_action == "raise":
            rewards, over = self._act(int(chosen))
        else:
            why = self.engine.why_illegal(0, int(chosen))
            assert why is not None
            clause = why[0]
            rewards = [self._illegal_reward if a == agent else 0.0 for a in self.agents]
            over = self._illegal_action == "terminate"
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, over)
        self._tell()
        if clause is not None:
            self.infos[agent]["illegal"] = clause
        if over:
            self._deads_step_first()
        else:
            self._select()
        if self.render_mode == HUMAN:
            self.render()

    def _act(self, action: int) -> tuple[list[float], bool]:
        """Everybody's rewards, and whether the game is over."""
        score = self.engine.state.score
        before = margins(score) if self._reward == "margin" else None
        changes, terminated = self.engine.apply(np.array([action]))
        over = bool(terminated[0])
        if before is not None:
            changes = margins(score) - before
        elif self._reward == "outcome":
            return (outcome(score)[0].tolist() if over else [0.0] * len(self.agents)), over
        return changes[0].astype(np.float64).tolist(), over

    def _tell(self) -> None:
        scores = self.engine.state.score[0].tolist()
        self.infos = {
            agent: {"score": score} for agent, score in zip(self.agents, scores, strict=True)
        }

    def _select(self) -> None:
        self.agent_selection = self.possible_agents[int(self.engine.state.player[0])]

    # Looking ------------------------------------------------------------------------------------

    def observe(self, agent: str) -> Observation:
        """What an agent sees, fresh; also agents that are not to move or done."""
        self._check_dealt()
        try:
            seat = self.possible_agents.index(agent)
        except ValueError:
            known = ", ".join(self.possible_agents)
            raise IncunabulaError(f"agent: expected one of {known}, got {agent!r}") from None
        mask = np.zeros(self.engine.actions.n, np.int8)
        if self.engine.state.player[0] == seat and not self.terminations.get(agent, True):
            mask[:] = self.engine.mask[0]
        observation = self.engine.observe_rows(self.games.rows, seats=np.array([seat]))
        return {"observation": observation[0], "action_mask": mask}

    def describe(self, action: int) -> Json:
        """The action's JSON form for the agent to move."""
        self._check_dealt()
        return self.engine.action_to_json(0, action)

    def why_illegal(self, action: int) -> tuple[str, str] | None:
        """(rule clause, reason) why an action is illegal now; None if it is legal."""
        self._check_dealt()
        return self.engine.why_illegal(0, action)

    def snapshot(self) -> Json:
        """The public state in the rules' JSON form."""
        self._check_dealt()
        return self.engine.snapshot(0)

    @property
    def deal(self) -> Json:
        """What fixes the present game: its seed or tape."""
        self._check_dealt()
        return self.games.deal(0)

    def render(self) -> Any:
        """The table: text under ``ansi``, uint8 (H, W, 3) under ``rgb_array``; else None.

        Under ``human`` it is shown in a window, as it is after each reset and step anyway.
        """
        if self.render_mode is None:
            return None
        self._check_dealt()
        if self.render_mode == HUMAN:
            self._window.show(self.games.pixels(0))
            return None
        return self.games.rendered(0, self.render_mode)

    def determinise(self, seed: int) -> None:
        """Replace what is hidden (bag and lecterns to come) by what ``seed`` gives.

        For planners that play on in a deep copy: what is public stays, and what follows tells
        nothing about the real game.
        """
        self._check_dealt()
        self.games.determinise(self.games.rows, np.array([as_seed(seed)], np.uint64))

    def close(self) -> None:
        """Close the window, if one is open."""
        self._window.close()

    def _check_dealt(self) -> None:
        if not self.games.ready:
            raise IncunabulaError("no game has been dealt: call reset() first")


def env(*args: Any, **kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """``raw_env`` with PettingZoo's check that calls come in order; same arguments."""
    return OrderEnforcingWrapper(raw_env(*args, **kwargs))


env.__signature__ = inspect.signature(raw_env)  # type: ignore[attr-defined]
