"""Recording games while they are played."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine, Json
from incunabula.envs.files import file_to_write, written_whole
from incunabula.envs.replay import Replay, player_name, replay_line
from incunabula.training.evaluation.files import check_folder, kept_if_used
from incunabula.training.evaluation.rows import Part

MAX_FILE_NAME = 100  # characters


class Recorder:
    """Watches games, and writes each that has ended, in the order of the list: the same file
    whatever the batch size and the backend.

    Args:
        write: takes the lines.
        edition: what is played.
        players: who has each seat of the game of this number.
        deal: what fixes the game of this number; see ``Replay``.
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        edition: BaseEdition,
        players: Callable[[int], Sequence[str]],
        deal: Callable[[int], Json],
    ) -> None:
        self._write, self._edition = write, edition
        self._sha256 = edition.sha256
        self._players, self._deal = players, deal
        self._actions = np.zeros((0, 0), np.int32)  # of the game in each row
        self._waiting: dict[int, bytes] = {}  # lines of games that others must go before
        self._next = 0

    def before(self, engine: Engine, part: Part, actions: npt.NDArray[Any]) -> None:
        """Note what is about to be done."""
        last = int(part.decisions.max())
        rows, width = self._actions.shape
        if last >= width or engine.num_envs > rows:
            room = np.zeros((engine.num_envs, max(2 * width, last + 1, 64)), np.int32)
            room[:rows, :width] = self._actions
            self._actions = room
        self._actions[part.rows, part.decisions] = actions

    def after(self, engine: Engine, part: Part) -> None:
        """Keep the games that this has ended."""
        for k in np.flatnonzero(engine.state.phase[part.rows] == engine.over):
            row, game = int(part.rows[k]), int(part.games[k])
            replay = Replay(
                game=self._edition.game,
                edition=self._edition.name,
                edition_sha256=self._sha256,
                players=tuple(map(player_name, self._players(game))),
                deal=self._deal(game),
                actions=tuple(self._actions[row, : part.decisions[k] + 1].tolist()),
                scores=tuple(np.atleast_1d(engine.state.score[row]).tolist()),
            )
            self._waiting[game] = replay_line(replay)
        while self._next in self._waiting:
            self._write(self._waiting.pop(self._next))
            self._next += 1


@contextlib.contextmanager
def recorded(
    folder: Path | None,
    name: str,
    edition: BaseEdition,
    players: Callable[[int], Sequence[str]],
    deal: Callable[[int], Json],
) -> Iterator[Recorder | None]:
    """What records games to a file of this name in a folder, which is there once all have been
    played; None without a folder. See ``Recorder``.

    Raises:
        IncunabulaError: the file can't be written.
    """
    if folder is None:
        yield None
        return
    with written_whole(_file(folder, name)) as write:
        yield Recorder(write, edition, players, deal)


@contextlib.contextmanager
def record_folder(folder: str | Path | None, names: Iterable[str]) -> Iterator[Path | None]:
    """The folder to record in, made if need be; taken away again should nothing come of it.

    Args:
        names: of the files that are to be recorded there; see ``recorded``.

    Raises:
        IncunabulaError: files can't be written there, or not under one of these names.
    """
    with kept_if_used(folder):
        found = None if folder is None else check_folder(folder, "record")
        if found is not None:
            for name in names:
                file_to_write(_file(found, name))
        yield found


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl"


def file_names(names: Sequence[str]) -> dict[str, str]:
    """A name of a file for each agent's name, all different."""
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("-.")[:MAX_FILE_NAME] or "agent"
        taken = {other.lower() for other in found.values()}  # some file systems know one case
        number = 1
        while (plain if number == 1 else f"{plain}-{number}").lower() in taken:
            number += 1
        found[name] = plain if number == 1 else f"{plain}-{number}"
    return found
