"""Exact values in a file, so that they need not be worked out again.

The file is a NumPy archive (.npz) of plain arrays: nothing in it is ever executed.
"""

from __future__ import annotations

import contextlib
import json
import math
import secrets
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.agents.exact.solver import Solution, values_at_hand
from incunabula.agents.exact.table import Table
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.errors import IncunabulaError

FORMAT = "incunabula exact values"
MAGIC = b"PK\x03\x04"  # of the archive
VERSION = 1  # another number whenever codes are made otherwise
# What NumPy, zipfile and JSON raise where a file isn't what they expect. A damaged entry can seem
# to be encrypted, compressed or of another version (RuntimeError), or its header not to end.
DAMAGED = (
    *(ValueError, KeyError, TypeError, EOFError, MemoryError, AttributeError, RuntimeError),
    *(OverflowError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def save_solution(solution: Solution, path: str | Path) -> None:
    """Write a solution to a file, in whole or not at all.

    Raises:
        IncunabulaError: it can't be written.
    """
    path, edition, table = Path(path), solution.edition, solution.table
    taken = table.codes != 0
    header = {
        "format": FORMAT,
        "version": VERSION,
        "edition": edition.name,
        "edition_sha256": edition.sha256,
        "value": solution.value,
        "by_prestige": solution.by_prestige.tolist(),
        "decisions": solution.decisions,
        "chances": solution.chances,
        "seconds": solution.seconds,
    }
    arrays = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "codes": table.codes[taken],
        "values": table.values[taken],
    }
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            np.savez(file, **arrays)
        temporary.replace(path)
    except OSError as error:
        raise IncunabulaError(f"{path}: can't be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def may_be_solution(path: Path) -> bool:
    """Whether a file begins as one of exact values does, be it damaged or of another version.

    Raises:
        IncunabulaError: it can't be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise IncunabulaError(f"{path}: can't be read: {error.strerror or error}") from None


def load_solution(path: str | Path, edition: Edition) -> Solution:
    """Read a solution of this edition.

    Raises:
        IncunabulaError: the file can't be read, is damaged or something else, or is of another
            edition or another version.
    """
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            codes, values = archive["codes"], archive["values"]
    except OSError as error:
        raise IncunabulaError(f"{path}: can't be read: {error.strerror or error}") from None
    except DAMAGED as error:
        raise _wrong(path, str(error)) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _wrong(path, "its header is another")
    if header.get("version") != VERSION:
        raise IncunabulaError(
            f"{path}: was written by another version of this program (format "
            f"{header.get('version')!r}, expected {VERSION}); solve the edition again"
        )
    if header.get("edition_sha256") != edition.sha256:
        raise IncunabulaError(
            f"{path}: holds exact values of edition {str(header.get('edition'))[:80]!r}, not of "
            f"{edition.name!r} as it is now"
        )
    return _checked(path, edition, header, codes, values)


def _checked(
    path: str | Path, edition: Edition, header: dict[str, Any], codes: Any, values: Any
) -> Solution:
    """The solution, if it is one: its values are those that the game's start follows from."""
    fits = (
        codes.dtype == np.int64
        and values.dtype == np.float64
        and codes.ndim == 1
        and codes.shape == values.shape
        and bool((codes > 0).all())
        and bool(np.isfinite(values).all())
    )
    if not fits:
        raise _wrong(path, "its arrays don't fit")
    table = Table.of(codes, values)
    try:
        by_prestige = np.array(header["by_prestige"], np.float64)
        counts = [int(header[name]) for name in ("decisions", "chances")]
        value, seconds = float(header["value"]), float(header["seconds"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _wrong(path, str(error)) from None
    starts = values_at_hand(edition, table)
    right = (
        sum(counts) == len(codes) == np.count_nonzero(table.codes)
        and by_prestige.shape == starts.shape
        and bool(np.allclose(by_prestige, starts, rtol=0, atol=1e-9))
        and math.isclose(value, float(starts.mean()), rel_tol=0, abs_tol=1e-9)
    )
    if not right:
        raise _wrong(path, "its values don't fit each other")
    return Solution(edition, value, by_prestige, counts[0], counts[1], table, seconds)


def _wrong(path: str | Path, why: str) -> IncunabulaError:
    return IncunabulaError(
        f"{path}: is no whole file of exact values ({why[:200]}); solve the edition again with "
        f"--save"
    )
