"""The hand of the board in the terminal."""

from __future__ import annotations

from typing import Any

from incunabula.envs.bibliogamo.edition import Card, Edition
from incunabula.envs.bibliogamo.wording import ban_in_hand, hired_by, names_of, ribbon_of
from incunabula.envs.drawing import palette
from incunabula.envs.drawing.palette import EDGE, GOLD, INK, PAGE
from incunabula.envs.drawing.terminal import (
    HAVE,
    LABEL,
    Block,
    Frame,
    Line,
    beside,
    flowing,
    framed,
    label,
    name,
    piece,
    shares,
)

Json = dict[str, Any]
IN_A_ROW = 5  # cards
MOST_CARDS = 10  # of a hand that are drawn; larger hands are lists
MOST_CUBES = 3  # of a type on a card; more are given as numbers
_OWN_COIN = palette.mixed(GOLD, INK, 0.45)


def cards_in_hand(edition: Edition, state: Json, width: int) -> Block:
    """The hand as cards side by side, or as a list if they are many."""
    hand = [edition.cards[card] for card in state["hand"]]
    banned = ban_in_hand(state)
    if not hand:
        return [[label("no cards")]]
    if len(hand) > MOST_CARDS:
        return [
            line
            for slot, card in enumerate(hand)
            for line in _listed(edition, slot, card, banned, width)
        ]
    lines: Block = []
    for start in range(0, len(hand), IN_A_ROW):
        row = list(enumerate(hand))[start : start + IN_A_ROW]
        widths = shares(width, IN_A_ROW)[: len(row)]
        middles = [
            _middle(edition, card, wide - 3) for (_, card), wide in zip(row, widths, strict=True)
        ]
        prices = [
            flowing(_prices(edition, card), wide - 3, " ")
            for (_, card), wide in zip(row, widths, strict=True)
        ]
        high, low = max(map(len, middles)), max(map(len, prices))
        cards = []
        for (slot, card), wide, middle, price in zip(row, widths, middles, prices, strict=True):
            inside = middle + [[]] * (high - len(middle)) + [[]] * (low - len(price)) + price
            cards.append(_card(edition, slot, card, inside, wide, banned))
        lines += beside(cards)
    return lines


def _card(
    edition: Edition, slot: int, card: Card, lines: Block, width: int, banned: int | None
) -> Block:
    ribbon, colour = ribbon_of(edition, card, banned)
    title = [label(f"{slot}: "), piece(f"card {card.id}", bold=True)]
    foot = [piece(ribbon, colour, bold=True)] if ribbon else None
    return framed(lines, width, title, foot=foot, frame=Frame(PAGE, colour or EDGE, tight=True))


def _middle(edition: Edition, card: Card, room: int) -> Block:
    """The icon, the coin, the librarian's move, and whom the card hires."""
    lines = _marks(edition, card)
    hired = hired_by(edition, card)
    names = names_of(edition)
    lines.append([label("hires" if hired else "hires nobody")])
    for kind, count in hired:
        many = count > MOST_CUBES
        cubes = piece(str(count) if many else HAVE * count, names.colour(kind), bold=many)
        lines.append([cubes, piece(f" {name(kind)}")])
    return lines


def _marks(edition: Edition, card: Card) -> list[Line]:
    """The icon, the coin and the move, each with what it is."""
    colour = palette.mixed(names_of(edition).colour(card.icon), INK, 0.35)
    return [
        [label("icon "), piece(name(card.icon), colour, bold=True)],
        [label("coin "), piece(name(card.coin), _OWN_COIN, bold=True)],
        [label("move "), piece(f"{card.librarian:+d}" if card.librarian else "0", bold=True)],
    ]


def _prices(edition: Edition, card: Card) -> list[Line]:
    """What a card offers in each coin."""
    names = names_of(edition)
    return [
        [
            piece(f"{name(names.coin_letter(coin))} ", _OWN_COIN if coin == card.coin else LABEL),
            piece(str(card.florins[coin]), bold=coin == card.coin),
        ]
        for coin in edition.coins
    ]


def _listed(edition: Edition, slot: int, card: Card, banned: int | None, width: int) -> Block:
    """A card of a large hand, in a line or more."""
    ribbon, colour = ribbon_of(edition, card, banned)
    names = names_of(edition)
    items = [[piece(ribbon, colour, bold=True)]] if ribbon else []
    items += _marks(edition, card)
    hired = [
        [piece(f"{count} {name(kind)}", palette.mixed(names.colour(kind), INK, 0.35))]
        for kind, count in hired_by(edition, card)
    ]
    items += [[label("hires "), *hired[0]], *hired[1:]] if hired else [[label("hires nobody")]]
    items += _prices(edition, card)
    first = [label(f"{slot}: "), piece(f"card {card.id}  ", bold=True)]
    return flowing(items, width, "  ", first)
