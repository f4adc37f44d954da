"""What the command ``doctor`` does: look at what is installed, try it, and say what is missing."""

from __future__ import annotations

import importlib.resources
import io
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Console

from incunabula.agents.policies import check_policy, find_policies
from incunabula.envs.backend import chosen_backend, installed_backends
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.functions import why_no_numba
from incunabula.envs.editions import GAMES, load_any_edition, shipped_editions
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.bench_stepper import StepperPlay
from incunabula.training.evaluation.machine import machine, versions
from incunabula.training.evaluation.tables import plain_console
from incunabula.training.output import print_json
from incunabula.training.policies import RUNS

Json = dict[str, Any]
T = TypeVar("T")

CORE = ("gymnasium", "pydantic", "pyyaml", "typer", "rich")
SECONDS = 0.8  # of play in each game
NUM_ENVS = 64
MOST_STEPS = 5_000  # of the trial games, which are far shorter
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
NO_DRAWING: Json = {"display": False, "pillow": None, "chromium": None}
TOOLS = ("docs", "dev")  # extras whose packages the programs don't import
MODULES = {"pillow": "PIL.Image", "pygame-ce": "pygame"}  # of packages with another name
ENGINES: dict[str, Callable[..., Engine]] = {
    "bibliogamo": BibliogamoEngine,
    "scriptorium": ScriptoriumEngine,
}


def run_doctor(*, speed: bool, as_json: bool) -> bool:
    """Examine this installation and print what is found; whether everything needed works."""
    found = examine(speed=speed)
    if as_json:
        print_json(found)
    else:
        print_found(found, plain_console())
    ok: bool = found["ok"]
    return ok


def examine(*, speed: bool = True) -> Json:
    """What is installed and works here, as JSON values.

    Returns:
        `ok` (no check failed, nothing installed is broken), `versions`, `machine`, `checks`
        (`what`, `fault`: null where all is well), `backend` (`auto`: what it stands for,
        `why_no_numba`), `speed` (one entry a game; none if it isn't to be measured), `extras`
        (`extra`, `installed`, `broken`: what is installed and can't be imported, and why,
        `missing`, `get`), `torch` (null where it isn't installed or doesn't work),
        `drawing` and `folders`.
    """
    checks = [{"what": what, "fault": _fault(check)} for what, check in CHECKS.items()]
    speeds: list[Json] = []
    if speed and not any(check["fault"] for check in checks):
        speeds = [speed_of(game) for game in GAMES]
        if chosen_backend("auto") == "numba":  # compiled by now
            checks.append({"what": "the same games on numba", "fault": _fault(_check_numba)})
    none: Json = {}
    looked: list[Json] = []
    known = _looked_at(checks, "extras", extras, looked)
    found: Json = {
        "versions": _looked_at(checks, "versions", lambda: dict(versions(*CORE)), none),
        "machine": machine(),
        "checks": checks,
        "backend": {"auto": chosen_backend("auto"), "why_no_numba": why_no_numba()},
        "speed": speeds,
        "extras": known,
        "torch": _looked_at(checks, "torch", torch_facts, None),
        "drawing": _looked_at(checks, "drawing", drawing, dict(NO_DRAWING)),
        "folders": folders(),
    }
    broken = any(check["fault"] for check in checks) or any(e["broken"] for e in known)
    return {"ok": not broken, **found}


# Checks -------------------------------------------------------------------------------------------


def _fault(check: Callable[[], str | None]) -> str | None:
    """What is wrong, in a sentence; None if nothing is."""
    try:
        return check()
    except Exception as error:  # whatever is broken is to be named, not to end the examination
        return f"{type(error).__name__}: {error}"


def _looked_at(checks: list[Json], what: str, look: Callable[[], T], otherwise: T) -> T:
    """What there is; where looking fails, that is one more check, and ``otherwise`` stands here."""
    found = otherwise

    def check() -> None:
        nonlocal found
        found = look()

    fault = _fault(check)
    if fault is not None:
        checks.append({"what": what, "fault": fault})
    return found


def _check_editions() -> str | None:
    for name in shipped_editions():
        load_any_edition(name)
    return None


def _check_policies() -> str | None:
    faults = [(name, fault) for name, folder in find_policies(()) for fault in check_policy(folder)]
    return "; ".join(f"{name}: {fault.message}" for name, fault in faults) or None


