"""How the next games are dealt: from seeds, or as recorded on a tape, with what a user has fixed.

Each game has its own `Deals` (in its folder), which says what besides the tape can be fixed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from incunabula.envs.backend import Rows
from incunabula.envs.engine import Engine, Fresh, Json, UInt64Array


class Fixed(NamedTuple):
    """What is fixed for a deal, checked."""

    tape: Any  # the game's own Tape, or None: dealt from the seed
    how: tuple[Any, ...] = ()  # what else the engine's ``deal`` and ``deal_tape`` take


class Deals(ABC):
    """The deals of one engine.

    Args:
        engine: the games that are dealt.
        usual: what the constructor of an environment fixed, for every deal.
    """

    options: ClassVar[tuple[str, ...]] = ("tape",)  # what ``read`` looks at

    def __init__(self, engine: Engine, usual: Fixed) -> None:
        self.engine = engine
        self.usual = usual

    @abstractmethod
    def read(self, options: Mapping[str, Any]) -> Fixed:
        """What is fixed for one deal: the reset's options, and where they are silent `usual`.

        Raises:
            IncunabulaError: an option is wrong.
        """

    @abstractmethod
    def form(self, row: int, tape: Any) -> Json:
        """What fixes the row's present game, to be dealt again: {"seed" | "tape", …}.

        Args:
            tape: what it was dealt from, if that was a tape.
        """

    def deal(self, rows: Rows, seeds: UInt64Array, fixed: Fixed) -> None:
        """Deal a new game in each row; the seeds are not used where there is a tape."""
        if fixed.tape is None:
            self.engine.deal(rows, seeds, *fixed.how)
        else:
            for row in rows:
                self.engine.deal_tape(int(row), fixed.tape, *fixed.how)

    def fresh(self, rows: Rows, seeds: UInt64Array) -> Fresh | None:
        """What ``engine.apply`` takes to deal these rows as usual in the same call.

        None: that can't be, there is a tape; or there are no rows.
        """
        if self.usual.tape is not None or not rows.size:
            return None
        return (rows, seeds, *self.usual.how)
