"""The greedy agent of Bibliogamo: every choice looks for the position that is worth most.

A position's worth, in VP, is a sum of named parts: florins, the towers (a sharp function of the
cubes missing and the days left), the chance that the librarian comes to a complete tower, room for
the next cards, cubes in the supply, cards kept. A sale is weighed by an optimal-stopping programme
over the set of cards that will be flipped; hires are planned two at a time with their payments and
the lift of the ban. Only what a player may know is used.

Everything the choice depends on is in this one file, in numba's subset (see ``compiled``).
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.compiled import compiled

# Phases and places, as plain numbers (envs/bibliogamo/state.py).
TRAVEL, SELL, PRICE, HIRE, PAY = 0, 1, 2, 3, 4
DISCARD, DECK = 0, 3
NEVER = -1e9  # worth of what can't be done


class GreedyParams(NamedTuple):
    """What the agent believes, tuned on the default edition. VP unless another unit is given."""

    price_weight: float = 0.42  # share of the mean price that a book in planning is worth
    tower_convexity: float = 1.2525  # power of a tower's progress (share of its cubes placed)
    days_per_cube: float = 0.1895  # days a missing cube takes
    days_to_sell: float = 1.0039  # days between completing a tower and selling
    days_softness: float = 0.7133  # days over which "too late" sets in
    complete_weight: float = 1.12  # worth of a complete tower, share of its book's worth
    complete_extra: float = -0.0025  # and what is added to it
    slot_weight: float = 0.9925  # share of an open slot's VP that its book is worth
    depth_weight: float = -0.1234  # share of the same tower's further open slots
    days_per_slot: float = 2.672  # days each open slot takes, in judging the bonus
    slot_softness: float = 4.446  # days over which the bonus becomes doubtful
    deepest_weight: float = 0.0  # slots more for each open slot of the tower with the most
    sale_urgency: float = 0.5717  # gained by selling next turn rather than later
    end_days: float = 1.947  # days before the end within which later is no longer as good
    room_weight: float = 1.0249  # lost when no tower can take a type
    room_cubes: float = 1.4547  # open places of a type at which that loss is down to 1/e
    room_deck_weight: float = 0.0  # how far the deck's share of a type scales that loss
    supply_weight: float = 0.1875  # lost for each cube that the supply is short of
    supply_wanted: float = 5.0745  # cubes the supply should hold
    keep_weight: float = 0.1881  # share of its best hire that a card kept in hand is worth
    fresh_card: float = 0.2149  # worth of a card drawn instead of one kept
    day_worth: float = 1.108  # worth of a day's hires, many days before the end
    day_softness: float = 6.677  # days before the end within which it shrinks
    purse_weight: float = 0.152  # extra worth of the first florins, share of their own
    purse_florins: float = 2.2466  # how many florins count as first
    walk_weight: float = 1.7576  # a walk's florins count this many times


class Outlook(NamedTuple):
    """What follows from the days left and the open prestige slots; T towers, S spaces, K types."""

    days_left: int  # after this turn
    later: float  # 0 on the last day .. 1: how much can still be done later
    bonus: float  # expected VP of the completion bonus
    book: npt.NDArray[np.float64]  # (T,) worth of a book of each tower
    urgent: npt.NDArray[np.float64]  # (T,) gained by selling it next turn rather than later
    landing: npt.NDArray[np.float64]  # (S,) chance that the librarian next moves so many spaces
    room: npt.NDArray[np.float64]  # (K,) weight of each type's room


@compiled
def sigmoid(x: float) -> float:
    """1/(1+e^-x)."""
    return 1.0 / (1.0 + exp(-x))


@compiled
def flip_source(tables: Any, place: Any) -> int:
    """Where the next card to be flipped lies: the deck, or the pile that will be shuffled (R10)."""
    for card in range(len(tables.move) - 1):
        if place[card] == DECK:
            return DECK
    return DISCARD


@compiled
def landing_chances(tables: Any, place: Any) -> Any:
    """Chance of each total move modulo the ring at the next step 2; float (S,)."""
    spaces = len(tables.board)
    chances = np.zeros(spaces)
    source, cards = flip_source(tables, place), 0
    for card in range(len(tables.move) - 1):
        if place[card] == source:
            chances[(tables.librarian_step + tables.move[card]) % spaces] += 1.0
            cards += 1
    if cards == 0:
        chances[tables.librarian_step % spaces] = 1.0
        return chances
    return chances / cards


@compiled
def room_weights(tables: Any, params: Any, place: Any) -> Any:
    """Weight of room for each type, by its share of the artisans in the deck; float (K,)."""
    types = tables.requires.shape[1]
    count = np.full(types, 3.0)  # so that a short deck says little
    for card in range(len(tables.move) - 1):
        if place[card] == DECK:
            for k in range(types):
                count[k] += tables.artisans[card, k]
    share = count * types / count.sum()
    return 1.0 + params.room_deck_weight * (share - 1.0)


@compiled
def bonus_chance(params: Any, open_slots: int, effort: float, days_left: int) -> float:
    """Chance that every slot is filled; ``effort`` is the slots' number as it is felt."""
    if open_slots <= 0:
        return 1.0
    if days_left < open_slots:  # R6: one sale a turn
        return 0.0
    return sigmoid((days_left - effort * params.days_per_slot) / params.slot_softness)


