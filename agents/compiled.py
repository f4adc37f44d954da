"""Functions written once in numba's subset: compiled where numba is installed, else interpreted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dis import get_instructions
from functools import cached_property, update_wrapper
from importlib.util import find_spec
from types import FunctionType
from typing import Any

_interpreting = False


def can_compile() -> bool:
    """Whether numba is installed (it is not imported to find out)."""
    return find_spec("numba") is not None


@contextmanager
def interpreted() -> Iterator[None]:
    """Run the decorated functions as plain Python inside this block."""
    global _interpreting
    before, _interpreting = _interpreting, True
    try:
        yield
    finally:
        _interpreting = before


class Compiled:
    """A function that numba compiles at its first call, together with those it calls.

    numba is imported at that call and no sooner, so that importing a module of such functions
    stays quick. Compiled code is kept on disk between runs, where a folder can be written.
    numba notices a change in the function's own file only: keep functions that call each other in
    one file.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.python: FunctionType = function  # type: ignore[assignment]

    def __call__(self, *arguments: Any) -> Any:
        if _interpreting or not can_compile():
            return self.python(*arguments)
        return self._entry(*arguments)

    @cached_property
    def _entry(self) -> Any:
        """numba's form of the function, to be called from Python."""
        from numba import njit

        try:
            return njit(cache=True, error_model="numpy")(self._linked())
        except RuntimeError:  # no folder for the cache can be written
            return njit(error_model="numpy")(self._linked())

    @cached_property
    def _inner(self) -> Any:
        """numba's form of the function, to be called from compiled code: quicker to compile."""
        from numba import njit

        return njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(
            self._linked()
        )

    def _linked(self) -> FunctionType:
        """The function with the compiled functions it calls in place of the Python ones."""
        code, names = self.python.__code__, self.python.__globals__
        used = {i.argval for i in get_instructions(code) if i.opname == "LOAD_GLOBAL"}
        given = {name: names[name] for name in ("__name__", *used) if name in names}
        for name, value in given.items():
            if isinstance(value, Compiled):
                given[name] = value._inner
        function = FunctionType(code, given, self.python.__name__)
        function.__qualname__ = self.python.__qualname__
        return function


def compiled(function: Callable[..., Any]) -> Compiled:
    """Decorator: see ``Compiled``."""
    return Compiled(function)
