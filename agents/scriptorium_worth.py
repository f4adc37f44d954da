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

from incunabula.agents.scriptorium_position import (
    ACHIEVEMENTS,
    BLACK,
    EDGE_LEFT,
    FILLED,
    GOLD,
    ILLUMINATE,
    INITIAL,
    INKS,
    MINIATURE,
    SPACES,
)
from incunabula.envs.compiled.functions import compiled, compiled_apart

PRICED = 16  # the price of an ink is looked at for so many of a colour
TILES = 40  # tiles that a plan looks at
DEPTH = 16  # tiles that it places with ink
# Rows of Work: the tiles to choose from, the levels of the search (a level is a number of tiles
# placed), the level after the best plan, and in ``n`` the best plan's placements.
START = TILES
AFTER = START + DEPTH + 1
BEST = AFTER + 1
# Further rows of ``x``: by kind of space, the worth forgone by filling one and the factors of the
# hope of an achievement and of the odds that a rival gets it, if it asks for that space; by ink,
# the price of the n-th of a colour held; by achievement, its points where it asks for a space.
FORGONE, RISE, FALL = AFTER + 1, AFTER + 2, AFTER + 3
PRICE = FALL + 1
PRIZE = PRICE + INKS
# Rows of a seat's standing: spaces that an achievement still asks for; what it would be worth if
# there were no rivals; the odds that a rival gets it.
MISSING, HOPING, AGAINST = 0, 1, 2


class GreedyParams(NamedTuple):
    """What the agent believes, in points unless said.

    Tuned on the default edition for two players; with more it plays well by the same.
    """

    # Inks
    black: float = 0.785  # price of a black ink, many days before the end
    colour: float = 0.225
    gold: float = 1.35
    surplus: float = 0.854  # each further ink of a colour is worth this share of the one before
    ink_days: float = 1.24  # days before the end within which prices fade
    # Spaces: what filling one forgoes, many days before the end
    corner_space: float = 0.596
    edge_space: float = 0.242
    miniature_space: float = 1.06
    initial_space: float = 0.391
    text_space: float = 0.521
    space_days: float = 1.45  # days before the end within which that fades
    fill_rate: float = 1.77  # spaces a day by which a manuscript that ends the game is filled
    # Storage
    keep: float = 0.446  # share of its gain that a tile kept for later is worth
    keep_days: float = 0.859  # days before the end within which that fades
    token: float = 5.91  # worth of a help token, many days before the end
    # Achievements: how far away each kind of space makes them, in edges
    corner_far: float = 2.43
    miniature_far: float = 1.46
    initial_far: float = 2.23
    text_far: float = 3.06
    near: float = 1.05  # edges away at which an achievement is worth 1/e on the last day
    near_days: float = 0.355  # further edges for every day left
    contest: float = 0.795  # how sharply being nearer than the rivals counts, 1/edges
    # Phase 1
    need: float = 1.75  # extra worth of an ink that a plan for this day lacks
    scarce: float = 0.351  # more of it when the pot is nearly out of that ink
    scarce_inks: float = 0.678  # inks in the pot at which that is down to 1/e
    deny: float = 0.296  # worth of an ink that a rival's plan lacks
    grimoire_ink: float = 1.12  # what an ink counts in the race for the grimoire
    choice_gain: float = 3.07  # what a rival is thought to gain by the grimoire, ..
    choice_loss: float = 1.02  # .. and others to lose, where phase 2 isn't played out
    hostility: float = 0.185  # 0: others give any lectern, 1: they give the worst
    # Phase 2
    rivalry: float = 0.528  # how much the rivals' gains count against one's own
    leader: float = 0.0568  # more so for those ahead, 1/points
    quill: float = 6.25  # worth of getting the quill, many days before the end


class Work(NamedTuple):
    """Room for one plan at a time, in two arrays; the rows are named above."""

    n: npt.NDArray[np.int64]  # (BEST + DEPTH, 32) columns of a tile or of a level
    x: npt.NDArray[np.float64]  # (PRIZE + ACHIEVEMENTS, 16) likewise, or those of the row


@compiled
def new_work() -> Work:
    """Room for a plan."""
    return Work(np.zeros((BEST + DEPTH, 32), np.int64), np.zeros((PRIZE + ACHIEVEMENTS, PRICED)))


class Outlook(NamedTuple):
    """What things are worth in a position."""

    later: float  # 0 on the last day .. 1
    keep_later: float
    token: float
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
def read_outlook(book: Any, position: Any, params: Any, work: Any) -> Outlook:
    """The outlook in a position; what a plan needs of it goes into ``work``."""
    seat_of, players = position.seat, len(position.seat)
    per_day = (players + 1) * book.tiles_per_lectern
    days_left = float((position.bag_left + per_day - 1) // per_day)
    for seat in range(players):
        free = 0
        for k in range(SPACES):
            free += book.capacity[k] - seat_of[seat, FILLED + k]
        days_left = min(days_left, max(0.0, free / params.fill_rate - 1.0))
    ink_later = fading(days_left, params.ink_days)
    later = fading(days_left, params.space_days)

    for ink in range(INKS):
        worth = params.black if ink == BLACK else params.gold if ink == GOLD else params.colour
        worth *= ink_later
        for n in range(PRICED):
            work.x[PRICE + ink, n] = worth if n < book.ink_limit else 0.0
            worth *= params.surplus

    far = np.empty(SPACES)
    horizon = params.near + params.near_days * days_left
    for k in range(SPACES):
        rest = (params.initial_space, params.text_space)
        cost = kind_of(k, params.corner_space, params.edge_space, params.miniature_space, rest)
        rest = (params.initial_far, params.text_far)
        far[k] = kind_of(k, params.corner_far, 1.0, params.miniature_far, rest)
        work.x[FORGONE, k] = cost * later
        work.x[RISE, k], work.x[FALL, k] = exp(far[k] / horizon), exp(-far[k] * params.contest)

    standing = np.zeros((players, 3, ACHIEVEMENTS))
    away = np.zeros(players)
    for k in range(ACHIEVEMENTS):
        worth = float(book.achievement_points) if position.open[k] else 0.0
        for seat in range(players):
            away[seat] = 0.0
            for kind in range(SPACES):
                work.x[PRIZE + k, kind] = worth if book.group[k, kind] else 0.0
                if book.group[k, kind]:
                    free = book.capacity[kind] - seat_of[seat, FILLED + kind]
                    standing[seat, MISSING, k] += free
                    away[seat] += free * far[kind]
            # What isn't earned in the last day's phase 3 never will be.
            hoping = 0.0 if position.bag_left == 0 and position.phase >= ILLUMINATE else worth
            standing[seat, HOPING, k] = hoping * exp(-away[seat] / horizon)
        for seat in range(players):
            for other in range(players):
                if other != seat:
                    nearer = params.contest * (away[seat] - away[other])
                    standing[seat, AGAINST, k] += exp(min(nearer, 50.0))
    return Outlook(
        later,
        fading(days_left, params.keep_days),
        book.token_points + (params.token - book.token_points) * later,
        standing,
    )
