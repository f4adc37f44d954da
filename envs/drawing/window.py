"""A window that shows a game as it is played, opened with pygame."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incunabula.envs.drawing.extra import need
from incunabula.envs.errors import IncunabulaError


class Window:
    """A window, which opens with the first picture.

    pygame has one for a process: several games take turns in it, and it is there until the last of
    them is closed. A player who closes it isn't bothered again until ``close`` was called. A copy
    is a window that hasn't been opened.

    Args:
        title: what its frame says.
        fps: pictures a second; ``show`` waits so long.
    """

    _open_ones: ClassVar[set[int]] = set()  # ids of those that show something

    def __init__(self, title: str, fps: float) -> None:
        self.title, self.fps = title, fps
        self._screen: Any = None
        self._clock: Any = None
        self._shut = False  # by the player

    def __reduce__(self) -> tuple[type[Window], tuple[str, float]]:
        return Window, (self.title, self.fps)

    def show(self, pixels: npt.NDArray[np.uint8]) -> None:
        """Show a picture, uint8 (H, W, 3).

        Raises:
            IncunabulaError: there is no display.
            MissingExtraError: pygame isn't installed.
        """
        if self._shut:
            return
        pygame = _pygame()
        if self._screen is None or pygame.display.get_surface() is not self._screen:
            self._open(pygame, pixels.shape[1], pixels.shape[0])
        picture = pygame.surfarray.make_surface(pixels.swapaxes(0, 1))
        self._screen.blit(picture, (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            self._shut = True
            return
        self._wait()

    def _wait(self) -> None:
        self._clock.tick(self.fps)

    def _open(self, pygame: Any, width: int, height: int) -> None:
        try:
            pygame.display.init()
            self._screen = pygame.display.set_mode((width, height))
        except pygame.error as error:
            raise IncunabulaError(
                f'render_mode: "human" needs a display to open a window on ({error}); '
                'use "rgb_array" or "ansi" where there is none'
            ) from None
        pygame.display.set_caption(self.title)
        self._clock = pygame.time.Clock()
        self._open_ones.add(id(self))

    def close(self) -> None:
        """Close it, if it is open; the next picture opens it again."""
        if self._screen is not None:
            self._screen = self._clock = None
            self._open_ones.discard(id(self))
            if not self._open_ones:
                _pygame().display.quit()
        self._shut = False


def _pygame() -> Any:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    return need("pygame")
