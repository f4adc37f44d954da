"""What a position of Bibliogamo is worth to the greedy agent, in VP.

The worth is a sum of named parts: florins, each tower (a sharp function of the cubes it lacks and
of the days left), the sale that the librarian can make next turn, the expected completion bonus,
room in the towers for every type, cubes in the supply. Functions in numba's subset: see
``compiled``. Sizes: T towers, K types, S spaces, L slots, Q coins.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.compiled.functions import compiled

DISCARD, DECK = 0, 3  # places of a card, as in envs/bibliogamo/state.py


class GreedyParams(NamedTuple):
    """What the agent believes, tuned on the default edition. VP unless another unit is given."""

    price_weight: float = 0.63  # share of the mean price that a book still to be made is worth
    slot_weight: float = 0.803  # share of its best open slot's VP that such a book is worth
    days_per_slot: float = 2.32  # days each open slot takes, in judging the bonus
    bonus_softness: float = 4.79  # days over which the bonus becomes doubtful
    tower_convexity: float = 1.26  # power of a tower's progress (share of its cubes placed)
    days_per_cube: float = 0.181  # days that a missing cube takes
    days_to_sell: float = 1.24  # days between completing a tower and selling
    tower_softness: float = 0.464  # days over which "too late" sets in
    complete_weight: float = 1.07  # share of its book's worth that a complete tower is worth
    sale_urgency: float = 0.606  # gained by selling next turn rather than later
    end_days: float = 1.77  # days before the end within which later is no longer as good
    room_weight: float = 1.0  # lost when no tower lacks a type
    room_cubes: float = 1.23  # open places of a type at which that loss is down to 1/e
    pair_weight: float = 0.338  # lost when no tower lacks two of a type
    pair_towers: float = 1.04  # towers lacking two of it at which that loss is down to 1/e
    supply_weight: float = 0.132  # lost for each cube that the supply is short of
    supply_wanted: float = 5.28  # cubes the supply should hold
    keep_weight: float = 0.326  # share of its best hire that a card kept in hand is worth
    fresh_card: float = 0.149  # worth of a card drawn instead of one kept
    day_worth: float = 0.979  # worth of a day's hires, many days before the end
    day_softness: float = 6.19  # days before the end within which that shrinks
    purse_weight: float = 0.136  # extra worth of the first florins, share of their own
    purse_florins: float = 2.32  # florins that count as first
    walk_weight: float = 1.94  # a walked florin counts this many times


class Scene(NamedTuple):
    """What a decision looks at, read once from the public state."""

    requires: npt.NDArray[np.int16]  # (T, K)
    required: npt.NDArray[np.int64]  # (T,) cubes one book needs
    missing: npt.NDArray[np.int64]  # (T,) cubes lacking
    lacking: npt.NDArray[np.int64]  # (T, K) cubes lacking
    places: npt.NDArray[np.int64]  # (K,) cubes lacking of each type
    wide: npt.NDArray[np.int64]  # (K,) towers lacking two or more of each type
    reach: npt.NDArray[np.int64]  # (S, T) florins for the walk to the tower's nearest space
    landing: npt.NDArray[np.float64]  # (S,) chance that step 2 moves the librarian so many spaces
    prices: npt.NDArray[np.int64]  # (n, Q) of the cards that may be flipped next
    coins: npt.NDArray[np.int64]  # (n,)
    slot_tower: npt.NDArray[np.int8]  # (L,)
    slot_vp: npt.NDArray[np.int16]  # (L,)
    slots: npt.NDArray[np.bool_]  # (L,) filled
    bonus: float  # VP of the completion bonus
    book: float  # worth of a book that fills no slot, while it is still to be made
    vp_per_book: float
    per_florin: float  # VP a florin
    florin_cap: np.int64
    days_left: np.int64  # after this turn
    supply: np.int64
    florins: np.int64
    can_sell: bool  # two cards can be flipped (R10)


class Horizon(NamedTuple):
    """What the days left come to."""

    days_left: int  # after this turn
    later: float  # 0 if nothing can be done later .. 1
    bonus: float  # expected VP of the completion bonus


@compiled
def read_scene(tables: Any, public: Any, row: int, params: Any) -> Scene:
    """The scene of game ``row``."""
    requires, board, distance = tables.requires, tables.board, tables.distance
    filled, place = public.filled[row], public.place[row]
    towers, types = requires.shape
    spaces, coins = len(board), tables.price.shape[1]
    missing, required = np.zeros(towers, np.int64), np.zeros(towers, np.int64)
    lacking = np.empty((towers, types), np.int64)
    places, wide = np.zeros(types, np.int64), np.zeros(types, np.int64)
    for tower in range(towers):
        for k in range(types):
            lack = np.int64(requires[tower, k] - filled[tower, k])
            lacking[tower, k] = lack
            required[tower] += requires[tower, k]
            missing[tower] += lack
            places[k] += lack
            wide[k] += 1 if lack >= 2 else 0
    reach = np.full((spaces, towers), spaces, np.int64)  # farther than any walk
    for space in range(spaces):
        for target in range(spaces):
            tower = board[target]
            reach[space, tower] = min(reach[space, tower], np.int64(distance[space, target]))
    # The next card comes from the deck, or from the discard pile once that is shuffled (R10).
    source = DECK if public.deck_left[row] > 0 else DISCARD
    cards = len(place)
    prices, coin_of = np.empty((cards, coins), np.int64), np.empty(cards, np.int64)
    landing = np.zeros(spaces)
    florins, n, loose = 0, 0, 0
    for card in range(cards):
        loose += place[card] == DECK or place[card] == DISCARD
        for q in range(coins):
            florins += tables.price[card, q]
        if place[card] == source:
            landing[(tables.librarian_step + tables.move[card]) % spaces] += 1.0
            for q in range(coins):
                prices[n, q] = tables.price[card, q]
            coin_of[n] = tables.coin[card]
            n += 1
    if n == 0:
        landing[tables.librarian_step % spaces] = 1.0
    per_florin = 1.0 / tables.florins_per_vp
    prestige = public.prestige[row]
    return Scene(
        requires,
        required,
        missing,
        lacking,
        places,
        wide,
        reach,
        landing / max(n, 1),
        prices[:n],
        coin_of[:n],
        tables.slot_tower[prestige],
        tables.slot_vp[prestige],
        public.slots_filled[row],
        float(tables.bonus[prestige]),
        tables.vp_per_book + params.price_weight * per_florin * florins / (cards * coins),
        float(tables.vp_per_book),
        per_florin,
        np.int64(tables.florin_cap),
        np.int64(tables.days - public.time[row]),
        np.int64(public.supply[row]),
        np.int64(public.florins[row]),
        loose >= 2,
    )


@compiled
def sigmoid(x: float) -> float:
    """1/(1+e^-x), without overflow."""
    return 1.0 / (1.0 + exp(min(-x, 500.0)))


@compiled
def bonus_chance(params: Any, open_slots: int, days_left: int) -> float:
    """Chance that every slot will be filled."""
    if open_slots <= 0:
        return 1.0
    if days_left < open_slots:  # R6: one sale a turn
        return 0.0
    return sigmoid((days_left - open_slots * params.days_per_slot) / params.bonus_softness)


@compiled
def look_ahead(params: Any, scene: Any, slots: Any, days_left: int, books: Any) -> Horizon:
    """The horizon, and into ``books`` float (T,) the worth of a book of each tower."""
    later = 1.0 - exp(-(days_left - 1) / params.end_days) if days_left > 0 else 0.0
    open_slots = 0
    best = np.full(len(books), -1.0)
    books[:] = scene.book
    slot_weight = 1.0 - (1.0 - params.slot_weight) * later
    for j in range(len(slots)):
        tower = scene.slot_tower[j]
        if tower >= 0 and not slots[j]:
            open_slots += 1
            vp = float(scene.slot_vp[j])
            best[tower] = max(best[tower], vp)
    bonus = scene.bonus * bonus_chance(params, open_slots, days_left)
    share = scene.bonus * bonus_chance(params, open_slots - 1, days_left) - bonus
    for tower in range(len(books)):
        if best[tower] >= 0.0:
            books[tower] += slot_weight * best[tower] + share
    return Horizon(days_left, later, bonus)


@compiled
def tower_worth(params: Any, horizon: Any, book: float, missing: int, required: int) -> float:
    """Worth of a tower that lacks ``missing`` of its ``required`` cubes; ``book``: its book's."""
    if horizon.days_left <= 0 or missing >= required:
        return 0.0
    if missing == 0:
        return book * params.complete_weight * horizon.later
    spare = horizon.days_left - params.days_to_sell - params.days_per_cube * missing
    progress = float(1.0 - missing / required) ** params.tower_convexity
    return book * horizon.later * progress * sigmoid(spare / params.tower_softness)


