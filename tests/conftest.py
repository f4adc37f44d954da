"""Tests with the libraries that users bring run only when they are asked for: `-m clients`."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "clients" in config.getoption("markexpr"):
        return
    left_out = [item for item in items if item.get_closest_marker("clients")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
