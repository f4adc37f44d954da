"""Render modes of the environments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.drawing.extra import check_installed
from incunabula.envs.errors import IncunabulaError, MissingExtraError

Pixels = npt.NDArray[np.uint8]
ANSI, PIXELS, HUMAN = "ansi", "rgb_array", "human"
BATCH_MODES = [ANSI, PIXELS]  # of many games; a window shows one
RENDER_MODES = [ANSI, PIXELS, HUMAN]
FPS = 4
Size = tuple[int, int]  # width and height of a picture, in pixels
SMALLEST_SIZE, LARGEST_SIZE = (640, 480), (4096, 4096)
_NEEDS = {ANSI: (), PIXELS: ("PIL",), HUMAN: ("PIL", "pygame")}


def colour_wanted() -> bool:
    """Whether text may have colours: not if ``NO_COLOR`` is set, to anything but nothing."""
    return not os.environ.get("NO_COLOR")


class RenderModeError(IncunabulaError, TypeError):
    """A render mode that isn't offered, or not without an extra.

    A TypeError too: stable-baselines3 asks for ``rgb_array`` whenever it makes an environment from
    an id, and makes it without a render mode after a TypeError.
    """


class MissingDrawingError(RenderModeError, MissingExtraError):
    """A render mode that needs a package which isn't installed."""


def checked_render_mode(render_mode: str | None, modes: Sequence[str] = RENDER_MODES) -> str | None:
    """The render mode; RenderModeError if it isn't offered or what it needs isn't installed."""
    if render_mode is None:
        return None
    if render_mode not in modes:
        window = "; a window shows a single game" if render_mode == HUMAN else ""
        raise RenderModeError(
            f"render_mode: expected None or one of {', '.join(modes)}, got {render_mode!r}{window}"
        )
    try:
        check_installed(*_NEEDS[render_mode])
    except MissingExtraError as error:
        raise MissingDrawingError(f'render_mode: "{render_mode}": {error}') from None
    return render_mode


def checked_render_size(size: Any) -> Size | None:
    """The size, given as a pair of integers; IncunabulaError if pictures can't be so large."""
    if size is None:
        return None
    pair = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else ()
    whole = all(isinstance(side, Integral) and not isinstance(side, bool) for side in pair)
    if len(pair) == 2 and whole:
        limits = zip(SMALLEST_SIZE, pair, LARGEST_SIZE, strict=True)
        if all(least <= side <= most for least, side, most in limits):
            return int(pair[0]), int(pair[1])
    raise IncunabulaError(
        f"render_size: expected None or (width, height) in pixels, from {SMALLEST_SIZE} to "
        f"{LARGEST_SIZE}, got {size!r}"
    )