@compiled
def look_ahead(
    tables: Any, params: Any, prestige: int, slots: Any, days_left: int, landing: Any, room: Any
) -> Outlook:
    """The outlook with these slots filled, bool (L,)."""
    towers = tables.requires.shape[0]
    best, total = np.zeros(towers), np.zeros(towers)
    count = np.zeros(towers, np.int64)
    open_slots = 0
    for j in range(tables.slot_count[prestige]):
        if not slots[j]:
            tower, vp = tables.slot_tower[prestige, j], float(tables.slot_vp[prestige, j])
            open_slots += 1
            count[tower] += 1
            total[tower] += vp
            best[tower] = max(best[tower], vp)
    deepest = count.max()
    alone = (count == deepest).sum() == 1
    vp = float(tables.bonus[prestige])
    weight = params.deepest_weight
    bonus = vp * bonus_chance(params, open_slots, open_slots + weight * deepest, days_left)
    fewer = open_slots - 1
    shallow = vp * bonus_chance(params, fewer, fewer + weight * deepest, days_left)
    deep = vp * bonus_chance(params, fewer, fewer + weight * (deepest - 1), days_left)
    later = 1.0 - exp(-(days_left - 1) / params.end_days) if days_left > 0 else 0.0
    price = params.price_weight * tables.price[:-1].mean() / tables.florins_per_vp
    slot_weight = 1.0 - (1.0 - params.slot_weight) * later
    book, urgent = np.empty(towers), np.empty(towers)
    for tower in range(towers):
        worth = tables.vp_per_book + price
        if count[tower] > 0:
            worth += slot_weight * best[tower]
            worth += params.depth_weight * later * (total[tower] - best[tower])
            worth += (deep if alone and count[tower] == deepest else shallow) - bonus
        book[tower] = worth
        urgent[tower] = worth * (1.0 - later) + params.sale_urgency * later
    return Outlook(days_left, later, bonus, book, urgent, landing, room)


@compiled
def tower_worth(params: Any, outlook: Any, tower: int, missing: int, required: int) -> float:
    """Worth of a tower that still lacks ``missing`` of its ``required`` cubes."""
    if outlook.days_left <= 0 or missing >= required:
        return 0.0
    book = outlook.book[tower]
    if missing == 0:
        return (book * params.complete_weight + params.complete_extra) * outlook.later
    spare = outlook.days_left - params.days_to_sell - params.days_per_cube * missing
    progress = (1.0 - missing / required) ** params.tower_convexity
    return book * outlook.later * progress * sigmoid(spare / params.days_softness)


@compiled
def landing_worth(tables: Any, outlook: Any, complete: Any, librarian: int, florins: int) -> float:
    """What the next turn's sale brings, over where the librarian may land; complete bool (T,)."""
    if outlook.days_left <= 0 or not complete.any():
        return 0.0
    spaces, worth = len(tables.board), 0.0
    for shift in range(spaces):
        if outlook.landing[shift] == 0.0:
            continue
        space, best = (librarian + shift) % spaces, 0.0
        for target in range(spaces):
            walk = tables.distance[space, target]
            if complete[tables.board[target]] and walk <= florins:
                gain = outlook.urgent[tables.board[target]] - walk / tables.florins_per_vp
                best = max(best, gain)
        worth += outlook.landing[shift] * best
    return worth


@compiled
def florins_worth(tables: Any, params: Any, florins: int) -> float:
    """Florins in VP; the first are worth more, for walking."""
    if tables.florin_cap >= 0:
        florins = min(florins, tables.florin_cap)  # R2
    extra = params.purse_weight * min(float(florins), params.purse_florins)
    return (florins + extra) / tables.florins_per_vp


