"""Files: written in whole or not at all, and read only if they are files."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from incunabula.envs.errors import IncunabulaError


def file_to_write(path: Path) -> Path:
    """The file that writing to this path puts there: where it is a link, what that leads to.

    Raises:
        IncunabulaError: there is something else than a regular file, or it can't be looked at.
    """
    with _explained(path):
        file = Path(os.path.realpath(path))
        try:
            mode = os.stat(file).st_mode
        except FileNotFoundError:
            return file
    if not stat.S_ISREG(mode):
        raise IncunabulaError(
            f"{path}: can't be written: it must be a regular file, not a folder, a pipe or a device"
        )
    return file


def check_writable(path: Path) -> None:
    """See that ``written_whole`` can write to this path, and leave nothing there.

    Raises:
        IncunabulaError: it can't.
    """
    target = file_to_write(path)
    with _explained(path):
        probe = _temporary(target)
        probe.touch(exist_ok=False)
        probe.unlink()


def _temporary(target: Path) -> Path:
    """Another name in the folder of a file, where it lies until it is whole."""
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Callable[[bytes], None]]:
    """What writes to a file, which lies under another name in its folder until it is whole: what
    was there stays until then, and stays if what is done inside fails. Links are followed.

    Raises:
        IncunabulaError: it can't be written, or isn't a regular file; nothing is left behind.
    """
    target = file_to_write(path)
    with _explained(path):
        temporary = _temporary(target)
        file = temporary.open("xb")

    def write(content: bytes) -> None:
        with _explained(path):
            file.write(content)

    try:
        yield write
        with _explained(path):
            file.flush()
            os.fsync(file.fileno())
            file.close()
            temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say which file it was that couldn't be written; also one whose name can't be one."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{path}: can't be written: {reason}") from None


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; a pipe or device, which could keep its reader waiting, is refused.

    Raises:
        IncunabulaError: it isn't a regular file.
        OSError: it can't be opened.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    file = open(path, "rb", opener=opener)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise IncunabulaError(f"{path}: must be a regular file, not a pipe or a device")
    return file
