"""Compiled functions: what they are given, what is kept of them, and what the user is told."""

from __future__ import annotations

import copy
import logging
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.envs import chance
from incunabula.envs.backend import chosen_backend
from incunabula.envs.compiled import functions
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.functions import can_compile, compiled, compiled_apart, interpreted
from incunabula.envs.errors import IncunabulaError
from tests.backends import NOT_INSTALLED, needs_numba


@compiled_apart
def placeholder(x: int) -> int:
    raise NotImplementedError


@compiled
def twice(x: int) -> int:
    return 2 * placeholder(x)


@compiled_apart
def entry(g: Any, rows: Any) -> int:
    total = g.number
    for k in range(len(rows)):
        g.inner.wide[rows[k], 1] += twice(rows[k])
        total += g.column[rows[k]]
    return total


@compiled_apart
def plus_one(x: int) -> int:
    return x + 1


def arrays() -> Arrays:
    wide = np.arange(12, dtype=np.int16).reshape(4, 3)
    return Arrays({"number": 5, "column": wide[:, 2], "inner": Arrays({"wide": wide})})


def check(g: Arrays, total: int) -> None:
    wide = g.inner.wide  # type: ignore[attr-defined]
    assert total == 5 + 5 + 11
    assert wide[:, 1].tolist() == [1, 4 + 2 * 2, 7, 10 + 2 * 4]


@needs_numba
def test_members_are_the_arrays_themselves() -> None:
    g, rows = arrays(), np.array([1, 3])
    made = entry.with_kernels({"placeholder": plus_one})
    check(g, made(g, rows))
    g = arrays()
    check(g, made.prepare(g, rows)(g, rows))
    with interpreted():
        g = arrays()
        check(g, made(g, rows))


def test_kernels_take_the_place_of_what_is_declared() -> None:
    with interpreted():
        made = twice.with_kernels({"placeholder": plus_one})
        assert made(4) == 10
        with pytest.raises(NotImplementedError):
            twice(4)


def test_the_order_of_an_array_does_not_depend_on_the_number_of_games() -> None:
    """Or code would be compiled anew for one game, of which NumPy calls every column contiguous."""
    kinds = []
    for n in (1, 2, 7):
        wide, cube = np.zeros((n, 3), np.int16), np.zeros((n, 4, 3))
        columns = {
            "a": wide[:, 1],
            "b": wide,
            "c": cube[:, :, 1],
            "d": cube[:, 1],
            "e": cube[:, :0],
        }
        kinds.append(Arrays(columns)._kinds)
    assert kinds[0] == kinds[1] == kinds[2]


def test_arrays_refuse_what_they_cannot_hold_and_are_not_copied() -> None:
    with pytest.raises(TypeError, match="what: expected an array, an integer or Arrays"):
        Arrays({"what": "text"})
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="make new ones"):
            copied(arrays())


def test_backends_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_backend("numpy") == "numpy"
    assert chosen_backend("auto") == ("numba" if can_compile() else "numpy")
    with interpreted():
        assert chosen_backend("auto") == "numpy"
    with pytest.raises(IncunabulaError, match=r"expected one of numpy, numba, auto, got 'nunba'"):
        chosen_backend("nunba")
    monkeypatch.setattr("incunabula.envs.backend.why_no_numba", lambda: NOT_INSTALLED)
    with pytest.raises(IncunabulaError, match=r"pip install 'incunabula\[fast\]'"):
        chosen_backend("numba")


@pytest.mark.parametrize(
    ("switch", "said"), [("1", "numba is switched off"), ("0", "none"), ("", "none")]
)
@needs_numba
def test_numba_switched_off_is_as_if_it_were_missing(switch: str, said: str) -> None:
    code = (
        "from incunabula.envs.backend import chosen_backend\n"
        "from incunabula.envs.compiled.functions import why_no_numba\n"
        "print(chosen_backend('auto'), str(why_no_numba()).lower())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": switch},
        capture_output=True,
        text=True,
        check=True,
    )
    backend, why = done.stdout.split(maxsplit=1)
    assert backend == ("numba" if said == "none" else "numpy")
    assert why.startswith(said)


def test_a_numba_that_fails_to_import_is_as_if_it_were_missing(tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 1.99 or less')")
    code = (
        "from incunabula.envs.bibliogamo.engine import BibliogamoEngine as Engine\n"
        "print(Engine(backend='auto').backend.name)\n"
        "try:\n    Engine(backend='numba')\nexcept ValueError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "numpy",
        "backend: numba can't be imported here (Numba needs NumPy 1.99 or less), or choose numpy",
    ]


class Terminal:
    """Where messages go."""

    def __init__(self, tty: bool) -> None:
        self.tty, self.text = tty, ""

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None: ...


@pytest.mark.parametrize("tty", [True, False])
def test_slow_compiling_is_announced_on_a_terminal_and_in_the_log(
    tty: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    terminal = Terminal(tty)
    monkeypatch.setattr(functions, "SLOW", 0.02)
    monkeypatch.setattr(sys, "stderr", terminal)
    with caplog.at_level(logging.INFO), functions._announced(plus_one.python):
        time.sleep(0.3)
    assert ("compiling" in terminal.text) == tty
    assert "plus_one" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO), functions._announced(plus_one.python):
        pass
    time.sleep(0.1)
    assert not caplog.text


KEPT = """
import numpy as np
from incunabula.envs.chance import order_items
keys, items = np.zeros(9, np.uint64), np.zeros(9, np.int64)
order_items(np.uint64(5), np.uint64(1), keys, items)
print(sum(order_items._entry.stats.cache_hits.values()), items.tolist())
"""


@needs_numba
def test_code_is_kept_on_disk_and_found_by_the_next_process(tmp_path: Path) -> None:
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", KEPT],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stdout.split(maxsplit=1))
    expected = str(chance.orders_of(np.array([5], np.uint64), 1, 9)[0].tolist())
    assert [hits for hits, _ in said] == ["0", "1"]
    assert [items.strip() for _, items in said] == [expected] * 2


def test_importing_engines_imports_no_numba() -> None:
    code = (
        "import sys, incunabula, incunabula.envs.stepper, incunabula.agents.rollout\n"
        "from incunabula.envs.bibliogamo.engine import BibliogamoEngine\n"
        "from incunabula.envs.scriptorium.engine import ScriptoriumEngine\n"
        "BibliogamoEngine(), ScriptoriumEngine()\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 48, 333])
def test_scalar_chance_is_that_of_arrays(n: int) -> None:
    keys, items = np.zeros(n, np.uint64), np.zeros(n, np.int64)
    for seed in (0, 1, 2**64 - 1):
        with interpreted():
            chance.order_items(np.uint64(seed), np.uint64(3), keys, items)
        expected = chance.orders_of(np.array([seed], np.uint64), 3, n)[0]
        assert items.tolist() == expected.tolist()
        assert keys.tolist() == chance.key(seed, 3, expected.astype(np.uint64)).tolist()


def test_equal_keys_are_settled_by_item() -> None:
    keys = np.array([3, 1, 3, 1, 2, 1], np.uint64)
    items = np.array([5, 4, 3, 2, 1, 0])
    chance.sort_items.python(keys, items, 5)
    assert items.tolist() == [2, 4, 1, 3, 5, 0]
    assert keys.tolist() == [1, 1, 2, 3, 3, 1]
