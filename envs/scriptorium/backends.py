"""The backends of Scriptorium."""

from __future__ import annotations

from incunabula.envs.backend import (
    Backend,
    BoolArray,
    Float32Array,
    Int16Array,
    NumpyBackend,
    Rows,
    Seats,
    chosen_backend,
)
from incunabula.envs.scriptorium import legal, rules
from incunabula.envs.scriptorium.game import Game
from incunabula.envs.scriptorium.observation import Layout
from incunabula.envs.scriptorium.state import State, empty_state


class ScriptoriumNumpy(NumpyBackend):
    """The rules on arrays."""

    def __init__(self, game: Game, layout: Layout, state: State) -> None:
        self._game, self._layout, self._state = game, layout, state
        self._blank = empty_state(game.tables, 1, game.players)

    def set_up(self, rows: Rows, how: Int16Array | None) -> None:
        rules.set_up(self._game, self._state, rows, self._blank)

    def begin(self, rows: Rows) -> None:
        rules.start_round(self._game, self._state, rows)

    def act(self, rows: Rows, actions: Rows) -> Rows:
        return rules.apply(self._game, self._state, rows, actions)

    def legal(self, rows: Rows, out: BoolArray) -> None:
        legal.legal(self._game, self._state, rows, out)

    def observe(self, rows: slice | Rows, seats: Seats | None, out: Float32Array) -> None:
        assert seats is not None
        self._layout.observe(self._state, rows, seats, out)


def make_backend(backend: str, game: Game, layout: Layout, state: State) -> Backend:
    """The backend of an engine with these parts; IncunabulaError as ``chosen_backend``."""
    if chosen_backend(backend) == "numpy":
        return ScriptoriumNumpy(game, layout, state)
    from incunabula.envs.scriptorium.twin import compiled_backend

    return compiled_backend(game, layout, state)
