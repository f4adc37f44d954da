"""Our single environments, stepped one after the other by Gymnasium's SyncVectorEnv."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.editions import BaseEdition
from incunabula.training.evaluation.against.own import traits_of
from incunabula.training.evaluation.against.suite import Contender, Suite
from incunabula.training.evaluation.bench_play import (
    LEARNER_STAGGER,
    STAGGER,
    SYNC_ENVS,
    EnvPlay,
    LearnerPlay,
    sync_env,
)

OPPONENTS = "random"


class Implementation(Suite):
    """From the positions of the native environment; Scriptorium in a learner's view of it."""

    name = "sync"
    most = SYNC_ENVS

    def contenders(
        self, edition: BaseEdition, players: int, sizes: Sequence[int], seed: int
    ) -> Iterator[Contender]:
        options: dict[str, Any] = {"backend": "numpy"}
        if edition.game == "scriptorium":
            options |= {"num_players": players, "opponents": OPPONENTS}
        for n in sizes:
            native: EnvPlay
            play: EnvPlay
            if edition.game == "bibliogamo":
                fields: dict[str, Any] = {"view": "vector_env", "num_envs": n}
                env: Any = BibliogamoVectorEnv(n, edition, **options)
                native = EnvPlay(env, seed, STAGGER)
                singles = sync_env(lambda: BibliogamoEnv(edition, **options), n)
                play = EnvPlay(singles, seed, STAGGER, like=native)
            else:
                fields = {"view": "learner", "opponents": OPPONENTS, "num_envs": n}
                env = ScriptoriumVectorEnv(n, edition, **options)
                native = LearnerPlay(env, seed, LEARNER_STAGGER)
                singles = sync_env(lambda: ScriptoriumEnv(edition, **options), n)
                play = SyncLearnerPlay(singles, seed, LEARNER_STAGGER, like=native)
            traits = traits_of(env.engine, fields["view"])
            yield Contender(fields, traits._replace(technique="NumPy, game by game"), play)


class SyncLearnerPlay(LearnerPlay):
    """A learner's view in each of several single environments."""

    def _decision(self) -> npt.NDArray[np.integer[Any]]:
        env: Any = self.env
        return np.concatenate([single.unwrapped.games.decision for single in env.envs])
