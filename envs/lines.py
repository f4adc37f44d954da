"""Files of games, one JSON object a line, plain or compressed (``.gz``).

Whatever a file holds, it is read a line at a time and with limits, and what is wrong is told by
file and line.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from incunabula.envs.documents import show
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import open_regular
from incunabula.envs.json_state import Json

MAX_LINE = 4 << 20  # bytes
MAX_BLANK = 1 << 16  # bytes of blank lines one after the other
GZIP = b"\x1f\x8b"  # how a compressed file begins


class Line(NamedTuple):
    """A line of a file: where it stands, for errors, and the JSON object it holds."""

    where: str
    form: Json


def read_lines(path: str | Path, expected: str) -> Iterator[Line]:
    """The JSON object in each line of a file that isn't blank; what is packed is unpacked.

    Args:
        path: the file.
        expected: what the lines are to hold, for errors.

    Raises:
        IncunabulaError: the file can't be read or is empty, or a line holds something else.
    """
    return _lines(Path(path), _opened(Path(path)), expected)


def read_text_lines(text: str, name: str, expected: str) -> Iterator[Line]:
    """As ``read_lines`` of a file that holds this text; ``name`` is how errors call it."""
    return _lines(name, io.BytesIO(text.encode("utf-8", "surrogatepass")), expected)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with open_regular(path) as raw, _unpacked(raw) as file:
        yield file


def _lines(
    path: str | Path, source: AbstractContextManager[BinaryIO], expected: str
) -> Iterator[Line]:
    number, found, blank = 0, False, 0
    try:
        with source as file:
            while text := file.readline(MAX_LINE + 1):
                number += 1
                if number == 1:
                    text = text.removeprefix(codecs.BOM_UTF8)
                if text.strip() or len(text) > MAX_LINE:
                    found, blank = True, 0
                    yield Line(f"{path}, line {number}", _object(f"{path}, line {number}", text))
                    continue
                blank += len(text)
                if blank > MAX_BLANK:
                    raise IncunabulaError(
                        f"{path}, line {number}: blank lines of more than {MAX_BLANK:,} bytes; "
                        f"expected {expected}, one a line"
                    )
    except IncunabulaError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        after = f" after line {number}" if number else ""
        raise IncunabulaError(f"{path}: can't be read{after}: {reason}") from None
    if not found:
        raise IncunabulaError(f"{path}: holds no game; expected {expected}, one a line")


def _unpacked(raw: BinaryIO) -> BinaryIO:
    """What a file holds, once it is unpacked if it is compressed."""
    start = raw.read(len(GZIP))
    raw.seek(0)
    if start != GZIP:
        return raw
    return io.BufferedReader(gzip.GzipFile(fileobj=raw))


def _object(where: str, line: bytes) -> Json:
    """The JSON object in a line."""
    if len(line) > MAX_LINE:
        raise IncunabulaError(f"{where}: is longer than {MAX_LINE:,} bytes; expected one game")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise IncunabulaError(f"{where}: isn't UTF-8 text (byte {error.start})") from None
    try:
        value = json.loads(text, parse_constant=_refused, object_pairs_hook=_once)
    except _TwiceError as error:
        raise IncunabulaError(f"{where}: {error}") from None
    except RecursionError:
        raise IncunabulaError(f"{where}: has too many brackets within brackets") from None
    except (json.JSONDecodeError, _NoNumberError) as error:
        what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise IncunabulaError(f"{where}: isn't JSON, or is cut off: {what}") from None
    except ValueError:  # more digits than Python reads
        raise IncunabulaError(f"{where}: holds a whole number of thousands of digits") from None
    if not isinstance(value, dict):
        raise IncunabulaError(f"{where}: expected a JSON object, a game, got {show(value)}")
    return value


class _NoNumberError(ValueError):
    """What stands for a number is none."""


class _TwiceError(ValueError):
    """A field of an object stands twice."""


def _refused(name: str) -> None:
    raise _NoNumberError(f"{name} is no number")  # NaN or Infinity


def _once(pairs: list[tuple[str, Any]]) -> Json:
    """An object whose names stand once each."""
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _TwiceError(f"the field {show(twice)} stands twice")
    return value
