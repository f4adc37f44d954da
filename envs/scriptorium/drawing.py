"""The table in the terminal, from what is public alone."""

from __future__ import annotations

from typing import Any

from incunabula.envs.drawing import palette
from incunabula.envs.drawing.palette import DESK, GHOST, GOLD, INK, PARCHMENT, SEATS
from incunabula.envs.drawing.terminal import (
    LABEL,
    WIDTH,
    Block,
    Frame,
    Line,
    apart,
    badge,
    beside,
    fitted,
    flowing,
    framed,
    joined,
    label,
    name,
    piece,
    titled,
    to_text,
    width_of,
)
from incunabula.envs.scriptorium.drawing_tiles import double_page, ink_counts, ink_piece, tile_lines
from incunabula.envs.scriptorium.edition import Edition
from incunabula.envs.scriptorium.edition_checks import QUILL
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS
from incunabula.envs.scriptorium.wording import achievement_said, asked, is_put_away, lecterns_of

Json = dict[str, Any]
POT = 17  # columns of the ink pot
LECTERN = 10  # columns of a lectern's name
_BANNER = Frame(DESK, GOLD)
_PLUM = palette.mixed(palette.PLUM, INK, 0.2)


def draw_text(edition: Edition, state: Json, colour: bool = True) -> str:
    """The public state (its JSON form) as text in 100 columns.

    Args:
        edition: what is played with.
        state: the public state; ``bag`` isn't looked at.
        colour: with escape sequences of 24-bit colours; without, it is the same text.
    """
    board = [*_heading(edition, state), *_table(edition, state)]
    for seat in range(len(state["players"])):
        board += _player(edition, state, seat)
    return to_text(board, colour)


def seat_badge(seat: int) -> Line:
    """A seat, in its colour."""
    return [badge(f"seat {seat}", SEATS[seat])]


def _heading(edition: Edition, state: Json) -> Block:
    """What is asked of whom, who begins, and the achievements."""
    said = [piece(f"round {state['round']} · {asked(state)}", palette.WHITE, bold=True)]
    left = state["bag_left"]
    bag = [
        piece(str(left), PARCHMENT, bold=True),
        piece(f" {'tile' if left == 1 else 'tiles'} in the bag", GHOST),
    ]
    begins = [[piece("quill ", GHOST), *seat_badge(state["quill"])]]
    if state["quill_next"] is not None:
        begins.append([piece("next day ", GHOST), *seat_badge(state["quill_next"])])
    begins.append([piece("grimoire ", GHOST)])
    taken = state["grimoire"]
    begins[-1] += [piece("in the pot", PARCHMENT)] if taken is None else seat_badge(taken)
    return framed(
        [apart(said, bag, WIDTH - 4), joined(begins, " · ", GHOST), *_achievements(edition, state)],
        WIDTH,
        [piece("Scriptorium", PARCHMENT, bold=True)],
        [piece(name(edition.name), GHOST)],
        frame=_BANNER,
    )


def _achievements(edition: Edition, state: Json) -> Block:
    """The five achievements, and who has earned each."""
    items = []
    for achievement in ACHIEVEMENTS:
        owner = state["achievements"][achievement]
        said = achievement_said(state, achievement, edition.rules.achievement_points)
        item = [piece(f"{achievement.replace('_', ' ')} ", GHOST)]
        won = isinstance(owner, int)
        item += seat_badge(owner) if won else [piece(said, GOLD if owner is None else GHOST)]
        items.append(item)
    return flowing(items, WIDTH - 4, " · ", colour=GHOST)


# The table ----------------------------------------------------------------------------------------


def _table(edition: Edition, state: Json) -> Block:
    """The ink pot and the lecterns side by side, and the scriptorium below."""
    pot = [[ink_piece(ink), piece(f" {ink:6s}"), *count] for ink, count in _counts(state["pot"], 4)]
    width = WIDTH - POT
    lecterns = _lecterns(edition, state, width - 4)
    high = max(len(pot), len(lecterns))
    title = [*titled("lecterns"), label(" · tiles: number, name, points, cost")]
    upper = [
        framed(pot, POT, titled("ink pot"), height=high),
        framed(lecterns, width, title, height=high),
    ]
    market = tile_lines(edition, state["scriptorium"], WIDTH - 4, 2) or [[label("empty")]]
    title = [*titled("scriptorium"), label(": a help token buys a tile")]
    return [*beside(upper), *framed(market, WIDTH, title)]


