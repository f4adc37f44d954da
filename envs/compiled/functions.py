"""Functions written once in numba's subset: compiled where numba is installed, else interpreted."""

from __future__ import annotations

import hashlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dis import get_instructions
from functools import cache, cached_property, update_wrapper
from importlib.util import find_spec
from types import FunctionType
from typing import Any, Generic, TypeVar

import numpy as np

R = TypeVar("R")

SLOW = 2.0  # seconds of compiling after which the user is told

_interpreting = False


@cache
def why_no_numba() -> str | None:
    """Why nothing can be compiled here: numba is missing, switched off, or at odds with what else
    is installed. None if it can. Asking imports numba."""
    if find_spec("numba") is None:
        return "numba is not installed: pip install 'incunabula[fast]'"
    try:
        import numba
    except Exception as error:  # it checks NumPy's version, llvmlite's, the processor
        return f"numba can't be imported here ({error})"
    if numba.config.DISABLE_JIT:
        return "numba is switched off (environment variable NUMBA_DISABLE_JIT)"
    return None


def numba_is_there() -> bool:
    """Whether numba is installed and works."""
    return why_no_numba() is None


def can_compile() -> bool:
    """Whether functions get compiled now: numba works, and this is no ``interpreted`` block."""
    return not _interpreting and numba_is_there()


@contextmanager
def interpreted() -> Iterator[None]:
    """Run the decorated functions as plain Python inside this block."""
    global _interpreting
    before, _interpreting = _interpreting, True
    try:
        with np.errstate(over="ignore"):  # chance wraps around at 2^64
            yield
    finally:
        _interpreting = before


class Compiled(Generic[R]):
    """A function that numba compiles at its first call, together with those it calls.

    numba is imported at that call and no sooner, so that importing a module of such functions
    stays quick. Compiled code is kept on disk between runs, where a folder can be written. It runs
    without Python's global lock: threads that work on different arrays run side by side.

    Attributes:
        python: the function uncompiled.
    """

    def __init__(
        self, function: Callable[..., R], inline: bool = True, shared: bool = False
    ) -> None:
        update_wrapper(self, function)
        self._inline, self._shared = inline, shared
        self._prepared = False
        self.python: FunctionType = function  # type: ignore[assignment]

    def __call__(self, *arguments: Any) -> R:
        run = self.python
        if can_compile():
            if not self._prepared:
                self.prepare(*arguments)
                self._prepared = True
            run = self._entry
        result: R = run(*arguments)
        return result

    def prepare(self, *arguments: Any) -> Callable[..., R]:
        """The function compiled for arguments of these types, to be called with such alone.

        Calling it saves looking at the types again, which takes microseconds.
        """
        if not can_compile():
            return self.python
        entry = self._entry
        types = tuple(entry.typeof_pyval(argument) for argument in arguments)
        if types not in entry.overloads:
            with _announced(self.python):
                entry.compile(types)
        code: Callable[..., R] = entry.overloads[types].entry_point
        return code

    def with_kernels(self, kernels: Mapping[str, Compiled[Any]]) -> Compiled[R]:
        """This function with other functions behind the names of some that it calls, directly or
        through another."""
        given = dict(self.python.__globals__)
        for name, value in self._globals.items():
            if isinstance(value, Compiled):
                given[name] = kernels.get(name) or value.with_kernels(kernels)
        return Compiled(self._copy(given), inline=self._inline, shared=self._shared)

    @cached_property
    def _entry(self) -> Any:
        """numba's form of the function, to be called from Python."""
        from numba import njit

        function = self._linked()
        # numba looks for changes in the function's own file only; by this name, code that was kept
        # is also found stale when a function called from it has changed elsewhere.
        function.__qualname__ += "_" + self._digest
        try:
            return njit(cache=True, error_model="numpy", nogil=True)(function)
        except RuntimeError:  # no folder for the cache can be written
            return njit(error_model="numpy", nogil=True)(function)

    @cached_property
    def _inner(self) -> Any:
        """numba's form of the function, to be called from compiled code: quicker to compile."""
        from numba import njit

        if self._shared:
            return self._entry
        options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        # Passing tuples of arrays on costs more than small functions do themselves.
        options["forceinline"] = self._inline
        return njit(error_model="numpy", **options)(self._linked())

    @cached_property
    def _globals(self) -> dict[str, Any]:
        """The global names the function reads, in alphabetical order, with their values."""
        names = self.python.__globals__
        read = {i.argval for i in get_instructions(self.python) if i.opname == "LOAD_GLOBAL"}
        return {name: names[name] for name in sorted(read) if name in names}

    def _linked(self) -> FunctionType:
        """The function with the compiled functions it calls in place of the Python ones."""
        given = {"__name__": self.python.__globals__["__name__"]}
        for name, value in self._globals.items():
            given[name] = value._inner if isinstance(value, Compiled) else value
        return self._copy(given)

    def _copy(self, given: dict[str, Any]) -> FunctionType:
        """The function with these global names."""
        function = FunctionType(self.python.__code__, given, self.python.__name__)
        function.__qualname__ = self.python.__qualname__
        return function

    @cached_property
    def _digest(self) -> str:
        """A hash of the code of this function and of all that it calls."""
        code = self.python.__code__
        parts = [code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
        for name, value in self._globals.items():
            if isinstance(value, Compiled):
                parts.append(value._digest)
            elif isinstance(value, (int, float, np.generic)):
                parts.append(f"{name}={value}")
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def compiled(function: Callable[..., R]) -> Compiled[R]:
    """Decorator: see ``Compiled``. Inlined where compiled code calls it."""
    return Compiled(function)


def compiled_apart(function: Callable[..., R]) -> Compiled[R]:
    """Decorator of large functions, which are quicker to compile when they are not inlined."""
    return Compiled(function, inline=False)


def compiled_once(function: Callable[..., R]) -> Compiled[R]:
    """Decorator of the largest functions: compiled code that calls one uses what is kept of it on
    disk, where any other is compiled anew into each of its callers."""
    return Compiled(function, inline=False, shared=True)


@contextmanager
def _announced(function: Callable[..., Any]) -> Iterator[None]:
    """Say so where compiling takes its time: on a terminal, and in the log."""
    what = f"{function.__module__}.{function.__name__}"

    def tell() -> None:
        text = f"compiling {what} for this machine: once, up to a minute"
        logging.getLogger(__name__).info(text)
        if sys.stderr.isatty():
            print(f"incunabula: {text}", file=sys.stderr, flush=True)

    timer = threading.Timer(SLOW, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
