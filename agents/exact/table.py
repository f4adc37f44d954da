"""A hash table from codes to values, in two arrays: open addressing with linear probing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.chance import scramble
from incunabula.envs.compiled.functions import compiled, compiled_apart
from incunabula.envs.errors import IncunabulaError

GIGABYTE = 1e9
ENTRY = 16  # bytes of a code and its value
FULLEST = 0.7  # share of the places that may be taken
SMALLEST = 1 << 12  # places


@compiled
def find(codes: Any, code: int) -> int:
    """The place of a code in ``codes``, int64 (a power of two,), or the free one it would take."""
    last = len(codes) - 1
    place = int(np.int64(scramble(np.uint64(code)) & np.uint64(last)))
    while codes[place] != 0 and codes[place] != code:
        place = (place + 1) & last
    return place


@compiled_apart
def fill(codes: Any, values: Any, given: Any, worth: Any) -> None:
    """Put the codes ``given`` that aren't 0, int64 (n,), with their ``worth``, float64 (n,)."""
    for k in range(len(given)):
        if given[k] != 0:
            place = find(codes, given[k])
            codes[place] = given[k]
            values[place] = worth[k]


class Table:
    """The two arrays, replaced by larger ones as they fill.

    Args:
        most_bytes: memory it may take, while it grows too.

    Attributes:
        codes: int64 (places,), 0 where nothing is.
        values: float64 (places,).
    """

    def __init__(self, most_bytes: float, places: int = SMALLEST) -> None:
        self.most_bytes = most_bytes
        self.codes: npt.NDArray[np.int64] = np.zeros(places, np.int64)
        self.values: npt.NDArray[np.float64] = np.zeros(places)

    @property
    def room(self) -> int:
        """Entries it holds at most before it must grow."""
        return int(FULLEST * len(self.codes))

    def grow(self) -> None:
        """Twice as many places.

        Raises:
            IncunabulaError: that is more memory than it may take.
        """
        places = 2 * len(self.codes)
        needed = (places + len(self.codes)) * ENTRY
        if needed > self.most_bytes:
            raise IncunabulaError(
                f"edition: too large to be solved: after {self.room:,} states "
                f"{needed / GIGABYTE:.1f} GB are needed, more than the "
                f"{self.most_bytes / GIGABYTE:g} GB allowed; allow more by --max-memory"
            )
        codes, values = self.codes, self.values
        self.codes, self.values = np.zeros(places, np.int64), np.zeros(places)
        fill(self.codes, self.values, codes, values)

    @classmethod
    def of(cls, codes: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> Table:
        """A table of these entries, (n,) each."""
        places = SMALLEST
        while len(codes) > FULLEST * places:
            places *= 2
        table = cls(places * ENTRY, places)
        fill(table.codes, table.values, codes, values)
        return table
