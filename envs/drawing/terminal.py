"""Boards for the terminal: lines of coloured text, framed and put side by side.

A line is a list of rich's segments, a block a list of lines that are equally wide. Names of an
edition are text and nothing else: markup in them is never read. Nothing here asks the terminal or
the environment anything, so that a board is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style

from incunabula.envs.drawing import palette
from incunabula.envs.drawing.palette import EDGE, FADED, INK, PANEL

Line = list[Segment]
Block = list[Line]
WIDTH = 100  # columns of a board
HAVE, LACK = "■", "□"  # a cube or tile that is there, and one that isn't
LABEL = palette.mixed(FADED, INK, 0.35)  # small letters need more contrast than in pictures
_BORDERS = {  # by whether they are double: corners, across, upright
    False: tuple("╭╮╰╯─│"),
    True: tuple("╔╗╚╝═║"),
}
# They make a character before them a picture, or not, and wider than it was.
_SELECTORS = dict.fromkeys((0xFE0E, 0xFE0F))


@lru_cache(1024)
def _style(colour: str, ground: str | None, bold: bool) -> Style:
    return Style(color=colour, bgcolor=ground, bold=bold or None)


def piece(
    text: str, colour: str = INK, *, bold: bool = False, ground: str | None = None
) -> Segment:
    """Text in a colour; without ``ground`` it stands on that of its frame."""
    return Segment(text, _style(colour, ground, bold))


def label(text: str) -> Segment:
    """Text that says what stands beside it."""
    return piece(text, LABEL)


def badge(letters: str, colour: str) -> Segment:
    """Letters on a ground of a kind's colour."""
    return piece(f" {letters} ", palette.on(colour), bold=True, ground=colour)


def bar(have: int, need: int, colour: str, most: int) -> Line:
    """A mark for each thing that is there or lacking; numbers where they are more than ``most``."""
    if need > most:
        return [piece(f"{have}/{need}", colour if have else LABEL, bold=have == need)]
    return [
        piece(HAVE * have, colour),
        piece(LACK * (need - have), palette.mixed(colour, PANEL, 0.3)),
    ]


@lru_cache(4096)
def name(text: str) -> str:
    """An edition's name as it is shown: without what moves letters, runs of blanks as one."""
    return " ".join(text.translate(_SELECTORS).split())


@lru_cache(4096)
def cut(text: str, width: int) -> str:
    """As much of a text as fits into so many columns; what is cut ends in an ellipsis."""
    if cell_len(text) <= width:
        return text
    kept = 0
    while cell_len(text[: kept + 1]) < width:
        kept += 1
    return text[:kept].rstrip() + "…" if width > 0 else ""


def width_of(line: Line) -> int:
    """The columns that a line takes."""
    return sum(cell_len(segment.text) for segment in line)


def fitted(line: Line, width: int) -> Line:
    """The line, cut or filled up with blanks to a width."""
    left, found = width, []
    for segment in line:
        wide = cell_len(segment.text)
        if wide > left:
            segment = Segment(cut(segment.text, left), segment.style)
            found.append(segment)
            left -= cell_len(segment.text)
            break
        found.append(segment)
        left -= wide
    if left:
        found.append(piece(" " * left))
    return found


def apart(left: Line, right: Line, width: int) -> Line:
    """A line with something at either end; the left is cut if they don't fit."""
    right = right if width_of(right) <= width else fitted(right, width)
    return fitted(left, width - width_of(right)) + right


