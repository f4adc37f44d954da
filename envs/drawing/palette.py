"""The colours of the boards: parchment, ink, and what the scriptorium's pots hold."""

from __future__ import annotations

from functools import lru_cache

DESK = "#5b4332"  # the table the board lies on
PARCHMENT = "#f2e6cc"
PAGE = "#fbf5e6"
PANEL = "#e8d8b7"
EDGE = "#c2a676"
INK = "#38291c"
FADED = "#86704f"
GHOST = "#cdb88f"
VERMILION = "#b3412b"
LAPIS = "#2b5c8f"
GOLD = "#d9a62e"
LEAF = "#4d7d46"
PLUM = "#7a4a80"
STONE = "#d8c9ab"
TILE = "#b5573c"  # of roofs
WHITE = "#fffdf6"

# For kinds of things, apart from one another with any eyes; each is drawn with a letter besides.
KINDS = (
    *("#2f6fa3", "#c9502c", "#e2ab2d", "#3d7f5c"),
    *("#7b4b8c", "#7cb4cf", "#d990a6", "#6b5240"),
)
SEATS = ("#2b5c8f", "#b3412b", "#4d7d46", "#7a4a80")


@lru_cache(1024)
def mixed(colour: str, other: str, share: float) -> str:
    """A colour with so large a share of another."""
    pairs = ((int(colour[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


@lru_cache(1024)
def on(colour: str) -> str:
    """The colour that letters have on this one."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else WHITE


def kind_colour(k: int) -> str:
    """The colour of the k-th kind; after eight they come again, paler."""
    paler = min(0.6, 0.3 * (k // len(KINDS)))
    return mixed(KINDS[k % len(KINDS)], WHITE, paler)
