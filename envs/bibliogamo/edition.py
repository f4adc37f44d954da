"""Editions: every number of the game that isn't a rule, read from a YAML file and checked.

An edition says how many days, cards, towers, coins, ... there are and what each card bears. The
rules take every size and number from it. `load_edition` is the way in; the errors it raises name
the field as the file writes it and what would be right, all of them at once.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator

from incunabula.envs import editions
from incunabula.envs.bibliogamo.edition_checks import (
    MAX_COUNT,
    MAX_FLORINS,
    MAX_MOVE,
    check_whole,
)
from incunabula.envs.documents import FLAG, LIST, MAPPING, Problem, one_of, whole
from incunabula.envs.editions import BaseEdition, EditionError, EditionPart, Text, load_as

__all__ = [
    "GAME",
    "Board",
    "Card",
    "Edition",
    "EditionError",
    "Prestige",
    "Rules",
    "Slot",
    "Start",
    "Tower",
    "edition_by_hash",
    "load_edition",
    "shipped_editions",
]

GAME = "bibliogamo"

Count = Annotated[int, whole(0, MAX_COUNT)]
Florins = Annotated[int, whole(0, MAX_FLORINS)]
Counts = Annotated[Mapping[Text, Count], MAPPING]
"""Artisan type -> how many; types left out count 0."""


class Rules(EditionPart):
    """The numbers of the rules that an edition can vary."""

    days: Annotated[int, whole(1, MAX_COUNT)]
    hand_size: Annotated[int, whole(1, MAX_COUNT)]
    librarian_step: Annotated[int, whole(0, MAX_MOVE)]
    hires_per_turn: Count  # R7
    lifts_per_turn: Annotated[int, whole(0, 1)]  # R11: one lift frees the whole turn
    sales_per_turn: Annotated[int, whole(1, 1)]  # R6
    allow_empty_hire: Annotated[bool, FLAG]  # R8
    florins_per_vp: Annotated[int, whole(1, MAX_FLORINS)]
    vp_per_book: Count
    florin_cap: Annotated[int | None, whole(0, MAX_FLORINS, or_null=True)]  # R2
    cubes: Count


class Start(EditionPart):
    """R3: the time, florins and librarian's space a game starts with."""

    time: Count
    florins: Florins
    librarian: Count


class Tower(EditionPart):
    """A kind of book: how many artisans of each type one book needs."""

    name: Text
    requires: Counts


class Board(EditionPart):
    """R1: the ring of spaces, clockwise, each holding the tower of this name."""

    spaces: Annotated[tuple[Text, ...], LIST]


class Slot(EditionPart):
    """A place of a prestige collection: which tower's book fills it, and its VP."""

    tower: Text
    vp: Count


class Prestige(EditionPart):
    """A prestige collection: its slots, and the bonus for filling them all."""

    name: Text
    bonus: Count
    slots: Annotated[tuple[Slot, ...], LIST]


class Card(EditionPart):
    """An artisan card. `florins` is its price in each coin; `librarian` may be negative."""

    id: Count
    librarian: Annotated[int, whole(-MAX_MOVE, MAX_MOVE)]
    icon: Text
    coin: Text
    florins: Annotated[Mapping[Text, Florins], MAPPING]
    artisans: Counts


def _by_id(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(sorted(cards, key=lambda card: card.id))


class Edition(BaseEdition):
    """A whole edition, checked. `cards[i].id == i`, in whatever order the file lists them.

    An edition doesn't change; two are equal when content, name and file are.
    """

    GAME: ClassVar[str] = GAME

    game: Annotated[Literal["bibliogamo"], one_of(GAME)]
    rules: Rules
    start: Start
    artisan_types: Annotated[tuple[Text, ...], LIST]
    coins: Annotated[tuple[Text, ...], LIST]
    towers: Annotated[tuple[Tower, ...], LIST]
    board: Board
    prestige: Annotated[tuple[Prestige, ...], LIST]
    cards: Annotated[tuple[Card, ...], LIST, AfterValidator(_by_id)]

    @classmethod
    def problems_between(cls, data: Mapping[str, Any]) -> list[Problem]:
        return check_whole(data)


def load_edition(
    source: str | Path | BaseEdition | Mapping[str, Any], *, name: str | None = None
) -> Edition:
    """Load and check an edition of Bibliogamo.

    Args:
        source: the name of a shipped edition ("bibliogamo"; see `shipped_editions`), a path, an
            edition, or a mapping as a YAML file would give. A name wins over a file of that name
            in the current folder; write `./bibliogamo` for the file.
        name: what the edition is to be called; by default the file's stem.

    Raises:
        EditionError: there is no such name or file, or the edition can't be used. Lists every
            fault that was found.
    """
    return load_as(Edition, source, name=name)


def shipped_editions() -> dict[str, str]:
    """Bibliogamo's editions that come with the package: name -> SHA-256 of the file, by name."""
    return editions.shipped_editions(GAME)


def edition_by_hash(sha256: str) -> Edition:
    """The shipped edition of Bibliogamo with this `sha256`.

    Raises:
        EditionError: no shipped edition of Bibliogamo has it.
    """
    return load_edition(editions.edition_by_hash(sha256, GAME))
