"""The board in the terminal, from what is public alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from incunabula.envs.bibliogamo.drawing_cards import cards_in_hand
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.scene_city import GRASS
from incunabula.envs.bibliogamo.wording import asked, names_of, needs_of, payment, shelves_of
from incunabula.envs.drawing import palette
from incunabula.envs.drawing.palette import DESK, GHOST, GOLD, PAGE, PARCHMENT, VERMILION
from incunabula.envs.drawing.terminal import (
    HAVE,
    LABEL,
    LACK,
    WIDTH,
    Block,
    Frame,
    Line,
    apart,
    badge,
    bar,
    beside,
    cut,
    fitted,
    flowing,
    framed,
    grounded,
    joined,
    label,
    name,
    piece,
    shares,
    titled,
    to_text,
    width_of,
)

Json = dict[str, Any]
CITY = 72  # columns; what else there is stands beside it
MOST_PLOTS = 6  # spaces that have a tower each; a longer ring is a list beside the towers
MOST_SPACES = 40  # of a longer ring that are listed
MOST_CUBES = 6  # of a type in a tower; more are given as numbers
MOST_KINDS = 8  # of artisans that have a line each in a tower
MOST_DAYS = 40  # columns of the time track
MOST_SLOTS = 8  # of a tower in the collection; more are given as numbers
_BANNER = Frame(DESK, GOLD)
_DARK_GOLD = palette.mixed(GOLD, palette.INK, 0.25)


def draw_text(edition: Edition, state: Json, colour: bool = True) -> str:
    """The public state (its JSON form) as text in 100 columns.

    Args:
        edition: what is played with.
        state: the public state.
        colour: with escape sequences of 24-bit colours; without, it is the same text.
    """
    city = _city(edition, state)
    side = _side(edition, state, len(city))
    city += [[piece(" " * CITY, ground=GRASS)]] * (len(side) - len(city))
    board = [*_heading(edition, state), *beside([city, side]), *_hand(edition, state)]
    return to_text(board, colour)


def _heading(edition: Edition, state: Json) -> Block:
    """What is asked, the days, the score and the purse."""
    room = WIDTH - 4
    said = f"turn {state['turn']} · {name(asked(edition, state))}"
    score = [piece("score ", GHOST), piece(str(state["score"]), GOLD, bold=True)]
    rules = edition.rules
    purse = [
        piece("florins ", GHOST),
        piece(str(state["florins"]), PARCHMENT, bold=True),
        piece(f", {rules.florins_per_vp} a point · books ", GHOST),
        piece(str(state["books"]), PARCHMENT, bold=True),
        piece(f", {rules.vp_per_book} each", GHOST),
    ]
    return framed(
        [
            apart([piece(said, palette.WHITE, bold=True)], score, room),
            apart(_days(rules.days, state["time"]), purse, room),
        ],
        WIDTH,
        [piece("Bibliogamo", PARCHMENT, bold=True)],
        [piece(name(edition.name), GHOST)],
        frame=_BANNER,
    )


def _days(days: int, today: int) -> Line:
    """The time track: days gone are thick, today is a diamond."""
    fields = min(days, MOST_DAYS)
    gone = min(fields, math.ceil(today * fields / days))
    track = [piece("━" * (gone - 1), palette.mixed(palette.LAPIS, palette.WHITE, 0.45))]
    track += [piece("◆" if gone else "", GOLD), piece("─" * (fields - gone), GHOST)]
    return [piece(f"day {today} of {days} ", PARCHMENT), *track]


# The city -----------------------------------------------------------------------------------------


def _city(edition: Edition, state: Json) -> Block:
    """The ring of spaces, clockwise from the upper left, around the town square."""
    spaces = edition.board.spaces
    indices = {tower.name: index for index, tower in enumerate(edition.towers)}
    at = state["librarian"]
    if len(spaces) > MOST_PLOTS:
        # Each tower once, and the ring as a list of them.
        plots = [_Plot("", k, k == indices[spaces[at]]) for k in range(len(edition.towers))]
        city = _ring(edition, at)
        for k in range(0, len(plots), 3):
            city += _row(edition, state, plots[k : k + 3])
        return city + _square(edition, state, " ", " ")
    plots = [_Plot(str(k), indices[tower], k == at) for k, tower in enumerate(spaces)]
    first = len(plots) if len(plots) <= 3 else math.ceil(len(plots) / 2)
    city = _row(edition, state, plots[:first])
    if plots[first:]:
        city += _square(edition, state, "▲", "▼") + _row(edition, state, plots[first:][::-1])
    else:
        city += _square(edition, state, " ", " ")
    outside = [_Plot("", k, False) for tower, k in indices.items() if tower not in spaces]
    for k in range(0, len(outside), 3):
        city += _row(edition, state, outside[k : k + 3])
    return city


class _Plot(NamedTuple):
    """A place for a tower: the number of its space, the tower, whether the librarian is there."""

    number: str
    tower: int
    here: bool


def _ring(edition: Edition, at: int) -> Block:
    """A long ring as a list, or the part around the librarian."""
    spaces = edition.board.spaces
    few = len(spaces) <= MOST_SPACES
    shown = range(len(spaces)) if few else range(at - MOST_SPACES // 2, at + MOST_SPACES // 2)
    items = []
    for space in (k % len(spaces) for k in shown):
        said = f"{space} {cut(name(spaces[space]), 24)}"
        items.append([piece(f"▶{said}", VERMILION, bold=True)] if space == at else [label(said)])
    title = "the ring" if few else f"the ring of {len(spaces)} spaces, around the librarian"
    return framed(flowing(items, CITY - 4), CITY, titled(title), frame=Frame(PAGE))


def _row(edition: Edition, state: Json, plots: Sequence[_Plot]) -> Block:
    """Towers side by side, equally high."""
    widths = shares(CITY, len(plots))
    inside = [
        _tower(edition, state, plot.tower, width - 4)
        for plot, width in zip(plots, widths, strict=True)
    ]
    high = max(map(len, inside))
    return beside(
        [
            _plot(edition, state, plot, lines, width, high)
            for plot, lines, width in zip(plots, inside, widths, strict=True)
        ]
    )


def _plot(edition: Edition, state: Json, plot: _Plot, lines: Block, width: int, high: int) -> Block:
    """A space: its tower, and the librarian if he is there."""
    tower = edition.towers[plot.tower]
    have, need = sum(state["towers"][plot.tower]), sum(tower.requires.values())
    foot = []
    if plot.here:
        foot.append([piece("librarian", palette.PLUM, bold=True)])
    if have == need:
        foot.append([piece("finished", palette.LEAF, bold=True)])
    tally = [piece(f"{have}/{need}", palette.LEAF if have == need else LABEL, bold=have == need)]
    title = [label(f"{plot.number} " if plot.number else ""), piece(name(tower.name), bold=True)]
    frame = Frame(PAGE, _DARK_GOLD, double=True) if plot.here else Frame(PAGE)
    return framed(lines, width, title, tally, joined(foot, ", "), frame, high)


def _tower(edition: Edition, state: Json, index: int, room: int) -> Block:
    """A line for each type of artisans: its letter, its name, and its cubes."""
    names = names_of(edition)
    needs = needs_of(edition, edition.towers[index], state["towers"][index])
    if len(needs) > MOST_KINDS:
        items = [
            [badge(names.letter(kind), names.colour(kind)), piece(f" {have}/{need}")]
            for kind, have, need in needs
        ]
        return flowing(items, room, " ")
    bars = [bar(have, need, names.colour(kind), MOST_CUBES) for kind, have, need in needs]
    widest = max(map(width_of, bars))
    letters = max(width_of([badge(each, palette.INK)]) for each in names.letters)
    called = max(width_of([piece(name(kind))]) for kind in names.types)
    wide = min(room - widest - 1, letters + 1 + called)
    lines = []
    for (kind, _, _), cubes in zip(needs, bars, strict=True):
        letter = badge(names.letter(kind), names.colour(kind))
        said = [letter, piece(f" {name(kind)}")]
        lines.append([*fitted(said, wide), piece(" "), *cubes])
    return lines


def _square(edition: Edition, state: Json, left: str, right: str) -> Block:
    """The town square: this turn's ban, and the artisans who wait for work."""
    width = CITY - 8
    names = names_of(edition)
    if state["banned"] is None:
        ban = [label("no ban: "), piece("everybody may be hired")]
    else:
        kind = edition.artisan_types[state["banned"]]
        ban = [piece("banned today: ", VERMILION, bold=True)]
        ban += [badge(names.letter(kind), names.colour(kind)), piece(f" {name(kind)}", bold=True)]
    supply = [label("cubes left: "), piece(str(state["supply"]), bold=True)]
    supply.append(label(f" of {edition.rules.cubes}"))
    square = framed([apart(ban, supply, width - 4)], width, frame=Frame(PAGE))
    sides = [
        [[piece(" " * 4)], [piece(f" {arrow}  ", palette.LEAF, bold=True)], [piece(" " * 4)]]
        for arrow in (left, right)
    ]
    return grounded(beside([sides[0], square, sides[1]]), GRASS)