def _check_environments() -> str | None:
    import gymnasium

    from incunabula import register_envs

    register_envs()
    for game in GAMES:
        env = gymnasium.make(f"incunabula/{game.capitalize()}-tiny-v0")
        env.reset(seed=0)
        env.close()
    return None


def _check_games() -> str | None:
    for game in GAMES:
        trial(game, "numpy")
    return None


def _check_numba() -> str | None:
    for game in GAMES:
        found, expected = trial(game, "numba"), trial(game, "numpy")
        if found != expected:
            return f"{game}: scores {found}, on NumPy {expected}"
    return None


def _check_kept_code() -> str | None:
    """Whether numba can keep what it compiles where it has been told to."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if not named or why_no_numba():
        return None
    folder = Path(named)
    there = next(part for part in (folder, *folder.parents) if part.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return None
    return f"NUMBA_CACHE_DIR: {named}: files can't be written there; rules are compiled each time"


CHECKS: dict[str, Callable[[], str | None]] = {
    "shipped editions": _check_editions,
    "shipped policies": _check_policies,
    "Gymnasium environments": _check_environments,
    "games on NumPy": _check_games,
    "folder for compiled rules": _check_kept_code,
}


def trial(game: str, backend: str) -> list[int]:
    """Final scores of four games of the smallest edition, first legal actions alone being played.

    Raises:
        RuntimeError: they don't come to an end.
    """
    engine = ENGINES[game](f"{game}-tiny", num_envs=4, backend=backend)
    rows = np.arange(4)
    engine.deal(rows, [0, 1, 2, 3])
    for _ in range(MOST_STEPS):
        live = rows[engine.state.phase != engine.over]
        if not live.size:
            return [int(score) for score in np.ravel(engine.state.score)]
        engine.apply(engine.mask[live].argmax(axis=1), live)
    raise RuntimeError(f"{game}: four games didn't end within {MOST_STEPS} steps")


# Speed --------------------------------------------------------------------------------------------


def speed_of(game: str) -> Json:
    """Steps a second of random legal play, and how long it took until the first step.

    Returns:
        `game`, `backend`, `num_envs`, `steps_per_second`, `ready_seconds`, and `compiled`: whether
        the rules were compiled just now, null where nothing is compiled.
    """
    backend = chosen_backend("auto")
    began = time.perf_counter()
    with _compilations() as compiled:
        play = StepperPlay(ENGINES[game](game, num_envs=NUM_ENVS, backend=backend), 0, 1)
        play.run(0.0)
    ready = time.perf_counter() - began
    return {
        "game": game,
        "backend": backend,
        "num_envs": NUM_ENVS,
        "steps_per_second": round(play.run(SECONDS).steps),
        "ready_seconds": round(ready, 2),
        "compiled": bool(compiled) if backend == "numba" else None,
    }


@contextmanager
def _compilations() -> Iterator[list[Any]]:
    """Collects what numba compiles meanwhile; what it finds on disk isn't compiled."""
    if len(installed_backends()) == 1:
        yield []
        return
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        yield recorder.buffer


# What else there is -------------------------------------------------------------------------------


def extras() -> list[Json]:
    """The optional extras, as this package's own metadata names them; empty where it has none."""
    try:
        required = metadata.requires("incunabula") or []
    except metadata.PackageNotFoundError:  # run from its source, not installed
        return []
    named: dict[str, list[str]] = {}
    for line in required:
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", line)
        name = re.match(r"[\w.-]+", line)
        if extra and name:
            named.setdefault(extra[1], []).append(name[0])
    return [_extra(extra, names) for extra, names in named.items()]


def _extra(extra: str, names: list[str]) -> Json:
    found = versions(*names)
    have = [name for name in names if found[name] is not None]
    imported = {} if extra in TOOLS else {name: _fault(partial(_import, name)) for name in have}
    broken = {name: fault for name, fault in imported.items() if fault is not None}
    return {
        "extra": extra,
        "installed": {name: found[name] for name in have if name not in broken},
        "broken": broken,
        "missing": [name for name in names if name not in have],
        "get": f"pip install 'incunabula[{extra}]'",
    }


