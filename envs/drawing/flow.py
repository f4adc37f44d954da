"""Lays many things of one size out in a box."""

from __future__ import annotations

import math
from collections.abc import Sequence

from incunabula.envs.drawing.pen import Box


def grid(box: Box, count: int, aspect: float, largest: float, gap: float) -> tuple[list[Box], int]:
    """Places for ``count`` things, row by row from the upper left, as large as they can be.

    Args:
        box: where.
        count: how many, from 0.
        aspect: height of a thing for a width of 1.
        largest: width that none exceeds.
        gap: between two.

    Returns:
        The places, and how many there are in a row.
    """
    best, per_row = 0.0, 1
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        wide = (box.w - gap * (columns - 1)) / columns
        high = (box.h - gap * (rows - 1)) / rows / aspect
        width = min(wide, high, largest)
        if width > best + 1e-9:
            best, per_row = width, columns
        if wide <= best:
            break  # more in a row are only smaller
    step_x, step_y = best + gap, best * aspect + gap
    places = [
        Box(box.x + k % per_row * step_x, box.y + k // per_row * step_y, best, best * aspect)
        for k in range(count)
    ]
    return places, per_row


def centred(places: Sequence[Box], box: Box) -> list[Box]:
    """The same places, moved together to the middle of a box."""
    if not places:
        return []
    left, top = min(p.x for p in places), min(p.y for p in places)
    right, lower = max(p.right for p in places), max(p.lower for p in places)
    x = box.x + (box.w - (right - left)) / 2 - left
    y = box.y + (box.h - (lower - top)) / 2 - top
    return [Box(p.x + x, p.y + y, p.w, p.h) for p in places]


def shortest_names(names: Sequence[str]) -> list[str]:
    """A letter or two for each name: as few as tell them apart, else their numbers."""
    for length in (1, 2):
        short = [name.strip()[:length].upper() for name in names]
        if len({*short}) == len(short) and all(short):
            return short
    return [str(k + 1) for k in range(len(names))]
