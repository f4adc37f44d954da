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


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Callable[[bytes], None]]:
    """What writes to a file, which lies under another name in its folder until it is whole: what
    was there stays until then, and stays if what is done inside fails.

    Raises:
        IncunabulaError: it can't be written; nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")

    @contextlib.contextmanager
    def explained() -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise IncunabulaError(f"{path}: can't be written: {error.strerror or error}") from None

    with explained():
        file = temporary.open("xb")

    def write(content: bytes) -> None:
        with explained():
            file.write(content)

    try:
        yield write
        with explained():
            file.flush()
            os.fsync(file.fileno())
            file.close()
            temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


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
