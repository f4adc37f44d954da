"""Functions written once in numba's subset: compiled where numba is installed, else interpreted."""

from __future__ import annotations

import hashlib
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
    """

    def __init__(self, function: Callable[..., Any], inline: bool = True) -> None:
        update_wrapper(self, function)
        self._inline = inline
        self.python: FunctionType = function  # type: ignore[assignment]

    def __call__(self, *arguments: Any) -> Any:
        if _interpreting or not can_compile():
            return self.python(*arguments)
        return self._entry(*arguments)

    @cached_property
    def _entry(self) -> Any:
        """numba's form of the function, to be called from Python."""
        from numba import njit

        function = self._linked()
        # numba looks for changes in the function's own file only; by this name, code that was kept
        # is also found stale when a function called from it has changed elsewhere.
        function.__qualname__ += "_" + self._digest()
        try:
            return njit(cache=True, error_model="numpy")(function)
        except RuntimeError:  # no folder for the cache can be written
            return njit(error_model="numpy")(function)

    @cached_property
    def _inner(self) -> Any:
        """numba's form of the function, to be called from compiled code: quicker to compile."""
        from numba import njit

        options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        # Passing tuples of arrays on costs more than small functions do themselves.
        options["forceinline"] = self._inline
        return njit(error_model="numpy", **options)(self._linked())

    def _globals(self) -> dict[str, Any]:
        """The global names the function reads, in alphabetical order, with their values."""
        names = self.python.__globals__
        read = {i.argval for i in get_instructions(self.python) if i.opname == "LOAD_GLOBAL"}
        return {name: names[name] for name in sorted(read) if name in names}

    def _linked(self) -> FunctionType:
        """The function with the compiled functions it calls in place of the Python ones."""
        given = {"__name__": self.python.__globals__["__name__"]}
        for name, value in self._globals().items():
            given[name] = value._inner if isinstance(value, Compiled) else value
        function = FunctionType(self.python.__code__, given, self.python.__name__)
        function.__qualname__ = self.python.__qualname__
        return function

    def _digest(self) -> str:
        """A hash of the code of this function and of all that it calls."""
        code = self.python.__code__
        parts = [code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
        for name, value in self._globals().items():
            if isinstance(value, Compiled):
                parts.append(value._digest())
            elif isinstance(value, (int, float)):
                parts.append(f"{name}={value}")
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def compiled(function: Callable[..., Any]) -> Compiled:
    """Decorator: see ``Compiled``. Inlined where compiled code calls it."""
    return Compiled(function)


def compiled_apart(function: Callable[..., Any]) -> Compiled:
    """Decorator of large functions, which are quicker to compile when they are not inlined."""
    return Compiled(function, inline=False)
