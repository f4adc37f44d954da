"""The greedy agent of Scriptorium: every choice looks for the plan that is worth most.

Phase 3 searches for the tiles, purchases and unpaid edges that are worth most together
(``scriptorium_plan``). Phase 2 looks at what each lectern would be worth so to each player and
plays the handing on out to its end, everybody thinking of himself and of his rivals. Phase 1 takes
the inks that the plans of this day lack, and the grimoire when choosing is worth the inks forgone.
Only what every player knows is used, and nothing is drawn at random.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.compiled import compiled, compiled_apart
from incunabula.agents.scriptorium_plan import (
    AFTER,
    DESIGN,
    GAINED,
    HAND,
    HELD,
    HOPE,
    KEEP,
    LACK,
    NEVER,
    ODDS,
    POT,
    ROOM,
    SHARE,
    SOURCE,
    SPACE,
    TILE,
    TOKENS,
    bound_tiles,
    drop_placed,
    fill_edges,
    find_plan,
    list_bought,
    list_spare,
    list_tiles,
    new_work,
)
from incunabula.agents.scriptorium_worth import (
    ACHIEVEMENTS,
    BLACK,
    EDGE_LEFT,
    EDGE_RIGHT,
    GOLD,
    INKS,
    PRICED,
    SPACES,
    GreedyParams,
    read_outlook,
)

INK, LECTERN, QUILL, ILLUMINATE, DISCARD = 0, 1, 2, 3, 4  # phases, as in envs/scriptorium/state.py
SETS, FEW_SETS = 100, 12  # sets of tiles that a plan tries at most; in phases 1 and 2
INK_CHOICES = 19  # as in envs/scriptorium/actions.py


# Plans ------------------------------------------------------------------------------------------


class Plans(NamedTuple):
    """What each lectern would be worth to each player; the last place is for having none."""

    worth: npt.NDArray[np.float64]  # (P, L + 1)
    lacking: npt.NDArray[np.int64]  # (P, L + 1, 5) inks of the pot that the plan counts on


@compiled
def pot_shares(public: Any, row: int) -> Any:
    """Inks that each player will have from the pot if everybody takes two at a time, int (P,)."""
    players = len(public.tokens[row])
    shares = np.zeros(players, np.int64)
    left = 0
    for ink in range(INKS):
        left += public.pot[row, ink]
    seat = np.int64(public.player[row])
    while left > 0:
        if seat != public.grimoire[row]:
            shares[seat] += min(left, 2)
            left -= min(left, 2)
        seat = (seat + 1) % players
    return shares


@compiled_apart
def enter_seat(
    tables: Any, public: Any, outlook: Any, work: Any, row: int, seat: int, lectern: int, share: int
) -> tuple[Any, int]:
    """Set level 0 of the search; returns the tiles in hand, int (D,), and the achievements held."""
    counts = np.empty(len(tables.points), np.int64)
    for design in range(len(counts)):
        counts[design] = public.storage[row, seat, design]
        counts[design] += public.lectern_tiles[row, seat, design]
        if lectern >= 0:
            counts[design] += public.tiles[row, lectern, design]
    for ink in range(INKS):
        work.count[0, HELD + ink] = public.inks[row, seat, ink]
        work.count[0, POT + ink] = public.pot[row, ink]
    for space in range(SPACES):
        work.count[0, ROOM + space] = tables.capacity[space] - public.filled[row, seat, space]
    held = np.int64(0)
    for k in range(ACHIEVEMENTS):
        held += public.achievements[row, seat, k]
        work.count[0, LACK + k] = outlook.lack[seat, k]
        work.level[0, HOPE + k], work.level[0, ODDS + k] = (
            outlook.hope[seat, k],
            outlook.odds[seat, k],
        )
    work.count[0, SHARE], work.count[0, TOKENS] = share, public.tokens[row, seat]
    work.level[0, GAINED] = 0.0
    return counts, held


@compiled_apart
def plan_seat(
    params: Any,
    tables: Any,
    public: Any,
    outlook: Any,
    work: Any,
    row: int,
    seat: int,
    lectern: int,
    share: int,
    goods: Any,
    sets: int,
) -> tuple[float, int, int, int, int]:
    """Plan a seat's turn with a lectern (-1: none), ``share`` inks still to be had from the pot and
    the tiles to be bought (see ``list_bought``), trying at most so many sets of tiles.

    Returns (worth, tiles placed with ink, edges without: left, right, edges in hand for these).
    """
    counts, held = enter_seat(tables, public, outlook, work, row, seat, lectern, share)
    n, kept = list_tiles(params, tables, outlook, work, counts, held)
    spare = list_spare(tables, work, n)
    n = list_bought(tables, outlook, work, n, goods)
    n = bound_tiles(tables, outlook, work, n, lectern)
    count, gain = find_plan(outlook, work, n, sets)
    spare = drop_placed(work, spare, count)
    more, price = np.int64(0), 0.0
    for source in range(len(goods)):
        for design in range(len(counts)):
            if goods[source, design] > 0.0 and tables.edge[design]:
                price = goods[source, design] if more == 0 else min(price, goods[source, design])
                more += 1
    more = min(more, work.count[AFTER, TOKENS])
    filled, left, right = fill_edges(outlook, work, spare, more, price)
    return kept + gain + filled, count, left, right, spare


@compiled
def weigh_rivals(params: Any, public: Any, row: int) -> Any:
    """How much each seat's gains count for each seat, float (P, P); its own 1."""
    players = len(public.tokens[row])
    weight = np.empty((players, players))
    for seat in range(players):
        total = 0.0
        for other in range(players):
            lead = params.leader * (public.score[row, other] - public.score[row, seat])
            weight[seat, other] = exp(min(lead, 50.0)) if other != seat else 0.0
            total += weight[seat, other]
        for other in range(players):
            weight[seat, other] *= -params.rivalry / total
        weight[seat, seat] = 1.0
    return weight


