"""The backends, for the tests of what they have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from incunabula.envs.compiled.functions import interpreted, numba_is_there

BOTH = ("numpy", "numba")
NOT_INSTALLED = "numba is not installed: pip install 'incunabula[fast]'"  # as it is told

needs_numba = pytest.mark.skipif(not numba_is_there(), reason="numba is not installed")


@pytest.fixture(autouse=True)
def as_python() -> Iterator[None]:
    """Run what could be compiled as plain Python: for a few steps that is quicker."""
    with interpreted():
        yield