# Beside the city ----------------------------------------------------------------------------------


def _side(edition: Edition, state: Json, height: int) -> Block:
    """The collection, the price display and the piles, at least so high."""
    width = WIDTH - CITY
    found = _prestige(edition, state, width) + _price(edition, state, width)
    piles = [
        [piece(str(len(state[pile])), bold=True), label(f" {said}")]
        for pile, said in (("deck", "to draw"), ("discard", "discarded"))
    ]
    lines = flowing(piles, width - 4)
    return found + framed(lines, width, titled("cards"), height=height - len(found) - 2)


def _prestige(edition: Edition, state: Json, width: int) -> Block:
    """The collection: a line for each of its towers, with its slots' points."""
    collection = edition.prestige[state["prestige"]]
    shelves = shelves_of(edition, state)
    widest = min(11, max(width_of([piece(name(tower))]) for tower in shelves))
    lines: Block = [[piece(cut(name(collection.name), width - 4), bold=True)]]
    for tower, slots in shelves.items():
        first = [*fitted([piece(name(tower))], widest), piece(" ")]
        lines += flowing(_slots(slots), width - 4, " ", first)
    done, whole = sum(state["slots_filled"]), len(collection.slots)
    lines.append([label(f"all {whole} filled: +{collection.bonus}")])
    right = [label(f"{done} filled")]
    return framed(lines, width, titled("prestige"), right)