# Phase 2 ----------------------------------------------------------------------------------------


@compiled_apart
def hand_on(
    weight: Any,
    worth: Any,
    owned: Any,
    free: Any,
    chooser: int,
    quill: int,
    grimoire: int,
    outcome: Any,
) -> int:
    """The best lectern and receiver for ``chooser``: lectern · P + seat.

    Plays phase 2 out to its end; every chooser does what is best by his row of ``weight``. Into
    ``outcome``, float (P,), goes what each player gets. ``owned``, int (P,): his lectern or -1;
    ``free``, bool (L,); both are left as they were.
    """
    players, lecterns = len(owned), len(free)
    who, choice = np.empty(players + 1, np.int64), np.empty(players + 1, np.int64)
    best, result = np.empty(players + 1), np.empty((players + 1, players))
    waiting, depth, chosen, every = 0, 0, -1, lecterns * players
    for seat in range(players):
        waiting += owned[seat] < 0
    who[0], choice[0], best[0] = chooser, -1, NEVER
    while True:
        choice[depth] += 1
        if choice[depth] == every:
            if depth == 0:
                break
            depth -= 1
            lectern, to = choice[depth] // players, choice[depth] % players
            utility = 0.0
            for seat in range(players):
                utility += weight[who[depth], seat] * result[depth + 1, seat]
            if utility > best[depth]:
                best[depth] = utility
                for seat in range(players):
                    result[depth, seat] = result[depth + 1, seat]
                if depth == 0:
                    chosen = choice[0]
            owned[to], free[lectern] = -1, True
            waiting += 1
            continue
        lectern, to, giver = choice[depth] // players, choice[depth] % players, who[depth]
        if not free[lectern] or owned[to] >= 0:
            continue
        # The grimoire's holder first chooses for himself; nobody else does.
        if (to == giver) != (giver == grimoire and owned[giver] < 0):
            continue
        owned[to], free[lectern] = lectern, False
        waiting -= 1
        depth += 1
        choice[depth], best[depth] = -1, NEVER
        if waiting == 0:
            for seat in range(players):
                result[depth, seat] = worth[seat, owned[seat]]
            choice[depth] = every - 1
            continue
        following = quill if to == grimoire else to
        if waiting == 1 and owned[following] < 0:  # S4
            following = grimoire
        who[depth] = following
    for seat in range(players):
        outcome[seat] = result[0, seat]
    return chosen


# Phase 1 ----------------------------------------------------------------------------------------


