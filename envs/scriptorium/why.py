"""Why an action is illegal: the rule clause and a reason a player understands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from incunabula.envs.scriptorium.actions import SOURCES, Actions, Kind
from incunabula.envs.scriptorium.edition import Edition
from incunabula.envs.scriptorium.state import Phase, PublicState
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, BLACK, GOLD, INKS, SPACES, Tables

_Reason = Callable[[Edition, Tables, Actions, PublicState, int, int], tuple[str, str]]

# What each phase asks for: the kinds of actions, and in words.
_ASKED: dict[Phase, tuple[tuple[Kind, ...], str]] = {
    Phase.INK: ((Kind.INK, Kind.GRIMOIRE), "take ink or the grimoire"),
    Phase.LECTERN: ((Kind.LECTERN,), "choose a lectern and who gets it"),
    Phase.QUILL: ((Kind.QUILL, Kind.POINTS), "take the quill, or points instead"),
    Phase.ILLUMINATE: ((Kind.PLACE, Kind.BUY, Kind.END), "place or buy tiles, or end the turn"),
    Phase.DISCARD: (
        (Kind.DISCARD_TILE, Kind.DISCARD_ACHIEVEMENT, Kind.DISCARD_INK),
        "discard what is above the limits",
    ),
}
_DONE = {
    Kind.INK: "take ink",
    Kind.GRIMOIRE: "take the grimoire",
    Kind.LECTERN: "choose a lectern",
    Kind.QUILL: "take the quill",
    Kind.POINTS: "take points for the quill",
    Kind.PLACE: "place a tile",
    Kind.BUY: "buy a tile",
    Kind.END: "end the turn",
    Kind.DISCARD_TILE: "discard a tile",
    Kind.DISCARD_ACHIEVEMENT: "discard an achievement",
    Kind.DISCARD_INK: "discard an ink",
}
_CLAUSES = {
    Phase.INK: "phase 1",
    Phase.LECTERN: "phase 2",
    Phase.QUILL: "phase 2",
    Phase.ILLUMINATE: "phase 3",
    Phase.DISCARD: "phase 4",
}


def why_illegal(
    edition: Edition,
    t: Tables,
    a: Actions,
    p: PublicState,
    num_players: int,
    i: int,
    action: int,
) -> tuple[str, str]:
    """(clause, reason) for an action that is illegal in row ``i``; seats in it are absolute, kinds
    by the edition's names."""
    phase, kind = Phase(int(p.phase[i])), Kind(int(a.kind[action]))
    if phase == Phase.OVER:
        return "end and score", f"the game is over after round {int(p.round[i])}; deal a new one"
    kinds, asked = _ASKED[phase]
    if kind not in kinds:
        return _CLAUSES[phase], f"it isn't time to {_DONE[kind]} now, but to {asked}"
    seat = _named_seat(a, kind, action)
    if seat >= num_players:
        return "setup", f"{num_players} players play; nobody sits {seat} seats further on"
    reasons: dict[Kind, _Reason] = {
        Kind.INK: _why_no_ink,
        Kind.GRIMOIRE: _why_no_grimoire,
        Kind.LECTERN: _why_no_lectern,
        Kind.PLACE: _why_no_place,
        Kind.BUY: _why_no_buy,
    }
    return reasons.get(kind, _why_no_discard)(edition, t, a, p, i, action)


def _named_seat(a: Actions, kind: Kind, action: int) -> int:
    """The relative seat an action names, 0 if none."""
    if kind == Kind.LECTERN:
        return int(a.to[action])
    return int(a.source[action]) if kind == Kind.BUY else 0


def _why_no_ink(
    edition: Edition, t: Tables, a: Actions, p: PublicState, i: int, action: int
) -> tuple[str, str]:
    ink = int((a.take[action] > p.pot[i]).argmax())
    wanted, left = int(a.take[action, ink]), int(p.pot[i, ink])
    return "phase 1", f"{wanted} {INKS[ink]} wanted, the pot has {left}"


def _why_no_grimoire(
    edition: Edition, t: Tables, a: Actions, p: PublicState, i: int, action: int
) -> tuple[str, str]:
    return "phase 1", f"seat {int(p.grimoire[i])} has taken the grimoire this round"


