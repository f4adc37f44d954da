"""How the boards, drawn or written, call things: what is asked, letters of kinds, the ban."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from incunabula.envs.bibliogamo.edition import Card, Edition, Tower
from incunabula.envs.drawing import palette
from incunabula.envs.drawing.flow import shortest_names

Json = dict[str, Any]

_ASKED = {
    "travel": "travel: stay, or walk for a florin a space",
    "sell": "sell the finished book?",
    "price": "accept the offer, or wait a day for another",
    "pay": "discard a card to pay for the hire",
    "over": "the last day is over",
}


def asked(edition: Edition, state: Json) -> str:
    """What the player is to decide."""
    phase = state["phase"]
    if phase == "hire":
        left = state["hires_left"]
        return f"hire artisans: {left} {'hire' if left == 1 else 'hires'} left"
    if phase == "pay":
        tower = edition.towers[state["pending_hire"]["tower"]].name
        return f"{_ASKED[phase]} in {tower}"
    return _ASKED[phase]


@dataclass(frozen=True)
class Names:
    """How a board calls artisan types and coins: a letter or two for each."""

    types: tuple[str, ...]
    letters: tuple[str, ...]  # of the types
    coins: tuple[str, ...]
    coin_letters: tuple[str, ...]

    def colour(self, kind: str) -> str:
        """The colour of an artisan type."""
        return palette.kind_colour(self.types.index(kind))

    def letter(self, kind: str) -> str:
        """The letters of an artisan type."""
        return self.letters[self.types.index(kind)]

    def coin_letter(self, coin: str) -> str:
        """The letters of a coin."""
        return self.coin_letters[self.coins.index(coin)]


@lru_cache(16)
def _names(types: tuple[str, ...], coins: tuple[str, ...]) -> Names:
    return Names(types, tuple(shortest_names(types)), coins, tuple(shortest_names(coins)))


def names_of(edition: Edition) -> Names:
    """The names of an edition's types and coins."""
    return _names(edition.artisan_types, edition.coins)


def ban_in_hand(state: Json) -> int | None:
    """The banned type as far as it concerns the hand.

    Any card pays, and after the end none hires: there the ban (R4, R11) says nothing of the hand.
    """
    banned: int | None = state["banned"]
    return None if state["phase"] in ("pay", "over") else banned


def ribbon_of(edition: Edition, card: Card, banned: int | None) -> tuple[str, str]:
    """What this turn's ban means for a card of the hand, and the colour to say it in."""
    if banned is None:
        return "", ""
    kind = edition.artisan_types[banned]
    if card.icon == kind and edition.rules.lifts_per_turn:
        return "lifts the ban", palette.LEAF  # R4
    if card.artisans.get(kind, 0):
        return "banned", palette.VERMILION
    return "", ""


def hired_by(edition: Edition, card: Card) -> list[tuple[str, int]]:
    """Whom a card hires, and how many of each, in the edition's order."""
    hired = [(kind, card.artisans.get(kind, 0)) for kind in edition.artisan_types]
    return [(kind, count) for kind, count in hired if count]


def whom(edition: Edition, card: Card) -> str:
    """Whom a card hires, in words: "2 scribe, 1 binder"."""
    return ", ".join(f"{count} {kind}" for kind, count in hired_by(edition, card))


def payment(edition: Edition, state: Json) -> str:
    """What the hand is asked to pay for: "one pays for card 16: 1 scribe in history"; else ""."""
    hire = state["pending_hire"]
    if hire is None:
        return ""
    card, tower = edition.cards[hire["card"]], edition.towers[hire["tower"]]
    return f"one pays for card {card.id}: {whom(edition, card) or 'nobody'} in {tower.name}"


def needs_of(edition: Edition, tower: Tower, filled: list[int]) -> list[tuple[str, int, int]]:
    """Whom a tower's book needs: (type, how many it has, how many it needs)."""
    requires = tower.requires
    return [
        (kind, have, requires[kind])
        for kind, have in zip(edition.artisan_types, filled, strict=True)
        if requires.get(kind, 0)
    ]


def shelves_of(edition: Edition, state: Json) -> dict[str, list[tuple[int, bool]]]:
    """The prestige collection: tower -> (VP, filled) of its slots, filled and high ones first."""
    collection = edition.prestige[state["prestige"]]
    shelves: dict[str, list[tuple[int, bool]]] = {}
    for slot, filled in zip(collection.slots, state["slots_filled"], strict=True):
        shelves.setdefault(slot.tower, []).append((slot.vp, filled))
    return {
        tower: sorted(slots, key=lambda slot: (not slot[1], -slot[0]))
        for tower, slots in shelves.items()
    }
