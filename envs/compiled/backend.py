"""The compiled backend: a game's kernels, looped over the rows of one engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.backend import (
    Backend,
    BoolArray,
    Float32Array,
    Int16Array,
    Rows,
    Seats,
    chosen_backend,
)
from incunabula.envs.chance import TapeError
from incunabula.envs.compiled import loops
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.functions import Compiled

Members = Mapping[str, Any]
NO_MASK: BoolArray = np.zeros((0, 0), np.bool_)
NO_OBSERVATION: Float32Array = np.zeros((0, 0), np.float32)


class Twin(NamedTuple):
    """What a game brings for its compiled backend."""

    kernels: Mapping[str, Compiled[Any]]  # by the names of ``loops``
    state_arrays: Callable[[Any], Members]  # of its State
    tape_ran_out: Callable[[Any, int], str]  # (State, row): what to tell the user


class Bound(NamedTuple):
    """What kernels work on, as they take it."""

    t: Arrays
    a: Arrays
    s: Arrays
    l: Arrays  # noqa: E741


@cache  # so that a game's loops are compiled once in a process
def linked(loop: Compiled[Any], game: str) -> Compiled[Any]:
    """A loop that calls the kernels of a game."""
    return loop.with_kernels(linked_kernels(game))


def linked_kernels(game: str) -> Mapping[str, Compiled[Any]]:
    """The kernels of a game, by the names of ``loops``."""
    return twin_of(game).kernels


@cache
def twin_of(game: str) -> Twin:
    """The twin of a game."""
    twin: Twin = import_module(f"incunabula.envs.{game}.twin").TWIN
    return twin


class CompiledBackend(Backend):
    """Runs the kernels over the rows that are asked for.

    Args:
        game: the game's name.
        state: the engine's State.
        tables, actions, layout: members of the kernels' t, a and l.
    """

    name = "numba"

    def __init__(
        self, game: str, state: Any, tables: Members, actions: Members, layout: Members
    ) -> None:
        self._parts = game, state, tables, actions, layout
        self.game = game
        self._state = state
        self._twin = twin_of(game)
        self._fixed = Arrays(tables), Arrays(actions), Arrays(layout)
        self._bound: Bound | None = None
        self._all: Arrays | None = None
        self._code: Callable[..., int] | None = None
        self._grown = -1

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made anew, of the copied arrays: they have other addresses."""
        return _of_parts, self._parts

    @property
    def bound(self) -> Bound:
        """What kernels work on; another object once arrays of the state have been made anew."""
        self._bind()
        assert self._bound is not None
        return self._bound

    @property
    def _arrays(self) -> Arrays:
        """The same in one."""
        self._bind()
        assert self._all is not None
        return self._all

    def _bind(self) -> None:
        if self._grown != self._state.grown:
            t, a, l = self._fixed  # noqa: E741
            self._bound = Bound(t, a, Arrays(self._twin.state_arrays(self._state)), l)
            self._all = Arrays(self._bound._asdict())
            self._grown = self._state.grown

    def _run(
        self,
        what: int,
        rows: Rows,
        number: npt.NDArray[np.integer[Any]] | None = None,
        mask: BoolArray = NO_MASK,
        out: Float32Array = NO_OBSERVATION,
    ) -> None:
        """``loops.run_rows``; raises TapeError if a tape has run out."""
        rows = _plain(rows, np.intp)
        numbers = rows if number is None else _plain(number, np.intp)
        arguments = self._arrays, what, rows, numbers, mask, out
        if self._code is None:
            self._code = linked(loops.run_rows, self.game).prepare(*arguments)
        place = self._code(*arguments)
        if place != loops.ALL_DONE:
            raise TapeError(self._twin.tape_ran_out(self._state, int(rows[place])))

    def set_up(self, rows: Rows, how: Int16Array | None) -> None:
        self._run(loops.SET_UP, rows, np.full(len(rows), -1) if how is None else how)

    def go_on(self, starting: Rows, rows: Rows, mask: BoolArray) -> None:
        if starting.size:
            self._run(loops.BEGIN, starting)
        self.legal(rows, mask)

    def step(self, rows: Rows, actions: Rows, dealt: Rows, mask: BoolArray) -> None:
        self._run(loops.ACT + loops.LEGAL, rows, actions, mask)
        if dealt.size:
            self._run(loops.BEGIN + loops.LEGAL, dealt, None, mask)

    def legal(self, rows: Rows, out: BoolArray) -> None:
        self._run(loops.LEGAL, rows, None, out)

    def observe(self, rows: slice | Rows, seats: Seats | None, out: Float32Array) -> None:
        if isinstance(rows, slice):
            rows = np.arange(self._state.rows)[rows]
        elif rows.size and not 0 <= rows.min() <= rows.max() < self._state.rows:
            # Compiled code does not look where it reads.
            raise IndexError(f"rows: expected rows in 0..{self._state.rows - 1}, got {rows}")
        self._run(loops.OBSERVE, rows, np.full(len(rows), -1) if seats is None else seats, out=out)


def _plain(array: Any, dtype: type[np.integer[Any]]) -> npt.NDArray[Any]:
    """The array, copied unless it is of the one kind that loops are compiled for: arrays of other
    types, with gaps or read-only would be compiled for anew, for many seconds and unannounced."""
    if isinstance(array, np.ndarray) and array.dtype == dtype and array.flags.carray:
        return array
    return np.array(array, dtype, order="C")


def _of_parts(*parts: Any) -> CompiledBackend:
    """A copied or unpickled backend; IncunabulaError where numba is not installed."""
    chosen_backend(CompiledBackend.name)
    return CompiledBackend(*parts)