def flowing(
    items: Iterable[Line],
    width: int,
    gap: str = "  ",
    first: Line | None = None,
    colour: str = LABEL,
) -> Block:
    """Items one after the other after ``first``, in as many lines as they take.

    Later lines are indented as far as the first, a gap of this colour parts two items, and an item
    that is wider than a line is cut.
    """
    first = first or []
    indent = min(width_of(first), width // 2)
    lines = [fitted(first, indent) if first else []]
    used = indent
    for item in items:
        wide = width_of(item)
        if used > indent and used + len(gap) + wide > width:
            lines.append([piece(" " * indent)] if indent else [])
            used = indent
        if used > indent:
            lines[-1].append(piece(gap, colour))
            used += len(gap)
        item = item if wide <= width - used else fitted(item, width - used)
        lines[-1] += item
        used += min(wide, width - used)
    return lines


def joined(items: Sequence[Line], gap: str, colour: str = LABEL) -> Line:
    """Items in one line with a gap of this colour between two."""
    found: Line = []
    for k, item in enumerate(items):
        found += [piece(gap, colour), *item] if k else item
    return found


@dataclass(frozen=True)
class Frame:
    """How a panel looks.

    Attributes:
        ground: colour of what is inside.
        edge: of the border.
        double: whether the border is a double line, which makes a panel stand out.
        tight: whether lines go up to the right border.
    """

    ground: str = PANEL
    edge: str = EDGE
    double: bool = False
    tight: bool = False


def framed(
    lines: Block,
    width: int,
    title: Line | None = None,
    right: Line | None = None,
    foot: Line | None = None,
    frame: Frame | None = None,
    height: int = 0,
) -> Block:
    """Lines in a border, a blank left of them and, unless the frame is tight, right.

    Args:
        lines: what is inside; cut or filled up.
        width: with the border.
        title, right: at the left and right end of the upper border.
        foot: at the left end of the lower border.
        frame: its look.
        height: how many lines there are inside at least.
    """
    frame = frame or Frame()
    upper_left, upper_right, lower_left, lower_right, across, upright = _BORDERS[frame.double]
    edge = _style(frame.edge, frame.ground, frame.double)

    def ruled(left: Line | None, other: Line | None) -> Line:
        end = _spaced(other, width // 2) if other else []
        start = _spaced(left, width - 3 - width_of(end)) if left else []
        free = width - 2 - width_of(start) - width_of(end)
        first, last = min(1, free - 1), min(1, max(0, free - 2))
        rules = [Segment(across * n, edge) for n in (first, free - first - last, last)]
        return [rules[0], *start, rules[1], *end, rules[2]]

    margin = [] if frame.tight else [piece(" ")]
    room = width - 3 - len(margin)
    side = Segment(upright, edge)
    inside = grounded([[piece(" "), *fitted(line, room), *margin] for line in lines], frame.ground)
    inside += [[piece(" " * (width - 2), ground=frame.ground)]] * (height - len(lines))
    above, below = grounded([ruled(title, right), ruled(foot, None)], frame.ground)
    return [
        [Segment(upper_left, edge), *above, Segment(upper_right, edge)],
        *([side, *line, side] for line in inside),
        [Segment(lower_left, edge), *below, Segment(lower_right, edge)],
    ]


def grounded(block: Block, colour: str) -> Block:
    """The block, with a ground under what has none of its own."""
    return [[_on(segment, colour) for segment in line] for line in block]


def _on(segment: Segment, colour: str) -> Segment:
    text, style, _ = segment
    if style is not None and style.bgcolor is not None:
        return segment
    return Segment(text, _with_ground(style, colour))


@lru_cache(1024)
def _with_ground(style: Style | None, colour: str) -> Style:
    return _style(INK, colour, False) + style


def _spaced(line: Line, most: int) -> Line:
    """A line with a blank at either end, cut to a width."""
    line = line if width_of(line) <= most - 2 else fitted(line, max(0, most - 2))
    return [piece(" "), *line, piece(" ")]


def titled(text: str) -> Line:
    """A panel's title."""
    return [piece(text, palette.mixed(FADED, INK, 0.5), bold=True)]


def beside(blocks: Sequence[Block], gap: int = 0) -> Block:
    """Blocks side by side; the shorter ones are filled up with blank lines."""
    height = max(map(len, blocks))
    between = [piece(" " * gap)] if gap else []
    columns = []
    for block in blocks:
        wide = max(map(width_of, block), default=0)
        columns.append([fitted(line, wide) for line in block])
        columns[-1] += [[piece(" " * wide)] for _ in range(height - len(block))]
    return [list(_between(row, between)) for row in zip(*columns, strict=True)]


def _between(row: Iterable[Line], between: Line) -> Iterator[Segment]:
    for k, line in enumerate(row):
        yield from between if k else ()
        yield from line


def shares(width: int, count: int) -> list[int]:
    """Widths of so many columns that fill a width."""
    return [width * (k + 1) // count - width * k // count for k in range(count)]


def to_text(block: Block, colour: bool) -> str:
    """The lines as one text.

    Args:
        block: a board.
        colour: with escape sequences of 24-bit colours (SGR 38;2 and 48;2), each line ending with
            a reset; else the same text without them.
    """
    if not colour:
        return "\n".join("".join(segment.text for segment in line) for line in block)
    return "\n".join("".join(_rendered(line)) for line in block)


def _rendered(line: Line) -> Iterator[str]:
    """A line's segments with escape sequences, neighbours that look alike as one."""
    text, style = "", None
    for segment in line:
        if segment.style == style:
            text += segment.text
            continue
        if text and style is not None:
            yield style.render(text, color_system=ColorSystem.TRUECOLOR)
        text, style = segment.text, segment.style
    if text and style is not None:
        yield style.render(text, color_system=ColorSystem.TRUECOLOR)