@compiled_apart
def need_of(public: Any, row: int, params: Any, plans: Any, seat: int) -> Any:
    """How likely this day's plan lacks the n-th further ink of a colour, float (5, 2)."""
    need = np.zeros((INKS, 2))
    worst, lecterns = -1, 0
    for lectern in range(len(public.in_play[row])):
        if public.in_play[row, lectern]:
            lecterns += 1
            if worst < 0 or plans.worth[seat, lectern] < plans.worth[seat, worst]:
                worst = lectern
    for lectern in range(len(public.in_play[row])):
        if public.in_play[row, lectern]:
            chance = (1.0 - params.hostility) / lecterns
            chance += params.hostility if lectern == worst else 0.0
            for ink in range(INKS):
                for n in range(2):
                    if plans.lacking[seat, lectern, ink] > n:
                        need[ink, n] += chance
    return need


@compiled_apart
def choose_inks(public: Any, row: int, params: Any, outlook: Any, need: Any, denied: Any) -> int:
    """The ink choice worth most; need, denied float (5, 2): one's own plans', the rivals'."""
    seat = np.int64(public.player[row])
    worth = np.zeros((INKS, 2))
    for ink in range(INKS):
        left, held = np.int64(public.pot[row, ink]), np.int64(public.inks[row, seat, ink])
        for n in range(2):
            worth[ink, n] = outlook.price[ink, min(held + n, PRICED - 1)]
            scarce = 1.0 + params.scarce * exp(-(left - 1) / params.scarce_inks)
            worth[ink, n] += params.need * scarce * need[ink, n] + params.deny * denied[ink, n]
            if left <= n:
                worth[ink, n] = NEVER
    chosen, best, choice = -1, NEVER / 2.0, 0
    for ink in range(INKS):
        if worth[ink, 0] > best:
            chosen, best = choice, worth[ink, 0]
        choice += 1
    for ink in range(INKS):
        for other in range(ink, INKS):
            if ink == BLACK and other == GOLD:
                continue
            both = worth[ink, 0] + (worth[ink, 1] if other == ink else worth[other, 0])
            if both >= best:
                chosen, best = choice, both
            choice += 1
    return chosen


@compiled
def gain_of_choice(params: Any, worth: Any, free: Any) -> float:
    """What choosing a lectern oneself is worth over being given one; worth (L + 1,)."""
    best, least, total, lecterns = NEVER, -NEVER, 0.0, 0
    for lectern in range(len(free)):
        if free[lectern]:
            best, least = max(best, worth[lectern]), min(least, worth[lectern])
            total += worth[lectern]
            lecterns += 1
    mean = total / lecterns
    return best - (mean + params.hostility * (least - mean))


@compiled
def wants_grimoire(params: Any, share: int, gain: float, loss: float) -> bool:
    """Whether to take the grimoire now, ``share`` inks before the pot is empty.

    ``gain``: of having it over nobody having it; ``loss``: of a rival having it.
    """
    if gain <= params.grimoire_ink * share:
        return False
    if share <= 2:  # the last chance
        return True
    taken = exp(-(share - 2) / params.grimoire_hurry)
    return taken * (gain + loss) > 2.0 * params.grimoire_ink


# The agent --------------------------------------------------------------------------------------


@compiled
def price_goods(
    tables: Any, public: Any, outlook: Any, row: int, params: Any, me: int, goods: Any
) -> None:
    """What every tile to be bought counts, into ``goods`` (see ``list_bought``)."""
    players = len(goods)
    if players == 0 or public.tokens[row, me] == 0:
        return
    for design in range(goods.shape[1]):
        if public.market[row, design] > 0:
            goods[0, design] = outlook.token
        for source in range(1, players):
            if public.storage[row, (me + source) % players, design] > 0:
                goods[source, design] = outlook.token + params.rivalry * tables.token_points


