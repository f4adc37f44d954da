"""The greedy agent of Bibliogamo: every choice looks for the position that is worth most.

Worth is that of ``bibliogamo_worth``. A sale is weighed by an optimal-stopping programme over the
set of cards that may be flipped; hires are planned two at a time with their payments and the lift
of the ban. Only what a player may know is used, and nothing is drawn at random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.bibliogamo_worth import (
    GreedyParams,
    landing_worth,
    look_ahead,
    position_worth,
    read_scene,
    room_worth,
    supply_worth,
    tower_worth,
)
from incunabula.agents.compiled import compiled

TRAVEL, SELL, PRICE, HIRE = 0, 1, 2, 3  # phases, as in envs/bibliogamo/state.py
NEVER = -1e9  # worth of what can't be done
LONGEST_WAIT = 6  # days of waiting that the stopping programme looks ahead

# Sales ------------------------------------------------------------------------------------------


@compiled
def worth_of_day(params: Any, days_left: int) -> float:
    """What a day more of hires is worth."""
    if days_left <= 1:
        return 0.0
    return float(params.day_worth * (1.0 - np.exp(-(days_left - 1) / params.day_softness)))


@compiled
def worth_once_sold(params: Any, scene: Any, tower: int, space: int, florins: int) -> Any:
    """Worth after selling ``tower`` at ``space`` for nothing, after 0, 1, .. more days of waiting;
    float (waits + 1,)."""
    slots, missing, places = scene.slots.copy(), scene.missing.copy(), scene.places.copy()
    missing[tower] = scene.required[tower]
    for k in range(len(places)):
        places[k] += scene.requires[tower, k]
    now, chosen = scene.vp_per_book, -1
    for j in range(len(slots)):  # R14: the highest-VP open slot
        fits = scene.slot_tower[j] == tower and not slots[j]
        if fits and (chosen < 0 or scene.slot_vp[j] > scene.slot_vp[chosen]):
            chosen = j
    if chosen >= 0:
        slots[chosen] = True
        now += scene.slot_vp[chosen]
    supply = scene.supply + scene.required[tower]
    books = np.empty(len(missing))
    worths = np.empty(min(LONGEST_WAIT, max(scene.days_left, 0)) + 1)
    for wait in range(len(worths)):
        days_left = scene.days_left - wait
        horizon = look_ahead(params, scene, slots, days_left, books)
        worths[wait] = now + position_worth(
            params, scene, horizon, books, missing, places, supply, space, florins
        )
        now -= worth_of_day(params, days_left)
    return worths


@compiled
def offer_worth(scene: Any, offer: int, florins: int) -> float:
    """Florins offered, in VP."""
    if scene.florin_cap >= 0:
        offer = min(offer, max(scene.florin_cap - florins, 0))  # R2
    return offer * scene.per_florin


@compiled
def flip_worth(scene: Any, coin: int, worths: Any, first: int, florins: int) -> float:
    """Expected worth of flipping a card for its price in ``coin`` after ``first`` days of waiting,
    and stopping when that is best. Prices come from the set of cards that may be flipped next."""
    best = NEVER
    cards = len(scene.coins)
    for wait in range(len(worths) - 1, first - 1, -1):
        total = 0.0
        for card in range(cards):
            worth = offer_worth(scene, scene.prices[card, coin], florins) + worths[wait]
            total += max(worth, best)
        if cards > 0:
            best = total / cards
    return best


@compiled
def sale_worth(params: Any, scene: Any, tower: int, space: int, florins: int) -> float:
    """Expected worth of selling this turn, before the first flip (step 4b)."""
    worths = worth_once_sold(params, scene, tower, space, florins)
    count = np.zeros(scene.prices.shape[1], np.int64)
    for coin in scene.coins:
        count[coin] += 1
    total = 0.0
    for coin in range(len(count)):
        if count[coin] > 0:
            total += count[coin] * flip_worth(scene, coin, worths, 0, florins)
    return total / len(scene.coins) if len(scene.coins) > 0 else NEVER


@compiled
def travel_action(params: Any, scene: Any, librarian: int, board: Any, can_flip: bool) -> int:
    """Step 4a: stay (0), or walk to a space (1 + space) to sell there or to go on from."""
    books = np.empty(len(scene.missing))
    horizon = look_ahead(params, scene, scene.slots, scene.days_left, books)
    action, best, spaces = 0, NEVER, len(board)
    for step in range(spaces):  # staying first: it wins ties
        space = (librarian + step) % spaces
        walk = min(step, spaces - step)
        if walk > scene.florins:
            continue
        florins, tower = scene.florins - walk, int(board[space])
        worth = position_worth(
            params,
            scene,
            horizon,
            books,
            scene.missing,
            scene.places,
            scene.supply,
            space,
            florins,
        )
        if can_flip and scene.missing[tower] == 0:
            worth = max(worth, sale_worth(params, scene, tower, space, florins))
        worth -= (params.walk_weight - 1.0) * walk * scene.per_florin
        if worth > best:
            action, best = (1 + space if step > 0 else 0), worth
    return action


@compiled
def wants_sale(params: Any, scene: Any, librarian: int, tower: int) -> bool:
    """Step 4b: whether to sell at the librarian's space."""
    books = np.empty(len(scene.missing))
    horizon = look_ahead(params, scene, scene.slots, scene.days_left, books)
    keeping = position_worth(
        params,
        scene,
        horizon,
        books,
        scene.missing,
        scene.places,
        scene.supply,
        librarian,
        scene.florins,
    )
    return sale_worth(params, scene, tower, librarian, scene.florins) >= keeping


