"""An edition as plain arrays, the only form in which the rules read it.

Sizes: D designs, L lecterns, P the largest number of players the edition allows; 5 inks
(``INKS``), 10 kinds of spaces (``SPACES``), 5 achievements (``ACHIEVEMENTS``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.scriptorium.edition import Edition
from incunabula.envs.scriptorium.edition_checks import INKS as INKS
from incunabula.envs.scriptorium.edition_checks import SPACES as SPACES

Int16Array = npt.NDArray[np.int16]
BoolArray = npt.NDArray[np.bool_]

BLACK, GOLD = INKS.index("black"), INKS.index("gold")
ACHIEVEMENTS = ("left_frame", "left_page", "full_frame", "right_page", "right_frame")
SIDES = ("left", "right")
# The kinds of spaces that each achievement asks to fill, in the order of ACHIEVEMENTS.
_GROUPS = (
    ("corner_left", "edge_left"),
    ("A", "B", "C", "D"),
    ("corner_left", "corner_right", "edge_left", "edge_right"),
    ("initial", "text"),
    ("corner_right", "edge_right"),
)


class Tables(NamedTuple):
    """An edition's numbers."""

    lectern_ink: Int16Array  # (L,) the ink each lectern carries, -1 for the quill
    cost: Int16Array  # (D, 5) ink
    costs: Int16Array  # (L, D, 5) what each lectern's owner pays: its colour is waived
    points: Int16Array  # (D,) illumination points
    space: Int16Array  # (D, 2) kind of space a design goes to, by side (the same if it has no side)
    sided: BoolArray  # (D,) whether it goes to a side, corners and edges
    edge: BoolArray  # (D,) whether it can be placed without ink
    capacity: Int16Array  # (10,) spaces of each kind
    group: BoolArray  # (5, 10) kinds of spaces of each achievement
    pots: Int16Array  # (P + 1, 5) a round's inks, by number of players
    copies: Int16Array  # (P + 1, D) tiles of each design, by number of players
    players: tuple[int, ...]  # numbers of players that can play
    tiles_per_lectern: int
    help_tokens: int
    storage_limit: int
    ink_limit: int
    achievement_points: int
    token_points: int
    quill_points: int

    @property
    def designs(self) -> int:
        return len(self.points)

    @property
    def lecterns(self) -> int:
        return len(self.lectern_ink)

    @property
    def max_players(self) -> int:
        return len(self.pots) - 1


def build_tables(edition: Edition) -> Tables:
    """Turn a validated edition into arrays."""
    rules = edition.rules
    inks = {name: k for k, name in enumerate(INKS)}
    spaces = {name: k for k, name in enumerate(SPACES)}
    most, d = max(rules.players), len(edition.tiles)

    cost = np.zeros((d, len(INKS)), np.int16)
    space = np.zeros((d, len(SIDES)), np.int16)
    sided = np.array([tile.kind in ("corner", "edge") for tile in edition.tiles], np.bool_)
    copies = np.zeros((most + 1, d), np.int16)
    for i, tile in enumerate(edition.tiles):
        for name, count in tile.cost.items():
            cost[i, inks[name]] = count
        for players, count in tile.copies.items():
            copies[players, i] = count
        for side, name in enumerate(SIDES):
            space[i, side] = spaces[f"{tile.kind}_{name}" if sided[i] else tile.kind]

    lectern_ink = np.array([inks.get(name, -1) for name in edition.lecterns], np.int16)
    pots = np.zeros((most + 1, len(INKS)), np.int16)
    for players, pot in edition.inks_per_round.items():
        for name, count in pot.items():
            pots[players, inks[name]] = count

    waived = lectern_ink[:, None] == np.arange(len(INKS))
    return Tables(
        lectern_ink=lectern_ink,
        cost=cost,
        costs=np.where(waived[:, None, :], np.int16(0), cost),
        points=np.array([tile.points for tile in edition.tiles], np.int16),
        space=space,
        sided=sided,
        edge=np.array([tile.kind == "edge" for tile in edition.tiles], np.bool_),
        capacity=np.array([edition.spaces[name] for name in SPACES], np.int16),
        group=np.array([[name in group for name in SPACES] for group in _GROUPS], np.bool_),
        pots=pots,
        copies=copies,
        players=tuple(sorted(rules.players)),
        tiles_per_lectern=rules.tiles_per_lectern,
        help_tokens=rules.help_tokens,
        storage_limit=rules.storage_limit,
        ink_limit=rules.ink_limit,
        achievement_points=rules.achievement_points,
        token_points=rules.token_points,
        quill_points=rules.quill_points,
    )