@compiled
def landing_worth(
    params: Any,
    scene: Any,
    horizon: Any,
    books: Any,
    complete: Any,
    librarian: int,
    florins: int,
) -> float:
    """What next turn's sale brings, over where the librarian may land; complete bool (T,)."""
    if horizon.days_left <= 0:
        return 0.0
    spaces, towers = scene.reach.shape
    worth, urgency = 0.0, params.sale_urgency * horizon.later
    for shift in range(spaces):
        if scene.landing[shift] > 0.0:
            space, best = (librarian + shift) % spaces, 0.0
            for tower in range(towers):
                walk = scene.reach[space, tower]
                if complete[tower] and walk <= florins:
                    sale = books[tower] * (1.0 - horizon.later) + urgency - walk * scene.per_florin
                    best = max(best, sale)
            worth += scene.landing[shift] * best
    return worth


@compiled
def florins_worth(params: Any, scene: Any, florins: int) -> float:
    """Florins in VP; the first are worth more, for walking."""
    if scene.florin_cap >= 0:
        florins = min(florins, scene.florin_cap)  # R2
    extra = params.purse_weight * min(float(florins), params.purse_florins)
    return (florins + extra) * scene.per_florin


@compiled
def supply_worth(params: Any, horizon: Any, supply: int) -> float:
    """What a short supply costs."""
    return -horizon.later * params.supply_weight * max(0.0, params.supply_wanted - supply)