@compiled
def supply_worth(params: Any, outlook: Any, supply: int) -> float:
    """What a short supply costs."""
    return -outlook.later * params.supply_weight * max(0.0, params.supply_wanted - supply)


@compiled
def room_worth(params: Any, outlook: Any, kind: int, places: int) -> float:
    """What it costs that only so many places are open for a type."""
    loss = params.room_weight * exp(-places / params.room_cubes)
    return -outlook.later * outlook.room[kind] * loss


@compiled
def position_worth(
    tables: Any, params: Any, outlook: Any, filled: Any, supply: int, librarian: int, florins: int
) -> float:
    """Worth of a position but for its hand; filled int (T, K)."""
    worth = outlook.bonus + florins_worth(tables, params, florins)
    worth += supply_worth(params, outlook, supply)
    towers, types = tables.requires.shape
    complete = np.zeros(towers, np.bool_)
    places = np.zeros(types, np.int64)
    for tower in range(towers):
        missing, required = 0, 0
        for k in range(types):
            lack = tables.requires[tower, k] - filled[tower, k]
            places[k] += lack
            missing += lack
            required += tables.requires[tower, k]
        complete[tower] = missing == 0
        worth += tower_worth(params, outlook, tower, missing, required)
    for k in range(types):
        worth += room_worth(params, outlook, k, places[k])
    return worth + landing_worth(tables, outlook, complete, librarian, florins)


# Sales ------------------------------------------------------------------------------------------

LONGEST_WAIT = 6  # days of waiting that the stopping programme looks ahead


@compiled
def worth_of_day(params: Any, days_left: int) -> float:
    """What a day more of hires is worth."""
    if days_left <= 1:
        return 0.0
    return params.day_worth * (1.0 - exp(-(days_left - 1) / params.day_softness))


@compiled
def worth_once_sold(
    tables: Any,
    params: Any,
    public: Any,
    row: int,
    space: int,
    florins: int,
    landing: Any,
    room: Any,
) -> Any:
    """Worth after selling at ``space`` for nothing, after 0, 1, .. more days of waiting."""
    prestige, tower = public.prestige[row], tables.board[space]
    slots, filled = public.slots_filled[row].copy(), public.filled[row].copy()
    supply = public.supply[row] + filled[tower].sum()
    filled[tower] = 0
    now, chosen = float(tables.vp_per_book), -1
    for j in range(tables.slot_count[prestige]):  # R14
        fits = tables.slot_tower[prestige, j] == tower and not slots[j]
        if fits and (chosen < 0 or tables.slot_vp[prestige, j] > tables.slot_vp[prestige, chosen]):
            chosen = j
    if chosen >= 0:
        slots[chosen] = True
        now += tables.slot_vp[prestige, chosen]
    days_left = tables.days - public.time[row]
    worths = np.empty(min(LONGEST_WAIT, days_left) + 1)
    for wait in range(len(worths)):
        outlook = look_ahead(tables, params, prestige, slots, days_left - wait, landing, room)
        worth = position_worth(tables, params, outlook, filled, supply, space, florins)
        worths[wait] = now + worth
        now -= worth_of_day(params, days_left - wait)
    return worths


@compiled
def flip_worth(tables: Any, place: Any, coin: int, worths: Any, first: int) -> float:
    """Expected worth of flipping a card for its price in ``coin`` after ``first`` days of waiting,
    and stopping as well as can be (prices drawn from the set of cards that comes next)."""
    source, best = flip_source(tables, place), NEVER
    for wait in range(len(worths) - 1, first - 1, -1):
        total, cards = 0.0, 0
        for card in range(len(tables.move) - 1):
            if place[card] == source:
                offer = tables.price[card, coin] / tables.florins_per_vp
                total += max(offer + worths[wait], best)
                cards += 1
        if cards > 0:
            best = total / cards
    return best


@compiled
def sale_worth(
    tables: Any,
    params: Any,
    public: Any,
    row: int,
    space: int,
    florins: int,
    landing: Any,
    room: Any,
) -> float:
    """Expected worth of selling at ``space`` this turn, before the first flip."""
    worths = worth_once_sold(tables, params, public, row, space, florins, landing, room)
    place = public.place[row]
    source, cards, total = flip_source(tables, place), 0, 0.0
    coins = tables.price.shape[1]
    count = np.zeros(coins, np.int64)
    for card in range(len(tables.move) - 1):
        if place[card] == source:
            count[tables.coin[card]] += 1
            cards += 1
    for coin in range(coins):
        if count[coin] > 0:
            total += count[coin] * flip_worth(tables, place, coin, worths, 0)
    return total / cards if cards > 0 else NEVER


