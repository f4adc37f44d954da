"""Named arrays in a safetensors file, read without trusting it.

The format (https://huggingface.co/docs/safetensors): 8 bytes with the header's length, little
endian; a JSON header {name: {"dtype", "shape", "data_offsets"}, "__metadata__": {...}}; the data.
Nothing in such a file can be executed. Every size is checked against the file's before anything is
allocated.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import open_regular

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
MAX_HEADER = 2**20
MAX_BYTES = 2**32
MAX_TENSORS = 10_000

Arrays = dict[str, npt.NDArray[np.generic]]


def tensors_to_bytes(
    arrays: Mapping[str, npt.NDArray[np.generic]], metadata: Mapping[str, str] | None = None
) -> bytes:
    """The arrays as the content of a safetensors file; names in order, so equal for equal ones."""
    codes = {np.dtype(dtype): code for code, dtype in DTYPES.items()}
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    data, offset = [], 0
    for name in sorted(arrays):
        # tobytes copies in C order; ascontiguousarray would turn a scalar into a vector.
        array = np.asarray(arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        raw = array.tobytes()
        header[name] = {
            "dtype": codes[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + len(raw)],
        }
        offset += len(raw)
        data.append(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *data])


def read_tensors(path: Path) -> Arrays:
    """The arrays of a safetensors file.

    Raises:
        IncunabulaError: there is no such file, or it isn't a whole and sound safetensors file.
    """
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_BYTES:
                raise IncunabulaError(f"{path}: is larger than {MAX_BYTES:,} bytes")
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(MAX_HEADER, size - 8):
                raise IncunabulaError(f"{path}: isn't a safetensors file, or is cut off")
            entries = _header(path, file.read(length), size - 8 - length)
            data = file.read(size - 8 - length)
    except FileNotFoundError:
        raise IncunabulaError(f"{path}: there is no such file") from None
    except OSError as error:
        raise IncunabulaError(f"{path}: can't be read: {error.strerror or error}") from None
    return {
        name: np.frombuffer(data[begin:end], dtype).reshape(shape).copy()
        for name, (dtype, shape, begin, end) in entries.items()
    }


def _header(
    path: Path, text: bytes, size: int
) -> dict[str, tuple[np.dtype[np.generic], tuple[int, ...], int, int]]:
    """Entries of a header whose data take exactly `size` bytes: dtype, shape, begin, end."""
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise IncunabulaError(f"{path}: isn't a safetensors file: its header isn't JSON") from None
    if not isinstance(header, dict) or len(header) > MAX_TENSORS:
        raise IncunabulaError(f"{path}: its header isn't a table of at most {MAX_TENSORS:,} arrays")
    header.pop("__metadata__", None)
    found, spans = {}, []
    for name, entry in header.items():
        good = isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}
        if good:
            code, shape, span = entry["dtype"], entry["shape"], entry["data_offsets"]
            good = (
                isinstance(code, str)
                and code in DTYPES
                and _naturals(shape)
                and len(shape) <= 8
                and _naturals(span)
                and len(span) == 2
            )
        if not good:
            raise IncunabulaError(f"{path}: array {name[:60]!r} is described wrongly")
        dtype = np.dtype(DTYPES[code])
        begin, end = span
        if end - begin != math.prod(shape) * dtype.itemsize or end > size:
            raise IncunabulaError(f"{path}: array {name[:60]!r} doesn't have the size of its shape")
        # NumPy's limit, which holds for an empty array too.
        if math.prod(max(n, 1) for n in shape) * dtype.itemsize >= 2**63:
            raise IncunabulaError(f"{path}: array {name[:60]!r} is described wrongly")
        found[name] = (dtype, tuple(shape), begin, end)
        spans.append((begin, end))
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise IncunabulaError(f"{path}: its arrays overlap or leave gaps")
        at = end
    if at != size:
        raise IncunabulaError(f"{path}: holds {size:,} bytes of data where its arrays take {at:,}")
    return found


def _naturals(value: object) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**48 for n in value)


# ---------------------------------------------------------------------------------------------
# Folders that are there in whole or not at all


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put these files into `folder`, replacing what was there only when all are safely on disk.

    The files are written to a folder of another name beside it, which then takes the place. Should
    the process be killed between the two renames of a replacement, the old folder is found under
    `old_name(folder)`; `existing_folder` looks there too.

    Raises:
        IncunabulaError: it can't be written; what was there is kept, nothing is left behind.
    """
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        for name, content in files.items():
            with (temporary / name).open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        _sync_folder(temporary)
        old = old_name(folder)
        if folder.exists():
            _remove(old)
            folder.rename(old)
        temporary.rename(folder)
        _sync_folder(folder.parent)
        _remove(old)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{folder}: can't be written: {reason}") from None
    finally:
        with contextlib.suppress(OSError, ValueError):
            _remove(temporary)


def old_name(folder: Path) -> Path:
    """Where a folder lies while it is being replaced."""
    return folder.with_name(f".{folder.name}.old")


def existing_folder(folder: Path) -> Path:
    """`folder`, or what a kill in the middle of its replacement left of it."""
    if folder.exists() or not folder.name:  # "." and "/" have no name, and no other one
        return folder
    old = old_name(folder)
    return old if old.is_dir() else folder


def _remove(folder: Path) -> None:
    """Remove a folder of plain files, if it is there."""
    if folder.is_dir() and not folder.is_symlink():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
