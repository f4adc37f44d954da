"""What a position is worth to a search that knows the deal; it ranks positions of the same day.

The worth is the score, florins counted in full, and what is under way: every tower by the cubes it
lacks and the days left, the completion bonus, room for the cards in hand, cubes in the supply. What
the rest of the game brings to any position of that day alike is left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.functions import compiled_apart

# Cells of ``scale``: VP of a book that fills no slot, share of a slot's VP, VP a florin, VP that a
# book usually sells at, share of a sale's gain.
BOOK, SLOT, FLORIN, USUAL, SALE = range(5)


class HindsightParams(NamedTuple):
    """What the search believes, tuned on the default edition (list ``dev``). VP unless another unit
    is given."""

    price_weight: float = 1.46  # mean prices that a book under way will sell at
    slot_weight: float = 0.647  # share of its best open slot's VP that such a book is worth
    tower_convexity: float = 1.42  # power of a tower's progress (share of its cubes placed)
    days_per_cube: float = 0.624  # days that a missing cube takes
    days_to_sell: float = 0.953  # days between completing a tower and selling
    tower_softness: float = 0.764  # days over which "too late" sets in
    days_per_slot: float = 1.53  # days each open slot takes, in judging the bonus
    bonus_softness: float = 1.99  # days over which the bonus becomes doubtful
    bonus_weight: float = 1.1  # share of the bonus that counts before it is won
    hand_cube: float = 0.15  # worth of a cube that a card in hand could place
    room_weight: float = 1.04  # lost when no tower lacks a type
    room_cubes: float = 1.99  # open places of a type at which that loss is down to 1/e
    supply_weight: float = 0.04  # lost for each cube that the supply is short of
    supply_wanted: float = 6.07  # cubes the supply should hold
    complete_weight: float = 1.08  # share of its book's worth that a complete tower is worth
    sale_weight: float = 0.524  # share that counts of what this turn's sale brings beyond the usual
    end_days: float = 2.79  # days before the end within which room, hand and supply matter less


def value_tables(t: Tables, params: HindsightParams) -> Arrays:
    """The parameters worked out for every day, as ``worth`` looks them up."""
    required = t.requires.sum(axis=1)
    most = int(required.max())
    days_left = np.arange(t.days + 2, dtype=float)
    missing = np.arange(most + 1)
    progress = np.zeros((t.towers, most + 1))
    for tower, need in enumerate(required):
        progress[tower, : need + 1] = (1 - missing[: need + 1] / need) ** params.tower_convexity
    progress[:, 0] *= params.complete_weight
    spare = days_left[:, None] - params.days_to_sell - params.days_per_cube * missing
    in_time = _sigmoid(spare / params.tower_softness)
    in_time[0] = 0.0
    open_slots = np.arange(t.slots + 1)
    bonus = _sigmoid(
        (days_left[:, None] - params.days_per_slot * open_slots) / params.bonus_softness
    )
    bonus[days_left[:, None] < open_slots] = 0.0
    later = 1 - np.exp(-days_left / params.end_days)
    places = int(t.requires.sum(axis=0).max())
    room = -params.room_weight * np.exp(-np.arange(places + 1) / params.room_cubes)
    usual = params.price_weight * float(t.price[:-1].mean()) / t.florins_per_vp
    scale = np.zeros(5)
    scale[[BOOK, SLOT, FLORIN]] = t.vp_per_book + usual, params.slot_weight, 1 / t.florins_per_vp
    scale[[USUAL, SALE]] = usual, params.sale_weight
    short = np.maximum(params.supply_wanted - np.arange(t.cubes + 1), 0.0)
    return Arrays(
        {
            "progress": progress,
            "in_time": in_time,
            "bonus": params.bonus_weight * bonus,
            "room": later[:, None] * room,
            "supply": -params.supply_weight * later[:, None] * short,
            "hand": later * params.hand_cube,
            "scale": scale,
        }
    )


def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(np.minimum(-x, 500.0)))


@compiled_apart
def worth(t: Any, v: Any, s: Any, i: int, days_left: int, starting: bool) -> float:
    """The worth of row ``i``.

    ``starting``: the turn is at its start, its sale still to come, and ``days_left`` counts it.
    """
    prestige = s.prestige[i]
    total = float(s.score[i]) + float(s.florins[i] % t.florins_per_vp) * v.scale[FLORIN]
    open_slots = 0
    for j in range(t.slot_count[prestige]):
        if not s.slots_filled[i, j]:
            open_slots += 1
    following = 0.0
    if open_slots > 0:
        bonus = float(t.bonus[prestige])
        total += bonus * v.bonus[days_left, open_slots]
        following = bonus * (v.bonus[days_left, open_slots - 1] - v.bonus[days_left, open_slots])
    for tower in range(t.towers):
        missing, placed = 0, 0
        for k in range(t.types):
            placed += s.filled[i, tower, k]
            missing += t.requires[tower, k] - s.filled[i, tower, k]
        if placed > 0:
            book = v.scale[BOOK]
            if s.next_slot[i, tower] > 0:
                book += v.scale[SLOT] * s.next_slot[i, tower] + following
            total += book * v.progress[tower, missing] * v.in_time[days_left, missing]
    for k in range(t.types):
        places = 0
        for tower in range(t.towers):
            places += t.requires[tower, k] - s.filled[i, tower, k]
        total += v.room[days_left, places]
    total += v.supply[days_left, s.supply[i]]
    cubes = 0
    for n in range(t.hand_size):
        card, most = s.hand[i, n], 0
        if card == t.cards:
            break
        for tower in range(t.towers):
            fits = 0
            for k in range(t.types):
                fits += min(t.artisans[card, k], t.requires[tower, k] - s.filled[i, tower, k])
            most = max(most, fits)
        cubes += most
    total += v.hand[days_left] * cubes
    return total + v.scale[SALE] * sale_gain(t, v, s, i) if starting else total


@compiled_apart
def sale_gain(t: Any, v: Any, s: Any, i: int) -> float:
    """By how much the first offer of this turn's sale exceeds the usual price; 0 if there is no
    such sale."""
    left = t.hand_size + s.deck_left[i]
    if s.deck_left[i] < 2:  # what comes after a shuffle isn't looked at
        return 0.0
    offer = t.price[s.deck[i, left - 2], t.coin[s.deck[i, left - 1]]]
    gain = offer * v.scale[FLORIN] - v.scale[USUAL]
    if gain <= 0.0:
        return 0.0
    best = 0.0
    for space in range(t.spaces):
        if s.lacks[i, t.board[space]] == 0:
            walk = t.distance[s.librarian[i], space]
            if walk <= s.florins[i]:
                best = max(best, gain - walk * v.scale[FLORIN])
    return best
