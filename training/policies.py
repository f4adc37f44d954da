"""The commands of `incunabula policies`: what they print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from incunabula.agents.policies import (
    check_policy,
    copy_policy,
    find_policies,
    named_policy,
    new_folder,
    score_of,
    summary,
)
from incunabula.envs.errors import IncunabulaError, needing
from incunabula.training.evaluation.files import check_folder, kept_if_used
from incunabula.training.evaluation.tables import interval, plain_console, short_names, table
from incunabula.training.output import print_json

Json = dict[str, Any]

# Where `incunabula train` puts its runs unless told otherwise.
RUNS = "runs"


def run_list(folders: Sequence[str], *, as_json: bool) -> None:
    """Print the shipped policies and those under these folders; `runs`, if it is there, if none."""
    if not folders and Path(RUNS).is_dir():
        folders = (RUNS,)
    rows = [_row(name, folder) for name, folder in find_policies(folders)]
    if as_json:
        print_json({"policies": rows})
        return
    names = short_names([row["policy"] for row in rows])
    shown = table("Policies", "policy", "made for", "network", "score", "usable")
    shown.columns[0].min_width = min(30, max(map(len, names.values())))
    for row in rows:
        description = row["description"]
        if description is None:
            shown.add_row(names[row["policy"]], "–", "–", "–", "no")
            continue
        score = score_of(description)
        shown.add_row(
            names[row["policy"]],
            _printable(description["edition"]),
            _printable(description["network"].get("kind")),
            "–" if score is None else _score(*score),
            "no" if row["faults"] else "yes",
        )
    console = plain_console()
    console.print(shown)
    for row in rows:
        for fault in row["faults"][:1]:
            console.print(fault["message"], highlight=False, soft_wrap=True)


def run_show(policy: str, *, as_json: bool) -> None:
    """Print what a policy folder says of itself."""
    facts = summary(policy, named_policy(policy))
    if as_json:
        print_json(facts)
        return
    network, training = facts["network"], facts["training"]
    score = score_of(facts)
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in facts["files"].items() if size)
    parameters = facts["parameters"]
    rows = {
        "policy": policy,
        "folder": facts["folder"],
        "game": facts["game"],
        "edition": f"{facts['edition']} (SHA-256 {facts['edition_sha256']})",
        "observation": f"{facts['observation_size']} numbers (layout {facts['layout_sha256']})",
        "actions": facts["actions"],
        "players": ", ".join(map(str, facts.get("players") or ())),
        "network": ", ".join(f"{name} {value}" for name, value in network.items()),
        "parameters": "can't be read" if parameters is None else f"{parameters:,}",
        "weights": f"SHA-256 {facts['weights_sha256']}",
        "files": sizes,
        "score": "" if score is None else f"{_score(*score)}, when it was saved",
    }
    for label, value in rows.items():
        if str(value):
            print(f"{label:<12} {_printable(value)}")
    # As YAML, which escapes whatever could steer a terminal.
    print("training")
    for line in yaml.safe_dump(training, sort_keys=False, allow_unicode=False).splitlines():
        print(f"  {line}")


def run_check(policy: str, edition: str | None, *, as_json: bool) -> bool:
    """Print everything that keeps a policy from being played here; whether that is nothing."""
    folder = named_policy(policy)
    faults = check_policy(folder, edition)
    if as_json:
        listed = [fault._asdict() for fault in faults]
        print_json({"ok": not faults, "policy": policy, "folder": str(folder), "faults": listed})
        return not faults
    if not faults:
        print(f"ok: {policy} can be played")
    for fault in faults:
        print(f"{fault.about}: {fault.message}", file=sys.stderr)
    return not faults


def run_export(
    policy: str, folder: str, onnx: str | None, edition: str | None, *, as_json: bool
) -> None:
    """Copy a policy into a new folder and say what it holds; with `onnx`, its network too."""
    source, target = named_policy(policy), new_folder(folder)
    network: Json | None = None
    beside = None if onnx is None else Path(onnx).parent
    with kept_if_used(target.parent), kept_if_used(beside):
        check_folder(target.parent, "folder")
        if onnx is not None:
            with needing("ONNX", "train"):
                from incunabula.training.ppo.onnx import export_network

            network = export_network(source, onnx, edition)
        facts = summary(str(folder), copy_policy(source, target))
    if as_json:
        print_json({**facts, "onnx": network})
        return
    sizes = ", ".join(f"{name} ({size:,} bytes)" for name, size in facts["files"].items())
    print(f"{folder}: {sizes}")
    if network is not None:
        print(f"{network['file']}: {network['says']}")


def _row(name: str, folder: Path) -> Json:
    faults = [fault._asdict() for fault in check_policy(folder)]
    try:
        description = summary(name, folder)
    except IncunabulaError:  # then it is the first of the faults
        description = None
    return {"policy": name, "folder": str(folder), "faults": faults, "description": description}


def _score(mean: float, ci95: tuple[float, float] | None) -> str:
    digits = 3 if abs(mean) <= 1 else 2
    return f"{mean:.{digits}f}" + ("" if ci95 is None else f" {interval(ci95, digits)}")


def _printable(value: object) -> str:
    """Text from a file that could be anybody's, with whatever could steer a terminal escaped."""
    text = str(value)
    return text if text.isprintable() else ascii(text)
