"""The greedy agent of Bibliogamo: every choice looks for the position that is worth most.

Worth is that of ``bibliogamo_worth``. A sale is weighed by an optimal-stopping programme over the
set of cards that may be flipped; hires are planned two at a time with their payments and the lift
of the ban. Only what a player may know is used, and nothing is drawn at random.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.bibliogamo_worth import (
    GreedyParams,
    landing_worth,
    look_ahead,
    pair_room_worth,
    position_worth,
    read_scene,
    room_worth,
    supply_worth,
    tower_worth,
)
from incunabula.envs.compiled.functions import compiled, compiled_apart, compiled_once

TRAVEL, SELL, PRICE, PAY = 0, 1, 2, 4  # phases, as in envs/bibliogamo/state.py
NEVER = -1e9  # worth of what can't be done
LONGEST_WAIT = 4  # days of waiting that the stopping programme looks ahead

# Sales ------------------------------------------------------------------------------------------


@compiled
def worth_of_day(params: Any, days_left: int) -> float:
    """What a day more of hires is worth."""
    if days_left <= 1:
        return 0.0
    return params.day_worth * (1.0 - exp(-(days_left - 1) / params.day_softness))


@compiled
def worth_once_sold(params: Any, scene: Any, tower: int, space: int, florins: int) -> Any:
    """Worth after selling ``tower`` at ``space`` for nothing, after 0, 1, .. more days of waiting;
    float (waits + 1,)."""
    slots, missing = scene.slots.copy(), scene.missing.copy()
    places, wide = scene.places.copy(), scene.wide.copy()
    missing[tower] = scene.required[tower]
    for k in range(len(places)):
        places[k] += scene.requires[tower, k]
        wide[k] += 1 if scene.requires[tower, k] >= 2 else 0
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
            params, scene, horizon, books, missing, places, wide, supply, space, florins
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
def best_space(
    params: Any, scene: Any, board: Any, librarian: int, farthest: int
) -> tuple[int, bool]:
    """Where to take the librarian, at most ``farthest`` spaces away, and whether to sell there."""
    books = np.empty(len(scene.missing))
    horizon = look_ahead(params, scene, scene.slots, scene.days_left, books)
    chosen, selling, best, spaces = librarian, False, NEVER, len(board)
    for step in range(spaces):  # staying first: it wins ties
        walk = min(step, spaces - step)
        if walk > farthest:
            continue
        space, florins = (librarian + step) % spaces, scene.florins - walk
        tower = np.int64(board[space])
        worth, sells = NEVER, False
        if scene.can_sell and scene.missing[tower] == 0:
            worth, sells = sale_worth(params, scene, tower, space, florins), True
        keeping = position_worth(
            params,
            scene,
            horizon,
            books,
            scene.missing,
            scene.places,
            scene.wide,
            scene.supply,
            space,
            florins,
        )
        if keeping > worth:
            worth, sells = keeping, False
        worth -= (params.walk_weight - 1.0) * walk * scene.per_florin
        if worth > best:
            chosen, selling, best = space, sells, worth
    return chosen, selling


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
def read_hand(hand: Any, banned: int, artisans: Any, icon: Any, can_lift: bool) -> Hand:
    """The cards of a hand, int (H,), whose empty slots at the end hold the number of cards."""
    types, n = artisans.shape[1], 0
    while n < len(hand) and hand[n] < len(icon) - 1:
        n += 1
    hires = np.zeros((n, types), np.int64)
    is_banned, lifts = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for i in range(n):
        for k in range(types):
            hires[i, k] = artisans[hand[i], k]
        if banned >= 0:
            is_banned[i] = hires[i, banned] > 0  # R12
            lifts[i] = can_lift and icon[hand[i]] == banned
    return Hand(hires, is_banned, lifts)


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
    params: Any, scene: Any, horizon: Any, books: Any, artisans: Any, gone: int
) -> Hires:
    """The hires of a hand's cards but for ``gone``."""
    lacking = scene.lacking
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
            if i == gone:
                continue
            count = place_cubes(artisans[i], lacking[tower], scene.supply, placed[m])
            if count > 0:  # R8
                slot[m], tower_of[m], cubes[m] = i, tower, count
                gain[m] = tower_worth(params, horizon, book, missing - count, required) - before
                m += 1
    return Hires(slot[:m], tower_of[:m], placed[:m], cubes[:m], gain[:m])


@compiled
def discard_cards(
    kept: Any, order: Any, lifts: Any, a: int, b: int, lifting: bool
) -> tuple[float, int]:
    """Worth of the cards that leave the hand with hires of a and b (-1: of a only), and which card
    lifts the ban (-1: none). NEVER if the hand is too small or can't lift.

    Those worth least pay; ``order``: the cards by worth.
    """
    lifter, payers, worth = -1, 1, kept[a]
    if b >= 0:
        payers, worth = 2, worth + kept[b]
    if lifting:
        for n in range(len(order)):
            i = order[n]
            if lifts[i] and i != a and i != b:
                lifter = i
                break
        if lifter < 0:
            return NEVER, -1
        worth += kept[lifter]
    for n in range(len(order)):
        i = order[n]
        if payers > 0 and i != a and i != b and i != lifter:
            worth += kept[i]
            payers -= 1
    return (worth, lifter) if payers == 0 else (NEVER, -1)


