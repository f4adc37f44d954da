"""The board as a scene, from what is public alone.

Marks of its shapes: ``space:SPACE`` (a space of the ring, with its tower), ``hand:SLOT``,
``price``, ``deck``, ``discard``, ``prestige``, ``end``, ``days``, ``score``, ``florins``,
``books``, ``ban``, ``supply``, ``librarian``.
"""

from __future__ import annotations

from typing import Any

from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.scene_cards import (
    CARD_ASPECT,
    card_back,
    coin,
    hand_card,
)
from incunabula.envs.bibliogamo.scene_city import MOST_DOTS, draw_city
from incunabula.envs.bibliogamo.wording import asked, ban_in_hand, names_of, payment, shelves_of
from incunabula.envs.drawing import palette
from incunabula.envs.drawing.flow import centred, grid
from incunabula.envs.drawing.palette import EDGE, FADED, GHOST, GOLD, INK, PAGE, PANEL, WHITE
from incunabula.envs.drawing.pen import Box, Pen
from incunabula.envs.drawing.scene import Scene

Json = dict[str, Any]
WIDTH, HEIGHT = 1120, 760
MOST_DAYS = 80  # that have a field each
MOST_CARDS = 40  # of the hand that are shown
MOST_SLOTS = 9  # of a tower in the collection that are shown


def draw_scene(edition: Edition, state: Json) -> Scene:
    """The public state (its JSON form) as a picture, 1120 by 760.

    Everything comes from the edition's sizes; what is too much to show is summed up in numbers.
    """
    pen = Pen()
    pen.rect(Box(0, 0, WIDTH, HEIGHT), palette.PARCHMENT)
    _heading(pen, Box(0, 0, WIDTH, 56), edition, state)
    _days(pen, Box(20, 66, WIDTH - 40, 34), edition, state)
    draw_city(pen, Box(20, 110, 744, 386), edition, state)
    side = Box(776, 110, WIDTH - 796, 386)
    prestige, price, purse = side.rows([205, 100, 62], 9)
    _prestige(pen, prestige, edition, state)
    _price(pen, price, edition, state)
    _purse(pen, purse, edition, state)
    _hand(pen, Box(20, 506, 872, 236), edition, state)
    _piles(pen, Box(904, 506, WIDTH - 924, 236), state)
    return pen.scene(WIDTH, HEIGHT, f"Bibliogamo, {edition.name}: {asked(edition, state)}")


def action_mark(edition: Edition, state: Json, action: Json) -> str:
    """The mark of the thing at which an action is done, "" if none is drawn.

    Hires are done at the card that hires, for every tower.

    Args:
        edition: what is played with.
        state: the public state in which it is done.
        action: as ``Actions.describe`` has it.
    """
    if "slot" in action:
        slot = action["slot"]
        return f"hand:{slot}" if slot < min(len(state["hand"]), MOST_CARDS) else ""
    match action["type"]:
        case "stay" | "walk":
            space = action.get("space", state["librarian"])
            drawn = len(edition.board.spaces) <= MOST_DOTS or space == state["librarian"]
            return f"space:{space}" if drawn else ""
        case "sell" | "accept":
            return "price"
        case "wait":
            return "deck"
    return "end"


