"""How much an agent that searches may spend on a move."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from incunabula.envs.errors import IncunabulaError

MAX_SIMULATIONS = 1 << 20
MAX_SECONDS = 3600.0


@dataclass(frozen=True)
class Budget:
    """What a move may cost; where both limits are given, whichever is reached first.

    With simulations alone, an agent plays the same games for the same seed. With seconds it can't:
    how many simulations they buy is a matter of the machine and of what else it does.

    Attributes:
        simulations: imagined games a move, 1..2^20; None: as many as time allows.
        seconds: time a move, above 0; None: as long as it takes. Games that wait for a move at once
            are thought about together, n of them for n times as long.

    Raises:
        IncunabulaError: neither is given, or one can't be used.
    """

    simulations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        simulations, seconds = self.simulations, self.seconds
        if simulations is None and seconds is None:
            raise IncunabulaError("budget: expected simulations or seconds a move, got neither")
        if simulations is not None:
            whole = isinstance(simulations, int | np.integer) and not isinstance(simulations, bool)
            if not whole or not 1 <= simulations <= MAX_SIMULATIONS:
                raise IncunabulaError(
                    f"simulations: expected a whole number in 1..{MAX_SIMULATIONS:,}, got "
                    f"{simulations!r}"
                )
        if seconds is not None:
            number = isinstance(seconds, int | float | np.number) and not isinstance(seconds, bool)
            if not number or not (math.isfinite(seconds) and 0 < seconds <= MAX_SECONDS):
                raise IncunabulaError(
                    f"seconds per move: expected a number above 0, at most {MAX_SECONDS:,.0f}, got "
                    f"{seconds!r}"
                )

    def __str__(self) -> str:
        """As names of agents have it: ``32``, ``0.2 s`` or ``32, 0.2 s``."""
        parts = [] if self.simulations is None else [str(self.simulations)]
        if self.seconds is not None:
            parts.append(f"{self.seconds:g} s")
        return ", ".join(parts)