@compiled
def room_worth(params: Any, horizon: Any, places: int) -> float:
    """What it costs that the towers lack only so many of a type: its cards are of no use."""
    return -horizon.later * params.room_weight * exp(-places / params.room_cubes)


@compiled
def pair_room_worth(params: Any, horizon: Any, towers: int) -> float:
    """What it costs that only so many towers can take two of a type: many cards hire two."""
    return -horizon.later * params.pair_weight * exp(-towers / params.pair_towers)


@compiled
def position_worth(
    params: Any,
    scene: Any,
    horizon: Any,
    books: Any,
    missing: Any,
    places: Any,
    wide: Any,
    supply: int,
    librarian: int,
    florins: int,
) -> float:
    """Worth of a position but for its hand."""
    worth = horizon.bonus + florins_worth(params, scene, florins)
    worth += supply_worth(params, horizon, supply)
    complete = np.empty(len(missing), np.bool_)
    for tower in range(len(missing)):
        complete[tower] = missing[tower] == 0
        worth += tower_worth(params, horizon, books[tower], missing[tower], scene.required[tower])
    for k in range(len(places)):
        worth += room_worth(params, horizon, places[k])
        worth += pair_room_worth(params, horizon, wide[k])
    return worth + landing_worth(params, scene, horizon, books, complete, librarian, florins)
