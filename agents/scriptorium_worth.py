"""What things are worth to the greedy agent of Scriptorium, in points.

An ink has a price, a free space a cost, a tile in the storage a share of what it will bring, and an
achievement not yet earned a share of its points: the nearer it is, and the nearer than the rivals'.
All of it fades as the last day nears. Functions in numba's subset: see ``compiled``. Sizes: P
players, D designs; 5 inks, 10 kinds of spaces, 5 achievements as in envs/scriptorium/tables.py.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.compiled import compiled, compiled_apart
from incunabula.agents.scriptorium_position import (
    ACHIEVEMENTS,
    BLACK,
    EDGE_LEFT,
    FILLED,
    GOLD,
    INITIAL,
    INKS,
    MINIATURE,
    SPACES,
)

PRICED = 16  # the price of an ink is looked at for so many of a colour
# Rows of Outlook.space: worth forgone by filling a space of this kind; factors of the hope of an
# achievement, and of the odds that a rival gets it, when it asked for that space.
FORGONE, RISE, FALL = 0, 1, 2
# Rows of a seat's standing: spaces that an achievement still asks for; what it would be worth if
# there were no rivals; the odds that a rival gets it.
MISSING, HOPING, AGAINST = 0, 1, 2


class GreedyParams(NamedTuple):
    """What the agent believes, tuned on the default edition. In points unless said."""

    # Inks
    black: float = 1.1  # price of a black ink, many days before the end
    colour: float = 0.5
    gold: float = 0.9
    surplus: float = 0.8  # each further ink of a colour is worth this share of the one before
    ink_days: float = 1.0  # days before the end within which prices fade
    # Spaces: what filling one forgoes, many days before the end
    corner_space: float = 0.5
    edge_space: float = 0.3
    miniature_space: float = 0.5
    initial_space: float = 0.5
    text_space: float = 0.3
    space_days: float = 2.0  # days before the end within which that fades
    fill_rate: float = 4.0  # spaces a day by which a manuscript that ends the game is filled
    # Storage
    keep: float = 0.6  # share of its gain that a tile kept for later is worth
    keep_days: float = 1.0  # days before the end within which that fades
    token: float = 2.5  # worth of a help token, many days before the end
    # Achievements: how far away each kind of space makes them, in edges
    corner_far: float = 1.5
    miniature_far: float = 2.0
    initial_far: float = 2.5
    text_far: float = 1.5
    near: float = 1.0  # edges away at which an achievement is worth 1/e on the last day
    near_days: float = 1.0  # further edges for every day left
    contest: float = 0.5  # how sharply being nearer than the rivals counts, 1/edges
    # Phase 1
    need: float = 1.0  # extra worth of an ink that a plan for this day lacks
    scarce: float = 1.0  # more of it when the pot is nearly out of that ink
    scarce_inks: float = 2.0  # inks in the pot at which that is down to 1/e
    deny: float = 0.2  # worth of an ink that a rival's plan lacks
    grimoire_ink: float = 0.8  # what each ink forgone for the grimoire counts
    grimoire_hurry: float = 0.5  # inks to come (own) at which rivals are 1/e likely to take it
    hostility: float = 0.5  # 0: others give any lectern, 1: they give the worst
    # Phase 2
    rivalry: float = 0.5  # how much the rivals' gains count against one's own
    leader: float = 0.05  # more so for those ahead, 1/points
    quill: float = 2.5  # worth of getting the quill, many days before the end


class Outlook(NamedTuple):
    """What things are worth in a position."""

    later: float  # 0 on the last day .. 1
    keep_later: float
    token: float
    price: npt.NDArray[np.float64]  # (5, PRICED) of the n-th ink of a colour held
    space: npt.NDArray[np.float64]  # (3, 10) rows FORGONE, RISE, FALL
    prize: npt.NDArray[np.float64]  # (5, 10) points of an achievement that asks for this space
    standing: npt.NDArray[np.float64]  # (P, 3, 5) rows MISSING, HOPING, AGAINST


@compiled
def kind_of(space: int, corner: float, edge: float, miniature: float, rest: Any) -> float:
    """The number that belongs to a kind of space; rest: (initial, text)."""
    if space < EDGE_LEFT:
        return corner
    if space < MINIATURE:
        return edge
    if space < INITIAL:
        return miniature
    return rest[0] if space == INITIAL else rest[1]


@compiled
def fading(days_left: float, days: float) -> float:
    """0 when no day is left .. 1."""
    return 1.0 - exp(-days_left / days)


@compiled_apart
def read_outlook(book: Any, position: Any, params: Any) -> Outlook:
    """The outlook in a position."""
    seat_of, players = position.seat, len(position.seat)
    per_day = (players + 1) * book.tiles_per_lectern
    days_left = float((position.bag_left + per_day - 1) // per_day)
    for seat in range(players):
        free = 0
        for space in range(SPACES):
            free += book.capacity[space] - seat_of[seat, FILLED + space]
        days_left = min(days_left, max(0.0, free / params.fill_rate - 1.0))
    ink_later = fading(days_left, params.ink_days)
    later = fading(days_left, params.space_days)

    price = np.empty((INKS, PRICED))
    for ink in range(INKS):
        worth = params.black if ink == BLACK else params.gold if ink == GOLD else params.colour
        worth *= ink_later
        for n in range(PRICED):
            price[ink, n] = worth if n < book.ink_limit else 0.0
            worth *= params.surplus

    space, far = np.empty((3, SPACES)), np.empty(SPACES)
    horizon = params.near + params.near_days * days_left
    for k in range(SPACES):
        rest = (params.initial_space, params.text_space)
        cost = kind_of(k, params.corner_space, params.edge_space, params.miniature_space, rest)
        rest = (params.initial_far, params.text_far)
        far[k] = kind_of(k, params.corner_far, 1.0, params.miniature_far, rest)
        space[FORGONE, k] = cost * later
        space[RISE, k], space[FALL, k] = exp(far[k] / horizon), exp(-far[k] * params.contest)

    prize, standing = np.zeros((ACHIEVEMENTS, SPACES)), np.zeros((players, 3, ACHIEVEMENTS))
    away = np.zeros(players)
    for k in range(ACHIEVEMENTS):
        worth = float(book.achievement_points) if position.open[k] else 0.0
        for seat in range(players):
            away[seat] = 0.0
            for kind in range(SPACES):
                if book.group[k, kind]:
                    prize[k, kind] = worth
                    free = book.capacity[kind] - seat_of[seat, FILLED + kind]
                    standing[seat, MISSING, k] += free
                    away[seat] += free * far[kind]
            standing[seat, HOPING, k] = worth * exp(-away[seat] / horizon)
        for seat in range(players):
            for other in range(players):
                if other != seat:
                    nearer = params.contest * (away[seat] - away[other])
                    standing[seat, AGAINST, k] += exp(min(nearer, 50.0))
    return Outlook(
        later,
        fading(days_left, params.keep_days),
        book.token_points + (params.token - book.token_points) * later,
        price,
        space,
        prize,
        standing,
    )
