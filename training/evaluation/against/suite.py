"""What a bench asks of another implementation, and what it says of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from incunabula.envs.editions import BaseEdition
from incunabula.training.evaluation.bench_play import Stepped


class Traits(NamedTuple):
    """What decides whether two speeds can be compared."""

    plays: str  # which game
    technique: str  # language and the like
    observation: str  # what is built at every step
    action_mask: str  # likewise
    autoreset: str  # where a finished game is dealt anew
    sampling_timed: bool  # whether drawing the random actions is inside the timed part
    threads: int | None = 1  # how many it uses; None = as many as it likes


class Contender(NamedTuple):
    """What one row measures: fields that say what it is (``view``, ``num_envs``, …), and games."""

    fields: dict[str, Any]
    traits: Traits
    play: Stepped


class Suite(ABC):
    """Another implementation.

    Attributes:
        name: as ``--against`` has it.
        packages: distributions whose versions a result names.
        usual: numbers of games to measure unless others are asked for; None = those of our rows.
        most: larger numbers of games are taken as this one, at which more would tell no more.
    """

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[tuple[int, ...] | None] = None
    most: ClassVar[int]

    @abstractmethod
    def contenders(
        self, edition: BaseEdition, players: int, sizes: Sequence[int], seed: int
    ) -> Iterator[Contender]:
        """What is measured at these numbers of games, ready to be stepped.

        Args:
            edition, players: what our own rows play; ``players`` is 1 in a solitaire.
        """

    def sizes(self, asked: Sequence[int] | None, ours: Sequence[int]) -> list[int]:
        """The numbers of games that are measured."""
        wanted = asked or self.usual or ours
        return list(dict.fromkeys(min(n, self.most) for n in wanted))
