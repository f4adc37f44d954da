"""The greedy agent of Scriptorium: every choice looks for the plan that is worth most.

Phase 3 searches for the tiles, purchases and unpaid edges that are worth most together
(``scriptorium_plan``). Phase 2 looks at what each lectern would be worth so to each player and
plays the handing on out to its end, everybody thinking of himself and of his rivals. Phase 1 takes
the inks that the plans of this day lack, and the grimoire when choosing is worth the inks forgone.
Only what every player knows is used, and nothing is drawn at random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.scriptorium_choices import (
    choose_inks,
    gain_of_choice,
    hand_on,
    need_of,
    pot_shares,
    race,
    weigh_rivals,
)
from incunabula.agents.scriptorium_plan import (
    BUYS,
    DESIGN,
    GAINED,
    HAND,
    HOPE,
    KEEP,
    LACK,
    NEVER,
    ODDS,
    OWN,
    POT,
    ROOM,
    SHARE,
    SOURCE,
    SPACE,
    SPARE,
    TILE,
    bound_tiles,
    drop_placed,
    fill_edges,
    find_plan,
    list_bought,
    list_spare,
    list_tiles,
)
from incunabula.agents.scriptorium_position import (
    ACHIEVEMENTS,
    DISCARD,
    EDGE,
    EDGE_LEFT,
    EDGE_RIGHT,
    FILLED,
    HELD,
    ILLUMINATE,
    INK,
    INKS,
    KEPT,
    LECTERN,
    OWNED,
    QUILL,
    SECOND,
    SPACES,
    TOKENS,
    read_book,
    read_position,
)
from incunabula.agents.scriptorium_worth import (
    AFTER,
    AGAINST,
    BEST,
    HOPING,
    MISSING,
    PRICE,
    PRICED,
    START,
    GreedyParams,
    new_work,
    read_outlook,
)
from incunabula.envs.compiled.functions import compiled, compiled_apart, compiled_once

SETS, FEW_SETS = 100, 12  # sets of tiles that a plan tries at most; in phases 1 and 2
INK_CHOICES = 19  # as in envs/scriptorium/actions.py
FORESIGHT = 4  # inks to come (own) within which two players weigh the grimoire precisely
STORAGE = 0  # row of a seat's hand

# Plans ------------------------------------------------------------------------------------------


class Plans(NamedTuple):
    """The plans that a decision looks at. The last lectern stands for having none."""

    worth: npt.NDArray[np.float64]  # (P, L + 1) what each lectern would be worth to each player
    lacking: npt.NDArray[np.int64]  # (P, L + 1, 5) inks of the pot that his plan counts on
    goods: npt.NDArray[np.float64]  # (P, D) prices of what can be bought, see ``list_bought``
    turn: npt.NDArray[np.int64]  # (4,) the last plan's tiles placed with ink, edges without on the
    # left and on the right, edges in hand for these


@compiled_apart
def enter_seat(
    book: Any, position: Any, outlook: Any, work: Any, seat: int, lectern: int, share: int
) -> tuple[Any, int]:
    """Set the first level of the search; the tiles in hand, int (D,), and achievements held."""
    counts = np.empty(len(book.design), np.int64)
    for design in range(len(counts)):
        counts[design] = position.hand[seat, 0, design] + position.hand[seat, 1, design]
        if lectern >= 0:
            counts[design] += position.tiles[lectern, design]
    for ink in range(INKS):
        work.n[START, OWN + ink] = position.seat[seat, HELD + ink]
        work.n[START, POT + ink] = position.pot[ink]
    for space in range(SPACES):
        work.n[START, ROOM + space] = book.capacity[space] - position.seat[seat, FILLED + space]
    held = 0
    for k in range(ACHIEVEMENTS):
        held += position.seat[seat, KEPT + k]
        work.n[START, LACK + k] = np.int64(outlook.standing[seat, MISSING, k])
        work.x[START, HOPE + k] = outlook.standing[seat, HOPING, k]
        work.x[START, ODDS + k] = outlook.standing[seat, AGAINST, k]
    work.n[START, SHARE], work.n[START, BUYS] = share, position.seat[seat, TOKENS]
    work.x[START, GAINED] = 0.0
    return counts, held


@compiled_apart
def plan_seat(
    params: Any,
    book: Any,
    position: Any,
    outlook: Any,
    work: Any,
    seat: int,
    lectern: int,
    share: int,
    goods: Any,
) -> tuple[float, int, int, int, int]:
    """Plan a seat's turn with a lectern (-1: none), ``share`` inks still to be had from the pot and
    the tiles to be bought (see ``list_bought``).

    Returns (worth, tiles placed with ink, edges without: left, right, edges in hand for these).
    """
    counts, held = enter_seat(book, position, outlook, work, seat, lectern, share)
    n, kept = list_tiles(params, book, outlook, work, counts, held)
    spare = list_spare(book, work, n)
    n = list_bought(book, work, n, goods)
    n = bound_tiles(book, work, n, lectern)
    count, gain = find_plan(work, n, SETS if position.phase > LECTERN else FEW_SETS)
    spare = drop_placed(work, spare, count)
    more, price = 0, 0.0
    for source in range(len(goods)):
        for design in range(len(counts)):
            if goods[source, design] > 0.0 and book.design[design, EDGE]:
                price = goods[source, design] if more == 0 else min(price, goods[source, design])
                more += 1
    more = min(more, work.n[AFTER, BUYS])
    filled, left, right = fill_edges(work, spare, more, price)
    return kept + gain + filled, count, left, right, spare


@compiled
def price_goods(params: Any, book: Any, position: Any, outlook: Any, goods: Any) -> None:
    """What every tile to be bought counts, into ``goods`` (see ``list_bought``)."""
    me, players = position.player, len(goods)
    if position.phase != ILLUMINATE or position.seat[me, TOKENS] == 0:
        return
    for design in range(goods.shape[1]):
        if position.tiles[-1, design] > 0:
            goods[0, design] = outlook.token
        for source in range(1, players):
            if position.hand[(me + source) % players, STORAGE, design] > 0:
                goods[source, design] = outlook.token + params.rivalry * book.token_points


@compiled
def foresees(position: Any, share: int) -> bool:
    """Phase 1: whether to play phase 2 out for the grimoire, as two players do near the end."""
    return len(position.seat) == 2 and position.grimoire < 0 and share <= FORESIGHT


@compiled
def is_looked_at(position: Any, seat: int, lectern: int, everybody: bool) -> bool:
    """Whether the decision needs a plan for this seat with this lectern."""
    if position.phase in (INK, LECTERN):
        wanted = seat == position.player or everybody
        return wanted and lectern >= 0 and position.seat[seat, OWNED] < 0 and position.free[lectern]
    owned = position.seat[seat, OWNED] if position.phase == ILLUMINATE else -1
    return seat == position.player and lectern == owned


@compiled_apart
def make_plans(params: Any, book: Any, position: Any, outlook: Any, work: Any) -> Plans:
    """All plans that the decision needs.

    Phase 1 looks at one's own with every lectern, and at the rival's if it plays phase 2 out; phase
    2 at everybody's; later ones at one's own.
    """
    players, lecterns = len(position.seat), len(position.free)
    plans = Plans(
        np.full((players, lecterns + 1), NEVER),
        np.zeros((players, lecterns + 1, INKS), np.int64),
        np.zeros((players, len(book.design))),
        np.zeros(4, np.int64),
    )
    price_goods(params, book, position, outlook, plans.goods)
    quill_points = float(book.quill_points)
    quill_worth = max(quill_points, params.quill * outlook.later)
    shares = pot_shares(position)
    everybody = position.phase == LECTERN or foresees(position, shares[position.player])
    for seat in range(players):
        plans.worth[seat, position.seat[seat, OWNED]] = 0.0  # what is his is all the same to others
        for lectern in range(-1, lecterns):
            if not is_looked_at(position, seat, lectern, everybody):
                continue
            worth, count, left, right, spare = plan_seat(
                params, book, position, outlook, work, seat, lectern, shares[seat], plans.goods
            )
            if lectern == book.quill_lectern:
                # The quill's holder keeps it whatever he answers.
                worth += quill_worth if seat != position.quill else quill_points
            plans.worth[seat, lectern] = worth
            for ink in range(INKS):
                plans.lacking[seat, lectern, ink] = position.pot[ink]
                plans.lacking[seat, lectern, ink] -= work.n[AFTER, POT + ink]
            plans.turn[0], plans.turn[1] = count, left
            plans.turn[2], plans.turn[3] = right, spare
    return plans


# Phases 3 and 4 ---------------------------------------------------------------------------------


@compiled
def placements(book: Any, design: int) -> int:
    """How many ways there are to place a design from one source."""
    sides = 2 if book.design[design, SECOND] >= 0 else 1
    return sides * (2 if book.design[design, EDGE] else 1)


@compiled
def place_action(book: Any, position: Any, design: int, space: int, paid: bool) -> int:
    """The number of a placement, from the storage if possible, counted from the first; see
    actions.py."""
    number = 0
    for d in range(design):
        number += 2 * placements(book, d)
    if position.hand[position.player, STORAGE, design] > 0:
        number += placements(book, design)
    if space == book.design[design, SECOND]:
        number += 2 if book.design[design, EDGE] else 1
    return number if paid else number + 1


@compiled
def illuminate(book: Any, position: Any, work: Any, plans: Any, buy: int) -> int:
    """Phase 3: the next action of the best plan, counted from the first placement; ``buy``: the
    first purchase."""
    designs, goods = len(book.design), plans.goods
    count, left = plans.turn[0], plans.turn[1]
    right, spare = plans.turn[2], plans.turn[3]
    source, design, space, paid = 0, -1, EDGE_LEFT if left > 0 else EDGE_RIGHT, False
    for k in range(count):  # those in hand first
        i = work.n[BEST + k, TILE]
        if design < 0 or work.n[i, SOURCE] == HAND:
            source, design = work.n[i, SOURCE], work.n[i, DESIGN]
            space, paid = work.n[BEST + k, SPACE], True
            if source == HAND:
                break
    if count == 0 and left + right == 0:
        return buy + designs * book.seats  # end
    if count == 0 and spare > 0:
        source, design = HAND, work.n[spare - 1, SPARE]
    if design < 0:
        best = -NEVER
        for s in range(len(goods)):
            for d in range(designs):
                if book.design[d, EDGE] and 0.0 < goods[s, d] < best:
                    source, design, best = s, d, goods[s, d]
    if source != HAND:
        return buy + design * book.seats + source
    return place_action(book, position, design, space, paid)


@compiled
def discard_ink(position: Any, work: Any) -> int:
    """Phase 4: the ink that is least worth keeping, if possible one that the plan leaves."""
    chosen, least = 0, -NEVER
    for ink in range(INKS):
        held = position.seat[position.player, HELD + ink]
        if held > 0:
            price = work.x[PRICE + ink, min(held, PRICED) - 1]
            price -= NEVER / 2.0 if work.n[AFTER, OWN + ink] == 0 else 0.0
            if price < least:
                chosen, least = ink, price
    return chosen


@compiled
def stored(position: Any) -> int:
    """Tiles and achievements that the player has in his storage."""
    held = 0
    for design in range(position.hand.shape[2]):
        held += position.hand[position.player, STORAGE, design]
    for k in range(ACHIEVEMENTS):
        held += position.seat[position.player, KEPT + k]
    return held


@compiled
def discard_tile(params: Any, book: Any, position: Any, outlook: Any, work: Any) -> int:
    """Phase 4: what in the storage is least worth keeping, counted from the first discard; no
    achievement while there is a tile."""
    me, none = position.player, np.int64(-1)
    counts, held = enter_seat(book, position, outlook, work, me, none, np.int64(0))
    n, _ = list_tiles(params, book, outlook, work, counts, held)
    for i in range(n):
        counts[work.n[i, DESIGN]] -= 1
    for design in range(len(counts)):
        if counts[design] > 0:  # there is no space for it
            return design
    least = n - 1
    for i in range(n):
        if work.x[i, KEEP] < work.x[least, KEEP]:
            least = i
    if n > 0:
        return work.n[least, DESIGN]
    for k in range(ACHIEVEMENTS):
        if position.seat[me, KEPT + k]:
            return len(counts) + k
    return 0


# The agent --------------------------------------------------------------------------------------


@compiled
def take_inks(params: Any, position: Any, work: Any, plans: Any) -> int:
    """Phase 1: inks or the grimoire."""
    me, players = position.player, len(position.seat)
    worth, lacking = plans.worth, plans.lacking
    foreseen, second = foresees(position, pot_shares(position)[me]), 0.0
    if position.grimoire < 0:
        gain = np.full((players, players), -params.choice_loss)
        for seat in range(players):
            gain[seat, seat] = params.choice_gain
        if foreseen:
            # Phase 2 as it would go if nobody had the grimoire, the first seat, the second one.
            weight = weigh_rivals(params, position)
            outcome, before = np.zeros(players), np.zeros(players)
            for holder in range(-1, players):
                chooser = position.quill if holder < 0 else np.int64(holder)
                hand_on(weight, worth, position, chooser, np.int64(holder), outcome)
                for seat in range(players):
                    utility = 0.0
                    for other in range(players):
                        utility += weight[seat, other] * outcome[other]
                    if holder < 0:
                        before[seat] = utility
                    else:
                        gain[seat, holder] = utility - before[seat]
        else:
            gain[me, me] = gain_of_choice(params, worth[me], position.free)
        options = race(position, params, gain)
        if options[2] > max(options[0], options[1]):
            return INK_CHOICES
        if options[1] > NEVER / 2.0:
            second = options[1] - options[0] - params.grimoire_ink
    need, denied = need_of(position, params, worth[me], lacking[me]), np.zeros((INKS, 2))
    if foreseen:
        denied = need_of(position, params, worth[1 - me], lacking[1 - me])
    return choose_inks(position, params, work, need, denied, second)


@compiled
def give_lectern(params: Any, book: Any, position: Any, plans: Any) -> int:
    """Phase 2: a lectern for somebody, counted from the first such action."""
    me, players = position.player, len(position.seat)
    weight, outcome = weigh_rivals(params, position), np.zeros(players)
    chosen = hand_on(weight, plans.worth, position, me, position.grimoire, outcome)
    lectern, to = chosen // players, (chosen % players - me) % players
    return lectern * book.seats + to


@compiled_once
def greedy_action(book: Any, position: Any, params: Any, work: Any) -> int:
    """The agent's action in a position, which must not be over; always legal.

    ``book``: Book; ``position``: Position; ``params``: GreedyParams; ``work``: Work.
    """
    # The first action of each kind; see actions.py.
    give = INK_CHOICES + 1
    answer = give + len(position.free) * book.seats
    place, buy = answer + 2, 0
    for design in range(len(book.design)):
        buy += 2 * placements(book, design)
    outlook = read_outlook(book, position, params, work)
    discard = place + buy + len(book.design) * book.seats + 1
    if position.phase == QUILL:
        wanted = params.quill * outlook.later > book.quill_points
        # The holder keeps the quill either way.
        return answer if wanted and position.player != position.quill else answer + 1
    if position.phase == DISCARD and stored(position) > book.storage_limit:
        return discard + discard_tile(params, book, position, outlook, work)
    plans = make_plans(params, book, position, outlook, work)
    if position.phase == INK:
        return take_inks(params, position, work, plans)
    if position.phase == LECTERN:
        return give + give_lectern(params, book, position, plans)
    if position.phase == ILLUMINATE:
        return place + illuminate(book, position, work, plans, buy)
    kinds = len(book.design) + ACHIEVEMENTS
    return discard + kinds + discard_ink(position, work)


@compiled_apart
def greedy_actions(tables: Any, public: Any, rows: Any, actions: Any, params: Any) -> None:
    """Write the action in each of these rows, (n,), into ``actions``, int (n,)."""
    book, work = read_book(tables), new_work()
    for k in range(len(rows)):
        actions[k] = greedy_action(book, read_position(public, rows[k]), params, work)


@compiled_apart
def prepare(t: Any, policy: Any) -> Any:
    """For rollouts: the edition, the parameters, and room to work in."""
    return read_book(t), policy, new_work()


@compiled_apart
def choose(t: Any, p: Any, i: int, mask: Any, ready: Any, stream: Any, decision: int) -> int:
    """For rollouts: the agent's action."""
    book, params, work = ready
    return greedy_action(book, read_position(p, i), params, work)


class GreedyScriptorium(Agent):
    """The greedy agent; it has no seed, as it draws nothing."""

    name = "greedy"

    def __init__(self, params: GreedyParams | None = None) -> None:
        self.params = GreedyParams() if params is None else params

    def act(self, view: View) -> npt.NDArray[np.intp]:
        """Actions, intp (n,)."""
        actions = np.zeros(len(view), np.intp)
        greedy_actions(*view.arrays, actions, self.params)
        return actions