@compiled
def can_sell(tables: Any, public: Any, row: int, space: int) -> bool:
    """Whether a sale can start at ``space`` (step 4b, R10)."""
    tower = tables.board[space]
    for k in range(tables.requires.shape[1]):
        if public.filled[row, tower, k] != tables.requires[tower, k]:
            return False
    loose = 0
    for card in range(len(tables.move) - 1):
        if public.place[row, card] == DECK or public.place[row, card] == DISCARD:
            loose += 1
    return loose >= 2


@compiled
def travel_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """Step 4a: stay, or walk to the space that is best to sell at now or to go on from."""
    landing = landing_chances(tables, public.place[row])
    room = room_weights(tables, params, public.place[row])
    days_left = tables.days - public.time[row]
    outlook = look_ahead(
        tables, params, public.prestige[row], public.slots_filled[row], days_left, landing, room
    )
    action, best = 0, NEVER
    for space in range(len(tables.board)):
        walk = tables.distance[public.librarian[row], space]
        if walk > public.florins[row]:
            continue
        left = public.florins[row] - walk
        worth = position_worth(
            tables, params, outlook, public.filled[row], public.supply[row], space, left
        )
        if can_sell(tables, public, row, space):
            sale = sale_worth(tables, params, public, row, space, left, landing, room)
            worth = max(worth, sale)
        worth -= (params.walk_weight - 1.0) * walk / tables.florins_per_vp
        if worth > best or (walk == 0 and worth >= best):
            action, best = (0 if walk == 0 else 1 + space), worth
    return action


@compiled
def sell_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """Step 4b: whether to sell."""
    landing = landing_chances(tables, public.place[row])
    room = room_weights(tables, params, public.place[row])
    space, florins = public.librarian[row], public.florins[row]
    outlook = look_ahead(
        tables,
        params,
        public.prestige[row],
        public.slots_filled[row],
        tables.days - public.time[row],
        landing,
        room,
    )
    keep = position_worth(
        tables, params, outlook, public.filled[row], public.supply[row], space, florins
    )
    sale = sale_worth(tables, params, public, row, space, florins, landing, room)
    first = 1 + len(tables.board)
    return first + 1 if sale >= keep else first


@compiled
def price_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """Step 4b: accept the offer, or wait a day for another."""
    accept = 3 + len(tables.board)
    place, shown = public.place[row], public.display_len[row]
    if public.time[row] >= tables.days:
        return accept
    if not ((place == DECK).any() or (place == DISCARD).any()):
        return accept  # R10: no card to flip
    landing = landing_chances(tables, place)
    room = room_weights(tables, params, place)
    florins = public.florins[row]
    worths = worth_once_sold(
        tables, params, public, row, public.librarian[row], florins, landing, room
    )
    coin = tables.coin[public.display[row, 0]]
    offer = tables.price[public.display[row, shown - 1], coin] / tables.florins_per_vp
    waiting = flip_worth(tables, place, coin, worths, 1)
    return accept + 1 if waiting > offer + worths[0] else accept


# Hires ------------------------------------------------------------------------------------------


class Hires(NamedTuple):
    """The hires possible with a hand, most first dimension n; see ``list_hires``."""

    slot: npt.NDArray[np.int64]  # (n,) place of the card in the hand
    tower: npt.NDArray[np.int64]  # (n,)
    placed: npt.NDArray[np.int64]  # (n, K) cubes of each type
    cubes: npt.NDArray[np.int64]  # (n,) cubes in all
    gain: npt.NDArray[np.float64]  # (n,) by how much the tower is worth more
    completes: npt.NDArray[np.bool_]  # (n,) the tower
    banned: npt.NDArray[np.bool_]  # (n,) needs the ban lifted (R4)


@compiled
def place_cubes(tables: Any, card: int, lacking: Any, supply: int, placed: Any) -> int:
    """Cubes that a hire places, by type into ``placed`` (R13); returns how many in all."""
    left = supply
    for k in range(len(lacking)):
        count = min(min(tables.artisans[card, k], lacking[k]), left)
        placed[k] = count
        left -= count
    return supply - left


