"""A game of Scriptorium and its edition in few arrays, for the greedy agent's functions.

Tuples of many arrays are slow to compile and to pass on in numba. Sizes: P players, D designs, L
lecterns; inks, kinds of spaces and achievements in the orders of envs/scriptorium/tables.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.compiled.functions import compiled_apart

INKS, BLACK, GOLD = 5, 0, 4
SPACES, EDGE_LEFT, EDGE_RIGHT, MINIATURE, INITIAL, TEXT = 10, 2, 3, 4, 8, 9
ACHIEVEMENTS = 5
INK, LECTERN, QUILL, ILLUMINATE, DISCARD = 0, 1, 2, 3, 4  # phases, as in envs/scriptorium/state.py
# Columns of a design: spaces it goes to (SECOND is -1 without sides).
POINTS, FIRST, SECOND, EDGE, DESIGN_COLUMNS = 0, 1, 2, 3, 4
# Columns of a seat, before its storage and its lectern's tiles: inks, spaces filled, achievements
# kept, help tokens, score, lectern owned (-1: none).
HELD, FILLED, KEPT, TOKENS, SCORE, OWNED, SEAT_COLUMNS = 0, 5, 15, 20, 21, 22, 23


class Book(NamedTuple):
    """An edition. The last row of ``cost`` is for who has no lectern."""

    cost: npt.NDArray[np.int64]  # (L + 1, D, 5)
    design: npt.NDArray[np.int64]  # (D, DESIGN_COLUMNS)
    capacity: npt.NDArray[np.int64]  # (10,)
    group: npt.NDArray[np.bool_]  # (5, 10)
    quill_lectern: int  # -1 if there is none
    seats: int  # that actions are sized for
    tiles_per_lectern: int
    storage_limit: int
    ink_limit: int
    achievement_points: int
    token_points: int
    quill_points: int


class Position(NamedTuple):
    """What everybody knows of a game."""

    seat: npt.NDArray[np.int64]  # (P, SEAT_COLUMNS)
    hand: npt.NDArray[np.int64]  # (P, 2, D) storage, tiles of the lectern owned
    tiles: npt.NDArray[np.int64]  # (L + 1, D) of the lecterns; last the scriptorium's
    pot: npt.NDArray[np.int64]  # (5,)
    open: npt.NDArray[np.bool_]  # (5,) achievements nobody has earned yet
    free: npt.NDArray[np.bool_]  # (L,) lecterns in play that nobody owns
    phase: np.int64
    player: np.int64
    quill: np.int64
    grimoire: np.int64
    bag_left: np.int64


@compiled_apart
def read_book(tables: Any) -> Book:
    """The edition of ``Tables``."""
    lecterns, designs = len(tables.lectern_ink), len(tables.points)
    cost = np.empty((lecterns + 1, designs, INKS), np.int64)
    design = np.empty((designs, DESIGN_COLUMNS), np.int64)
    quill_lectern = -1
    for d in range(designs):
        design[d, POINTS], design[d, EDGE] = tables.points[d], tables.edge[d]
        design[d, FIRST] = tables.space[d, 0]
        design[d, SECOND] = tables.space[d, 1] if tables.sided[d] else -1
        for ink in range(INKS):
            cost[lecterns, d, ink] = tables.cost[d, ink]
            for lectern in range(lecterns):
                cost[lectern, d, ink] = tables.costs[lectern, d, ink]
    for lectern in range(lecterns):
        if tables.lectern_ink[lectern] < 0:
            quill_lectern = lectern
    capacity = np.empty(SPACES, np.int64)
    for k in range(SPACES):
        capacity[k] = tables.capacity[k]
    return Book(
        cost,
        design,
        capacity,
        tables.group,
        quill_lectern,
        len(tables.pots) - 1,
        tables.tiles_per_lectern,
        tables.storage_limit,
        tables.ink_limit,
        tables.achievement_points,
        tables.token_points,
        tables.quill_points,
    )


@compiled_apart
def read_position(public: Any, row: int) -> Position:
    """Game ``row`` of ``PublicState``."""
    players, lecterns = public.lectern.shape[1], public.lectern.shape[2]
    designs = public.storage.shape[2]
    seat = np.empty((players, SEAT_COLUMNS), np.int64)
    hand = np.empty((players, 2, designs), np.int64)
    tiles = np.empty((lecterns + 1, designs), np.int64)
    pot, is_open = np.empty(INKS, np.int64), np.empty(ACHIEVEMENTS, np.bool_)
    free = np.empty(lecterns, np.bool_)
    for ink in range(INKS):
        pot[ink] = public.pot[row, ink]
    for k in range(ACHIEVEMENTS):
        is_open[k] = public.open[row, k] > 0
    for lectern in range(lecterns):
        free[lectern] = public.in_play[row, lectern] > 0
        for d in range(designs):
            tiles[lectern, d] = public.tiles[row, lectern, d]
    for d in range(designs):
        tiles[lecterns, d] = public.market[row, d]
    for p in range(players):
        for ink in range(INKS):
            seat[p, HELD + ink] = public.inks[row, p, ink]
        for k in range(SPACES):
            seat[p, FILLED + k] = public.filled[row, p, k]
        for k in range(ACHIEVEMENTS):
            seat[p, KEPT + k] = public.achievements[row, p, k]
        seat[p, TOKENS], seat[p, SCORE] = public.tokens[row, p], public.score[row, p]
        seat[p, OWNED] = -1
        for lectern in range(lecterns):
            if public.lectern[row, p, lectern]:
                seat[p, OWNED], free[lectern] = lectern, False
        for d in range(designs):
            hand[p, 0, d] = public.storage[row, p, d]
            hand[p, 1, d] = public.lectern_tiles[row, p, d]
    return Position(
        seat,
        hand,
        tiles,
        pot,
        is_open,
        free,
        np.int64(public.phase[row]),
        np.int64(public.player[row]),
        np.int64(public.quill[row]),
        np.int64(public.grimoire[row]),
        np.int64(public.bag_left[row]),
    )
