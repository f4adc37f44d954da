"""What the rules need to know beside the state, made once for each engine, and what they share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.scriptorium.actions import Actions, Kind
from incunabula.envs.scriptorium.state import Int16Array, Rows, seat_columns
from incunabula.envs.scriptorium.tables import INKS, Tables

BoolArray = npt.NDArray[np.bool_]
Choices = npt.NDArray[np.intp]


class Columns(NamedTuple):
    """Where things lie in ``State.seats``, as plain slices and integers."""

    inks: slice
    tokens: int
    points: int
    score: int
    filled: slice
    achievements: slice
    lectern: slice


class Game(NamedTuple):
    """What the rules need to know beside the state, made once for each engine."""

    tables: Tables
    actions: Actions
    players: int
    columns: Columns
    bag: Int16Array  # (B,) designs of the bag's tile instances
    spaces: int  # spaces of a manuscript
    group_size: Int16Array  # (5,) spaces each achievement asks to fill
    group: Int16Array  # (10, 5)
    turned: Choices  # (P, P) absolute seats, clockwise from each seat
    # For the masks of phase 1: the two columns of (one in the pot, two in the pot) to be met.
    take_first: Choices
    take_second: Choices
    # For the masks of phase 3: what each placement needs, as columns of (tiles, spaces, prices).
    place_tile: Choices
    place_space: Choices
    place_price: Choices  # D for unpaid edges
    costs: Int16Array  # (5, D, 1)
    waived: Int16Array  # (L, 5) UNLIMITED for the ink that is free, 0 for others


UNLIMITED = np.int16(1 << 11)  # more than any cost


def build_game(t: Tables, a: Actions, players: int) -> Game:
    """Prepare for games of this many players."""
    seats = seat_columns(t)
    place = a.of(Kind.PLACE)
    take = a.take[a.of(Kind.INK)]
    inks = len(INKS)
    return Game(
        tables=t,
        actions=a,
        players=players,
        columns=Columns(
            inks=seats["inks"].slice,
            tokens=seats["tokens"].start,
            points=seats["points"].start,
            score=seats["score"].start,
            filled=seats["filled"].slice,
            achievements=seats["achievements"].slice,
            lectern=seats["lectern"].slice,
        ),
        bag=np.repeat(np.arange(t.designs), t.copies[players]).astype(np.int16),
        spaces=int(t.capacity.sum()),
        group_size=(t.group * t.capacity).sum(axis=1).astype(np.int16),
        group=np.ascontiguousarray(t.group.T).astype(np.int16),
        turned=(np.arange(players)[:, None] + np.arange(players)) % players,
        take_first=(take > 0).argmax(axis=1) + inks * (take.max(axis=1) > 1),
        take_second=inks - 1 - (take[:, ::-1] > 0).argmax(axis=1) + inks * (take.max(axis=1) > 1),
        place_tile=a.column[place],
        place_space=a.space[place],
        place_price=np.where(a.paid[place], a.design[place], t.designs),
        costs=np.ascontiguousarray(t.cost.T)[:, :, None],
        waived=np.where(t.lectern_ink[:, None] == np.arange(inks), UNLIMITED, np.int16(0)),
    )


def grouped(
    group: Choices | Int16Array, groups: int, rows: Rows, actions: Choices
) -> tuple[Rows, Choices, list[int]]:
    """Rows and actions sorted by group; group g lies at bound[g] .. bound[g + 1]."""
    if len(rows) == 1:
        only = int(group[0])
        return rows, actions, [0] * (only + 1) + [1] * (groups - only)
    order = group.argsort(kind="stable")
    bound = np.bincount(group, minlength=groups).cumsum().tolist()
    return rows[order], actions[order], [0, *bound]


def held(g: Game, own: Int16Array, storage: Int16Array) -> tuple[Int16Array, Int16Array]:
    """Things in storage, and inks, of seats (their rows of ``State.seats``); int16 (…) each."""
    c = g.columns
    stored: Int16Array = storage.sum(axis=-1, dtype=np.int16)
    stored += own[..., c.achievements].sum(axis=-1, dtype=np.int16)
    inks: Int16Array = own[..., c.inks].sum(axis=-1, dtype=np.int16)
    return stored, inks