def _why_no_lectern(
    edition: Edition, t: Tables, a: Actions, p: PublicState, i: int, action: int
) -> tuple[str, str]:
    player, grimoire = int(p.player[i]), int(p.grimoire[i])
    lectern = int(a.lectern[action])
    name = edition.lecterns[lectern]
    owners = p.lectern[i, :, lectern]
    if not p.in_play[i, lectern]:
        in_play = ", ".join(edition.lecterns[k] for k in np.flatnonzero(p.in_play[i]))
        return "phase 2", f"lectern {name} is not in play this round; {in_play} are"
    if owners.any():
        return "phase 2", f"lectern {name} belongs to seat {int(owners.argmax())}"
    served = p.lectern[i].any(axis=1)
    receiver = (player + int(a.to[action])) % len(served)
    if served[receiver]:
        return "phase 2", f"seat {receiver} has a lectern already"
    if receiver == player:
        return "S4", "nobody chooses his own lectern without the grimoire; give it to another"
    return "phase 2", f"seat {grimoire} took the grimoire and first chooses for himself"


def _why_no_place(
    edition: Edition, t: Tables, a: Actions, p: PublicState, i: int, action: int
) -> tuple[str, str]:
    player, design, space = int(p.player[i]), int(a.design[action]), int(a.space[action])
    source = int(a.source[action])
    held = (p.lectern_tiles, p.storage)[source][i, player, design]
    if not held:
        where = f"{'on' if source == 0 else 'in'} seat {player}'s {SOURCES[source]}"
        return "phase 3", f"there is no {_tile(edition, design)} {where}"
    filled, capacity = int(p.filled[i, player, space]), int(t.capacity[space])
    if filled >= capacity:
        return "phase 3", f"no {_space(space)} is free ({filled} of {capacity} filled)"
    return _why_no_payment(edition, t, p, i, player, design)


def _why_no_payment(
    edition: Edition, t: Tables, p: PublicState, i: int, player: int, design: int
) -> tuple[str, str]:
    lectern = int(p.lectern[i, player].argmax())
    cost, inks = t.costs[lectern, design], p.inks[i, player]
    short = np.maximum(cost - inks, 0)
    parts = ", ".join(f"{int(n)} {INKS[k]}" for k, n in enumerate(cost) if n) or "nothing"
    waived = int(t.lectern_ink[lectern])
    free = f" ({INKS[waived]} is free)" if waived >= 0 and t.cost[design, waived] else ""
    price = f"{_tile(edition, design)} costs {parts}{free}"
    if short[BLACK]:
        return "S7", f"{price}; {int(inks[BLACK])} black held, and nothing else pays for black"
    missing = ", ".join(f"{int(short[k])} {INKS[k]}" for k in range(1, GOLD) if short[k])
    needed = int(cost[GOLD] + short[BLACK + 1 : GOLD].sum())
    instead = f"{missing} short, which gold must pay; " if missing else ""
    return "S7", f"{price}; {instead}{needed} gold needed, {int(inks[GOLD])} held"


def _why_no_buy(
    edition: Edition, t: Tables, a: Actions, p: PublicState, i: int, action: int
) -> tuple[str, str]:
    player, design, source = int(p.player[i]), int(a.design[action]), int(a.source[action])
    if not p.tokens[i, player]:
        return "phase 3", f"buying costs a help token, seat {player} has none"
    if not source:
        return "phase 3", f"there is no {_tile(edition, design)} in the scriptorium"
    seller = (player + source) % p.tokens.shape[1]
    return "phase 3", f"there is no {_tile(edition, design)} in seat {seller}'s storage"


def _why_no_discard(
    edition: Edition, t: Tables, a: Actions, p: PublicState, i: int, action: int
) -> tuple[str, str]:
    player, kind, what = int(p.player[i]), Kind(int(a.kind[action])), int(a.design[action])
    stored = int(p.storage[i, player].sum() + p.achievements[i, player].sum())
    full = f"storage holds {stored} tiles and achievements, {t.storage_limit} may stay"
    if stored > t.storage_limit and kind == Kind.DISCARD_INK:
        return "phase 4", f"{full}: discard one of those before inks"
    if stored <= t.storage_limit and kind != Kind.DISCARD_INK:
        return "phase 4", f"{full}: only inks must be discarded"
    names = {
        Kind.DISCARD_TILE: lambda: f"{_tile(edition, what)} in storage",
        Kind.DISCARD_ACHIEVEMENT: lambda: f"achievement {ACHIEVEMENTS[what].replace('_', ' ')}",
        Kind.DISCARD_INK: lambda: f"{INKS[what]} ink",
    }
    return "phase 4", f"seat {player} has no {names[kind]()}"


def _tile(edition: Edition, design: int) -> str:
    """A design's name, with the number that pictures show."""
    return f"{edition.tiles[design].name} #{design}"


def _space(space: int) -> str:
    """A kind of space in words: "left edge", "space A"."""
    kind, _, side = SPACES[space].partition("_")
    return f"{side} {kind}" if side else f"space {kind}"
