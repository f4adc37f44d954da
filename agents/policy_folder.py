"""A learned policy on disk: `policy.safetensors` (weights) and `policy.json` (what they are for).

Loading executes nothing and trusts nothing: the form is checked, then what the policy was made for
(game, edition, observation layout, actions), then every array's name, type, shape and values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.networks import check_network, expected_shapes
from incunabula.agents.tensors import (
    existing_folder,
    read_tensors,
    tensors_to_bytes,
    write_folder,
)
from incunabula.envs.editions import GAMES, BaseEdition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import open_regular

FORMAT = 1
WEIGHTS = "policy.safetensors"
DESCRIPTION = "policy.json"
MAX_DESCRIPTION = 2**20

Weights = dict[str, npt.NDArray[np.float32]]


class Policy(NamedTuple):
    """A policy folder's content, checked.

    Attributes:
        description: game, edition, network, training receipt, ...; see `save_policy`.
        weights: float32 arrays; see `networks.expected_shapes`.
        sha256: of the weights file.
    """

    folder: Path
    description: dict[str, Any]
    weights: Weights
    sha256: str

    @property
    def network(self) -> dict[str, Any]:
        return dict(self.description["network"])


def save_policy(
    folder: str | Path,
    weights: Mapping[str, npt.NDArray[np.float32]],
    *,
    edition: BaseEdition,
    network: Mapping[str, Any],
    training: Mapping[str, Any],
    players: Sequence[int] | None = None,
) -> None:
    """Write a policy folder, in whole or not at all.

    Args:
        weights: as `networks.expected_shapes` names them.
        network: the network's description; see `networks`.
        training: the receipt, JSON values: configuration, seed, steps, versions, ...
        players: in a game of several players, the numbers of players it was trained for.

    Raises:
        IncunabulaError: weights that don't fit the network or aren't finite; a full disk.
    """
    folder = Path(folder)
    engine = engine_of(edition)
    for fault in _weight_faults(folder, weights, expected_shapes(network, engine)):
        raise IncunabulaError(fault.message)
    content = tensors_to_bytes(weights)
    description = {
        "format": FORMAT,
        "game": edition.game,
        "edition": edition.name,
        "edition_sha256": edition.sha256,
        "layout_sha256": engine.layout.sha256,
        "observation_size": engine.layout.size,
        "actions": engine.actions.n,
        **({} if players is None else {"players": sorted(players)}),
        "network": dict(network),
        "weights_sha256": hashlib.sha256(content).hexdigest(),
        "training": dict(training),
    }
    text = json.dumps(description, indent=2, allow_nan=False) + "\n"
    write_folder(folder, {WEIGHTS: content, DESCRIPTION: text.encode()})


class Fault(NamedTuple):
    """One reason why a policy folder can't be used.

    Attributes:
        about: files, game, edition, observation, actions or network.
        message: a sentence that begins with the file.
    """

    about: str
    message: str


def load_policy(folder: str | Path, edition: BaseEdition | None = None) -> Policy:
    """Read and check a policy folder.

    Args:
        edition: what it is to play; None = no check against an edition but its own fields' form.

    Raises:
        IncunabulaError: what is missing, damaged, or made for something else, in one sentence.
    """

    def refuse(fault: Fault) -> None:
        raise IncunabulaError(fault.message)

    return _read_policy(Path(folder), edition, refuse)


def policy_faults(folder: str | Path, edition: BaseEdition | None = None) -> list[Fault]:
    """Everything for which `load_policy` would refuse a folder, in its order; empty if nothing.

    What can't be looked at since something else is wrong, such as the weights beside a description
    that can't be read, is left out.
    """
    faults: list[Fault] = []
    try:
        _read_policy(Path(folder), edition, faults.append)
    except IncunabulaError as error:
        faults.append(Fault("files", str(error)))
    return faults


def read_description(folder: str | Path) -> dict[str, Any]:
    """What a policy folder says of itself: every field is there and of its type, no more.

    Raises:
        IncunabulaError: there is no such folder, or its description can't be read.
    """
    folder = Path(folder)
    try:
        folder = existing_folder(folder)
        is_folder, exists = folder.is_dir(), folder.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{folder}: can't be read: {reason}") from None
    if not is_folder:
        what = "is not a folder" if exists else "there is no such folder"
        raise IncunabulaError(f"{folder}: {what}; a policy is a folder with {DESCRIPTION}")
    return _read_description(folder / DESCRIPTION)


def _read_policy(
    folder: Path, edition: BaseEdition | None, note: Callable[[Fault], None]
) -> Policy:
    """What a folder holds; each fault is noted, and one that leaves nothing to look at raised."""
    description = read_description(folder)
    folder = existing_folder(folder)
    for name in (WEIGHTS, DESCRIPTION):
        if (folder / name).is_symlink():
            raise IncunabulaError(f"{folder / name}: is a link; a policy's files must be its own")
    path, about = folder / WEIGHTS, folder / DESCRIPTION
    faults = list(_game_faults(about, description, edition))
    for fault in faults:
        note(fault)
    network = None
    if description["game"] in GAMES:
        try:
            network = check_network(description["network"], str(about), description["game"])
        except IncunabulaError as error:
            note(Fault("network", str(error)))
    # With another game's edition there is nothing to compare.
    engine = None if edition is None or faults else engine_of(edition)
    if engine is not None:
        for fault in _edition_faults(about, description, engine):
            note(fault)
    arrays = read_tensors(path)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    if sha256 != description["weights_sha256"]:
        message = (
            f"{path}: isn't the file {DESCRIPTION} describes (SHA-256 {sha256[:12]}, expected "
            f"{str(description['weights_sha256'])[:12]}); copy both files again"
        )
        note(Fault("files", message))
    if engine is not None and network is not None:
        for fault in _weight_faults(path, arrays, expected_shapes(network, engine)):
            note(fault)
    weights = {name: array.astype(np.float32, copy=False) for name, array in arrays.items()}
    return Policy(folder, description, weights, sha256)


def engine_of(edition: BaseEdition) -> Engine:
    """An engine of one game of this edition, which knows its observations and actions."""
    if edition.game == "scriptorium":
        from incunabula.envs.scriptorium.edition import load_edition
        from incunabula.envs.scriptorium.engine import ScriptoriumEngine

        return ScriptoriumEngine(edition, 1, load_edition(edition).rules.players[0])
    from incunabula.envs.bibliogamo.engine import BibliogamoEngine

    return BibliogamoEngine(edition)


_FIELDS: dict[str, type] = {
    "format": int,
    "game": str,
    "edition": str,
    "edition_sha256": str,
    "layout_sha256": str,
    "observation_size": int,
    "actions": int,
    "network": dict,
    "weights_sha256": str,
    "training": dict,
}


def _read_description(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as file:
            raw = file.read(MAX_DESCRIPTION + 1)
    except FileNotFoundError:
        raise IncunabulaError(f"{path}: there is no such file; is this a policy folder?") from None
    except OSError as error:
        raise IncunabulaError(f"{path}: can't be read: {error.strerror or error}") from None
    if len(raw) > MAX_DESCRIPTION:
        raise IncunabulaError(f"{path}: is larger than {MAX_DESCRIPTION:,} bytes")
    try:
        data = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise IncunabulaError(f"{path}: isn't JSON, or is cut off") from None
    if not isinstance(data, dict):
        raise IncunabulaError(f"{path}: must hold an object with {', '.join(_FIELDS)}")
    if "format" in data and data["format"] != FORMAT:
        raise IncunabulaError(
            f"{path}: format: is {str(data['format'])[:20]}, but this version reads format {FORMAT}"
        )
    for name, kind in _FIELDS.items():
        if name not in data:
            raise IncunabulaError(f"{path}: {name}: is missing")
        if type(data[name]) is not kind:
            wanted = {int: "a whole number", str: "text", dict: "an object"}[kind]
            raise IncunabulaError(f"{path}: {name}: must be {wanted}")
    return data


def _game_faults(
    path: Path, description: Mapping[str, Any], edition: BaseEdition | None
) -> Iterator[Fault]:
    game, players = description["game"], description.get("players")
    if edition is not None and game != edition.game:
        message = f"{path}: game: the policy plays {game[:40]!r}, not {edition.game!r}"
        yield Fault("game", message)
        return
    if game not in GAMES:
        message = f"{path}: game: is {game[:40]!r}, but must be one of {', '.join(GAMES)}"
        yield Fault("game", message)
        return
    if game == "bibliogamo" and players is None:
        return
    good = isinstance(players, list) and all(type(n) is int and 2 <= n <= 4 for n in players)
    if not good or not players or game == "bibliogamo":
        what = "must be a list of numbers from 2 to 4" if game != "bibliogamo" else "is no field"
        yield Fault("game", f"{path}: players: {what}")


def _edition_faults(path: Path, description: Mapping[str, Any], engine: Engine) -> Iterator[Fault]:
    edition, layout, actions = engine.edition, engine.layout, engine.actions.n
    for about, field, found, name in (
        ("edition", "edition_sha256", edition.sha256, f"edition {edition.name!r}"),
        ("observation", "layout_sha256", layout.sha256, "observation layout"),
    ):
        if description[field] != found:
            made = f" (edition {description['edition'][:40]!r})" if about == "edition" else ""
            yield Fault(
                about,
                f"{path}: {field}: the policy was made for {description[field][:12]}{made}, "
                f"but the {name} is {found[:12]}",
            )
    for about, field, size in (
        ("observation", "observation_size", layout.size),
        ("actions", "actions", actions),
    ):
        if description[field] != size:
            message = f"{path}: {field}: is {description[field]}, but must be {size}"
            yield Fault(about, message)


def _weight_faults(
    path: Path, arrays: Mapping[str, npt.NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[Fault]:
    """Unless they are exactly these arrays, float32, of these shapes, finite."""
    for name, shape in shapes.items():
        if name not in arrays:
            message = f"{path}: array {name} {list(shape)} of the network is missing"
            yield Fault("network", message)
    for name, array in arrays.items():
        if name not in shapes:
            yield Fault("network", f"{path}: array {name[:60]!r} is none of the network's")
            continue
        if array.dtype != np.float32:
            message = f"{path}: array {name}: is {array.dtype}, but must be float32"
            yield Fault("network", message)
        if array.shape != shapes[name]:
            message = (
                f"{path}: array {name}: has shape {list(array.shape)}, but the network that "
                f"{DESCRIPTION} describes has {list(shapes[name])}"
            )
            yield Fault("network", message)
        if not np.isfinite(array).all():
            yield Fault("files", f"{path}: array {name}: holds values that aren't finite")
