"""Arrays and integers that compiled functions reach by name, through one pointer.

Passing a tuple of forty arrays to a compiled function takes ten microseconds, more than it does
with them. ``Arrays`` lays the addresses and shapes of its members out in one block of memory, and
``numba_arrays`` teaches numba to read members from there: ``s.hand`` in compiled code is the very
array that ``s.hand`` is in Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

# What a member is: None for an integer; type, number of dimensions and order of an array; the
# members of other Arrays.
Kind = tuple[Any, ...] | None


class Arrays:
    """Arrays, integers and other Arrays as attributes.

    The arrays are shared, not copied, and kept alive; integers are as they were. Members that are
    made anew (an array that has grown) need new ``Arrays``.
    """

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.__dict__.update(members)
        self._kinds: tuple[tuple[str, Kind], ...]
        self._address: int
        words: list[int] = []
        kinds: list[tuple[str, Kind]] = []
        for name, value in members.items():
            if isinstance(value, np.ndarray):
                words += [value.ctypes.data, *value.shape, *value.strides]
                kinds.append((name, (value.dtype.str, value.ndim, _order(value))))
            elif isinstance(value, Arrays):
                words.append(value._address)
                kinds.append((name, value._kinds))
            elif isinstance(value, (int, np.integer)):  # bool is one too
                words.append(int(value))
                kinds.append((name, None))
            else:
                raise TypeError(f"{name}: expected an array, an integer or Arrays, got {value!r}")
        self._kinds = tuple(kinds)
        self._words: npt.NDArray[np.int64] = np.array(words, np.int64)
        self._address = int(self._words.ctypes.data)

    @cached_property
    def _numba_type_(self) -> Any:
        """numba's type: by this name numba asks for it."""
        from incunabula.envs.compiled.numba_arrays import ArraysType

        return ArraysType(self._kinds)

    def __reduce__(self) -> Any:  # what copying and pickling ask
        raise TypeError("Arrays name memory of their own place: make new ones of the copied arrays")


def _order(array: npt.NDArray[Any]) -> str:
    """ "C" if the cells lie in order without gaps, else "A".

    NumPy calls every column of an array of one row contiguous; here the order must not depend on
    how many rows there are, or code would be compiled anew for other numbers of games.
    """
    step = array.itemsize
    for size, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if stride != step and array.size:
            return "A"
        step *= size
    return "C"
