"""Who works out the rules on an engine's arrays: NumPy, or the compiled twin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incunabula.envs.compiled.functions import can_compile, why_no_numba
from incunabula.envs.documents import did_you_mean
from incunabula.envs.errors import IncunabulaError

Rows = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Int16Array = npt.NDArray[np.int16]
Float32Array = npt.NDArray[np.float32]
Seats = npt.NDArray[np.integer[Any]]

BACKENDS = ("numpy", "numba", "auto")

# Rows worked on at a time: what a block touches stays in the processor's cache.
BLOCK = 1024


def chosen_backend(backend: str) -> str:
    """``numpy`` or ``numba``; ``auto`` is numba where it is installed and works.

    Raises:
        IncunabulaError: there is no such backend, or it can't be used here.
    """
    if backend not in BACKENDS:
        raise IncunabulaError(
            f"backend: expected one of {', '.join(BACKENDS)}, got {backend!r}"
            f"{did_you_mean(str(backend), BACKENDS)}"
        )
    if backend == "auto":
        return "numba" if can_compile() else "numpy"
    why_not = why_no_numba() if backend == "numba" else None
    if why_not is not None:
        raise IncunabulaError(f"backend: {why_not}, or choose numpy")
    return backend


def installed_backends() -> tuple[str, ...]:
    """The backends that can be used here."""
    return ("numpy", "numba") if can_compile() else ("numpy",)


class Backend(ABC):
    """The rules of one game on the state arrays of one engine.

    Rows are distinct row numbers, intp (n,). All backends leave the same bits.
    """

    name: ClassVar[str]

    @abstractmethod
    def set_up(self, rows: Rows, how: Int16Array | None) -> None:
        """Prepare new games, their seeds or tapes being set, up to what ``go_on`` does.

        ``how``: (n,) what else a deal takes in this game, -1 for nothing.
        """

    @abstractmethod
    def go_on(self, starting: Rows, rows: Rows, mask: BoolArray) -> None:
        """Start the turns (rounds) due in ``starting``, then renew the ``mask``, (N, A), of
        ``rows``."""

    @abstractmethod
    def step(self, rows: Rows, actions: Rows, dealt: Rows, mask: BoolArray) -> None:
        """Take legal actions, (n,); start the turns due then, and those of games that were
        ``dealt``; renew the ``mask`` of all these rows."""

    @abstractmethod
    def legal(self, rows: Rows, out: BoolArray) -> None:
        """Write the legal actions of these rows into ``out``, bool (N, A)."""

    @abstractmethod
    def observe(self, rows: slice | Rows, seats: Seats | None, out: Float32Array) -> None:
        """Write what ``seats``, (n,), see of these rows into ``out``, float32 (n, F); None: the
        player to move, or the only one."""


class NumpyBackend(Backend):
    """Works on whole groups of rows at a time."""

    name = "numpy"
    nobody: Rows = np.zeros(0, np.intp)

    @abstractmethod
    def begin(self, rows: Rows) -> None:
        """Start the turns (rounds) that are due."""

    @abstractmethod
    def act(self, rows: Rows, actions: Rows) -> Rows:
        """Take a legal action in each row; the rows in which ``begin`` is due."""

    def go_on(self, starting: Rows, rows: Rows, mask: BoolArray) -> None:
        if starting.size:
            self.begin(starting)
        self.legal(rows, mask)

    def step(self, rows: Rows, actions: Rows, dealt: Rows, mask: BoolArray) -> None:
        # Rows that were dealt start with the first block.
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            starting = self.act(block, actions[start : start + BLOCK])
            if dealt.size:
                starting, block = np.concatenate([starting, dealt]), np.concatenate([block, dealt])
                dealt = self.nobody
            self.go_on(starting, block, mask)
        if dealt.size:
            self.go_on(dealt, dealt, mask)
