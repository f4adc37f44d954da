"""Policy folders as things to keep and pass around: found, summarised, checked, copied."""

from __future__ import annotations

import importlib.resources
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from incunabula.agents.policy_folder import (
    DESCRIPTION,
    WEIGHTS,
    Fault,
    load_policy,
    policy_faults,
    read_description,
)
from incunabula.agents.registry import policy_path
from incunabula.agents.tensors import read_tensors, write_folder
from incunabula.envs.editions import GAMES, BaseEdition, load_any_edition, shipped_editions
from incunabula.envs.errors import IncunabulaError

Json = dict[str, Any]


def named_policy(policy: str | Path) -> Path:
    """The folder that a policy's name means.

    Args:
        policy: the path of a policy folder or of a run folder (its best policy), or the name of a
            game: the policy that comes with the package. A name wins over a folder of that name.

    Raises:
        IncunabulaError: there is no such folder, or the run has no policy yet.
    """
    if policy in GAMES:
        return _shipped(str(policy))
    found = policy_path(policy)
    if found is None:
        raise IncunabulaError(
            f"policy {str(policy)!r}: there is no such folder, and policies come with the package "
            f"for {' and '.join(GAMES)}"
        )
    return found


def find_policies(folders: Sequence[str | Path]) -> list[tuple[str, Path]]:
    """Name and folder of the policies that come with the package, then of those under `folders`.

    Hidden folders are left out, links not followed.

    Raises:
        IncunabulaError: one of the folders isn't there.
    """
    found = [(game, _shipped(game)) for game in GAMES]
    for folder in folders:
        if not Path(folder).is_dir():
            raise IncunabulaError(f"{folder}: there is no such folder")
        found += [(str(path), path) for path in _policies_under(Path(folder))]
    return list(dict.fromkeys(found))


def summary(name: str, folder: Path) -> Json:
    """What a policy folder says of itself, as JSON values; nothing is compared with anything.

    Args:
        name: how the policy is to be called.

    Returns:
        `policy` (its name), `folder`, the fields of the description, and `files`: the bytes of
        each; `arrays` and `parameters`, counts, are null where the weights can't be read.

    Raises:
        IncunabulaError: the description can't be read.
    """
    description = read_description(folder)
    arrays = parameters = None
    try:
        weights = read_tensors(folder / WEIGHTS)
        arrays, parameters = len(weights), sum(array.size for array in weights.values())
    except IncunabulaError:
        pass  # it is for `check_policy` to say why
    files = {name: _size(folder / name) for name in (DESCRIPTION, WEIGHTS)}
    facts = {"arrays": arrays, "parameters": parameters, "files": files}
    return {"policy": name, "folder": str(folder), **description, **facts}


def score_of(description: Json) -> tuple[float, tuple[float, float] | None] | None:
    """Mean and 95% interval measured on dev games when the policy was saved, if it says so."""
    evaluation = description["training"].get("evaluation")
    if not isinstance(evaluation, dict) or not _is_number(evaluation.get("eval_mean")):
        return None
    ci95 = evaluation.get("eval_ci95")
    if not (isinstance(ci95, list) and len(ci95) == 2 and all(map(_is_number, ci95))):
        return evaluation["eval_mean"], None
    return evaluation["eval_mean"], (ci95[0], ci95[1])


def check_policy(folder: Path, edition: str | Path | BaseEdition | None = None) -> list[Fault]:
    """Everything that keeps a policy from being played here; empty if nothing does.

    Args:
        edition: what it is to play: a name, a path or an edition; None = the shipped edition of
            the name it was made for.

    Raises:
        IncunabulaError: the edition given can't be used.
    """
    if edition is not None:
        return policy_faults(folder, load_any_edition(edition))
    try:
        name = read_description(folder)["edition"]
    except IncunabulaError as error:
        return [Fault("files", str(error))]
    shipped = shipped_editions()
    if name in shipped:
        return policy_faults(folder, load_any_edition(name))
    message = (
        f"{folder / DESCRIPTION}: edition: is {name[:40]!r}, but installed are "
        f"{', '.join(shipped)}; name the file of any other by --edition"
    )
    return [Fault("edition", message), *policy_faults(folder)]


def copy_policy(source: Path, target: str | Path) -> Path:
    """Copy a policy's two files, weights and description, and nothing else, into a new folder.

    What it was made for need not be installed here, but the files must be sound.

    Args:
        target: a folder that is missing or empty.

    Returns:
        the target.

    Raises:
        IncunabulaError: the policy is damaged, the target holds something or can't be written.
    """
    target = new_folder(target)
    policy = load_policy(source)
    try:
        files = {name: (policy.folder / name).read_bytes() for name in (WEIGHTS, DESCRIPTION)}
    except OSError as error:
        raise IncunabulaError(f"{source}: can't be read: {error.strerror or error}") from None
    write_folder(target, files)
    return target


def new_folder(folder: str | Path) -> Path:
    """The path of a folder that is missing or empty, in which a policy loses nothing.

    Raises:
        IncunabulaError: it holds something, or can't be one.
    """
    if not str(folder).strip():
        raise IncunabulaError("the folder's name is empty")
    path = Path(folder)
    try:
        empty = path.is_dir() and not any(path.iterdir())
        taken = path.exists() and not (empty and path.name)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{path}: can't be written: {reason}") from None
    if taken:
        raise IncunabulaError(f"{path}: is there already; name a new folder")
    return path


def _shipped(game: str) -> Path:
    return Path(str(importlib.resources.files("incunabula.agents") / "pretrained" / game))


def _policies_under(folder: Path) -> Iterator[Path]:
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if DESCRIPTION in files:
            yield Path(path)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