def _import(package: str) -> None:
    """Import a package by its name in the registry."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # pygame greets
        warnings.simplefilter("ignore")
        import_module(MODULES.get(package, package.replace("-", "_")))


def torch_facts() -> Json | None:
    """Version of torch, and whether it multiplies bfloat16 in hardware; null without torch."""
    if find_spec("torch") is None:
        return None
    import torch

    from incunabula.training.ppo.precision import choose_device, has_bf16

    return {
        "version": torch.__version__,
        "threads": torch.get_num_threads(),
        "bfloat16": has_bf16(choose_device(None)),
        "cuda": torch.cuda.is_available(),
    }


def drawing() -> Json:
    """What pictures and windows need: `display`, `pillow` (version) and `chromium` (its file)."""
    windows = sys.platform in ("win32", "darwin")
    display = windows or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return {
        "display": display,
        "pillow": versions("pillow")["pillow"],
        "chromium": next(_browsers(), None),
    }


def _browsers() -> Iterator[str]:
    """Files of Chromium and its kin: on the path, then those that Playwright has installed."""
    yield from filter(None, map(shutil.which, BROWSERS))
    kept = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    yield from map(str, sorted(Path(kept).glob("chromium*/chrome-*/chrome*")))


def folders() -> Json:
    """Where editions and policies are read from; `runs` is null where there is no such folder."""
    return {
        "editions": str(importlib.resources.files("incunabula.configs") / "editions"),
        "policies": str(importlib.resources.files("incunabula.agents") / "pretrained"),
        "runs": str(Path(RUNS).resolve()) if Path(RUNS).is_dir() else None,
        "compiled": os.environ.get("NUMBA_CACHE_DIR"),
    }


# For people ---------------------------------------------------------------------------------------


def print_found(found: Json, console: Console) -> None:
    """What ``examine`` found, a line each."""
    for name, text in _lines(found):
        console.print(f"{name:<12} {text}", highlight=False, soft_wrap=True)


def _lines(found: Json) -> Iterator[tuple[str, str]]:
    yield "versions", ", ".join(f"{name} {text}" for name, text in found["versions"].items())
    about = found["machine"]
    yield "machine", f"{about['cpu']}, {about['cores']} cores, {about['system']}"
    for check in found["checks"]:
        yield "check", f"{check['what']}: {check['fault'] or 'fine'}"
    backend = found["backend"]
    why = f" ({backend['why_no_numba']})" if backend["why_no_numba"] else ""
    yield "backend", f"auto is {backend['auto']}{why}"
    for speed in found["speed"]:
        yield "speed", _speed_text(speed)
    for extra in found["extras"]:
        have = ", ".join(f"{name} {text}" for name, text in extra["installed"].items())
        text = f"{extra['extra']}: {have or 'nothing'}"
        if extra["broken"]:
            faults = ", ".join(f"{name} ({why})" for name, why in extra["broken"].items())
            text += f"; can't be imported: {faults}"
        if extra["missing"]:
            text += f"; missing: {', '.join(extra['missing'])}; get it: {extra['get']}"
        yield "extra", text
    torch = found["torch"]
    if torch is not None:
        bf16 = "bfloat16" if torch["bfloat16"] else "float32 alone, the processor has no bfloat16"
        cuda = "CUDA" if torch["cuda"] else "no CUDA"
        yield "torch", f"{torch['version']}, {torch['threads']} threads, {bf16}, {cuda}"
    drawing = found["drawing"]
    yield "display", "there is one" if drawing["display"] else "none; pictures need none"
    yield "pillow", drawing["pillow"] or "not installed"
    yield "chromium", drawing["chromium"] or "not found; only tests of pages in a browser need it"
    places = found["folders"]
    yield "editions", places["editions"]
    yield "policies", places["policies"]
    yield "runs", places["runs"] or f"no folder {RUNS} here"
    yield "result", "everything needed works" if found["ok"] else "something is broken, see above"


def _speed_text(speed: Json) -> str:
    ready = f"{speed['ready_seconds']:.1f} s until the first step"
    if speed["compiled"] is not None:
        how = "compiled just now" if speed["compiled"] else "compiled ahead"
        ready += f", {how}"
    return (
        f"{speed['game']}: {speed['steps_per_second']:,} steps a second of random play in "
        f"{speed['num_envs']} games ({speed['backend']}; {ready})"
    )
