"""How much room text takes, so that it can be made to fit; known without any font at hand."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Advance widths of Aileron, the font that Pillow brings along, from blank to tilde, in thousandths
# of the font size. Helvetica, Arial and their like, which browsers show, are as wide or narrower.
_ASCII = """
    216 242 339 580 580 740 654 176 315 315 560 580 220 274 220 303
    580 580 580 580 580 580 580 580 580 580 220 220 580 580 580 499
    852 639 627 699 709 587 567 710 730 264 544 609 575 866 718 737
    598 733 619 585 612 682 622 952 625 581 591 307 303 295 580 500
    300 531 611 529 615 549 290 615 593 238 233 522 247 855 593 586
    611 615 330 459 313 592 514 785 482 513 462 303 250 303 580
"""
_WIDTHS = {chr(32 + k): int(width) / 1000 for k, width in enumerate(_ASCII.split())} | {
    "…": 0.62,
    "·": 0.202,
}
_WIDE, _OTHER = 1.0, 0.7  # ideographs; other letters, which aren't in the font
_BOLD = 0.035  # what the thicker strokes add to each letter
CAP = 0.7  # height of capitals
DESCENT = 0.2  # how far letters reach below the line
SMALLEST = 8.0


@lru_cache(8192)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of one line of text in a font of this size, in the same units."""
    total = sum(_WIDTHS.get(letter) or _unlisted(letter) for letter in text)
    return size * (total + (_BOLD * len(text) if bold else 0.0))


def _unlisted(letter: str) -> float:
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER


@lru_cache(8192)
def fitted(
    text: str, width: float, size: float, smallest: float = SMALLEST, bold: bool = False
) -> tuple[str, float]:
    """The text and the font size with which it fits into ``width``.

    The font shrinks from ``size`` down to ``smallest``; what is still too long is cut and ends in
    an ellipsis. Where not even that fits nothing is left.
    """
    needed = text_width(text, size, bold)
    if needed <= width:
        return text, size
    smaller = size * width / needed
    if smaller >= smallest:
        return text, smaller
    size = min(size, smallest)
    for kept in range(len(text) - 1, 0, -1):
        shorter = text[:kept].rstrip() + "…"
        if text_width(shorter, size, bold) <= width:
            return shorter, size
    return "", size
