"""Games as files: saved from the page, recorded when they end, loaded again."""

from __future__ import annotations

import time
from pathlib import Path

from incunabula.envs.errors import IncunabulaError
from incunabula.envs.lines import read_text_lines
from incunabula.envs.replay import (
    REPLAYS,
    Replay,
    read_replay,
    read_replays,
    write_replays,
)
from incunabula.training.play.session import Session


class Saves:
    """The folder that games are saved in.

    Args:
        folder: made if need be, when something is saved.
        record: whether a game that has ended is saved by itself.
    """

    def __init__(self, folder: str | Path = ".", record: bool = False) -> None:
        self.folder, self.record = Path(folder), record
        self._file: Path | None = None  # of the present game
        self._deal: object = None
        self._kept: Replay | None = None  # that was saved last

    def save(self, session: Session) -> Path:
        """Write the game so far; a game that was saved before is written over.

        Raises:
            IncunabulaError: the file can't be written.
        """
        if self._file is None or self._deal is not session.deal:
            self._file, self._deal = self._new_file(session), session.deal
        replay = session.replay
        write_replays(self._file, [replay])
        self._kept = replay
        return self._file

    def lost(self, session: Session) -> bool:
        """Whether a person has done something in the present game since it was saved or loaded."""
        if not session.person_moved:
            return False
        return self._kept is None or self._kept != session.replay

    def finished(self, session: Session) -> None:
        """Record a game that has ended, if games are to be recorded."""
        if self.record and session.over:
            self.save(session)

    def _new_file(self, session: Session) -> Path:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise IncunabulaError(
                f"{self.folder}: can't be written: {error.strerror or error}"
            ) from None
        stem = f"{session.table.edition.game}-{time.strftime('%Y%m%d-%H%M%S')}"
        names = (f"{stem}{'' if k == 1 else f'-{k}'}.jsonl" for k in range(1, 1000))
        return next(path for name in names if not (path := self.folder / name).exists())


def replay_from_file(path: str | Path) -> Replay:
    """The one game that a file of replays holds.

    Raises:
        IncunabulaError: the file can't be read, or holds another number of games.
    """
    return _only(list(read_replays(path)), str(path))


def replay_from_text(text: str, name: str) -> Replay:
    """The one game that a file's text holds; ``name`` is how errors call the file.

    Raises:
        IncunabulaError: it isn't text of one replay.
    """
    return _only([read_replay(line) for line in read_text_lines(text, name, REPLAYS)], name)


def _only(replays: list[Replay], name: str) -> Replay:
    if len(replays) != 1:
        raise IncunabulaError(
            f"{name}: holds {len(replays)} games; expected one, a line of the file in a file of "
            "its own"
        )
    return replays[0]
