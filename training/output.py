"""How commands hand over what they found: tables or JSON, and a report."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from incunabula.training.evaluation.files import kept_if_used
from incunabula.training.evaluation.tables import plain_console


@contextlib.contextmanager
def report_folder(out: str | None, runs: Sequence[str] = ()) -> Iterator[None]:
    """See that a report can be written before the games are played, not after.

    A folder made for it is taken away again should nothing come of it.
    """
    with kept_if_used(out):
        if out is not None:
            from incunabula.training.evaluation.curve import read_curve
            from incunabula.training.evaluation.report import check_report_possible

            check_report_possible(out)
            for run in runs:
                read_curve(run)
        yield


def deliver(
    result: dict[str, Any],
    show: Callable[[dict[str, Any], Console], None],
    write: Callable[[], Path] | None,
    *,
    as_json: bool,
) -> None:
    """Write the report, if there is to be one, and print; with --json, stdout holds JSON alone.

    Neither is lost with the other: the report is written before a reader such as ``head`` can close
    the output, and what was measured is printed even if the disk is full.
    """
    page = None
    try:
        if write is not None:
            page = write()
    finally:
        if as_json:
            print_json(result)
        else:
            show(result, plain_console())
    if page is not None:
        print(f"Report: {page}", file=sys.stderr if as_json else sys.stdout)


def print_json(value: dict[str, Any]) -> None:
    """Print JSON that any reader takes: ASCII alone, and null for a number that isn't finite."""
    print(json.dumps(_finite(value), indent=1, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
