"""Phases 1 and 2 for the greedy agent of Scriptorium: inks, the grimoire, handing lecterns on.

Functions in numba's subset: see ``compiled``. Sizes: P players, L lecterns.
"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from incunabula.agents.scriptorium_plan import NEVER
from incunabula.agents.scriptorium_position import BLACK, GOLD, HELD, INKS, OWNED, SCORE
from incunabula.agents.scriptorium_worth import PRICE, PRICED
from incunabula.envs.compiled.functions import compiled, compiled_apart


@compiled
def pot_shares(position: Any) -> Any:
    """Inks that each player will have from the pot if everybody takes two at a time, int (P,)."""
    players = len(position.seat)
    shares = np.zeros(players, np.int64)
    left = 0
    for ink in range(INKS):
        left += position.pot[ink]
    seat = position.player
    while left > 0:
        if seat != position.grimoire:
            shares[seat] += min(left, 2)
            left -= min(left, 2)
        seat = (seat + 1) % players
    return shares


@compiled_apart
def need_of(position: Any, params: Any, worth: Any, lacking: Any) -> Any:
    """How likely this day's plan lacks the n-th further ink of a colour, float (5, 2).

    ``worth`` (L,) of each lectern to a player, ``lacking`` (L, 5) inks that his plan with it lacks.
    """
    need = np.zeros((INKS, 2))
    worst, lecterns = -1, 0
    for lectern in range(len(position.free)):
        if position.free[lectern]:
            lecterns += 1
            if worst < 0 or worth[lectern] < worth[worst]:
                worst = lectern
    for lectern in range(len(position.free)):
        if position.free[lectern]:
            chance = (1.0 - params.hostility) / lecterns
            chance += params.hostility if lectern == worst else 0.0
            for ink in range(INKS):
                for n in range(2):
                    if lacking[lectern, ink] > n:
                        need[ink, n] += chance
    return need


@compiled_apart
def choose_inks(
    position: Any, params: Any, work: Any, need: Any, denied: Any, second: float
) -> int:
    """The ink choice worth most; need, denied float (5, 2): one's own plans', the rivals'.

    ``second``: what taking two is worth over taking one, whatever the inks.
    """
    worth = np.zeros((INKS, 2))
    for ink in range(INKS):
        left, held = position.pot[ink], position.seat[position.player, HELD + ink]
        for n in range(2):
            worth[ink, n] = work.x[PRICE + ink, min(held + n, PRICED - 1)]
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
            both = second + worth[ink, 0] + (worth[ink, 1] if other == ink else worth[other, 0])
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
def ink_worth(params: Any, inks: int, taker: int, seat: int, players: int) -> float:
    """What inks that ``taker`` gets are worth to a seat."""
    share = 1.0 if seat == taker else -params.rivalry / (players - 1)
    return params.grimoire_ink * inks * share


@compiled_apart
def race(position: Any, params: Any, gain: Any) -> Any:
    """Phase 1 as a race for the grimoire, played out to its end by everybody's best choices: what
    one ink, two inks and the grimoire are worth to the player now, float (3,).

    An ink is like another here. ``gain``, float (P, P): what it is worth to each seat that each
    seat has the grimoire, over nobody having it.
    """
    players, pot = len(position.seat), 0
    for ink in range(INKS):
        pot += position.pot[ink]
    worth = np.zeros((pot + 1, players, players))  # by inks left, who is to choose, to whom
    option = np.full((3, players), NEVER)
    for left in range(1, pot + 1):
        for mover in range(players):
            best, following = 2, (mover + 1) % players
            for k in range(1, 3):
                for seat in range(players):
                    option[k - 1, seat] = NEVER
                    if k <= left:
                        option[k - 1, seat] = worth[left - k, following, seat]
                        option[k - 1, seat] += ink_worth(params, k, mover, seat, players)
            for seat in range(players):
                option[2, seat] = gain[seat, mover]
            rest, taker = left, following
            while rest > 0:
                if taker != mover:
                    for seat in range(players):
                        option[2, seat] += ink_worth(params, min(rest, 2), taker, seat, players)
                    rest -= min(rest, 2)
                taker = (taker + 1) % players
            for k in range(2):
                if option[k, mover] >= option[best, mover]:
                    best = k
            for seat in range(players):
                worth[left, mover, seat] = option[best, seat]
            if left == pot and mover == position.player:
                break
    now = np.empty(3)
    for k in range(3):
        now[k] = option[k, position.player]
    return now


@compiled
def weigh_rivals(params: Any, position: Any) -> Any:
    """How much each seat's gains count for each seat, float (P, P); its own 1."""
    players = len(position.seat)
    weight = np.empty((players, players))
    for seat in range(players):
        total = 0.0
        for other in range(players):
            lead = params.leader * (position.seat[other, SCORE] - position.seat[seat, SCORE])
            weight[seat, other] = exp(min(lead, 50.0)) if other != seat else 0.0
            total += weight[seat, other]
        for other in range(players):
            weight[seat, other] *= -params.rivalry / total
        weight[seat, seat] = 1.0
    return weight


@compiled_apart
def hand_on(
    weight: Any,
    worth: Any,
    position: Any,
    chooser: int,
    grimoire: int,
    outcome: Any,
) -> int:
    """The best lectern and receiver for ``chooser``: lectern · P + seat.

    Plays phase 2 out to its end; every chooser does what is best by his row of ``weight``. Into
    ``outcome``, float (P,), goes what each player gets.
    """
    players, lecterns, quill = len(position.seat), len(position.free), position.quill
    owned, free = np.empty(players, np.int64), position.free.copy()
    who, choice = np.empty(players + 1, np.int64), np.empty(players + 1, np.int64)
    best, result = np.empty(players + 1), np.empty((players + 1, players))
    waiting, depth, chosen, every = 0, 0, -1, lecterns * players
    for seat in range(players):
        owned[seat] = position.seat[seat, OWNED]
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