@compiled
def wants_wait(params: Any, scene: Any, librarian: int, tower: int, coin: int, offer: int) -> bool:
    """Step 4b: whether to pay a day for another price."""
    if scene.days_left <= 0 or len(scene.coins) == 0:  # R10: no card to flip
        return False
    worths = worth_once_sold(params, scene, tower, librarian, scene.florins)
    accepting = offer_worth(scene, offer, scene.florins) + worths[0]
    return flip_worth(scene, coin, worths, 1, scene.florins) > accepting


# Hires ------------------------------------------------------------------------------------------


class Hand(NamedTuple):
    """Cards in hand, n of them, and the ban."""

    artisans: npt.NDArray[np.int64]  # (n, K)
    banned: npt.NDArray[np.bool_]  # (n,) may not be hired unless the ban is lifted (R4)
    lifts: npt.NDArray[np.bool_]  # (n,) can lift it


class Hires(NamedTuple):
    """Every hire that places a cube, m of them."""

    slot: npt.NDArray[np.int64]  # (m,) place of the card in the hand
    tower: npt.NDArray[np.int64]  # (m,)
    placed: npt.NDArray[np.int64]  # (m, K) cubes of each type
    cubes: npt.NDArray[np.int64]  # (m,) cubes in all
    gain: npt.NDArray[np.float64]  # (m,) by how much the tower is worth more


@compiled
def read_hand(tables: Any, public: Any, row: int) -> Hand:
    """The hand of game ``row``."""
    hand, banned = public.hand[row], public.banned[row]
    types, n = tables.requires.shape[1], 0
    while n < len(hand) and hand[n] < len(tables.move) - 1:
        n += 1
    artisans = np.empty((n, types), np.int64)
    is_banned, lifts = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for i in range(n):
        artisans[i] = tables.artisans[hand[i]]
        if banned >= 0:
            is_banned[i] = artisans[i, banned] > 0  # R12
            lifts[i] = tables.lifts_per_turn > 0 and tables.icon[hand[i]] == banned
    return Hand(artisans, is_banned, lifts)


@compiled
def without(hand: Any, gone: int) -> Hand:
    """The hand less one card."""
    rest = np.arange(len(hand.banned)) != gone
    return Hand(hand.artisans[rest], hand.banned[rest], hand.lifts[rest])


@compiled
def place_cubes(artisans: Any, lacking: Any, supply: int, placed: Any) -> int:
    """Cubes that a hire places, by type into ``placed`` (R13); returns how many in all."""
    left = supply
    for k in range(len(lacking)):
        placed[k] = min(min(artisans[k], lacking[k]), left)
        left -= placed[k]
    return supply - left


