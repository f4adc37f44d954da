"""Editions of Scriptorium: the tiles, inks, lecterns and limits a game is played with.

The rules take every size and number from the edition. `load_edition` is the way in; the errors it
raises name the field as the file writes it and what would be right, all of them at once.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator

from incunabula.envs import editions
from incunabula.envs.documents import LIST, MAPPING, Expected, Problem, one_of, whole
from incunabula.envs.editions import BaseEdition, EditionError, EditionPart, Text, load_as
from incunabula.envs.scriptorium.edition_checks import (
    KINDS,
    MAX_BAG,
    MAX_DESIGNS,
    MAX_INKS,
    MAX_LIMIT,
    MAX_PLAYERS,
    MAX_POINTS,
    MAX_SPACES,
    MAX_TILES_PER_LECTERN,
    MAX_TOKENS,
    MIN_PLAYERS,
    check_whole,
    is_player_count,
    player_count,
    rounds_of,
)

__all__ = [
    "GAME",
    "Edition",
    "EditionError",
    "Rules",
    "Tile",
    "edition_by_hash",
    "load_edition",
    "shipped_editions",
]

GAME = "scriptorium"

Players = Annotated[int, whole(MIN_PLAYERS, MAX_PLAYERS)]
PlayersKey = Annotated[
    int,
    Expected(
        f"a number of players from {MIN_PLAYERS} to {MAX_PLAYERS}",
        is_player_count,
    ),
    BeforeValidator(player_count),
]
"""A number of players as a key: 2, or "2" as JSON writes it."""

Points = Annotated[int, whole(0, MAX_POINTS)]
Inks = Annotated[Mapping[Text, Annotated[int, whole(0, MAX_INKS)]], MAPPING]
"""Ink -> how many; inks left out count 0."""


def _ascending(players: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(players))


class Rules(EditionPart):
    """The numbers of the rules that an edition can vary."""

    players: Annotated[tuple[Players, ...], LIST, AfterValidator(_ascending)]
    tiles_per_lectern: Annotated[int, whole(1, MAX_TILES_PER_LECTERN)]
    lecterns_in_play: Annotated[Literal["players + 1"], one_of("players + 1")]
    help_tokens: Annotated[int, whole(0, MAX_TOKENS)]  # a player's at the start
    storage_limit: Annotated[int, whole(0, MAX_LIMIT)]  # phase 4: tiles and achievements together
    ink_limit: Annotated[int, whole(0, MAX_LIMIT)]  # phase 4
    achievement_points: Points
    token_points: Points
    quill_points: Points


class Tile(EditionPart):
    """A design: where it fits, its points, its price in inks, and how many are in the bag.

    `copies` has an entry for each number of players.
    """

    id: Annotated[int, whole(0, MAX_DESIGNS - 1)]
    name: Text
    kind: Annotated[
        Literal["corner", "edge", "A", "B", "C", "D", "initial", "text"], one_of(*KINDS)
    ]
    points: Points
    copies: Annotated[Mapping[PlayersKey, Annotated[int, whole(0, MAX_BAG)]], MAPPING]
    cost: Inks


def _by_id(tiles: tuple[Tile, ...]) -> tuple[Tile, ...]:
    return tuple(sorted(tiles, key=lambda tile: tile.id))


class Edition(BaseEdition):
    """A whole edition, checked. `tiles[i].id == i`, in whatever order the file lists them.

    An edition doesn't change; two are equal when content, name and file are.
    """

    GAME: ClassVar[str] = GAME

    game: Annotated[Literal["scriptorium"], one_of(GAME)]
    rules: Rules
    inks: Annotated[tuple[Text, ...], LIST]
    inks_per_round: Annotated[Mapping[PlayersKey, Inks], MAPPING]
    lecterns: Annotated[tuple[Text, ...], LIST]
    spaces: Annotated[Mapping[Text, Annotated[int, whole(0, MAX_SPACES)]], MAPPING]
    tiles: Annotated[tuple[Tile, ...], LIST, AfterValidator(_by_id)]

    @classmethod
    def problems_between(cls, data: Mapping[str, Any]) -> list[Problem]:
        return check_whole(data)

    def bag_size(self, players: int) -> int:
        """How many tiles a game of this many players starts with in the bag."""
        return sum(tile.copies[players] for tile in self.tiles)

    def rounds(self, players: int) -> int:
        """How many rounds the bag lasts with this many players: the longest a game can be."""
        return rounds_of(self.bag_size(players), players, self.rules.tiles_per_lectern)


def load_edition(
    source: str | Path | BaseEdition | Mapping[str, Any], *, name: str | None = None
) -> Edition:
    """Load and check an edition of Scriptorium.

    Args:
        source: the name of a shipped edition ("scriptorium"; see `shipped_editions`), a path, an
            edition, or a mapping as a YAML file would give. A name wins over a file of that name
            in the current folder; write `./scriptorium` for the file. Numbers of players as keys
            may be text ("2"), as JSON has them.
        name: what the edition is to be called; by default the file's stem.

    Raises:
        EditionError: there is no such name or file, or the edition can't be used. Lists every
            fault that was found.
    """
    return load_as(Edition, source, name=name)


def shipped_editions() -> dict[str, str]:
    """Scriptorium's editions that come with the package: name -> SHA-256 of the file, by name."""
    return editions.shipped_editions(GAME)


def edition_by_hash(sha256: str) -> Edition:
    """The shipped edition of Scriptorium with this `sha256`.

    Raises:
        EditionError: no shipped edition of Scriptorium has it.
    """
    return load_edition(editions.edition_by_hash(sha256, GAME))
