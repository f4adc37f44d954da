"""The backends of Bibliogamo."""

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
from incunabula.envs.bibliogamo import rules
from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.state import State, empty_state
from incunabula.envs.bibliogamo.tables import Tables


class BibliogamoNumpy(NumpyBackend):
    """The rules on arrays."""

    def __init__(self, tables: Tables, actions: Actions, layout: Layout, state: State) -> None:
        self._tables, self._actions, self._layout, self._state = tables, actions, layout, state
        self._blank = empty_state(tables, 1)

    def set_up(self, rows: Rows, how: Int16Array | None) -> None:
        assert how is not None
        self._state.reset(rows, self._blank)
        rules.set_up(self._tables, self._state, rows, how)

    def begin(self, rows: Rows) -> None:
        rules.start_turn(self._tables, self._state, rows)

    def act(self, rows: Rows, actions: Rows) -> Rows:
        return rules.apply(self._tables, self._actions, self._state, rows, actions)

    def legal(self, rows: Rows, out: BoolArray) -> None:
        rules.legal(self._tables, self._actions, self._state, rows, out)

    def observe(self, rows: slice | Rows, seats: Seats | None, out: Float32Array) -> None:
        self._layout.observe(self._state, rows, out)


def make_backend(
    backend: str, tables: Tables, actions: Actions, layout: Layout, state: State
) -> Backend:
    """The backend of an engine with these parts; IncunabulaError as ``chosen_backend``."""
    if chosen_backend(backend) == "numpy":
        return BibliogamoNumpy(tables, actions, layout, state)
    from incunabula.envs.bibliogamo.twin import compiled_backend

    return compiled_backend(tables, actions, layout, state)
