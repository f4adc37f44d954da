"""What drawing a state as text has in common in both games."""

from __future__ import annotations

from collections.abc import Iterable

WIDTH = 100  # columns


def wrapped(items: Iterable[str], first: str = "") -> list[str]:
    """Items parted by two blanks after ``first``, in lines of at most WIDTH columns.

    Later lines are indented as far; an item that is longer than a line stands by itself.
    """
    blank = " " * len(first)
    lines = [first]
    for item in items:
        if lines[-1].strip() and len(lines[-1]) + len(item) + 2 > WIDTH:
            lines.append(blank)
        lines[-1] += "  " + item
    return lines
