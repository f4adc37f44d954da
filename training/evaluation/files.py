"""Files that are either there in whole or not there."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import check_writable, written_whole


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under another name in its folder, then rename: what was there stays until then.

    Raises IncunabulaError if it can't be written; nothing is left behind.
    """
    with written_whole(path) as write:
        write(content)


def write_report_files(path: Path, files: dict[str, bytes], html: str) -> Path:
    """Write a report's files into its folder, and the page last; the page's path."""
    for name, content in files.items():
        write_atomically(path / name, content)
    write_atomically(path / "report.html", html.encode("utf-8", "backslashreplace"))
    return path / "report.html"


def json_file(result: dict[str, Any]) -> bytes:
    """A result as a file."""
    return (json.dumps(result, indent=1) + "\n").encode()


@contextlib.contextmanager
def kept_if_used(folder: str | Path | None) -> Iterator[None]:
    """Should what is done inside fail, take away again the folder it made, if nothing is in it."""
    made: list[Path] = []
    if folder is not None:
        with contextlib.suppress(OSError, ValueError):
            path = Path(folder)
            made = [part for part in (path, *path.parents) if not part.exists()]
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            for part in made:
                part.rmdir()
        raise


def check_folder(folder: str | Path, option: str = "out", files: Iterable[str] = ()) -> Path:
    """Make the folder if need be and see that files can be written there, before the work starts.

    Args:
        option: that named it, for errors.
        files: names of those that will be, or may be.

    Raises IncunabulaError if not.
    """
    if not str(folder).strip():
        raise IncunabulaError(f"{option}: the folder's name is empty")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".{secrets.token_hex(4)}.tmp"
        probe.touch(exist_ok=False)
        probe.unlink()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{option}: {path}: files can't be written there: {reason}") from None
    for name in files:
        _check_writable(path / name, option)
    return path


def check_file(file: str | Path, option: str = "save") -> Path:
    """See that the file can be written, its folder being made if need be, before the work starts.

    Args:
        option: that named it, for errors.

    Raises IncunabulaError if not.
    """
    path, other = Path(file), not str(file).strip()
    with contextlib.suppress(OSError, ValueError):  # a name that can't be one is told below
        other = other or (path.exists() and not path.is_file())
    if other:
        raise IncunabulaError(f"{option}: expected a file, got {str(file)!r}")
    check_folder(path.parent, option)
    _check_writable(path, option)
    return path


def _check_writable(path: Path, option: str) -> None:
    try:
        check_writable(path)
    except IncunabulaError as error:
        raise IncunabulaError(f"{option}: {error}") from None
