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
    ILLUMINATE,
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


# The parameters by number of players.
TUNED = {
    2: GreedyParams(),
    3: GreedyParams(
        black=0.785,
        colour=0.225,
        gold=1.35,
        surplus=0.854,
        ink_days=1.24,
        corner_space=0.596,
        edge_space=0.242,
        miniature_space=1.06,
        initial_space=0.391,
        text_space=0.521,
        space_days=1.45,
        fill_rate=1.77,
        keep=0.446,
        keep_days=0.859,
        token=5.91,
        corner_far=2.43,
        miniature_far=1.46,
        initial_far=2.23,
        text_far=3.06,
        near=1.05,
        near_days=0.355,
        contest=0.795,
        need=1.75,
        scarce=0.351,
        scarce_inks=0.678,
        deny=0.296,
        grimoire_ink=1.12,
        choice_gain=3.07,
        choice_loss=1.02,
        hostility=0.185,
        rivalry=0.528,
        leader=0.0568,
        quill=6.25,
    ),
    4: GreedyParams(
        black=0.785,
        colour=0.225,
        gold=1.35,
        surplus=0.854,
        ink_days=1.24,
        corner_space=0.596,
        edge_space=0.242,
        miniature_space=1.06,
        initial_space=0.391,
        text_space=0.521,
        space_days=1.45,
        fill_rate=1.77,
        keep=0.446,
        keep_days=0.859,
        token=5.91,
        corner_far=2.43,
        miniature_far=1.46,
        initial_far=2.23,
        text_far=3.06,
        near=1.05,
        near_days=0.355,
        contest=0.795,
        need=1.75,
        scarce=0.351,
        scarce_inks=0.678,
        deny=0.296,
        grimoire_ink=1.12,
        choice_gain=3.07,
        choice_loss=1.02,
        hostility=0.185,
        rivalry=0.528,
        leader=0.0568,
        quill=6.25,
    ),
}


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
        for k in range(SPACES):
            free += book.capacity[k] - seat_of[seat, FILLED + k]
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
        price,
        space,
        prize,
        standing,
    )
