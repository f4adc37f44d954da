"""Why an action is illegal: the rule clause and a reason a player understands."""

from __future__ import annotations

from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.state import Phase, PublicState
from incunabula.envs.bibliogamo.tables import Tables

_ASKED = {
    Phase.TRAVEL: "stay or walk",
    Phase.SELL: "keep or sell",
    Phase.PRICE: "accept or wait",
    Phase.HIRE: "hire, lift or end",
    Phase.PAY: "pay",
}


def why_illegal(t: Tables, a: Actions, p: PublicState, i: int, action: int) -> tuple[str, str]:
    """(clause, reason) for an action that is illegal in row ``i``."""
    phase = Phase(int(p.phase[i]))
    if phase == Phase.OVER:
        return "End", f"the game is over (time {int(p.time[i])} of {t.days}); deal a new one"
    kind = a.describe(action)["type"]
    if kind not in _ASKED[phase].replace(",", "").split():
        return (
            "Order of decisions",
            f"phase {phase.name.lower()} asks for {_ASKED[phase]}, not {kind}",
        )
    if kind == "walk":
        return _why_no_walk(t, p, i, action - a.walk)
    if kind == "wait":
        if p.time[i] >= t.days:
            return "step 4b", f"no day is left to wait (time {int(p.time[i])} of {t.days})"
        return "R10", "deck and discard pile are empty: no card can be flipped"
    slot = int(a.slot[action])
    held = int((p.hand[i] < t.cards).sum())
    if slot >= held:
        return "step 4c", f"hand slot {slot} is empty (the hand holds {held} cards)"
    card = int(p.hand[i, slot])
    if kind == "lift":
        return _why_no_lift(t, p, i, card)
    return _why_no_hire(t, p, i, card, (action - a.hire) % a.towers, held)


def _why_no_walk(t: Tables, p: PublicState, i: int, space: int) -> tuple[str, str]:
    cost = int(t.distance[p.librarian[i], space])
    if cost == 0:
        return "step 4a", f"the librarian is on space {space} already; stay instead"
    return "step 4a", f"walking to space {space} costs {cost} florins, {int(p.florins[i])} are held"


def _why_no_lift(t: Tables, p: PublicState, i: int, card: int) -> tuple[str, str]:
    if t.lifts_per_turn == 0:
        return "R11", "this edition allows no lift (rules.lifts_per_turn is 0)"
    if p.banned[i] < 0:
        return "R11", "nothing is banned, or the ban has been lifted already"
    return "R11", f"card {card}'s icon is type {int(t.icon[card])}, banned is {int(p.banned[i])}"


def _why_no_hire(
    t: Tables, p: PublicState, i: int, card: int, tower: int, held: int
) -> tuple[str, str]:
    if p.hires_left[i] == 0:
        return "R7", f"no hire is left this turn (rules.hires_per_turn is {t.hires_per_turn})"
    if held < 2:
        return "step 4c", "a hire needs two cards in hand, one to play and one to pay"
    if t.bans[p.banned[i], card]:
        return "R4", f"card {card} hires the banned type {int(p.banned[i])}; lift the ban first"
    if p.supply[i] == 0:
        return "R8", "no cube is left in the supply, so the hire would place none"
    return "R8", f"tower {tower} lacks no artisan that card {card} hires"
