"""Cards, cubes and coins of the board's picture."""

from __future__ import annotations

from incunabula.envs.bibliogamo.edition import Card, Edition
from incunabula.envs.bibliogamo.wording import Names, hired_by, names_of, ribbon_of, whom
from incunabula.envs.drawing import palette
from incunabula.envs.drawing.flow import centred, grid
from incunabula.envs.drawing.lettering import fitted, text_width
from incunabula.envs.drawing.palette import EDGE, FADED, GHOST, INK, PAGE, WHITE
from incunabula.envs.drawing.pen import Box, Pen

MOST_CUBES = 8  # on a card; more are given as numbers
FULL_CARD = 84.0  # width from which a card shows everything
CARD_ASPECT = 1.4
SHADOW = palette.mixed(palette.PANEL, INK, 0.18)
ANCHORS = {1: "start", -1: "end"}  # of what stands left of an arrow to this side, or right of it
MOST_COINS = 4  # whose prices a card shows


def cube(pen: Pen, box: Box, colour: str, letter: str = "") -> None:
    """A cube seen a little from above and from the right."""
    side = box.w * 0.8
    x, y = box.x, box.lower
    depth = box.w - side
    front = [(x, y), (x, y - side), (x + side, y - side), (x + side, y)]
    top = [front[1], (x + depth, y - box.w), (x + box.w, y - box.w), front[2]]
    right = [front[2], (x + box.w, y - box.w), (x + box.w, y - depth), front[3]]
    pen.polygon(top, palette.mixed(colour, WHITE, 0.45))
    pen.polygon(right, palette.mixed(colour, INK, 0.45))
    pen.polygon(front, colour)
    if letter and side >= 10:
        pen.text(
            *(x + side / 2, y - side / 2, letter, side * 0.68),
            room=side - 2,
            fill=palette.on(colour),
            bold=True,
        )


def gap_for_cube(pen: Pen, box: Box, colour: str, letter: str = "") -> None:
    """The outline of a cube that is still lacking."""
    side = box.w * 0.8
    front = Box(box.x, box.lower - side, side, side).inset(0.5)
    pen.rect(front, palette.mixed(colour, WHITE, 0.85), colour, radius=side * 0.1, width=1.2)
    if letter and side >= 10:
        pen.text(
            *(box.x + side / 2, box.lower - side / 2, letter, side * 0.6),
            room=side - 3,
            fill=colour,
        )


def medal(pen: Pen, x: float, y: float, r: float, names: Names, kind: str) -> None:
    """An artisan's small icon."""
    colour = names.colour(kind)
    pen.circle(x, y, r, palette.mixed(colour, WHITE, 0.75), colour, width=1.5)
    pen.circle(x, y, r * 0.74, colour)
    pen.text(x, y, names.letter(kind), r, room=1.3 * r, fill=palette.on(colour), bold=True)


def coin(pen: Pen, x: float, y: float, r: float, letter: str, bright: bool = True) -> None:
    """A coin with the letter of its kind; a dull one is not the one that counts."""
    gold = palette.GOLD if bright else palette.mixed(palette.GOLD, PAGE, 0.65)
    pen.circle(x, y, r, gold, palette.mixed(gold, INK, 0.45), width=1)
    pen.circle(x, y, r * 0.76, None, palette.mixed(gold, WHITE, 0.5), width=0.8)
    pen.text(x, y, letter, r * 0.95, room=1.4 * r, fill=INK if bright else FADED, bold=bright)


def card_back(pen: Pen, box: Box) -> None:
    """A card face down."""
    pen.rect(box, palette.LAPIS, INK, radius=5)
    inside = box.inset(4)
    pen.rect(inside, None, palette.GOLD, radius=3)
    x, y = inside.middle
    half = min(inside.w, inside.h) * 0.3
    pen.polygon([(x, y - half), (x + half, y), (x, y + half), (x - half, y)], palette.GOLD)
    pen.circle(x, y, half * 0.4, palette.LAPIS)