@compiled
def order_cards(kept: Any, gone: int) -> Any:
    """The cards but for ``gone``, by what keeping each is worth."""
    order, n = np.empty(len(kept), np.int64), 0
    for i in range(len(kept)):
        if i != gone:
            at = n
            while at > 0 and kept[order[at - 1]] > kept[i]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
            n += 1
    return order[:n]


@compiled
def hire_both(
    params: Any,
    horizon: Any,
    books: Any,
    missing: Any,
    required: Any,
    supply: int,
    artisans: Any,
    lacking: Any,
    hires: Any,
    a: int,
    b: int,
    placed: Any,
) -> tuple[int, float]:
    """Cubes that hires a and b place one after the other (b = a: a alone), by type into
    ``placed`` (K,), and the towers' gain. 0 cubes if it can't be done."""
    tower, cubes, gain = hires.tower[a], hires.cubes[a], hires.gain[a]
    for k in range(len(placed)):
        placed[k] = hires.placed[a, k]
    if b == a:
        return cubes, gain
    left, more = supply - cubes, 0
    if hires.tower[b] != tower:
        for k in range(len(placed)):
            placed[k] += hires.placed[b, k]
        more = hires.cubes[b]
        return (cubes + more, gain + hires.gain[b]) if more <= left else (0, 0.0)
    for k in range(len(placed)):
        count = min(min(artisans[hires.slot[b], k], lacking[tower, k] - placed[k]), left)
        placed[k] += count
        left -= count
        more += count
    if more == 0:
        return 0, 0.0
    lack, need, book = missing[tower] - cubes, required[tower], books[tower]
    gain -= tower_worth(params, horizon, book, lack, need)
    gain += tower_worth(params, horizon, book, lack - more, need)
    return cubes + more, gain


@compiled
def narrows(lack: int, count: int) -> int:
    """1 if a tower that could take two more of a type no longer can after ``count`` more."""
    return 1 if lack >= 2 and lack - count < 2 else 0


@compiled
def best_plan(
    params: Any, scene: Any, hand: Any, librarian: int, hires_left: int, gone: int
) -> tuple[float, int, int, int]:
    """The best hires with this hand, without its card ``gone`` (-1: none is gone).

    Returns (worth, lifter, card, tower), -1 for none; lifter and card are places in the hand.
    Worth leaves out what no hire changes. At most two hires ahead, each paid for with the cards
    worth least, the ban lifted if it must be.
    """
    missing, lacking, supply, types = scene.missing, scene.lacking, scene.supply, len(scene.places)
    books, complete = np.empty(len(missing)), np.empty(len(missing), np.bool_)
    horizon = look_ahead(params, scene, scene.slots, scene.days_left, books)
    hires = list_hires(params, scene, horizon, books, hand.artisans, gone)
    kept = np.zeros(len(hand.banned))  # worth of keeping each card rather than drawing another
    for h in range(len(hires.slot)):
        kept[hires.slot[h]] = max(kept[hires.slot[h]], hires.gain[h])
    for i in range(len(kept)):
        kept[i] = horizon.later * (params.keep_weight * kept[i] - params.fresh_card)
    order = order_cards(kept, gone)
    room, pair_room = np.empty(scene.places.max() + 1), np.empty(len(missing) + 1)
    for n in range(len(room)):
        room[n] = room_worth(params, horizon, n)
    for n in range(len(pair_room)):
        pair_room[n] = pair_room_worth(params, horizon, n)
    for tower in range(len(missing)):
        complete[tower] = missing[tower] == 0
    resting = landing_worth(params, scene, horizon, books, complete, librarian, scene.florins)
    hand_worth = 0.0
    for i in order:
        hand_worth += kept[i]
    best, lifter, card, into = hand_worth + resting, -1, -1, -1
    best += supply_worth(params, horizon, supply)
    for k in range(types):
        best += room[scene.places[k]] + pair_room[scene.wide[k]]
    placed = np.zeros(types, np.int64)
    for a in range(len(hires.slot) if hires_left > 0 else 0):
        for b in range(a, len(hires.slot) if hires_left > 1 else a + 1):  # b = a: one hire only
            first, other = hires.slot[a], hires.slot[b] if b > a else np.int64(-1)
            if first == other:
                continue
            lifting = hand.banned[first] or (b > a and hand.banned[other])
            cost, lift = discard_cards(kept, order, hand.lifts, first, other, lifting)
            if cost == NEVER:
                continue
            cubes, gain = hire_both(
                params,
                horizon,
                books,
                missing,
                scene.required,
                supply,
                hand.artisans,
                lacking,
                hires,
                a,
                b,
                placed,
            )
            if cubes == 0:
                continue
            worth, one, two = hand_worth - cost + gain, hires.tower[a], hires.tower[b]
            complete[one] = missing[one] == (cubes if one == two else hires.cubes[a])
            complete[two] = complete[two] or (one != two and missing[two] == hires.cubes[b])
            if complete[one] or complete[two]:
                worth += landing_worth(
                    params, scene, horizon, books, complete, librarian, scene.florins
                )
                complete[one], complete[two] = False, False
            else:
                worth += resting
            if worth <= best:
                continue  # the rest is never positive
            worth += supply_worth(params, horizon, supply - cubes)
            for k in range(types):
                count = placed[k] if one == two else hires.placed[a, k]
                narrowed = narrows(lacking[one, k], count)
                narrowed += narrows(lacking[two, k], placed[k] - count)
                worth += room[scene.places[k] - placed[k]] + pair_room[scene.wide[k] - narrowed]
            if worth > best:
                best, lifter, card, into = worth, lift, first, one
    return best, lifter, card, into


