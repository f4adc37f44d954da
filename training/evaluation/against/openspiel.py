"""OpenSpiel: games in C++, one at a time through their Python interface."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
from open_spiel.python.observation import make_observation

from incunabula.envs.editions import BaseEdition
from incunabula.training.evaluation.against.suite import Contender, Suite, Traits
from incunabula.training.evaluation.bench_play import Stepped

# A solitaire and a game of two, both with chance, as ours are.
GAMES = ("2048", "backgammon")


class Implementation(Suite):
    """One game at a time, with its observation tensor and its mask in NumPy arrays."""

    name = "openspiel"
    packages = ("open_spiel",)
    most = 1

    def contenders(
        self, edition: BaseEdition, players: int, sizes: Sequence[int], seed: int
    ) -> Iterator[Contender]:
        for name in GAMES:
            play = OpenSpielPlay(pyspiel.load_game(name), seed)
            traits = Traits(
                plays=name,
                technique="C++, called from Python",
                observation=f"{play.observation.size} {play.observation.dtype}",
                action_mask=f"{play.action_mask.size} bool",
                autoreset="same step",
                sampling_timed=False,
            )
            yield Contender({"view": "step", "num_envs": 1}, traits, play)


class OpenSpielPlay(Stepped):
    """A game; chance is drawn, and the next game begun, inside the step."""

    def __init__(self, game: Any, seed: int) -> None:
        self._random = random.Random(seed)
        self.draw = self._random.choice
        self._game = game
        self._observer = make_observation(game)
        self.observation: npt.NDArray[np.float32] = self._observer.tensor
        self.action_mask = np.zeros(game.num_distinct_actions(), np.bool_)
        self._begin()
        self._look()

    def step(self, actions: int) -> int:
        self._state.apply_action(actions)
        self._draw_chance()
        if self._state.is_terminal():
            self._begin()
        self._look()
        self.decisions += 1
        return 1

    def _begin(self) -> None:
        self._state = self._game.new_initial_state()
        self._draw_chance()

    def _draw_chance(self) -> None:
        while self._state.is_chance_node():
            outcomes, weights = zip(*self._state.chance_outcomes(), strict=True)
            self._state.apply_action(self._random.choices(outcomes, weights)[0])

    def _look(self) -> None:
        self._observer.set_from(self._state, self._state.current_player())
        # Quicker than asking for the mask, which comes as a list.
        self.mask = self._state.legal_actions()
        self.action_mask[:] = False
        self.action_mask[self.mask] = True
