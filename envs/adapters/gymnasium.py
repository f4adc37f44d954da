"""Gymnasium environments of Bibliogamo: one game, and a native batch of games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.vector import AutoresetMode

from incunabula.envs.adapters.games import EditionLike, Games
from incunabula.envs.adapters.single import GameEnv
from incunabula.envs.adapters.vector import GamesVectorEnv
from incunabula.envs.bibliogamo.deals import BibliogamoDeals
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.drawing.modes import Size


def bibliogamo_games(
    edition: EditionLike,
    num_envs: int,
    prestige: int | None,
    tape: Mapping[str, Any] | None,
    illegal_action: str,
    illegal_reward: float,
    backend: str,
) -> Games[BibliogamoEngine]:
    """N games of Bibliogamo; the arguments are those of its environments."""
    engine = BibliogamoEngine(edition, num_envs, backend)
    return Games(engine, BibliogamoDeals(engine, prestige, tape), illegal_action, illegal_reward)


class BibliogamoEnv(GameEnv):
    """Bibliogamo, a solitaire of book production, as a Gymnasium environment.

    Observation: float32 (F,), everything the player knows; ``unwrapped.layout`` is its table and
    ``unwrapped.layout.decode`` gives the public state back.

    Action: Discrete(A); ``unwrapped.describe(action)`` says what a number means now. Legal ones
    are in ``info["action_mask"]``, int8 (A,), and from ``action_masks()``.

    Reward: change of the score, so that returns of legal play are final scores less the score at
    the start. An illegal action leaves the state as it is and costs ``illegal_reward``
    (``illegal_action="penalize"``, with the rule clause in ``info["illegal"]``) or raises
    ``IllegalActionError`` (``"raise"``).

    End: ``terminated`` at the end of the turn in which the days run out; never truncated. The mask
    of a finished game is action 0 alone; stepping one raises.

    Info: ``action_mask``, ``score``, and ``illegal`` after a penalised action. Never the deal,
    which is at ``unwrapped.deal``.

    Args:
        edition: shipped name, path of a YAML file, parsed mapping or Edition.
        prestige: fix the prestige collection; None = drawn.
        tape: recorded shuffles instead of seeds.
        illegal_action: ``penalize`` or ``raise``.
        illegal_reward: reward of a penalised action.
        render_mode: None, ``ansi`` (text), ``rgb_array`` (a picture) or ``human`` (a window, drawn
            anew after each reset and step).
        render_size: width and height of pictures and the window, from (640, 480): the board is as
            large as it fits into them; None = 1120 by 760.
        backend: who works out the rules: ``numpy``, ``numba`` (compiled, the same games sooner) or
            ``auto`` (numba where it is installed).

    Reset options: ``prestige`` and ``tape``, for one episode.

    Example:
        >>> env = gymnasium.make("incunabula:incunabula/Bibliogamo-v0")
        >>> observation, info = env.reset(seed=0)
        >>> action = env.action_space.sample(info["action_mask"])
        >>> observation, reward, terminated, truncated, info = env.step(action)
    """

    games: Games[BibliogamoEngine]
    engine: BibliogamoEngine

    def __init__(
        self,
        edition: EditionLike = "bibliogamo",
        *,
        prestige: int | None = None,
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "penalize",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        render_size: Size | None = None,
        backend: str = "numpy",
    ) -> None:
        games = bibliogamo_games(
            edition, 1, prestige, tape, illegal_action, illegal_reward, backend
        )
        super().__init__(games, render_mode, render_size)


class BibliogamoVectorEnv(GamesVectorEnv):
    """N games of Bibliogamo in one engine; row i plays the games of BibliogamoEnv seeded s + i.

    Spaces, rewards and options are those of BibliogamoEnv. Every array returned is fresh.

    Args:
        num_envs: N.
        autoreset_mode: ``NEXT_STEP``, ``SAME_STEP`` or ``DISABLED``; see GamesVectorEnv.
        edition, prestige, tape, illegal_action, illegal_reward, backend: as for one game.
        render_mode: None, ``ansi`` or ``rgb_array``.
        render_size: as for one game.
    """

    games: Games[BibliogamoEngine]
    engine: BibliogamoEngine

    def __init__(
        self,
        num_envs: int = 1,
        edition: EditionLike = "bibliogamo",
        *,
        prestige: int | None = None,
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "penalize",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        render_size: Size | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        backend: str = "numpy",
    ) -> None:
        games = bibliogamo_games(
            edition, num_envs, prestige, tape, illegal_action, illegal_reward, backend
        )
        super().__init__(games, render_mode, autoreset_mode, render_size)