def _heading(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    pen.rect(box, palette.DESK)
    pen.rect(Box(box.x, box.lower - 3, box.w, 3), GOLD)
    y = box.y + 27
    pen.text(24, y, "Bibliogamo", 26, room=160, fill=palette.PARCHMENT, anchor="start", bold=True)
    pen.text(186, y + 4, edition.name, 12, room=150, fill=GHOST, anchor="start")
    with pen.marked("end"):
        place = Box(350, box.y + 9, 560, 35)
        pen.rect(place, palette.mixed(palette.DESK, INK, 0.35), radius=17)
        said = f"turn {state['turn']} · {asked(edition, state)}"
        pen.text(*place.middle, said, 16, room=place.w - 30, fill=WHITE)
    with pen.marked("score"):
        number = str(state["score"])
        pen.text(1000, y, "score", 14, room=60, fill=GHOST, anchor="end")
        pen.text(1010, y, number, 32, room=90, fill=GOLD, anchor="start", bold=True)


def _days(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    """The time track: days gone are dark, today is gold."""
    days, today = edition.rules.days, state["time"]
    with pen.marked("days"):
        pen.rect(box, PANEL, EDGE, radius=8)
        pen.text(
            *(box.x + 12, box.middle[1], f"day {today} of {days}", 13),
            room=104,
            anchor="start",
            bold=True,
        )
        track = Box(box.x + 124, box.y + 7, box.w - 134, box.h - 14)
        if days > MOST_DAYS:
            pen.rect(track, PAGE, EDGE, radius=6)
            gone = track.w * min(1.0, today / days)
            if gone:
                pen.rect(Box(track.x, track.y, gone, track.h), palette.LAPIS, radius=6)
            return
        gap = 3.0 if days <= 50 else 1.0
        for day, place in enumerate(track.columns([1.0] * days, gap), 1):
            gone, now = day < today, day == today
            fill = GOLD if now else palette.mixed(palette.LAPIS, PANEL, 0.25) if gone else PAGE
            pen.rect(place, fill, INK if now else EDGE, radius=3)
            if place.w >= 13 and (days <= 20 or day % 5 == 0 or now):
                colour = WHITE if gone else INK if now else FADED
                pen.text(*place.middle, str(day), 11, room=place.w - 2, fill=colour, bold=now)


def _prestige(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    """The collection: a shelf for each of its towers, with a book for each slot."""
    collection = edition.prestige[state["prestige"]]
    shelves = shelves_of(edition, state)
    with pen.marked("prestige"):
        inside = pen.panel(box, f"PRESTIGE: {collection.name.upper()}")
        done, whole = sum(state["slots_filled"]), len(collection.slots)
        bonus = f"all {whole} filled: +{collection.bonus}  ({done} filled)"
        pen.text(inside.x, box.y + 33, bonus, 11, room=inside.w, fill=FADED, anchor="start")
        field = Box(inside.x, box.y + 44, inside.w, box.lower - box.y - 52)
        high = min(28.0, field.h / len(shelves))
        for k, (tower, books) in enumerate(shelves.items()):
            _shelf(pen, Box(field.x, field.y + k * high, field.w, high), tower, books)


def _shelf(pen: Pen, box: Box, tower: str, books: list[tuple[int, bool]]) -> None:
    y = box.middle[1]
    pen.text(box.x + 2, y, tower, 12, room=88, anchor="start")
    pen.line([(box.x + 96, box.lower - 2), (box.right, box.lower - 2)], EDGE, 2)
    shown = books[:MOST_SLOTS]
    more = len(books) - len(shown)
    for k, (vp, filled) in enumerate(shown):
        book = Box(box.x + 100 + k * 22, box.y + 2, 18, box.h - 5)
        if filled:
            pen.rect(book, palette.VERMILION, palette.mixed(palette.VERMILION, INK, 0.5), radius=2)
            pen.rect(Box(book.x, book.y + 3, book.w, 2), GOLD)
        else:
            pen.rect(book, PAGE, GHOST, radius=2)
        ink = WHITE if filled else INK
        pen.text(book.middle[0], book.middle[1] + 1, str(vp), 12, room=16, fill=ink, bold=filled)
    if more:
        pen.text(box.right - 1, y, f"+{more}", 9, room=10, fill=FADED, anchor="end", smallest=4)


def _price(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    """The price display: what the cards flipped in a sale offer."""
    names = names_of(edition)
    with pen.marked("price"):
        inside = pen.panel(box, "PRICE DISPLAY")
        display = state["display"]
        if not display:
            pen.text(
                *(box.middle[0], inside.middle[1], "no sale is under way", 13),
                room=inside.w,
                fill=FADED,
            )
            return
        first, last = edition.cards[display[0]], edition.cards[display[-1]]
        y = inside.middle[1] - 3
        coin(pen, inside.x + 22, y, 20, names.coin_letter(first.coin))
        number = str(last.florins[first.coin])
        pen.text(inside.x + 54, y - 7, number, 28, room=90, anchor="start", bold=True)
        pen.text(
            *(inside.x + 54, y + 17, f"florins in {first.coin}", 11),
            room=110,
            fill=FADED,
            anchor="start",
        )
        flips = len(display)
        said = f"{flips} cards flipped"
        pen.text(inside.right, y + 17, said, 11, room=110, fill=FADED, anchor="end")
        offers = [edition.cards[card].florins[first.coin] for card in display[1:]]
        for k, offer in enumerate(reversed(offers[-4:])):
            place = Box(inside.right - 28 - 31 * k, y - 22, 26, 28)
            pen.rect(place, PAGE, GOLD if k == 0 else GHOST, radius=4, width=2 if k == 0 else 1)
            pen.text(*place.middle, str(offer), 12, room=22, fill=INK if k == 0 else FADED)


def _purse(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    """Florins and books."""
    pen.panel(box)
    purse, books = box.inset(10, 4).columns([1.15, 1], 6)
    y = box.middle[1]
    with pen.marked("florins"):
        for k in range(3):
            coin(pen, purse.x + 14, y + 9 - 7 * k, 11, "")
        pen.text(
            purse.x + 36, y - 6, str(state["florins"]), 22, room=110, anchor="start", bold=True
        )
        per = f"florins, {edition.rules.florins_per_vp} a point"
        pen.text(purse.x + 36, y + 16, per, 11, room=purse.w - 40, fill=FADED, anchor="start")
    with pen.marked("books"):
        x = books.x + 16
        pen.polygon([(x, y - 8), (x - 15, y - 13), (x - 15, y + 8), (x, y + 13)], PAGE, INK)
        pen.polygon([(x, y - 8), (x + 15, y - 13), (x + 15, y + 8), (x, y + 13)], PAGE, INK)
        for k in range(3):
            pen.line([(x - 12, y - 6 + 5 * k), (x - 3, y - 3 + 5 * k)], FADED)
            pen.line([(x + 3, y - 3 + 5 * k), (x + 12, y - 6 + 5 * k)], FADED)
        pen.text(books.x + 40, y - 6, str(state["books"]), 22, room=90, anchor="start", bold=True)
        sold = f"sold, {edition.rules.vp_per_book} each"
        pen.text(books.x + 40, y + 16, sold, 11, room=books.w - 40, fill=FADED, anchor="start")


def _hand(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    inside = pen.panel(box, "HAND")
    hand = state["hand"]
    shown = hand[:MOST_CARDS]
    more = len(hand) - len(shown)
    y, room = box.y + 16, inside.w - 46
    if more:
        pen.text(inside.right, y, f"and {more} more", 12, room=110, anchor="end")
        room -= 120
    said = payment(edition, state)
    if said:
        pen.text(inside.x + 46, y, said, 12, room=room, anchor="start")
    if not hand:
        pen.text(*inside.middle, "no cards", 14, room=inside.w, fill=FADED)
    # As large as for a full hand, so that cards don't grow while they are played.
    full = min(max(len(shown), edition.rules.hand_size), MOST_CARDS)
    places, _ = grid(inside, full, CARD_ASPECT, 140.0, 12.0 if full < 12 else 6.0)
    places = centred(places, inside)
    banned = ban_in_hand(state)
    for slot, card in enumerate(shown):
        with pen.marked(f"hand:{slot}"):
            hand_card(pen, places[slot], edition, edition.cards[card], banned)


def _piles(pen: Pen, box: Box, state: Json) -> None:
    """The draw deck, face down, and how many cards lie on the discard pile."""
    inside = pen.panel(box, "CARDS")
    deck, discard = inside.rows([1, 1], 8)
    for place, mark, title in ((deck, "deck", "to draw"), (discard, "discard", "discarded")):
        count = len(state[mark])
        card = Box(place.x + 8, place.y + 2, (place.h - 8) / CARD_ASPECT, place.h - 8)
        with pen.marked(mark):
            pen.rect(card, PANEL, GHOST, radius=5)
            for k in range(min(3, count)):
                pile = Box(card.x + 2 * k, card.y + 2 - 2 * k, card.w, card.h)
                if mark == "deck":
                    card_back(pen, pile)
                else:
                    pen.rect(pile, PAGE, EDGE, radius=5)
            left = card.right + 18
            room = place.right - left
            y = place.middle[1]
            pen.text(left, y - 8, str(count), 24, room=room, anchor="start", bold=True)
            pen.text(left, y + 15, title, 11, room=room, fill=FADED, anchor="start")