def hand_card(pen: Pen, box: Box, edition: Edition, card: Card, banned: int | None) -> None:
    """A card face up: whom it hires, its icon, its coin and its prices."""
    names = names_of(edition)
    ribbon, colour = ribbon_of(edition, card, banned)
    pen.rect(Box(box.x + 2, box.y + 3, box.w, box.h), SHADOW, radius=8)
    pen.rect(box, PAGE, colour or EDGE, radius=8, width=2.5 if ribbon else 1.2)
    if box.w < FULL_CARD:
        _small_card(pen, box, edition, card)
        return
    r = box.w * 0.105
    top = box.y + r + 7
    medal(pen, box.x + r + 7, top, r, names, card.icon)
    coin(pen, box.right - r - 7, top, r, names.coin_letter(card.coin))
    _move(pen, box.x + box.w / 2, top - 0.38 * r, box.w * 0.4, card.librarian)
    number = (box.x + box.w / 2, top + 0.75 * r)
    pen.text(*number, _number(card), min(10.0, 0.75 * r), room=box.w * 0.4, fill=FADED, smallest=4)
    below = box.y + 2 * r + 12
    strip = min(36.0, box.h * 0.2)
    middle = Box(box.x + 6, below, box.w - 12, box.lower - strip - below - 4)
    band = 15.0 if ribbon else 0.0
    artisans(pen, Box(middle.x, middle.y, middle.w, middle.h - band), edition, card)
    if ribbon:
        place = Box(box.x, middle.lower - band, box.w, band)
        pen.rect(place, colour)
        pen.text(*place.middle, ribbon, 10.5, room=box.w - 8, fill=WHITE, bold=True)
    prices(pen, Box(box.x + 5, box.lower - strip - 2, box.w - 10, strip - 3), edition, card)


def _small_card(pen: Pen, box: Box, edition: Edition, card: Card) -> None:
    names = names_of(edition)
    r = min(box.w * 0.17, 10)
    medal(pen, box.x + r + 4, box.y + r + 5, r, names, card.icon)
    coin(pen, box.right - r - 4, box.y + r + 5, r, names.coin_letter(card.coin))
    top, size = box.y + 2 * r + 8, min(9.0, box.h * 0.12)
    artisans(pen, Box(box.x + 3, top, box.w - 6, box.lower - top - size - 4), edition, card)
    low = (box.x + box.w / 2, box.lower - 0.55 * size - 3)
    pen.text(*low, _number(card), size, room=box.w - 8, fill=FADED, smallest=4)


def _number(card: Card) -> str:
    """What lists of actions call a card."""
    return f"card {card.id}"


def _move(pen: Pen, x: float, y: float, room: float, spaces: int) -> None:
    """How far the librarian goes."""
    if not spaces:
        pen.text(x, y, "0", min(16.0, room * 0.34), room=room, fill=FADED)
        return
    side = 1 if spaces > 0 else -1
    shown, size = fitted(str(abs(spaces)), room * 0.6, min(16.0, room * 0.34), 5)
    arrow = size * 0.5
    half = (text_width(shown, size, bold=True) + 3 + arrow * 1.3) / 2
    pen.text(x - side * half, y, shown, size, room=room, anchor=ANCHORS[side], bold=True)
    tip = x + side * half
    pen.polygon(
        [(tip - side * arrow * 1.3, y - arrow), (tip, y), (tip - side * arrow * 1.3, y + arrow)],
        palette.PLUM,
    )


def artisans(pen: Pen, box: Box, edition: Edition, card: Card) -> None:
    """Whom a card hires, as cubes, or as numbers where they are many."""
    names = names_of(edition)
    hired = hired_by(edition, card)
    total = sum(count for _, count in hired)
    if not hired:
        pen.text(*box.middle, "nobody", 11, room=box.w, fill=FADED)
        return
    named = box.w >= FULL_CARD - 12 and box.h > 44
    cubes = Box(box.x, box.y, box.w, box.h - (16 if named else 0))
    many = total > MOST_CUBES
    pieces = hired if many else [(kind, 1) for kind, count in hired for _ in range(count)]
    places, _ = grid(cubes.inset(4, 3), len(pieces), 1.0, 30.0, 4.0)
    for place, (kind, count) in zip(centred(places, cubes), pieces, strict=True):
        cube(pen, place, names.colour(kind), str(count) if many else names.letter(kind))
    if named:
        said = whom(edition, card)
        pen.text(box.x + box.w / 2, box.lower - 8, said, 11, room=box.w - 2, fill=INK)


def prices(pen: Pen, box: Box, edition: Edition, card: Card) -> None:
    """What a card offers in each coin."""
    names = names_of(edition)
    shown = edition.coins[:MOST_COINS]
    pen.line([(box.x, box.y), (box.right, box.y)], GHOST)
    for place, each in zip(box.columns([1.0] * len(shown)), shown, strict=True):
        x = place.x + place.w / 2
        r = min(7.5, place.w * 0.22, box.h * 0.26)
        own = each == card.coin
        coin(pen, x, box.y + r + 3, r, names.coin_letter(each), own)
        pen.text(x, box.lower - 6, str(card.florins[each]), 11, room=place.w - 2, bold=own)