@compiled
def plan_turn(
    params: Any, scene: Any, hand: Any, librarian: int, hires_left: int, paying: bool
) -> tuple[int, int, int, int]:
    """Step 4c: (payer, lifter, card, tower), -1 for none.

    The payer is the card without which the rest of the turn is worth most.
    """
    payer, lifter, card, into, best = -1, -1, -1, -1, NEVER
    for gone in range(0 if paying else -1, len(hand.banned) if paying else 0):
        worth, lift, first, tower = best_plan(params, scene, hand, librarian, hires_left, gone)
        if worth > best:
            payer, lifter, card, into, best = gone, lift, first, tower, worth
    return payer, lifter, card, into


# The agent --------------------------------------------------------------------------------------


@compiled_once
def greedy_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """The agent's action in game ``row``, which must not be over; always legal.

    ``tables`` and ``public`` as ``View.arrays`` has them; ``params``: GreedyParams.
    """
    scene = read_scene(tables, public, row, params)
    phase, librarian = public.phase[row], np.int64(public.librarian[row])
    spaces, towers, hand_size = len(scene.landing), len(scene.missing), tables.hand_size
    walk, keep, accept, hire = 1, 1 + spaces, 3 + spaces, 5 + spaces  # see actions.py
    lift = hire + hand_size * towers
    if phase in (TRAVEL, SELL):
        farthest = scene.florins if phase == TRAVEL else np.int64(0)
        space, sells = best_space(params, scene, tables.board, librarian, farthest)
        if phase == SELL:
            return keep + 1 if sells else keep
        return walk + space if space != librarian else 0
    if phase == PRICE:
        display, last = public.display[row], public.display_len[row] - 1
        coin, tower = np.int64(tables.coin[display[0]]), np.int64(tables.board[librarian])
        offer = np.int64(tables.price[display[last], coin])
        return accept + 1 if wants_wait(params, scene, librarian, tower, coin, offer) else accept
    banned, can_lift = np.int64(public.banned[row]), tables.lifts_per_turn > 0
    hand = read_hand(public.hand[row], banned, tables.artisans, tables.icon, can_lift)
    hires_left = np.int64(public.hires_left[row])
    payer, lifter, card, into = plan_turn(params, scene, hand, librarian, hires_left, phase == PAY)
    if phase == PAY:
        return lift + hand_size + payer
    if lifter >= 0:
        return lift + lifter
    return hire + card * towers + into if card >= 0 else lift + 2 * hand_size  # or end


@compiled_apart
def greedy_actions(tables: Any, public: Any, rows: Any, actions: Any, params: Any) -> None:
    """Write the action in each of these rows, (n,), into ``actions``, int (n,)."""
    for k in range(len(rows)):
        actions[k] = greedy_action(tables, public, rows[k], params)


@compiled_apart
def prepare(t: Any, policy: Any) -> Any:
    """For rollouts: the parameters."""
    return policy


@compiled_apart
def choose(t: Any, p: Any, i: int, mask: Any, ready: Any, stream: Any, decision: int) -> int:
    """For rollouts: the agent's action."""
    return greedy_action(t, p, i, ready)


class GreedyBibliogamo(Agent):
    """The greedy agent; it has no seed, as it draws nothing."""

    name = "greedy"

    def __init__(self, params: GreedyParams | None = None) -> None:
        self.params = GreedyParams() if params is None else params

    def act(self, view: View) -> npt.NDArray[np.intp]:
        """Actions, intp (n,)."""
        actions = np.zeros(len(view), np.intp)
        greedy_actions(*view.arrays, actions, self.params)
        return actions