@compiled_apart
def plan_all(
    params: Any,
    tables: Any,
    public: Any,
    outlook: Any,
    work: Any,
    row: int,
    owned: Any,
    free: Any,
    goods: Any,
) -> tuple[Plans, int, int, int, int]:
    """The plans that the decision looks at, and of the last of them: tiles placed with ink, edges
    without (left, right), edges in hand for these."""
    phase, me = public.phase[row], np.int64(public.player[row])
    players, lecterns = len(owned), len(free)
    quill_points = float(tables.quill_points)
    quill_worth = max(quill_points, params.quill * outlook.later)
    shares = pot_shares(public, row)
    plans = Plans(
        np.full((players, lecterns + 1), NEVER), np.zeros((players, lecterns + 1, INKS), np.int64)
    )
    sets = FEW_SETS if phase in (INK, LECTERN) else SETS
    count, left, right, spare = 0, 0, 0, 0
    for seat in range(players):
        if phase == LECTERN and owned[seat] >= 0:
            plans.worth[seat, owned[seat]] = 0.0  # whatever is handed on
        rivals = phase == LECTERN or (phase == INK and players == 2)
        for lectern in range(-1, lecterns):
            if phase in (INK, LECTERN):
                wanted = lectern >= 0 and free[lectern] and owned[seat] < 0
            else:
                wanted = lectern == (owned[me] if phase == ILLUMINATE else -1)
            if not wanted or not (seat == me or rivals):
                continue
            share = shares[seat] if phase == INK else np.int64(0)
            worth, count, left, right, spare = plan_seat(
                params, tables, public, outlook, work, row, seat, lectern, share, goods, sets
            )
            if lectern >= 0 and tables.lectern_ink[lectern] < 0:
                # The quill's holder keeps it whatever he answers.
                worth += quill_worth if seat != public.quill[row] else quill_points
            plans.worth[seat, lectern] = worth
            for ink in range(INKS):
                plans.lacking[seat, lectern, ink] = (
                    public.pot[row, ink] - work.count[AFTER, POT + ink]
                )
    return plans, count, left, right, spare


@compiled
def place_action(tables: Any, public: Any, row: int, design: int, space: int, paid: bool) -> int:
    """The number of a placement, from the storage if possible, counted from the first; see
    actions.py."""
    number = 0
    for d in range(design):
        number += 2 * (2 if tables.sided[d] else 1) * (2 if tables.edge[d] else 1)
    ways = 2 if tables.edge[design] else 1
    side = 1 if tables.sided[design] and space == tables.space[design, 1] else 0
    if public.storage[row, public.player[row], design] > 0:
        number += ways * (2 if tables.sided[design] else 1)
    return number + ways * side + (0 if paid else 1)


@compiled
def first_of_plan(work: Any, count: int) -> int:
    """The place in ``work.best`` of a tile in hand; the first if all have to be bought."""
    for k in range(count):
        if work.tile[work.best[k, TILE], SOURCE] == HAND:
            return k
    return 0


@compiled
def cheapest_edge(tables: Any, goods: Any) -> tuple[int, int]:
    """Source and design of the cheapest edge to be bought."""
    source, design, best = 0, 0, -NEVER
    for s in range(len(goods)):
        for d in range(goods.shape[1]):
            if tables.edge[d] and 0.0 < goods[s, d] < best:
                source, design, best = s, d, goods[s, d]
    return source, design


@compiled_apart
def least_tile(
    tables: Any, public: Any, outlook: Any, row: int, params: Any, work: Any, me: int
) -> int:
    """Phase 4: the design in the storage that is least worth keeping, -1 if it holds no tile."""
    counts, held = enter_seat(tables, public, outlook, work, row, me, np.int64(-1), np.int64(0))
    n, _ = list_tiles(params, tables, outlook, work, counts, held)
    for i in range(n):
        counts[work.tile[i, DESIGN]] -= 1
    for design in range(len(counts)):
        if counts[design] > 0:  # no space for it
            return design
    least = n - 1
    for i in range(n):
        if work.worth[i, KEEP] < work.worth[least, KEEP]:
            least = i
    return work.tile[least, DESIGN] if n > 0 else -1


@compiled
def least_ink(public: Any, outlook: Any, row: int, work: Any, me: int) -> int:
    """Phase 4: the ink that is least worth keeping, if possible one that the plan leaves."""
    chosen, least = -1, -NEVER
    for ink in range(INKS):
        held = np.int64(public.inks[row, me, ink])
        if held > 0:
            price = outlook.price[ink, min(held, PRICED) - 1]
            price += 0.0 if work.count[AFTER, HELD + ink] > 0 else 100.0
            if price < least:
                chosen, least = ink, price
    return chosen


@compiled_apart
def illuminate(
    tables: Any,
    public: Any,
    row: int,
    work: Any,
    goods: Any,
    count: int,
    left: int,
    right: int,
    spare: int,
    buy: int,
) -> int:
    """Phase 3: the next action of the plan, counted from the first placement; ``buy``: the first
    purchase."""
    seats = len(tables.pots) - 1
    if count > 0:
        k = first_of_plan(work, count)
        i = work.best[k, TILE]
        design, source = work.tile[i, DESIGN], work.tile[i, SOURCE]
        if source != HAND:
            return buy + design * seats + source
        return place_action(tables, public, row, design, work.best[k, SPACE], True)
    if left + right == 0:
        return buy + len(tables.points) * seats  # end
    if spare == 0:
        source, design = cheapest_edge(tables, goods)
        return buy + design * seats + source
    space = EDGE_LEFT if left > 0 else EDGE_RIGHT
    return place_action(tables, public, row, work.spare[spare - 1], space, False)