def _slots(slots: list[tuple[int, bool]]) -> list[Line]:
    """Slots with their points; of many how many are filled, and what the next one brings."""
    if len(slots) <= MOST_SLOTS:
        return [
            [piece(f"{HAVE}{vp}", VERMILION, bold=True)] if filled else [piece(f"{LACK}{vp}")]
            for vp, filled in slots
        ]
    done = sum(filled for _, filled in slots)
    items: list[Line] = [[piece(f"{done}/{len(slots)}", bold=True)]]
    free = [vp for vp, filled in slots if not filled]
    return [*items, [piece(f"{LACK}{free[0]}…")]] if free else items


def _price(edition: Edition, state: Json, width: int) -> Block:
    """The price display: what the cards flipped in a sale offer."""
    display = [edition.cards[card] for card in state["display"]]
    title = titled("price display")
    if not display:
        return framed([[label("no sale is under way")]], width, title)
    coin = display[0].coin
    offers = [card.florins[coin] for card in display[1:]]
    price = [piece(f"{offers[-1]} ", VERMILION, bold=True), piece(f"florins in {name(coin)}")]
    cards = [[piece(str(card.id))] for card in display]
    lines = [price, *flowing(cards, width - 4, " ", [label("cards ")])]
    if len(offers) > 1:
        lines += flowing(
            [[piece(str(offer))] for offer in offers], width - 4, " ", [label("offers ")]
        )
    return framed(lines, width, title, frame=Frame(PAGE, _DARK_GOLD))


# The hand -----------------------------------------------------------------------------------------


def _hand(edition: Edition, state: Json) -> Block:
    title = titled("hand")
    said = name(payment(edition, state))
    if said:
        title += [label(": "), piece(said, VERMILION, bold=True)]
    return framed(cards_in_hand(edition, state, WIDTH - 4), WIDTH, title)
