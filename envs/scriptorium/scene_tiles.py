"""Inks and tiles of the table's picture."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from incunabula.envs.drawing import palette
from incunabula.envs.drawing.flow import centred, grid
from incunabula.envs.drawing.lettering import text_width
from incunabula.envs.drawing.palette import EDGE, FADED, GOLD, INK, PAGE, WHITE
from incunabula.envs.drawing.pen import Box, Pen
from incunabula.envs.drawing.scene import Point
from incunabula.envs.scriptorium.edition import Edition, Tile
from incunabula.envs.scriptorium.tables import INKS

INK_COLOURS = dict(zip(INKS, ("#2b2622", "#b8371f", "#2b62a0", "#3f8048", GOLD), strict=True))
TILE_ASPECT = 1.2
SMALLEST_TILE, LARGEST_TILE = 30.0, 62.0
PALE_GOLD = palette.mixed(GOLD, WHITE, 0.15)
MOST_PIPS = 5  # of a cost; more are given as numbers


def ink_mark(pen: Pen, x: float, y: float, r: float, ink: str, bright: bool = True) -> None:
    """An ink: a disc, a diamond, a drop, a leaf or a star, each in its colour."""
    colour = INK_COLOURS[ink] if bright else palette.mixed(INK_COLOURS[ink], PAGE, 0.72)
    dark = palette.mixed(colour, INK, 0.35)
    if ink == "black":
        pen.circle(x, y, 0.88 * r, colour)
    elif ink == "red":
        pen.polygon([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], colour)
    elif ink == "blue":
        pen.polygon([(x, y - 1.1 * r), (x + 0.62 * r, y), (x - 0.62 * r, y)], colour)
        pen.circle(x, y + 0.28 * r, 0.7 * r, colour)
    elif ink == "green":
        h = 0.85 * r
        pen.polygon(
            [(x - h, y + h), (x - h, y - 0.2 * r), (x + h, y - h), (x + 0.2 * r, y + h)], colour
        )
        pen.line(
            [(x - h, y + h), (x + 0.4 * h, y - 0.4 * h)], palette.mixed(colour, WHITE, 0.5), r / 6
        )
    else:
        pen.star(x, y, 1.12 * r, colour, dark)


def cost_row(pen: Pen, box: Box, cost: Iterable[tuple[str, int]]) -> None:
    """The inks of a cost, side by side; many of one as a number."""
    wanted = [(ink, count) for ink, count in cost if count]
    total = sum(count for _, count in wanted)
    if not wanted:
        return
    y = box.middle[1]
    if total <= MOST_PIPS:
        pips = [ink for ink, count in wanted for _ in range(count)]
        step = min(box.h + 1, box.w / len(pips))
        start = box.middle[0] - step * (len(pips) - 1) / 2
        for k, ink in enumerate(pips):
            ink_mark(pen, start + k * step, y, min(box.h / 2, step * 0.45), ink)
        return
    for part, (ink, count) in zip(box.columns([1.0] * len(wanted)), wanted, strict=True):
        r = min(box.h / 2, part.w * 0.22)
        ink_mark(pen, part.x + part.w * 0.28, y, r, ink)
        pen.text(
            *(part.x + part.w * 0.72, y, str(count), box.h),
            room=part.w * 0.45,
            smallest=4,
        )


def accent(tile: Tile) -> str:
    """The colour a tile is painted in: of the colour it takes most of, else gold, else black."""
    cost = {ink: tile.cost.get(ink, 0) for ink in INKS}
    colours = {ink: cost[ink] for ink in ("red", "blue", "green") if cost[ink]}
    if colours:
        return INK_COLOURS[max(colours, key=lambda ink: colours[ink])]
    return palette.mixed(INK_COLOURS["gold" if cost["gold"] else "black"], INK, 0.15)


def ornament(pen: Pen, box: Box, kind: str, colour: str) -> None:
    """What a tile, or a filled space, of this kind shows."""
    if kind == "corner":
        _flourish(pen, box, colour)
    elif kind == "edge":
        vine(pen, Box(box.x, box.y + box.h * 0.27, box.w, box.h * 0.46), colour)
    elif kind == "text":
        _lines(pen, box, colour)
    else:
        side = min(box.w, box.h)
        x, y = box.middle
        square = Box(x - side / 2, y - side / 2, side, side)
        if kind == "initial":
            _initial(pen, square, colour)
        else:
            paper = palette.mixed(colour, WHITE, 0.8)
            pen.rect(square, paper, colour, width=max(1.0, side * 0.07))
            pen.text(x, y, kind, side * 0.66, room=side, fill=colour, bold=True, smallest=4)


def _flourish(pen: Pen, box: Box, colour: str) -> None:
    """A corner of the frame, to the upper left, and a curl."""
    arm = min(box.w, box.h) * 0.3
    pen.polygon(
        [
            *((box.x, box.y), (box.right, box.y), (box.right, box.y + arm)),
            *((box.x + arm, box.y + arm), (box.x + arm, box.lower), (box.x, box.lower)),
        ],
        colour,
    )
    pen.circle(box.x + arm * 0.5, box.y + arm * 0.5, arm * 0.3, PALE_GOLD)
    curl = box.x + arm * 2.1, box.y + arm * 2.1
    pen.line([(box.x + arm, box.y + arm), curl], colour, max(1.0, arm * 0.16))
    pen.circle(*curl, arm * 0.45, colour)
    pen.circle(*curl, arm * 0.2, PALE_GOLD)


def vine(pen: Pen, box: Box, colour: str) -> None:
    """A piece of the frame along the longer side of the box."""
    upright = box.h > box.w
    long, short = (box.h, box.w) if upright else (box.w, box.h)

    def at(along: float, across: float) -> Point:
        x, y = (across, along) if upright else (along, across)
        return box.x + x, box.y + y

    pen.rect(box, palette.mixed(colour, WHITE, 0.8), colour, width=max(0.8, short * 0.06))
    stem = [at(long * k / 12, short * (0.5 + 0.26 * math.sin(k * math.pi / 3))) for k in range(13)]
    pen.line(stem, colour, max(1.0, short * 0.11))
    for k in (1.5, 4.5, 7.5, 10.5):
        side = 0.28 if k in (1.5, 7.5) else 0.72
        pen.circle(*at(long * k / 12, short * side), max(0.8, short * 0.13), PALE_GOLD)


def _initial(pen: Pen, box: Box, colour: str) -> None:
    """A large letter on a gilded ground."""
    side = box.w
    x, y = box.middle
    pen.rect(box, colour, GOLD, width=max(1.0, side * 0.09))
    for dx in (-1, 1):
        for dy in (-1, 1):
            pen.circle(x + dx * side * 0.34, y + dy * side * 0.34, side * 0.06, PALE_GOLD)
    bar, stem = side * 0.46, side * 0.17
    for top in (y - side * 0.31, y + side * 0.21):
        pen.rect(Box(x - bar / 2, top, bar, side * 0.1), WHITE)
    pen.rect(Box(x - stem / 2, y - side * 0.25, stem, side * 0.5), WHITE)


def _lines(pen: Pen, box: Box, colour: str) -> None:
    """Lines of writing behind a coloured capital."""
    count = 4
    step = box.h / (count + 0.5)
    block = min(box.w * 0.3, step * 1.6)
    pen.rect(Box(box.x, box.y + step * 0.4, block, step * 1.35), colour)
    for k in range(count):
        left = box.x + (block * 1.3 if k < 2 else 0)
        right = box.right - (box.w * 0.25 if k == count - 1 else 0)
        y = box.y + (k + 0.75) * step
        pen.line([(left, y), (right, y)], INK, max(1.0, step * 0.22))


def draw_tile(pen: Pen, box: Box, tile: Tile, design: int, count: int = 1) -> None:
    """A tile: its number, its points, its ornament and its cost; how many where there are more."""
    if count > 1:
        pen.rect(Box(box.x + 3, box.y + 3, box.w - 3, box.h - 3), PAGE, EDGE, radius=4)
        box = Box(box.x, box.y, box.w - 3, box.h - 3)
    colour = accent(tile)
    pen.rect(box, PAGE, GOLD if tile.cost.get("gold", 0) else EDGE, radius=4, width=1.5)
    pips = box.w * 0.2
    pen_field = Box(box.x + 4, box.lower - pips - 4, box.w - 8, pips)
    cost_row(pen, pen_field, [(ink, tile.cost.get(ink, 0)) for ink in INKS])
    head = box.w * 0.27
    top, high = box.y + head + 1, max(4.0, pen_field.y - box.y - head - 4)
    aside = box.w * (0.3 if count > 1 else 0.2)  # several have their count at the left
    ornament(pen, Box(box.x + aside, top, box.w * 0.6, high), tile.kind, colour)
    size, y, points = head * 0.85, box.y + head / 2 + 1, str(tile.points)
    pen.text(
        *(box.right - 4, y, points, size), room=box.w * 0.45, anchor="end", bold=True, smallest=4
    )
    room = box.w - 11 - text_width(points, size, bold=True)
    number = (box.x + 4, y, f"#{design}", size * 0.75)
    pen.text(*number, room=room, fill=FADED, anchor="start", smallest=4)
    if count > 1:
        pen.text(
            *(box.x + 3, top + high / 2, f"{count}x", size * 0.9),
            room=aside - 4,
            fill=palette.VERMILION,
            anchor="start",
            bold=True,
            smallest=4,
        )


def draw_tiles(
    pen: Pen, box: Box, edition: Edition, designs: list[int], mark: Callable[[int], str]
) -> None:
    """Tiles side by side, equal ones together; ``mark`` gives the mark of a design's tiles."""
    stacks = sorted(Counter(designs).items())
    gap = 5.0
    across = max(1, int((box.w + gap) / (SMALLEST_TILE + gap)))
    down = max(1, int((box.h + gap) / (SMALLEST_TILE * TILE_ASPECT + gap)))
    fit = across * down
    shown = stacks if len(stacks) <= fit else stacks[: max(0, fit - 1)]
    places, _ = grid(box, len(shown) + (len(shown) < len(stacks)), TILE_ASPECT, LARGEST_TILE, gap)
    for place, (design, count) in zip(places, shown, strict=False):
        with pen.marked(mark(design)):
            draw_tile(pen, place, edition.tiles[design], design, count)
    if len(shown) < len(stacks):
        more = sum(count for _, count in stacks[len(shown) :])
        place = places[-1]
        pen.text(*place.middle, f"+{more}", 12, room=place.w, fill=FADED, smallest=4)


