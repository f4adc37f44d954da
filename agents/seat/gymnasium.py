"""Gymnasium environments of Scriptorium for one learner: one game, and a native batch of games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.vector import AutoresetMode

from incunabula.agents.seat.driver import SeatGames
from incunabula.agents.seat.opponents import OpponentsLike
from incunabula.envs.adapters.games import EditionLike
from incunabula.envs.adapters.single import GameEnv
from incunabula.envs.adapters.vector import GamesVectorEnv
from incunabula.envs.drawing.modes import Size
from incunabula.envs.scriptorium.engine import ScriptoriumEngine


class ScriptoriumEnv(GameEnv):
    """Scriptorium, a race to illuminate a manuscript, with agents in the other seats.

    Observation: float32 (F,), all that is public as the learner sees it: seats are relative to his;
    ``unwrapped.layout`` is its table and ``unwrapped.layout.decode`` gives the public state back.

    Action: Discrete(A); ``unwrapped.describe(action)`` says what a number means now. Legal ones
    are in ``info["action_mask"]``, int8 (A,), and from ``action_masks()``.

    A step is the learner's action and all that the others do until he is to move again.

    Reward: ``outcome`` (at the end only; with k winners of P players 1 is shared as
    (P/k − 1)/(P − 1), a loser gets −1/(P − 1)), or the change in a step of the learner's ``score``
    or ``margin`` (own score less the best other's); returns of legal play are then the final score
    less the score at the start, and the final margin. An illegal action leaves the state as it is
    and costs ``illegal_reward`` (``illegal_action="penalize"``, with the rule clause in
    ``info["illegal"]``) or raises ``IllegalActionError`` (``"raise"``).

    End: ``terminated`` when the game is over; never truncated. The mask of a finished game is
    action 0 alone; stepping one raises.

    Info: ``action_mask``, ``score`` (the learner's running score), ``scores`` (everybody's, by
    seat), ``seat`` (the learner's), and ``illegal`` after a penalised action. Never the deal, which
    is at ``unwrapped.deal``.

    Args:
        edition: shipped name, path of a YAML file, parsed mapping or Edition.
        num_players: 2 to 4, as the edition allows.
        opponents: who holds the other seats: an agent (a name, the path of a policy folder or run
            folder, or an Agent); a mixture {agent: weight}, drawn from anew for each seat and
            episode; or a list of these for the other seats, clockwise from the learner's.
        seat: the learner's: ``rotate`` (another one in each episode), ``random``, or 0..P-1. Seat 0
            begins the first round.
        reward: ``outcome``, ``score`` or ``margin``.
        tape: recorded bag and lecterns instead of seeds.
        illegal_action: ``penalize`` or ``raise``.
        illegal_reward: reward of a penalised action.
        render_mode: None, ``ansi`` (text), ``rgb_array`` (a picture) or ``human`` (a window, drawn
            anew after each reset and step).
        render_size: width and height of pictures and the window, from (640, 480): the board is as
            large as it fits into them; None = 1200 by 820.
        backend: who works out the rules: ``numpy``, ``numba`` (compiled, the same games sooner) or
            ``auto`` (numba where it is installed).

    Reset options: ``seat`` (a number) and ``tape``, for one episode.

    Example:
        >>> env = gymnasium.make("incunabula:incunabula/Scriptorium-v0", opponents="random")
        >>> observation, info = env.reset(seed=0)
        >>> action = env.action_space.sample(info["action_mask"])
        >>> observation, reward, terminated, truncated, info = env.step(action)
    """

    games: SeatGames
    engine: ScriptoriumEngine

    def __init__(
        self,
        edition: EditionLike = "scriptorium",
        *,
        num_players: int = 2,
        opponents: OpponentsLike = "greedy",
        seat: str | int = "rotate",
        reward: str = "outcome",
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "penalize",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        render_size: Size | None = None,
        backend: str = "numpy",
    ) -> None:
        games = SeatGames(
            edition,
            1,
            num_players,
            opponents=opponents,
            seat=seat,
            reward=reward,
            tape=tape,
            illegal_action=illegal_action,
            illegal_reward=illegal_reward,
            backend=backend,
        )
        super().__init__(games, render_mode, render_size)


class ScriptoriumVectorEnv(GamesVectorEnv):
    """N games of Scriptorium in one engine; row i plays the games of ScriptoriumEnv seeded s + i.

    Spaces, rewards and options are those of ScriptoriumEnv. Every array returned is fresh. The
    opponents of all rows decide together: each agent is asked once for each round of moves.

    Args:
        num_envs: N.
        autoreset_mode: ``NEXT_STEP``, ``SAME_STEP`` or ``DISABLED``; see GamesVectorEnv.
        edition, num_players, opponents, seat, reward, tape, illegal_action, illegal_reward,
        backend: as for one game.
        render_mode: None, ``ansi`` or ``rgb_array``.
        render_size: as for one game.
    """

    games: SeatGames
    engine: ScriptoriumEngine

    def __init__(
        self,
        num_envs: int = 1,
        edition: EditionLike = "scriptorium",
        *,
        num_players: int = 2,
        opponents: OpponentsLike = "greedy",
        seat: str | int = "rotate",
        reward: str = "outcome",
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "penalize",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        render_size: Size | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
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
        super().__init__(games, render_mode, autoreset_mode, render_size)