@compiled_apart
def greedy_action(tables: Any, public: Any, row: int, params: Any, work: Any) -> int:
    """The agent's action in game ``row``, which must not be over; always legal.

    ``tables``: Tables; ``public``: PublicState; ``params``: GreedyParams; ``work``: Work.
    """
    phase, me = public.phase[row], np.int64(public.player[row])
    quill = np.int64(public.quill[row])
    players, lecterns = len(public.tokens[row]), len(tables.lectern_ink)
    designs, seats = len(tables.points), len(tables.pots) - 1
    outlook = read_outlook(tables, public, row, params)
    # The first action of each kind; see actions.py.
    give = INK_CHOICES + 1
    answer = give + lecterns * seats
    place = answer + 2
    buy = 0
    for design in range(designs):
        buy += 2 * (2 if tables.sided[design] else 1) * (2 if tables.edge[design] else 1)
    discard = place + buy + designs * seats + 1
    if phase == QUILL:
        wanted = params.quill * outlook.later > tables.quill_points
        return answer if wanted and me != quill else answer + 1  # the holder keeps it either way
    if phase == DISCARD:
        held = np.int64(0)
        for design in range(designs):
            held += public.storage[row, me, design]
        for k in range(ACHIEVEMENTS):
            held += public.achievements[row, me, k]
        if held > tables.storage_limit:
            design = least_tile(tables, public, outlook, row, params, work, me)
            if design >= 0:
                return discard + design
            for k in range(ACHIEVEMENTS):
                if public.achievements[row, me, k]:
                    return discard + designs + k

    owned, free = np.full(players, -1, np.int64), np.zeros(lecterns, np.bool_)
    for lectern in range(lecterns):
        free[lectern] = public.in_play[row, lectern] > 0
        for seat in range(players):
            if public.lectern[row, seat, lectern]:
                owned[seat], free[lectern] = lectern, False
    goods = np.zeros((players if phase == ILLUMINATE else 0, designs))
    price_goods(tables, public, outlook, row, params, me, goods)
    plans, count, left, right, spare = plan_all(
        params, tables, public, outlook, work, row, owned, free, goods
    )
    if phase == ILLUMINATE:
        return place + illuminate(tables, public, row, work, goods, count, left, right, spare, buy)
    if phase == DISCARD:
        ink = least_ink(public, outlook, row, work, me)
        return discard + designs + ACHIEVEMENTS + ink

    # Phase 2 as it will go: now; in phase 1, by who has the grimoire: nobody, the player, a rival.
    grimoire = np.int64(public.grimoire[row])
    foreseen = phase == LECTERN or players == 2
    weight = weigh_rivals(params, public, row)
    utility, outcome, chosen = np.zeros(3), np.zeros(players), -1
    for case in range((1 if phase == LECTERN else 3) if foreseen else 0):
        holder, chooser = grimoire, me
        if phase == INK:
            holder = -1 if case == 0 else (me + case - 1) % players
            chooser = quill if holder < 0 else holder
        chosen = hand_on(weight, plans.worth, owned, free, chooser, quill, holder, outcome)
        for seat in range(players):
            utility[case] += weight[me, seat] * outcome[seat]
    if phase == LECTERN:
        lectern, to = chosen // players, (chosen % players - me) % players
        return give + lectern * seats + to

    need = need_of(public, row, params, plans, me)
    denied = np.zeros((INKS, 2))
    if players == 2:
        denied = need_of(public, row, params, plans, 1 - me)
    if grimoire < 0:
        gain, loss = utility[1] - utility[0], utility[0] - utility[2]
        if not foreseen:
            gain = gain_of_choice(params, plans.worth[me], free)
        if wants_grimoire(params, pot_shares(public, row)[me], gain, loss):
            return give - 1
    return choose_inks(public, row, params, outlook, need, denied)


@compiled
def greedy_actions(tables: Any, public: Any, rows_out: Any, params: Any) -> None:
    """Write the action of every game into ``rows_out``, int (N,)."""
    work = new_work()
    for row in range(len(rows_out)):
        rows_out[row] = greedy_action(tables, public, row, params, work)


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