@compiled
def list_hires(
    params: Any, scene: Any, horizon: Any, books: Any, artisans: Any, lacking: Any
) -> Hires:
    """The hires of a hand's cards; ``lacking`` int (T, K)."""
    towers, types = lacking.shape
    cards, m = len(artisans), 0
    slot, tower_of = np.empty(cards * towers, np.int64), np.empty(cards * towers, np.int64)
    placed, cubes = np.empty((cards * towers, types), np.int64), np.empty(cards * towers, np.int64)
    gain = np.empty(cards * towers)
    for tower in range(towers):
        missing, required, book = scene.missing[tower], scene.required[tower], books[tower]
        if missing == 0:
            continue
        before = tower_worth(params, horizon, book, missing, required)
        for i in range(cards):
            count = place_cubes(artisans[i], lacking[tower], scene.supply, placed[m])
            if count > 0:  # R8
                slot[m], tower_of[m], cubes[m] = i, tower, count
                gain[m] = tower_worth(params, horizon, book, missing - count, required) - before
                m += 1
    return Hires(slot[:m], tower_of[:m], placed[:m], cubes[:m], gain[:m])


@compiled
def cheapest(kept: Any, able: Any, a: int, b: int, c: int, d: int) -> int:
    """The card worth least among those able, but for a, b, c and d (-1: none); -1 if none is."""
    found = -1
    for i in range(len(kept)):
        free = able[i] and i != a and i != b and i != c and i != d
        if free and (found < 0 or kept[i] < kept[found]):
            found = i
    return found


@compiled
def discard_cards(kept: Any, lifts: Any, a: int, b: int, lifting: bool) -> tuple[float, int]:
    """Worth of the cards that leave the hand with hires of a and b (-1: of a only), and which card
    lifts the ban (-1: none). NEVER if the hand is too small or can't lift."""
    anyone = np.ones(len(kept), np.bool_)
    lifter, worth = -1, kept[a]
    if lifting:
        lifter = cheapest(kept, lifts, a, b, -1, -1)
        if lifter < 0:
            return NEVER, -1
        worth += kept[lifter]
    payer = cheapest(kept, anyone, a, b, lifter, -1)
    if payer < 0:
        return NEVER, -1
    worth += kept[payer]
    if b >= 0:
        second = cheapest(kept, anyone, a, b, lifter, payer)
        if second < 0:
            return NEVER, -1
        worth += kept[second] + kept[b]
    return worth, lifter


@compiled
def best_plan(
    params: Any, scene: Any, hand: Any, filled: Any, librarian: int, hires_left: int
) -> tuple[float, int, int, int]:
    """The best hires with this hand: (worth, lifter, card, tower), -1 for none; card and lifter
    are places in the hand.

    At most two hires ahead, each paid for with the cards worth least, the ban lifted if it must
    be. Worth leaves out what no hire changes.
    """
    books = np.empty(len(scene.missing))
    horizon = look_ahead(params, scene, scene.slots, scene.days_left, books)
    reach, landing, florins, per_florin = (
        scene.reach,
        scene.landing,
        scene.florins,
        scene.per_florin,
    )
    lacking = np.empty(filled.shape, np.int64)
    lacking[:] = scene.requires - filled
    missing, required, places, supply = scene.missing, scene.required, scene.places, scene.supply
    cards, types = hand.artisans.shape
    hires = list_hires(params, scene, horizon, books, hand.artisans, lacking)
    room = np.empty(places.max() + 1)
    for n in range(len(room)):
        room[n] = room_worth(params, horizon, n)
    kept = np.zeros(cards)  # worth of keeping each card rather than drawing another
    for h in range(len(hires.slot)):
        kept[hires.slot[h]] = max(kept[hires.slot[h]], hires.gain[h])
    kept = horizon.later * (params.keep_weight * kept - params.fresh_card)
    complete = missing == 0
    resting = landing_worth(
        params, horizon, books, complete, reach, landing, librarian, florins, per_florin
    )
    best = supply_worth(params, horizon, supply) + resting + kept.sum()
    for k in range(types):
        best += room[places[k]]
    kept_all, lifter, card, into = kept.sum(), -1, -1, -1
    second, rest = np.zeros(types, np.int64), np.zeros(types, np.int64)
    if hires_left <= 0 or cards < 2:
        return best, lifter, card, into
    for a in range(len(hires.slot)):
        for b in range(a, len(hires.slot) if hires_left > 1 and cards >= 4 else a + 1):
            pair = b > a  # else one hire only
            if pair and hires.slot[a] == hires.slot[b]:
                continue
            other = hires.slot[b] if pair else -1
            lifting = hand.banned[hires.slot[a]] or (pair and hand.banned[other])
            cost, lift = discard_cards(kept, hand.lifts, hires.slot[a], other, lifting)
            if cost == NEVER:
                continue
            cubes, gain, tower = hires.cubes[a], hires.gain[a], hires.tower[a]
            done, second_done = hires.cubes[a] == missing[tower], False
            second[:] = 0
            if pair and hires.tower[b] == tower:
                for k in range(types):
                    rest[k] = lacking[tower, k] - hires.placed[a, k]
                more = place_cubes(hand.artisans[other], rest, supply - cubes, second)
                if more == 0:
                    continue
                left = missing[tower] - cubes
                gain -= tower_worth(params, horizon, books[tower], left, required[tower])
                gain += tower_worth(params, horizon, books[tower], left - more, required[tower])
                cubes += more
                done = left == more
            elif pair:
                cubes += hires.cubes[b]
                if cubes > supply:
                    continue
                second[:] = hires.placed[b]
                gain += hires.gain[b]
                second_done = hires.cubes[b] == missing[hires.tower[b]]
            worth = gain + kept_all - cost + supply_worth(params, horizon, supply - cubes)
            for k in range(types):
                worth += room[places[k] - hires.placed[a, k] - second[k]]
            if done or second_done:
                complete[tower] = done
                complete[hires.tower[b]] |= second_done
                worth += landing_worth(
                    params, horizon, books, complete, reach, landing, librarian, florins, per_florin
                )
                complete[tower] = False
                complete[hires.tower[b]] = False
            else:
                worth += resting
            if worth > best:
                best, lifter, card, into = worth, lift, hires.slot[a], tower
    return best, lifter, card, into


