"""Other implementations that a bench measures beside our own, each in a module of its own.

A module here has a class ``Implementation``, a ``Suite``. It is imported only when it is asked for,
since what it stands on may not be installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import NamedTuple

from incunabula.envs.documents import no_such
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.against.suite import Suite


class _Entry(NamedTuple):
    module: str
    pip: str | None = None  # what has to be installed


SUITES = {
    "numpy": _Entry("own"),
    "sync": _Entry("sync"),
    "oracle": _Entry("oracle"),
    "pgx": _Entry("pgx", "pgx"),
    "openspiel": _Entry("openspiel", "open_spiel"),
}


def load_suites(names: Sequence[str]) -> list[Suite]:
    """The implementations of these names.

    Raises:
        IncunabulaError: an unknown name, one that stands twice, or what can't be imported.
    """
    for i, name in enumerate(names):
        if name not in SUITES:
            raise IncunabulaError(no_such("implementation", name, SUITES))
        if name in names[:i]:
            raise IncunabulaError(f"against: {name!r} stands twice; name each once")
    return [_load(name) for name in names]


def _load(name: str) -> Suite:
    entry = SUITES[name]
    try:
        module = importlib.import_module(f"{__name__}.{entry.module}")
    except IncunabulaError:
        raise
    except Exception as error:  # of code that isn't ours, in versions that may not go together
        if entry.pip is None:
            raise
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise IncunabulaError(
            f"against: {name} can't be imported ({why}); install it: pip install {entry.pip}"
        ) from error
    suite: Suite = module.Implementation()
    return suite
