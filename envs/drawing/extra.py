"""The packages that pictures need, which come with the extra ``incunabula[draw]``."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from incunabula.envs.errors import MissingExtraError

_PACKAGES = {"PIL": "Pillow", "pygame": "pygame-ce"}


def check_installed(*modules: str) -> None:
    """MissingExtraError unless these can be imported; imports none."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(missing(module))


def need(module: str) -> Any:
    """The module ``PIL.Image``, ``pygame``, …; MissingExtraError if it isn't installed."""
    check_installed(module.partition(".")[0])
    return import_module(module)


def missing(module: str) -> str:
    """What to say when a package isn't installed."""
    return (
        f"drawing pictures needs {_PACKAGES[module]}: install the extra, "
        "pip install 'incunabula[draw]'"
    )
