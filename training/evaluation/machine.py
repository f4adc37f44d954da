"""What a measurement was made on."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any


def versions(*extra: str) -> dict[str, str | None]:
    """Versions of this package, Python, NumPy, and ``extra`` packages; null = not installed."""
    found: dict[str, str | None] = {"incunabula": _version("incunabula")}
    found["python"] = platform.python_version()
    return found | {name: _version(name) for name in ("numpy", *extra)}


def machine() -> dict[str, Any]:
    """The processor, how much of it there is, and how busy it is now, as JSON values.

    ``load`` is the number of processes that wanted to run, averaged over the last minute, or null
    where the system doesn't say.
    """
    try:
        load: float | None = round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        load = None
    return {"cpu": _cpu(), "cores": _cores(), "system": platform.system(), "load": load}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    except (OSError, UnicodeDecodeError):
        pass
    return platform.processor() or platform.machine() or "unknown"
