"""The greedy agent of Scriptorium: every choice looks for the plan that is worth most.

Phase 3 searches for the tiles, purchases and unpaid edges that are worth most together
(``scriptorium_plan``). Phase 2 looks at what each lectern would be worth so to each player and
plays the handing on out to its end, everybody thinking of himself and of his rivals. Phase 1 takes
the inks that the plans of this day lack, and the grimoire when choosing is worth the inks forgone.
Only what every player knows is used, and nothing is drawn at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.compiled import compiled, compiled_apart
from incunabula.agents.scriptorium_choices import (
    choose_inks,
    gain_of_choice,
    hand_on,
    need_of,
    pot_shares,
    wants_grimoire,
    weigh_rivals,
)
from incunabula.agents.scriptorium_plan import (
    AFTER,
    BEST,
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
    new_work,
)
from incunabula.agents.scriptorium_position import (
    ACHIEVEMENTS,
    EDGE,
    EDGE_LEFT,
    EDGE_RIGHT,
    FILLED,
    HELD,
    INKS,
    KEPT,
    OWNED,
    SECOND,
    SPACES,
    TOKENS,
    read_book,
    read_position,
)
from incunabula.agents.scriptorium_worth import (
    AGAINST,
    HOPING,
    MISSING,
    PRICED,
    GreedyParams,
    read_outlook,
)

INK, LECTERN, QUILL, ILLUMINATE, DISCARD = 0, 1, 2, 3, 4  # phases, as in envs/scriptorium/state.py
SETS, FEW_SETS = 100, 12  # sets of tiles that a plan tries at most; in phases 1 and 2
INK_CHOICES = 19  # as in envs/scriptorium/actions.py
STORAGE = 0  # row of a seat's hand

# Plans ------------------------------------------------------------------------------------------


@compiled_apart
def enter_seat(
    book: Any, position: Any, outlook: Any, work: Any, seat: int, lectern: int, share: int
) -> tuple[Any, int]:
    """Set level 0 of the search; returns the tiles in hand, int (D,), and the achievements held."""
    counts = np.empty(len(book.design), np.int64)
    for design in range(len(counts)):
        counts[design] = position.hand[seat, 0, design] + position.hand[seat, 1, design]
        if lectern >= 0:
            counts[design] += position.tiles[lectern, design]
    for ink in range(INKS):
        work.count[0, OWN + ink] = position.seat[seat, HELD + ink]
        work.count[0, POT + ink] = position.pot[ink]
    for space in range(SPACES):
        work.count[0, ROOM + space] = book.capacity[space] - position.seat[seat, FILLED + space]
    held = 0
    for k in range(ACHIEVEMENTS):
        held += position.seat[seat, KEPT + k]
        work.count[0, LACK + k] = np.int64(outlook.standing[seat, MISSING, k])
        work.level[0, HOPE + k] = outlook.standing[seat, HOPING, k]
        work.level[0, ODDS + k] = outlook.standing[seat, AGAINST, k]
    work.count[0, SHARE], work.count[0, BUYS] = share, position.seat[seat, TOKENS]
    work.level[0, GAINED] = 0.0
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
    n = list_bought(book, outlook, work, n, goods)
    n = bound_tiles(book, outlook, work, n, lectern)
    count, gain = find_plan(outlook, work, n, SETS if position.phase > LECTERN else FEW_SETS)
    spare = drop_placed(work, spare, count)
    more, price = 0, 0.0
    for source in range(len(goods)):
        for design in range(len(counts)):
            if goods[source, design] > 0.0 and book.design[design, EDGE]:
                price = goods[source, design] if more == 0 else min(price, goods[source, design])
                more += 1
    more = min(more, work.count[AFTER, BUYS])
    filled, left, right = fill_edges(outlook, work, spare, more, price)
    return kept + gain + filled, count, left, right, spare


@compiled_apart
def plan_lecterns(
    params: Any, book: Any, position: Any, outlook: Any, work: Any, worth: Any, lacking: Any
) -> None:
    """Phases 1 and 2: what each lectern would be worth to each player, float (P, L), and what inks
    of the pot his plan with it counts on, int (P, L, 5).

    In phase 1 of more than two players only one's own are looked at.
    """
    phase, me = position.phase, position.player
    quill_points = float(book.quill_points)
    quill_worth = max(quill_points, params.quill * outlook.later)
    shares = pot_shares(position)
    goods = np.empty((0, 0))
    for seat in range(len(position.seat)):
        owned = position.seat[seat, OWNED]
        if owned >= 0:
            worth[seat, owned] = 0.0  # whatever is handed on
        elif seat == me or phase == LECTERN or len(position.seat) == 2:
            for lectern in range(len(position.free)):
                if position.free[lectern]:
                    total, _, _, _, _ = plan_seat(
                        params, book, position, outlook, work, seat, lectern, shares[seat], goods
                    )
                    if lectern == book.quill_lectern:
                        # The quill's holder keeps it whatever he answers.
                        total += quill_worth if seat != position.quill else quill_points
                    worth[seat, lectern] = total
                    for ink in range(INKS):
                        left = work.count[AFTER, POT + ink]
                        lacking[seat, lectern, ink] = position.pot[ink] - left


# Phases 3 and 4 ---------------------------------------------------------------------------------


@compiled
def price_goods(params: Any, book: Any, position: Any, outlook: Any, goods: Any) -> None:
    """What every tile to be bought counts, into ``goods`` (see ``list_bought``)."""
    me, players = position.player, len(goods)
    if position.seat[me, TOKENS] == 0:
        return
    for design in range(goods.shape[1]):
        if position.tiles[-1, design] > 0:
            goods[0, design] = outlook.token
        for source in range(1, players):
            if position.hand[(me + source) % players, STORAGE, design] > 0:
                goods[source, design] = outlook.token + params.rivalry * book.token_points


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


@compiled_apart
def illuminate(
    params: Any, book: Any, position: Any, outlook: Any, work: Any, buy: int
) -> int:
    """Phase 3: the next action of the best plan, counted from the first placement; ``buy``: the
    first purchase."""
    designs, me = len(book.design), position.player
    goods = np.zeros((len(position.seat), designs))
    price_goods(params, book, position, outlook, goods)
    _, count, left, right, spare = plan_seat(
        params,
        book,
        position,
        outlook,
        work,
        me,
        position.seat[me, OWNED],
        np.int64(0),
        goods,
    )
    source, design, space, paid = 0, -1, EDGE_LEFT if left > 0 else EDGE_RIGHT, False
    for k in range(count):  # those in hand first
        i = work.count[BEST + k, TILE]
        if design < 0 or work.tile[i, SOURCE] == HAND:
            source, design = work.tile[i, SOURCE], work.tile[i, DESIGN]
            space, paid = work.count[BEST + k, SPACE], True
            if source == HAND:
                break
    if count == 0 and left + right == 0:
        return buy + designs * book.seats  # end
    if count == 0 and spare > 0:
        source, design = HAND, work.tile[spare - 1, SPARE]
    if design < 0:
        best = -NEVER
        for s in range(len(goods)):
            for d in range(designs):
                if book.design[d, EDGE] and 0.0 < goods[s, d] < best:
                    source, design, best = s, d, goods[s, d]
    if source != HAND:
        return buy + design * book.seats + source
    return place_action(book, position, design, space, paid)


@compiled_apart
def discard_action(params: Any, book: Any, position: Any, outlook: Any, work: Any) -> int:
    """Phase 4: what is least worth keeping, counted from the first discard; never an achievement
    while there is a tile, and if possible no ink that a plan needs."""
    designs, me, none = len(book.design), position.player, np.int64(-1)
    held = 0
    for design in range(designs):
        held += position.hand[me, STORAGE, design]
    for k in range(ACHIEVEMENTS):
        held += position.seat[me, KEPT + k]
    if held > book.storage_limit:
        return discard_tile(params, book, position, outlook, work)
    plan_seat(
        params, book, position, outlook, work, me, none, np.int64(0), np.empty((0, 0))
    )
    chosen, least = 0, -NEVER
    for ink in range(INKS):
        held = position.seat[me, HELD + ink]
        if held > 0:
            price = outlook.price[ink, min(held, PRICED) - 1]
            price -= NEVER / 2.0 if work.count[AFTER, OWN + ink] == 0 else 0.0
            if price < least:
                chosen, least = ink, price
    return designs + ACHIEVEMENTS + chosen


@compiled
def discard_tile(params: Any, book: Any, position: Any, outlook: Any, work: Any) -> int:
    """The tile in the storage that is least worth keeping; an achievement if it holds no tile."""
    me, none = position.player, np.int64(-1)
    counts, held = enter_seat(book, position, outlook, work, me, none, np.int64(0))
    n, _ = list_tiles(params, book, outlook, work, counts, held)
    for i in range(n):
        counts[work.tile[i, DESIGN]] -= 1
    for design in range(len(counts)):
        if counts[design] > 0:  # there is no space for it
            return design
    least = n - 1
    for i in range(n):
        if work.worth[i, KEEP] < work.worth[least, KEEP]:
            least = i
    if n > 0:
        return work.tile[least, DESIGN]
    for k in range(ACHIEVEMENTS):
        if position.seat[me, KEPT + k]:
            return len(counts) + k
    return 0


# The agent --------------------------------------------------------------------------------------


@compiled_apart
def take_inks(params: Any, book: Any, position: Any, outlook: Any, work: Any) -> int:
    """Phase 1: inks or the grimoire."""
    me, players, lecterns = position.player, len(position.seat), len(position.free)
    worth = np.full((players, lecterns), NEVER)
    lacking = np.zeros((players, lecterns, INKS), np.int64)
    plan_lecterns(params, book, position, outlook, work, worth, lacking)
    if position.grimoire < 0:
        gain, loss = 0.0, 0.0
        if players == 2:
            # Phase 2 as it would go if nobody had the grimoire, the player, the rival.
            weight = weigh_rivals(params, position)
            utility, outcome = np.zeros(3), np.zeros(players)
            for case in range(3):
                holder = -1 if case == 0 else (me + case - 1) % players
                chooser = position.quill if holder < 0 else holder
                hand_on(weight, worth, position, chooser, holder, outcome)
                for seat in range(players):
                    utility[case] += weight[me, seat] * outcome[seat]
            gain, loss = utility[1] - utility[0], utility[0] - utility[2]
        else:
            gain = gain_of_choice(params, worth[me], position.free)
        if wants_grimoire(params, pot_shares(position)[me], gain, loss):
            return INK_CHOICES
    need, denied = need_of(position, params, worth[me], lacking[me]), np.zeros((INKS, 2))
    if players == 2:
        denied = need_of(position, params, worth[1 - me], lacking[1 - me])
    return choose_inks(position, params, outlook, need, denied)


@compiled_apart
def give_lectern(params: Any, book: Any, position: Any, outlook: Any, work: Any) -> int:
    """Phase 2: a lectern for somebody, counted from the first such action."""
    me, players, lecterns = position.player, len(position.seat), len(position.free)
    worth = np.full((players, lecterns), NEVER)
    lacking = np.zeros((players, lecterns, INKS), np.int64)
    plan_lecterns(params, book, position, outlook, work, worth, lacking)
    weight, outcome = weigh_rivals(params, position), np.zeros(players)
    chosen = hand_on(weight, worth, position, me, position.grimoire, outcome)
    lectern, to = chosen // players, (chosen % players - me) % players
    return lectern * book.seats + to


@compiled_apart
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
    outlook = read_outlook(book, position, params)
    if position.phase == INK:
        return take_inks(params, book, position, outlook, work)
    if position.phase == LECTERN:
        return give + give_lectern(params, book, position, outlook, work)
    if position.phase == QUILL:
        wanted = params.quill * outlook.later > book.quill_points
        # The holder keeps the quill either way.
        return answer if wanted and position.player != position.quill else answer + 1
    if position.phase == ILLUMINATE:
        return place + illuminate(params, book, position, outlook, work, buy)
    discard = place + buy + len(book.design) * book.seats + 1
    return discard + discard_action(params, book, position, outlook, work)


@compiled
def greedy_actions(tables: Any, public: Any, rows_out: Any, params: Any) -> None:
    """Write the action of every game into ``rows_out``, int (N,)."""
    book, work = read_book(tables), new_work()
    for row in range(len(rows_out)):
        rows_out[row] = greedy_action(book, read_position(public, row), params, work)


class GreedyScriptorium(Agent):
    """The greedy agent; it has no seed, as it draws nothing."""

    name = "greedy"

    def __init__(self, params: GreedyParams | None = None) -> None:
        self.params = GreedyParams() if params is None else params

    def act(self, view: View) -> npt.NDArray[np.intp]:
        """Actions, intp (n,)."""
        actions = np.zeros(len(view), np.intp)
        # Without the one field that would have the functions compiled anew for other editions.
        tables = view.tables._replace(players=())
        greedy_actions(tables, view.public, actions, self.params)
        return actions
