"""The plain-Python games of the tests, which share no code with the engines.

They are part of a source checkout only. As environments of Gymnasium they are stepped by its
SyncVectorEnv.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

import incunabula
from incunabula.envs.chance import episode_seeds
from incunabula.envs.editions import BaseEdition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.against.own import numpy_engine
from incunabula.training.evaluation.against.suite import Contender, Suite, Traits
from incunabula.training.evaluation.bench_play import (
    STAGGER,
    SYNC_ENVS,
    TABLE_STAGGER,
    EnvPlay,
    sync_env,
)

ROOT = Path(incunabula.__file__).resolve().parent.parent
MODULES = {"bibliogamo": "tests.play", "scriptorium": "tests.play_scriptorium"}
Json = dict[str, Any]


class Implementation(Suite):
    """SyncVectorEnv over the plain-Python games, all seats stepped."""

    name = "oracle"
    most = SYNC_ENVS

    def __init__(self) -> None:
        self._games = {game: _game_class(module) for game, module in MODULES.items()}

    def contenders(
        self, edition: BaseEdition, players: int, sizes: Sequence[int], seed: int
    ) -> Iterator[Contender]:
        make, actions = self.maker(edition, players), numpy_engine(edition, 1, players).actions.n
        traits = Traits(
            plays=edition.game,
            technique="plain Python, game by game",
            observation="state as a dict",
            action_mask="list of actions",
            autoreset="next step",
            sampling_timed=False,
        )
        stagger = STAGGER if players == 1 else TABLE_STAGGER
        for n in sizes:
            # Without copying observations: each is a fresh dict already.
            env = sync_env(lambda: OracleEnv(make, actions), n, copy=False)
            fields = {"view": "vector_env", "num_envs": n}
            yield Contender(fields, traits, EnvPlay(env, seed, stagger))

    def maker(self, edition: BaseEdition, players: int) -> Callable[[int], Any]:
        """What deals a game from its seed."""
        game, data = self._games[edition.game], edition.model_dump()
        if edition.game == "bibliogamo":
            return lambda seed: game(data, seed=seed)
        return lambda seed: game(data, players, seed=seed)


def _game_class(module: str) -> Any:
    """The game that works its legal actions out once a decision."""
    if not ROOT.joinpath(*module.split(".")).with_suffix(".py").is_file():
        raise IncunabulaError(
            "against: oracle is only there in a source checkout of incunabula, installed by "
            "pip install -e"
        )
    with _our_tests():
        return importlib.import_module(module).QuickGame


@contextlib.contextmanager
def _our_tests() -> Iterator[None]:
    """Let ``tests`` be the checkout's folder, whichever other package of that name is installed."""
    ours = types.ModuleType("tests")
    ours.__path__ = [str(ROOT / "tests")]
    before = {name: sys.modules.pop(name) for name in _loaded_tests()}
    sys.modules["tests"] = ours
    try:
        yield
    finally:
        for name in _loaded_tests():
            del sys.modules[name]
        sys.modules.update(before)


def _loaded_tests() -> list[str]:
    return [name for name in sys.modules if name == "tests" or name.startswith("tests.")]


class AnyDict(gymnasium.Space[Json]):
    """States in the rules' JSON form."""

    def sample(self, mask: Any = None, probability: Any = None) -> Json:
        """No state can be drawn."""
        raise NotImplementedError

    def contains(self, x: Any) -> bool:
        """Whether it could be a state."""
        return isinstance(x, dict)


class OracleEnv(gymnasium.Env[Json, np.int64]):
    """A plain-Python game as an environment.

    Observation: the public state in the rules' JSON form, a dict as it comes. Action: the place
    of an action in the list of those that are legal now; the mask, int8 (A,), begins with a one for
    each. Reward: the change of all players' scores. Games follow each other as in our environments.

    Args:
        deal: deals a game from its seed.
        actions: A, at least as many as are ever legal.
    """

    observation_space = AnyDict()  # one for all: SyncVectorEnv asks for equal ones

    def __init__(self, deal: Callable[[int], Any], actions: int) -> None:
        self._deal = deal
        self.action_space = Discrete(actions)
        self._seed, self._episode = 0, -1

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> tuple[Json, Json]:
        """Deal the next game; a seed starts again at episode 0 of that seed."""
        super().reset(seed=seed)
        self._episode += 1
        if seed is not None:
            self._seed, self._episode = seed, 0
        self.game = self._deal(_game_seed(self._seed, self._episode))
        return self.game.state(), self._info()

    def step(self, action: Any) -> tuple[Json, float, bool, bool, Json]:
        """Take one of the legal actions."""
        reward = self.game.step(self.game.legal()[int(action)])
        gained = float(reward if isinstance(reward, int) else sum(reward))
        return self.game.state(), gained, self.game.over, False, self._info()

    def _info(self) -> Json:
        mask: npt.NDArray[np.int8] = np.zeros(int(self.action_space.n), np.int8)  # type: ignore[attr-defined]
        mask[: len(self.game.legal())] = 1
        return {"action_mask": mask}


def _game_seed(seed: int, episode: int) -> int:
    """Of an episode of an environment that was seeded so."""
    return int(episode_seeds(np.array([seed], np.uint64), np.array([episode], np.uint64))[0])