@compiled
def cheapest_payment(
    params: Any, scene: Any, hand: Any, filled: Any, librarian: int, hires_left: int
) -> int:
    """Step 4c: the card without which the rest of the turn is worth most."""
    chosen, best = 0, NEVER
    for i in range(len(hand.banned)):
        plan = best_plan(params, scene, without(hand, i), filled, librarian, hires_left)
        if plan[0] > best:
            chosen, best = i, plan[0]
    return chosen


# The agent --------------------------------------------------------------------------------------


@compiled
def greedy_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """The agent's action in game ``row``, which must not be over; always legal.

    ``tables``: Tables; ``public``: PublicState; ``params``: GreedyParams.
    """
    scene = read_scene(tables, public, row, params)
    phase, librarian = public.phase[row], int(public.librarian[row])
    tower = int(tables.board[librarian])
    spaces, towers, hand_size = len(tables.board), len(scene.missing), tables.hand_size
    keep, accept, first_hire = 1 + spaces, 3 + spaces, 5 + spaces  # see actions.py
    first_lift = first_hire + hand_size * towers
    if phase == TRAVEL:
        loose = (public.place[row] == 0).sum() + public.deck_left[row]
        return travel_action(params, scene, librarian, tables.board, loose >= 2)
    if phase == SELL:
        return keep + 1 if wants_sale(params, scene, librarian, tower) else keep
    if phase == PRICE:
        display, last = public.display[row], public.display_len[row] - 1
        coin = int(tables.coin[display[0]])
        offer = int(tables.price[display[last], coin])
        return accept + 1 if wants_wait(params, scene, librarian, tower, coin, offer) else accept
    hand, filled = read_hand(tables, public, row), public.filled[row]
    hires_left = int(public.hires_left[row])
    if phase == HIRE:
        plan = best_plan(params, scene, hand, filled, librarian, hires_left)
        if plan[1] >= 0:
            return first_lift + plan[1]
        if plan[2] >= 0:
            return first_hire + plan[2] * towers + plan[3]
        return first_lift + 2 * hand_size
    chosen = cheapest_payment(params, scene, hand, filled, librarian, hires_left)
    return first_lift + hand_size + chosen


@compiled
def greedy_actions(tables: Any, public: Any, rows_out: Any, params: Any) -> None:
    """Write the action of every game into ``rows_out``, int (N,)."""
    for row in range(len(rows_out)):
        rows_out[row] = greedy_action(tables, public, row, params)


class GreedyBibliogamo(Agent):
    """The greedy agent; it has no seed, as it draws nothing."""

    name = "greedy"

    def __init__(self, params: GreedyParams | None = None) -> None:
        self.params = GreedyParams() if params is None else params

    def act(self, view: View) -> npt.NDArray[np.intp]:
        """Actions, intp (n,)."""
        actions = np.zeros(len(view), np.intp)
        greedy_actions(view.tables, view.public, actions, self.params)
        return actions