@compiled
def list_hires(
    tables: Any, params: Any, outlook: Any, hand: Any, banned: int, supply: int, lacking: Any
) -> Hires:
    """Every hire that places a cube; ``lacking`` int (T, K)."""
    towers, types = lacking.shape
    most = len(hand) * towers
    slot, tower_of = np.empty(most, np.int64), np.empty(most, np.int64)
    placed, cubes = np.empty((most, types), np.int64), np.empty(most, np.int64)
    gain = np.empty(most)
    completes, is_banned = np.empty(most, np.bool_), np.empty(most, np.bool_)
    n = 0
    for tower in range(towers):
        missing, required = lacking[tower].sum(), tables.requires[tower].sum()
        if missing == 0:
            continue
        now = tower_worth(params, outlook, tower, missing, required)
        for i in range(len(hand)):
            count = place_cubes(tables, hand[i], lacking[tower], supply, placed[n])
            if count == 0:  # R8
                continue
            slot[n], tower_of[n], cubes[n] = i, tower, count
            gain[n] = tower_worth(params, outlook, tower, missing - count, required) - now
            completes[n] = count == missing
            is_banned[n] = banned >= 0 and tables.artisans[hand[i], banned] > 0
            n += 1
    return Hires(
        slot[:n], tower_of[:n], placed[:n], cubes[:n], gain[:n], completes[:n], is_banned[:n]
    )


@compiled
def cheapest(kept: Any, lifting: Any, lifts: bool, a: int, b: int, c: int, d: int) -> int:
    """The card of least worth but for a, b, c and d (-1: none), able to lift if asked; or -1."""
    found = -1
    for i in range(len(kept)):
        free = i != a and i != b and i != c and i != d and (lifting[i] or not lifts)
        if free and (found < 0 or kept[i] < kept[found]):
            found = i
    return found


@compiled
def discard_worth(kept: Any, lifting: Any, a: int, b: int, lifts: bool) -> tuple[float, int]:
    """Worth of the cards that leave the hand with hires of a and b (-1: one hire only), and who
    lifts the ban (-1: nobody); NEVER if the hand can't do it."""
    lifter, worth = -1, 0.0
    if lifts:
        lifter = cheapest(kept, lifting, True, a, b, -1, -1)
        if lifter < 0:
            return NEVER, -1
        worth += kept[lifter]
    payer = cheapest(kept, lifting, False, a, b, lifter, -1)
    if payer < 0:
        return NEVER, -1
    worth += kept[payer] + kept[a]
    if b >= 0:
        second = cheapest(kept, lifting, False, a, b, lifter, payer)
        if second < 0:
            return NEVER, -1
        worth += kept[second] + kept[b]
    return worth, lifter


@compiled
def best_plan(
    tables: Any, params: Any, outlook: Any, public: Any, row: int, hand: Any
) -> tuple[float, int]:
    """Worth of the position after the best hires with this hand, and the action that begins them.

    At most two hires ahead, each paid for with the cards worth least, the ban lifted if it must
    be. The action is `end` when nothing is worth hiring.
    """
    towers, types = tables.requires.shape
    spaces, cards = len(tables.board), len(hand)
    banned, hires_left = public.banned[row], public.hires_left[row]
    supply, librarian, florins = public.supply[row], public.librarian[row], public.florins[row]
    lacking = np.empty((towers, types), np.int64)
    complete = np.empty(towers, np.bool_)
    for tower in range(towers):
        complete[tower] = True
        for k in range(types):
            lacking[tower, k] = tables.requires[tower, k] - public.filled[row, tower, k]
            complete[tower] &= lacking[tower, k] == 0
    places = lacking.sum(axis=0)
    room = np.empty((types, places.max() + 1))
    for k in range(types):
        for n in range(places[k] + 1):
            room[k, n] = room_worth(params, outlook, k, n)
    hires = list_hires(tables, params, outlook, hand, banned, supply, lacking)
    kept, lifting = np.zeros(cards), np.zeros(cards, np.bool_)
    for a in range(len(hires.slot)):
        kept[hires.slot[a]] = max(kept[hires.slot[a]], hires.gain[a])
    for i in range(cards):
        kept[i] = outlook.later * (params.keep_weight * kept[i] - params.fresh_card)
        lifting[i] = tables.lifts_per_turn > 0 and banned >= 0 and tables.icon[hand[i]] == banned
    resting = landing_worth(tables, outlook, complete, librarian, florins)
    best = supply_worth(params, outlook, supply) + resting
    for k in range(types):
        best += room[k, places[k]]
    end = 5 + spaces + tables.hand_size * (towers + 2)
    action, second = end, np.zeros(types, np.int64)
    if hires_left <= 0 or cards < 2:
        return best, action
    for a in range(len(hires.slot)):
        for b in range(a, len(hires.slot) if hires_left > 1 else a + 1):  # b = a: one hire only
            pair = b > a
            if pair and (hires.slot[a] == hires.slot[b] or cards < 4):
                continue
            lifts = hires.banned[a] or (pair and hires.banned[b])
            cost, lifter = discard_worth(
                kept, lifting, hires.slot[a], hires.slot[b] if pair else -1, lifts
            )
            if cost == NEVER:
                continue
            cubes, gain, tower = hires.cubes[a], hires.gain[a], hires.tower[a]
            first_done, second_done = hires.completes[a], False
            if pair and hires.tower[b] == tower:
                rest = lacking[tower] - hires.placed[a]
                more = place_cubes(tables, hand[hires.slot[b]], rest, supply - cubes, second)
                if more == 0:
                    continue
                cubes += more
                missing, required = lacking[tower].sum(), tables.requires[tower].sum()
                first_done = missing == cubes
                gain = tower_worth(params, outlook, tower, missing - cubes, required)
                gain -= tower_worth(params, outlook, tower, missing, required)
            elif pair:
                cubes += hires.cubes[b]
                if cubes > supply:
                    continue
                second[:] = hires.placed[b]
                gain += hires.gain[b]
                second_done = hires.completes[b]
            else:
                second[:] = 0
            worth = gain - cost + supply_worth(params, outlook, supply - cubes)
            for k in range(types):
                worth += room[k, places[k] - hires.placed[a, k] - second[k]]
            if first_done or second_done:
                after = complete.copy()
                after[tower] |= first_done
                after[hires.tower[b]] |= second_done
                worth += landing_worth(tables, outlook, after, librarian, florins)
            else:
                worth += resting
            if worth > best:
                best = worth
                if lifter >= 0:
                    action = 5 + spaces + tables.hand_size * towers + lifter
                else:
                    action = 5 + spaces + hires.slot[a] * towers + tower
    return best, action


