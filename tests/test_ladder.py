"""The ladder: what it measures, what it keeps, what it writes and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incunabula.agents
import incunabula.envs
from incunabula.envs.compiled.functions import interpreted
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.ladder import ladder as module
from incunabula.training.ladder.ladder import (
    Sizes,
    compare,
    default_sizes,
    ranked,
)
from incunabula.training.ladder.measure import code_hash
from incunabula.training.ladder.page import page
from incunabula.training.ladder.readme import BEGIN, readme_part
from incunabula.training.ladder.store import (
    known_measurements,
    part_path,
    read_results,
    result_path,
    write_part,
    write_result,
)
from incunabula.training.league.evaluate import evaluate_versus
from tests.commands import Cli, cli
from tests.ladders import BUDGET, TINY, made, played

__all__ = ["cli"]

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = (
    *("--edition", "bibliogamo-tiny", "--agents", "random,greedy"),
    *("--games", "6", "--search-games", "2"),
)


def test_default_sizes() -> None:
    assert default_sizes("bibliogamo") == Sizes(2000, 50, 5)
    assert default_sizes("scriptorium", 7) == Sizes(7, 7, 5)
    assert default_sizes("scriptorium", 40, 20, 3) == Sizes(40, 20, 3)
    assert module.ALL == ("random", "greedy", "ppo", "rollouts", "search")


def untimed(value: Any) -> Any:
    """A result without what depends on the machine."""
    if isinstance(value, dict):
        return {name: untimed(inner) for name, inner in value.items() if name != "timing"}
    return [untimed(inner) for inner in value] if isinstance(value, list) else value


# Figures ------------------------------------------------------------------------------------------


def test_rows_and_differences_are_those_of_evaluate() -> None:
    table = played(batch_size=2)["tables"][0]
    with interpreted():
        whole = evaluate(["random", "greedy"], edition=TINY["bibliogamo"], games=8).result
        first = evaluate(
            ["random", "greedy", "rollouts"], edition=TINY["bibliogamo"], games=3, budget=BUDGET
        ).result
    rows = {row["name"]: row for row in table["rows"]}
    for source, names in ((whole, ("random", "greedy")), (first, ("rollouts(greedy, 2)",))):
        for agent in source["agents"]:
            if agent["name"] in names:
                for figure in ("games", "mean", "ci95", "sd", "min", "max", "decisions_per_game"):
                    assert rows[agent["name"]][figure] == agent[figure]
    pairs = {(pair["a"], pair["b"]): pair for pair in whole["paired"] + first["paired"]}
    for row, below in zip(table["rows"], table["rows"][1:], strict=False):
        a, b = row["name"], below["name"]
        few = "rollouts(greedy, 2)" in (a, b)
        source = first if few else whole
        (pair,) = [p for p in source["paired"] if {p["a"], p["b"]} == {a, b}]
        sign = 1 if pair["a"] == a else -1
        assert row["next"]["name"] == b
        assert row["next"]["games"] == (3 if few else 8)
        assert row["next"]["mean_difference"] == sign * pair["mean_difference"]
        assert row["next"]["mean_difference"] >= 0
    assert len(pairs) == 3
    assert table["rows"][-1]["next"] is None


def test_rows_of_several_players_are_those_of_evaluate_and_league() -> None:
    pytest.importorskip("choix")
    from incunabula.training.league.league import league

    agents = ["random", "greedy"]
    result = played("scriptorium", "random,greedy", players=[3, 2])
    assert [table["players"] for table in result["tables"]] == [2, 3]
    for table in result["tables"]:
        options: dict[str, Any] = {"num_players": table["players"], "edition": TINY["scriptorium"]}
        versus = evaluate_versus(agents, deals=8, **options).result
        met = league(agents, deals=2, rotations="cyclic", **options).result
        greedy, random = table["rows"]
        assert (greedy["name"], random["name"]) == ("greedy", "random")
        for row, found in ((random, versus["agents"][0]), (greedy, versus["agents"][1])):
            for figure in ("games", "win_share", "ci95", "mean_score", "mean_score_ci95"):
                assert row[figure] == found[figure]
        (pair,) = versus["paired"]
        for figure in ("deals", "mean_difference", "ci95", "score_difference", "score_ci95"):
            assert greedy["next"][figure] == pair[figure]
        ratings = {agent["name"]: agent["rating"] for agent in met["agents"]}
        assert {row["name"]: row["rating"] for row in table["rows"]} == ratings


def measurement(name: str, scores: list[int]) -> dict[str, Any]:
    return {
        "key": {"measured": "agent", "name": name, "players": 1, "deals": len(scores)},
        "mean": float(np.mean(scores)),
        "by_deal": {"score": " ".join(map(str, scores))},
    }


def test_an_agent_of_fewer_deals_is_compared_on_its_own_deals() -> None:
    # The first two deals are poor ones: "few" has the lowest mean, but beats "b" on them.
    a = measurement("a", [4, 4, 40, 40])
    b = measurement("b", [1, 1, 40, 40])
    few, least = measurement("few", [3, 2]), measurement("least", [0, 1])
    order = ranked([least, b, few, a], "score")
    assert [entry["key"]["name"] for entry in order] == ["a", "few", "b", "least"]
    assert (compare(a, few)["games"], compare(a, few)["mean_difference"]) == (2, 1.5)
    assert (compare(a, b)["games"], compare(a, b)["mean_difference"]) == (4, 1.5)


# What is kept -------------------------------------------------------------------------------------


def test_an_interrupted_ladder_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = played()
    ladder, asked = made(), []
    measure = module.measure_agent

    def interrupted(agent: Any, key: Any, terms: Any) -> Any:
        asked.append(key["name"])
        if key["name"].startswith("rollouts") and len(asked) == 3:
            raise KeyboardInterrupt
        return measure(agent, key, terms)

    monkeypatch.setattr(module, "measure_agent", interrupted)
    basis = ladder.terms.basis
    with interpreted():
        with pytest.raises(KeyboardInterrupt):
            ladder.play(on_measured=lambda m: write_part(tmp_path, "bibliogamo", basis, m))
        assert asked == ["random", "greedy", "rollouts(greedy, 2)"]
        assert read_results(tmp_path) == {}
        known = known_measurements(tmp_path, "bibliogamo", basis)
        assert len(known) == 2
        again = made(batch_size=3)
        result = again.play(known) | {"command": whole["command"]}
    assert asked[3:] == ["rollouts(greedy, 2)"]
    assert untimed(result) == untimed(whole)
    write_result(tmp_path, result)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ladder-bibliogamo.json",
        "ladder.md",
    ]
    assert len(known_measurements(tmp_path, "bibliogamo", basis)) == 3


@pytest.mark.parametrize(
    ("file", "same"),
    [
        ("envs/bibliogamo/rules.py", False),
        ("agents/search/rollouts.py", False),
        ("envs/bibliogamo/drawing.py", True),
        ("envs/adapters/vector.py", True),
        ("agents/bounds/books.py", True),
    ],
)
def test_only_code_that_plays_decides_whether_figures_are_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, same: bool
) -> None:
    for package in (incunabula.agents, incunabula.envs):
        name = package.__name__.rpartition(".")[2]
        copied = shutil.copytree(package.__path__[0], tmp_path / name)
        monkeypatch.setattr(package, "__path__", [str(copied)])
    before = code_hash()
    assert before == code_hash()
    with (tmp_path / file).open("a") as edited:
        edited.write("# another line\n")
    assert (code_hash() == before) == same


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"seeds": "dev"}, {"edition": "bibliogamo-small"}, {"sizes": Sizes(7, 3)}],
)
def test_other_settings_are_measured_anew(tmp_path: Path, change: dict[str, Any]) -> None:
    result = played(agents="random")
    write_result(tmp_path, result)
    other = made(agents="random", **change)
    known = known_measurements(tmp_path, "bibliogamo", other.terms.basis)
    measured: list[int] = []
    with interpreted():
        other.play(known, lambda entries: measured.append(len(entries)))
    assert measured


def test_a_page_holds_both_games(tmp_path: Path) -> None:
    pytest.importorskip("choix")
    bibliogamo = played(agents="random,greedy")
    scriptorium = played("scriptorium", "random,greedy", players=[2], sizes=Sizes(2, 1, 1))
    write_result(tmp_path, bibliogamo)
    assert "## Scriptorium" not in (tmp_path / "ladder.md").read_text()
    write_result(tmp_path, scriptorium)
    before = result_path(tmp_path, "scriptorium").read_bytes()
    both = (tmp_path / "ladder.md").read_text()
    write_result(tmp_path, played(agents="random,greedy", seed=3))
    after = (tmp_path / "ladder.md").read_text()
    assert result_path(tmp_path, "scriptorium").read_bytes() == before
    of_both = [text[text.index("## Scriptorium") : text.index("## How")] for text in (both, after)]
    assert of_both[0] == of_both[1]
    assert both != after
    assert after == page(read_results(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "isn't JSON"),
        (b"[]", "isn't a ladder that this command wrote"),
        (b'{"mine": 1}', "isn't a ladder that this command wrote"),
        (b'{"kind": "ladder", "schema_version": 9}', "isn't of schema version 1"),
        (b'{"kind": "ladder", "schema_version": 1, "game": "chess"}', "isn't of bibliogamo"),
        (b'{"kind": "ladder", "schema_version": 1, "game": "bibliogamo"}', "missing or damaged"),
    ],
)
def test_what_others_wrote_is_not_overwritten(
    cli: Cli, tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "ladder-bibliogamo.json"
    file.write_bytes(content)
    for fresh in ((), ("--fresh",)):
        outcome = cli("ladder", "bibliogamo", *OPTIONS, "--out", tmp_path, *fresh)
        assert (outcome.status, outcome.out) == (2, "")
        assert said in outcome.err
        assert "move it away" in outcome.err
        assert len(outcome.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert file.read_bytes() == content


def test_damaged_measurements_are_not_used(tmp_path: Path) -> None:
    result = played(agents="random")
    result["measurements"][0]["by_deal"]["score"] = "1 2 3"
    result_path(tmp_path, "bibliogamo").write_text(json.dumps(result))
    with pytest.raises(IncunabulaError, match="missing or damaged"):
        read_results(tmp_path)


def spoilt(value: Any, path: tuple[Any, ...], by: Any) -> str:
    """JSON text of a value in which the part at ``path`` is another."""
    changed = json.loads(json.dumps(value))
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = by
    return json.dumps(changed)


@pytest.mark.parametrize(
    ("path", "by"),
    [
        *((("mean",), by) for by in (None, "x", 10**400, float("nan"))),
        *((("ci95",), by) for by in ([1], "x", [1, 10**400])),
        (("timing",), None),
        (("timing", "ms_per_decision"), "x"),
        (("timing", "machine"), {}),
        (("by_deal", "score"), "1 nan 2 3 4 5 6 7"),
        (("key", "players"), 0),
        (("key", "players"), 10**400),
    ],
    ids=lambda value: str(value)[:12],
)
def test_measurements_are_used_whole_or_not_at_all(
    tmp_path: Path, path: tuple[str, ...], by: Any
) -> None:
    ladder = made(agents="random")
    result = played(agents="random")
    basis, where = ladder.terms.basis, ("measurements", 0, *path)
    part = result | {"kind": "ladder-part"}
    part_path(tmp_path, "bibliogamo").write_text(json.dumps(part))
    assert known_measurements(tmp_path, "bibliogamo", basis) == result["measurements"]
    part_path(tmp_path, "bibliogamo").write_text(spoilt(part, where, by))
    with pytest.raises(IncunabulaError, match=r"isn't JSON|missing or damaged"):
        known_measurements(tmp_path, "bibliogamo", basis)


@pytest.mark.parametrize(
    ("game", "path", "by"),
    [
        ("bibliogamo", ("tables",), []),
        ("scriptorium", ("tables", 0, "rows", 0, "rank"), "1"),
        ("scriptorium", ("tables", 0, "rows", 1, "rank"), None),
    ],
)
def test_a_ladder_that_was_edited_by_hand_is_refused(
    tmp_path: Path, game: str, path: tuple[Any, ...], by: Any
) -> None:
    """What README.md shows of a ladder needs more of it than the page does."""
    pytest.importorskip("choix")
    players = [2] if game == "scriptorium" else None
    result = played(game, "random,greedy", players=players, sizes=Sizes(2, 1, 1))
    file = result_path(tmp_path, game)
    file.write_text(spoilt(result, path, by))
    with pytest.raises(IncunabulaError, match=r"^[^:]*: is a ladder with parts that are missing"):
        readme_part(tmp_path)


# The command --------------------------------------------------------------------------------------


def test_the_command_writes_prints_and_goes_on(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "new"
    first = cli("ladder", "bibliogamo", *OPTIONS, "--out", out)
    assert first.status == 0, first.err
    for said in ("Mean score", "greedy", "to the next", f"Report: {out / 'ladder.md'}"):
        assert said in first.out
    assert sorted(path.name for path in out.iterdir()) == ["ladder-bibliogamo.json", "ladder.md"]
    second = cli("ladder", "bibliogamo", *OPTIONS, "--out", out, "--json")
    result = json.loads(second.out)
    assert json.loads((out / "ladder-bibliogamo.json").read_text()) == result
    assert result["command"] == (
        "incunabula ladder bibliogamo --agents random,greedy --games 6 --search-games 2 "
        "--seeds final --edition bibliogamo-tiny"
    )
    assert result["seeds"]["games"]["deals"] == 6
    assert f"```text\n{result['command']}\n```" in (out / "ladder.md").read_text()
    times = [entry["timing"] for entry in result["measurements"]]
    third = json.loads(cli("ladder", "bibliogamo", *OPTIONS, "--out", out, "--json").out)
    assert [entry["timing"] for entry in third["measurements"]] == times
    fresh = cli("ladder", "bibliogamo", *OPTIONS, "--out", out, "--json", "--fresh")
    assert [entry["timing"] for entry in json.loads(fresh.out)["measurements"]] != times


def test_ctrl_c_keeps_what_was_measured(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = module.measure_agent

    def interrupted(agent: Any, key: Any, terms: Any) -> Any:
        if key["name"] == "greedy":
            raise KeyboardInterrupt
        return measure(agent, key, terms)

    with monkeypatch.context() as patch:
        patch.setattr(module, "measure_agent", interrupted)
        outcome = cli("ladder", "bibliogamo", *OPTIONS, "--out", tmp_path)
    assert (outcome.status, outcome.out) == (130, "")
    assert "the same command goes on" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["ladder-bibliogamo.part.json"]
    assert cli("ladder", "bibliogamo", *OPTIONS, "--out", tmp_path).status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("biblogamo",), "did you mean 'bibliogamo'?"),
        (("bibliogamo", "--agents", "rnadom"), "did you mean 'random'"),
        (("bibliogamo", "--agents", "random,random"), "'random' stands twice"),
        (("bibliogamo", "--agents", "rollouts,rollouts:greedy"), "is 'rollouts' again"),
        (("bibliogamo", "--games", "0"), "games: expected"),
        (("bibliogamo", "--games", "7", "--search-games", "8"), "at most as many as games, 7"),
        (("bibliogamo", "--players", "2"), "bibliogamo is for one"),
        (("bibliogamo", "--seeds", "finale"), "did you mean 'final'?"),
        (("bibliogamo", "--simulations", "4"), "searches"),
        (("bibliogamo", "--edition", "scriptorium"), "only 'bibliogamo' editions"),
        (("bibliogamo", "--runs", "no/run"), "at least 2 run folders"),
        (("bibliogamo", "--runs", "no/run,no/other"), "holds no training run"),
        (("bibliogamo", "--out", f"{__file__}/x"), "can't be written"),
        (("bibliogamo", "--out", " "), "the folder's name is empty"),
        (("scriptorium", "--players", "5"), "is for 2, 3, 4, got 5"),
        (("scriptorium", "--players", "2,2"), "2 stands twice"),
        (("scriptorium", "--players", "two"), "players: expected whole numbers"),
        (("scriptorium", "--league-deals", "0"), "league deals: expected"),
    ],
)
def test_errors(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    default = () if "--agents" in arguments else ("--agents", "random")
    outcome = cli("ladder", *arguments, *default)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


# The project's own --------------------------------------------------------------------------------


def test_the_readme_part_names_every_agent(tmp_path: Path) -> None:
    pytest.importorskip("choix")
    assert readme_part(tmp_path) == ""
    write_result(tmp_path, played(agents="random,greedy"))
    few = Sizes(2, 1, 1)
    write_result(tmp_path, played("scriptorium", "random,greedy", players=[2, 4], sizes=few))
    part = readme_part(tmp_path)
    assert part.startswith(BEGIN)
    assert part.count("| `greedy` |") == part.count("| `random` |") == 2
    shares = next(line for line in part.splitlines() if line.startswith("| Scriptorium |"))
    assert "2 players" in shares
    assert "4 players" in shares


def test_the_readme_shows_the_ladders_of_docs() -> None:
    """`python docs/tables.py` writes the table between its marks in README.md."""
    part = readme_part(ROOT / "docs")
    if part:
        assert part in (ROOT / "README.md").read_text(encoding="utf-8")
        page_of_docs = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
        assert page_of_docs == page(read_results(ROOT / "docs"))