def spots(box: Box, count: int, largest: float) -> list[Box]:
    """Square places for the spaces of a page, in the middle of a box."""
    places, _ = grid(box, count, 1.0, largest, 2.0)
    return centred(places, box)


def quill(pen: Pen, x: float, y: float, size: float) -> None:
    """A feather, its point to the lower left."""

    def at(along: float, across: float) -> Point:
        return x + (along + across) * size / 1.42, y - (along - across) * size / 1.42

    pen.polygon(
        [
            at(-0.15, 0),
            at(0.1, -0.18),
            at(0.55, -0.16),
            at(0.75, 0),
            at(0.45, 0.16),
            at(0.05, 0.14),
        ],
        *(WHITE, INK),
    )
    pen.line([at(-0.75, 0), at(0.6, 0)], INK, max(1.0, size * 0.08))


def grimoire(pen: Pen, x: float, y: float, size: float) -> None:
    """A closed book with a clasp."""
    book = Box(x - size * 0.6, y - size * 0.75, size * 1.2, size * 1.5)
    pen.rect(book, palette.PLUM, INK, radius=2)
    pen.line([(book.x + size * 0.25, book.y), (book.x + size * 0.25, book.lower)], GOLD, 1.2)
    pen.star(x + size * 0.12, y, size * 0.4, GOLD)