@compiled
def hire_outlook(tables: Any, public: Any, row: int, params: Any) -> Outlook:
    """The outlook once the turn is over."""
    place = public.place[row]
    return look_ahead(
        tables,
        params,
        public.prestige[row],
        public.slots_filled[row],
        tables.days - public.time[row],
        landing_chances(tables, place),
        room_weights(tables, params, place),
    )


@compiled
def hire_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """Step 4c: hire, lift the ban, or end the turn."""
    hand = public.hand[row][public.hand[row] < len(tables.move) - 1]
    outlook = hire_outlook(tables, public, row, params)
    return best_plan(tables, params, outlook, public, row, hand)[1]


@compiled
def pay_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """Step 4c: pay with the card without which the rest of the turn is worth most."""
    hand = public.hand[row][public.hand[row] < len(tables.move) - 1]
    outlook = hire_outlook(tables, public, row, params)
    chosen, best = 0, NEVER
    for i in range(len(hand)):
        rest = np.concatenate((hand[:i], hand[i + 1 :]))
        worth = best_plan(tables, params, outlook, public, row, rest)[0]
        if worth > best:
            chosen, best = i, worth
    towers = tables.requires.shape[0]
    return 5 + len(tables.board) + tables.hand_size * (towers + 1) + chosen


@compiled
def greedy_action(tables: Any, public: Any, row: int, params: Any) -> int:
    """The agent's action in game ``row``, which must not be over; always legal."""
    phase = public.phase[row]
    if phase == TRAVEL:
        return travel_action(tables, public, row, params)
    if phase == SELL:
        return sell_action(tables, public, row, params)
    if phase == PRICE:
        return price_action(tables, public, row, params)
    if phase == HIRE:
        return hire_action(tables, public, row, params)
    return pay_action(tables, public, row, params)


@compiled
def greedy_actions(tables: Any, public: Any, rows_out: Any, params: Any) -> None:
    """Write the action of every game into ``rows_out``, int (N,)."""
    for row in range(len(rows_out)):
        rows_out[row] = greedy_action(tables, public, row, params)


class GreedyBibliogamo(Agent):
    """The greedy agent: deterministic, so it has no seed."""

    name = "greedy"

    def __init__(self, params: GreedyParams | None = None) -> None:
        self.params = GreedyParams() if params is None else params

    def act(self, view: View) -> npt.NDArray[np.intp]:
        actions = np.zeros(len(view), np.intp)
        greedy_actions(view.tables, view.public, actions, self.params)
        return actions
