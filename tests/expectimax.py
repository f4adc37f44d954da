"""Optimal play by brute force over the oracle: every card that may come next, one after the other.

It shares nothing with the solver: the rules are the oracle's, cards are drawn one at a time, and
states are told apart by their whole JSON form.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.oracle.bibliogamo import Action, Game

Choose = Callable[[dict[str, float]], float]  # values by JSON action -> value of the state


class ChanceGame(Game):
    """A game whose next cards are taken from a script: places in the sorted deck."""

    def __init__(self, edition: dict[str, Any], prestige: int, script: Script) -> None:
        self.script = script
        super().__init__(edition, seed=0, prestige=prestige)

    def _shuffle(self, cards: list[int]) -> list[int]:
        self.shuffles_made += 1
        return sorted(cards)

    def _take_top_card(self) -> int:
        if not self.deck:
            self.deck = self._shuffle(self.discard)
            self.discard = []
        return self.deck.pop(self.script.draw(len(self.deck)))

    def after(self, action: Action, script: Script) -> tuple[ChanceGame, int]:
        """The game after an action, and what it scores."""
        game = copy.copy(self)
        for name in ("hand", "deck", "discard", "display", "slots_filled"):
            setattr(game, name, list(getattr(self, name)))
        game.towers = [list(row) for row in self.towers]
        game.script = script
        return game, game.step(action)


class Script:
    """Draws the places it is told, then the first; remembers how many places there were."""

    def __init__(self, told: list[int]) -> None:
        self.told = told
        self.choices: list[int] = []
        self.sizes: list[int] = []

    def draw(self, size: int) -> int:
        at = len(self.choices)
        self.choices.append(self.told[at] if at < len(self.told) else 0)
        self.sizes.append(size)
        return self.choices[-1]


def outcomes(play: Callable[[Script], Any]) -> Iterator[tuple[float, Any]]:
    """Every (probability, result) of ``play``."""
    told: list[int] = []
    while True:
        script = Script(told)
        result = play(script)
        chance = 1.0
        for size in script.sizes:
            chance /= size
        yield chance, result
        told = script.choices
        while told and told[-1] + 1 == script.sizes[len(told) - 1]:
            told = told[:-1]
        if not told:
            return
        told[-1] += 1


class Expectimax:
    """Values of one edition, by state.

    Args:
        edition: as the edition file has it.
        choose: the value of a state from those of its actions; by default the best.

    Attributes:
        best: types of actions that are better than every action of another type somewhere.
        shuffled: whether a discard pile was ever shuffled.
    """

    def __init__(self, edition: dict[str, Any], choose: Choose | None = None) -> None:
        self.edition = edition
        self.choose = (lambda values: max(values.values())) if choose is None else choose
        self.known: dict[str, float] = {}
        self.best: set[str] = set()
        self.shuffled = False

    def value(self) -> float:
        """Expected final score."""
        collections = range(len(self.edition["prestige"]))
        total = 0.0
        for prestige in collections:
            for chance, game in outcomes(partial(ChanceGame, self.edition, prestige)):
                total += chance * (self.start_score() + self.to_come(game))
        return total / len(collections)

    def start_score(self) -> int:
        florins: int = self.edition["start"]["florins"]
        return florins // int(self.edition["rules"]["florins_per_vp"])

    def to_come(self, game: ChanceGame) -> float:
        """What is still scored, on average."""
        if game.over:
            return 0.0
        self.shuffled |= game.shuffles_made > 1
        state = game.state()
        state["display"] = [*state["display"][:1], sorted(state["display"]), *state["display"][-1:]]
        name = json.dumps(state)
        if name not in self.known:
            values = {json.dumps(action): self.of(game, action) for action in game.legal()}
            self.known[name] = self.choose(values)
            self._note(values)
        return self.known[name]

    def of(self, game: ChanceGame, action: Action) -> float:
        """Of an action, and what follows."""
        return sum(
            chance * (gained + self.to_come(following))
            for chance, (following, gained) in outcomes(lambda script: game.after(action, script))
        )

    def _note(self, values: dict[str, float]) -> None:
        by_type: dict[str, float] = {}
        for action, value in values.items():
            kind = json.loads(action)["type"]
            by_type[kind] = max(value, by_type.get(kind, value))
        first, *others = sorted(by_type, key=lambda kind: -by_type[kind])
        if others and by_type[first] > by_type[others[0]] + 1e-9:
            self.best.add(first)