def _counts(counts: Json, width: int) -> list[tuple[str, Line]]:
    return [
        (ink, [piece(f"{count:{width}d}", INK if count else LABEL, bold=count > 0)])
        for ink, count in counts.items()
    ]


def _lecterns(edition: Edition, state: Json, room: int) -> Block:
    """The round's lecterns: what each carries, and its tiles until it is somebody's."""
    lines: Block = []
    for each in state["lecterns"]:
        number = each["lectern"]
        first = [label(f"{number} "), *_lectern_named(edition, number)]
        tiles = tile_lines(edition, each["tiles"], room - LECTERN, 2)
        if each["owner"] is not None:
            tiles = [seat_badge(each["owner"])]
        elif not tiles:
            tiles = [[label("put away" if is_put_away(state, each) else "no tiles")]]
        names = [first] + [[]] * (len(tiles) - 1)
        lines += [[*fitted(left, LECTERN), *line] for left, line in zip(names, tiles, strict=True)]
    return lines


def _lectern_named(edition: Edition, number: int) -> Line:
    carried = edition.lecterns[number]
    if carried == QUILL:
        return [piece(carried, _PLUM, bold=True)]
    return [ink_piece(carried), piece(f" {carried}", bold=True)]


# The players --------------------------------------------------------------------------------------


def _player(edition: Edition, state: Json, seat: int) -> Block:
    """A seat's place: score, inks, double page, and tiles."""
    player, to_act = state["players"][seat], state["player"] == seat
    page = double_page(edition, player["filled"])
    wide = width_of(page[0])
    room = WIDTH - 4 - wide - 2
    own = lecterns_of(state, seat)
    lectern = [
        label("lectern: "),
        *(_lectern_named(edition, own[0]) if own else [label("none yet")]),
    ]
    held = len(player["storage"]) + len(player["achievements"])
    storage = [label(f"storage: {held} of {edition.rules.storage_limit}")]
    columns = [(room - 1) // 2, room - 1 - (room - 1) // 2]
    tiles = [
        [fitted(head, column), *tile_lines(edition, designs, column, 1)]
        for head, designs, column in (
            (lectern, player["lectern_tiles"], columns[0]),
            (storage, player["storage"], columns[1]),
        )
    ]
    tiles[1] += [
        fitted([label("   "), piece(f"{each.replace('_', ' ')} (achievement)")], columns[1])
        for each in player["achievements"]
    ]
    right = [*flowing(ink_counts(player["inks"]), room), *beside(tiles, 1)]
    edge = palette.mixed(GOLD, INK, 0.25) if to_act else SEATS[seat]
    frame = Frame(palette.mixed(palette.PANEL, SEATS[seat], 0.08), edge, double=to_act)
    return framed(
        beside([page, right], 2),
        WIDTH,
        _name_plate(state, seat),
        [label("score "), piece(str(player["score"]), edge, bold=True)],
        frame=frame,
    )


def _name_plate(state: Json, seat: int) -> Line:
    """Who it is, what he holds of the day, his points and help tokens."""
    player = state["players"][seat]
    items = [seat_badge(seat)]
    if state["player"] == seat:
        items[0] = [*items[0], piece(" to act", palette.VERMILION, bold=True)]
    for thing in ("quill", "grimoire"):
        if state[thing] == seat:
            items.append([piece(thing, _PLUM, bold=True)])
    if state["quill_next"] == seat:
        items.append([piece("quill next day", _PLUM)])
    for count, what in ((player["points"], "points"), (player["tokens"], "help tokens")):
        items.append([label(f"{what} "), piece(str(count), bold=True)])
    return joined(items, " · ")
