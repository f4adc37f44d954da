"""Why an action is illegal: the rule clause and a reason a player understands."""

from __future__ import annotations

from incunabula.envs.bibliogamo.actions import Actions, Kind
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.state import Phase, PublicState
from incunabula.envs.bibliogamo.tables import Tables

# What each phase asks for: the kinds of actions, and in words.
_ASKED: dict[Phase, tuple[tuple[Kind, ...], str]] = {
    Phase.TRAVEL: ((Kind.TRAVEL,), "stay or walk"),
    Phase.SELL: ((Kind.KEEP, Kind.SELL), "keep or sell the finished book"),
    Phase.PRICE: ((Kind.ACCEPT, Kind.WAIT), "accept the offer or wait a day for another"),
    Phase.HIRE: ((Kind.HIRE, Kind.LIFT, Kind.END), "hire, lift the ban or end the turn"),
    Phase.PAY: ((Kind.PAY,), "discard a card to pay for the hire"),
}
_DONE = {
    Kind.TRAVEL: "stay or walk",
    Kind.KEEP: "keep a book",
    Kind.SELL: "sell a book",
    Kind.ACCEPT: "accept an offer",
    Kind.WAIT: "wait for another offer",
    Kind.HIRE: "hire",
    Kind.LIFT: "lift the ban",
    Kind.PAY: "pay for a hire",
    Kind.END: "end the turn",
}


def why_illegal(
    edition: Edition, t: Tables, a: Actions, p: PublicState, i: int, action: int
) -> tuple[str, str]:
    """(clause, reason) for an action that is illegal in row ``i``; kinds by the edition's names."""
    phase, kind = Phase(int(p.phase[i])), Kind(int(a.kind[action]))
    if phase == Phase.OVER:
        return "End", f"the game is over (time {int(p.time[i])} of {t.days}); deal a new one"
    kinds, asked = _ASKED[phase]
    if kind not in kinds:
        return "Order of decisions", f"it isn't time to {_DONE[kind]} now, but to {asked}"
    if kind == Kind.TRAVEL:
        return _why_no_walk(edition, t, p, i, action - a.walk)
    if kind == Kind.WAIT:
        if p.time[i] >= t.days:
            return "step 4b", f"no day is left to wait (time {int(p.time[i])} of {t.days})"
        return "R10", "deck and discard pile are empty: no card can be flipped"
    slot = int(a.slot[action])
    held = int((p.hand[i] < t.cards).sum())
    if slot >= held:
        return "step 4c", f"hand slot {slot} is empty (the hand holds {held} cards)"
    card = int(p.hand[i, slot])
    if kind == Kind.LIFT:
        return _why_no_lift(edition, t, p, i, card)
    return _why_no_hire(edition, t, p, i, card, int(a.tower[action]), held)


def _why_no_walk(
    edition: Edition, t: Tables, p: PublicState, i: int, space: int
) -> tuple[str, str]:
    cost = int(t.distance[p.librarian[i], space])
    there = f"{edition.board.spaces[space]} (space {space})"
    if cost == 0:
        return "step 4a", f"the librarian is at {there} already; stay instead"
    florins = "florin" if cost == 1 else "florins"
    return "step 4a", f"walking to {there} costs {cost} {florins}, {int(p.florins[i])} held"


def _why_no_lift(edition: Edition, t: Tables, p: PublicState, i: int, card: int) -> tuple[str, str]:
    if t.lifts_per_turn == 0:
        return "R11", "this edition allows no lift (rules.lifts_per_turn is 0)"
    if p.banned[i] < 0:
        return "R11", "nothing is banned, or the ban has been lifted already"
    icon, banned = edition.cards[card].icon, edition.artisan_types[p.banned[i]]
    return "R11", f"card {card}'s icon is {icon}, banned is {banned}"


def _why_no_hire(
    edition: Edition, t: Tables, p: PublicState, i: int, card: int, tower: int, held: int
) -> tuple[str, str]:
    if p.hires_left[i] == 0:
        return "R7", f"no hire is left this turn (rules.hires_per_turn is {t.hires_per_turn})"
    if held < 2:
        return "step 4c", "a hire needs two cards in hand, one to play and one to pay"
    if t.bans[p.banned[i], card]:
        banned = edition.artisan_types[p.banned[i]]
        return "R4", f"card {card} hires the banned type {banned}; lift the ban first"
    if p.supply[i] == 0:
        return "R8", "no cube is left in the supply, so the hire would place none"
    return "R8", f"{edition.towers[tower].name} lacks no artisan that card {card} hires"
