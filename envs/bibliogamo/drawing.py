"""The board as text."""

from __future__ import annotations

from typing import Any

from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.drawing.lines import wrapped

Json = dict[str, Any]


def draw_text(edition: Edition, state: Json) -> str:
    """The public state (its JSON form) as plain text, at most 100 columns for usual editions."""
    rules, cards = edition.rules, {card.id: card for card in edition.cards}
    types = edition.artisan_types
    banned = "-" if state["banned"] is None else types[state["banned"]]
    lines = [
        f"turn {state['turn']}  day {state['time']}/{rules.days}  florins {state['florins']}  "
        f"books {state['books']}  score {state['score']}  cubes {state['supply']}/{rules.cubes}  "
        f"banned: {banned}  hires left {state['hires_left']}  [{state['phase']}]",
        "",
    ]
    names = [tower.name for tower in edition.towers]
    for space, name in enumerate(edition.board.spaces):
        tower = edition.towers[names.index(name)]
        filled = state["towers"][names.index(name)]
        bars = "  ".join(
            f"{kind[:10]:10s} {'#' * have}{'.' * (tower.requires.get(kind, 0) - have)}"
            for kind, have in zip(types, filled, strict=True)
            if tower.requires.get(kind, 0)
        )
        pawn = ">" if state["librarian"] == space else " "
        lines.append(f"{pawn}{space} {name[:12]:12s} {bars}")
    lines += ["", *_hand(edition, state)]
    if state["display"]:
        first, last = cards[state["display"][0]], cards[state["display"][-1]]
        lines += ["", f"price: {last.florins[first.coin]} florins in {first.coin}"]
    prestige = edition.prestige[state["prestige"]]
    lines += ["", f"prestige: {prestige.name} (all slots: +{prestige.bonus})"]
    slots = [
        f"[{'x' if filled else ' '}] {slot.tower} {slot.vp}"
        for slot, filled in zip(prestige.slots, state["slots_filled"], strict=True)
    ]
    lines += wrapped(slots)
    lines.append(f"deck {len(state['deck'])}, discard pile {len(state['discard'])}")
    return "\n".join(lines)


def _hand(edition: Edition, state: Json) -> list[str]:
    cards = {card.id: card for card in edition.cards}
    lines = ["hand:"]
    for slot, card_id in enumerate(state["hand"]):
        card = cards[card_id]
        hires = ", ".join(f"{count} {kind}" for kind, count in card.artisans.items() if count)
        lines.append(f"  {slot}: card {card_id:<3d} icon {card.icon:12s} hires {hires or 'nobody'}")
    return lines
