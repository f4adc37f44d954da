"""Games recorded while they are played: the same files however that is done, and no other play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.playback import load_replays
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.league.evaluate import evaluate_versus
from incunabula.training.league.league import league
from incunabula.training.replay.record import file_names
from tests.backends import as_python, needs_numba
from tests.commands import Cli, cli

__all__ = ["as_python", "cli"]

TINY: dict[str, Any] = {"edition": "bibliogamo-tiny", "seeds": "dev", "backend": "numpy"}
TABLE: dict[str, Any] = {"edition": "scriptorium-tiny", "seeds": "dev", "backend": "numpy"}


def untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: untimed(inner) for name, inner in value.items() if name != "timing"}
    return [untimed(inner) for inner in value] if isinstance(value, list) else value


def named(name: str, seed: int) -> Agent:
    """A random agent under another name."""
    agent = RandomAgent(seed)
    agent.name = name
    return agent


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_evaluation_is_recorded_agent_by_agent(tmp_path: Path) -> None:
    agents = ["random", "greedy"]
    plain = evaluate(agents, games=9, **TINY)
    kept = evaluate(agents, games=9, record=tmp_path, **TINY)
    assert untimed(kept.result) == untimed(plain.result)
    assert sorted(contents(tmp_path)) == ["greedy.jsonl", "random.jsonl"]
    for name in agents:
        replays = load_replays(tmp_path / f"{name}.jsonl")
        assert [replay.scores[0] for replay in replays] == kept.games[name].score.tolist()
        assert [len(replay.actions) for replay in replays] == kept.games[name].decisions.tolist()
        assert [replay.deal for replay in replays] == [{"seed": str(s)} for s in kept.seeds]
        assert {replay.players for replay in replays} == {(name,)}


def test_files_are_the_same_for_every_batch_size(tmp_path: Path) -> None:
    for size in (1, 4, 64):
        evaluate(["random"], games=9, record=tmp_path / str(size), batch_size=size, **TINY)
    assert contents(tmp_path / "1") == contents(tmp_path / "4") == contents(tmp_path / "64")


@needs_numba
def test_files_are_the_same_for_every_backend(tmp_path: Path) -> None:
    for backend in ("numpy", "numba"):
        options = TINY | {"backend": backend}
        evaluate(["random"], games=5, record=tmp_path / backend, **options)
        options = TABLE | {"backend": backend}
        options |= {"deals": 1, "against": "random"}
        evaluate_versus(["random"], record=tmp_path / backend / "s", **options)
    for part in (".", "s"):
        one, other = (tmp_path / backend / part for backend in ("numpy", "numba"))
        assert {p.name: p.read_bytes() for p in one.glob("*.jsonl")} == {
            p.name: p.read_bytes() for p in other.glob("*.jsonl")
        }


def test_a_fixed_collection_is_part_of_the_deal(tmp_path: Path) -> None:
    evaluate(["random"], games=2, prestige=1, record=tmp_path, **TINY)
    replays = load_replays(tmp_path / "random.jsonl")
    assert [replay.deal["prestige"] for replay in replays] == [1, 1]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_seat_is_recorded(tmp_path: Path, players: int) -> None:
    options = TABLE | {"num_players": players, "deals": 3, "against": named("other", 9)}
    plain = evaluate_versus([RandomAgent(5)], **options)
    kept = evaluate_versus([RandomAgent(5)], record=tmp_path, batch_size=4, **options)
    assert untimed(kept.result) == untimed(plain.result)
    replays = load_replays(tmp_path / "random.jsonl")
    scores = kept.games["random"].games.scores
    assert [list(replay.scores) for replay in replays] == scores.reshape(-1, players).tolist()
    for number, replay in enumerate(replays):
        seats = ["other"] * players
        seats[number % players] = "random"
        assert list(replay.players) == seats
        assert replay.deal == {"seed": str(kept.seeds[number // players])}


def test_a_league_is_recorded_in_one_file(tmp_path: Path) -> None:
    pytest.importorskip("choix")
    agents = [named("a", 1), named("b", 2), named("b", 3)]
    played = league(agents, deals=2, record=tmp_path, **TABLE)
    replays = load_replays(tmp_path / "league.jsonl")
    assert len(replays) == played.result["games"]
    names = [agent["name"] for agent in played.result["agents"]]
    settings = len(played.games.seats)
    assert names == ["a", "b#1", "b#2"]
    for number, replay in enumerate(replays):
        deal, setting = divmod(number, settings)
        assert list(replay.players) == [names[k] for k in played.games.seats[setting]]
        assert list(replay.scores) == played.games.scores[deal, setting].tolist()
        assert replay.deal == {"seed": str(played.seeds[deal])}


def test_luck_is_measured_beside(tmp_path: Path) -> None:
    options: dict[str, Any] = {"games": 1, "seeds": "dev", "backend": "numpy", "luck": True}
    plain = evaluate(["random"], **options)
    kept = evaluate(["random"], record=tmp_path, **options)
    assert untimed(kept.result) == untimed(plain.result)
    assert len(load_replays(tmp_path / "random.jsonl")) == 1


class Breaks(Agent):
    """Plays some games, then does what isn't allowed."""

    name = "breaks"

    def act(self, view: View) -> Any:
        chosen = view.action_mask.argmax(axis=1)
        if (view.episode > 2).any():
            chosen = view.action_mask.argmin(axis=1)
        return chosen


def test_what_fails_leaves_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "deep"
    with pytest.raises(IncunabulaError, match="agent 'breaks'"):
        evaluate([Breaks()], games=9, batch_size=2, record=folder, **TINY)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(IncunabulaError, match=r"record: .*file: files can't be written there"):
        evaluate(["random"], games=1, record=tmp_path / "file", **TINY)


@pytest.mark.parametrize("game", ["evaluate", "versus", "league"])
def test_what_cannot_be_recorded_is_told_before_the_first_game(tmp_path: Path, game: str) -> None:
    if game == "league":
        pytest.importorskip("choix")
    (tmp_path / ("league.jsonl" if game == "league" else "b.jsonl")).mkdir()
    asked = []

    class Asked(Agent):
        """Takes note of being asked."""

        def __init__(self, name: str) -> None:
            self.name = name

        def act(self, view: View) -> Any:
            asked.append(self.name)
            return view.action_mask.argmax(axis=1)

    agents = [Asked("a"), Asked("b")]
    play = {
        "evaluate": lambda record: evaluate(agents, games=2, record=record, **TINY),
        "versus": lambda record: evaluate_versus(
            agents, deals=1, against="random", record=record, **TABLE
        ),
        "league": lambda record: league(agents, deals=1, record=record, **TABLE),
    }[game]
    with pytest.raises(IncunabulaError, match=r"\.jsonl: can't be written: it must be a regular"):
        play(tmp_path)
    with pytest.raises(IncunabulaError, match=r"record: .* files can't be written there: embedded"):
        play("a\0b")
    assert len(asked) <= 4  # the league has each decide once before the clock starts


def test_names_of_files() -> None:
    names = ["greedy", "runs/demo", "runs demo", "rollouts(greedy, 128)", "../x", "é", "GREEDY", ""]
    found = file_names(names)
    assert list(found) == names
    assert [*found.values()] == [
        *("greedy", "runs-demo", "runs-demo-2", "rollouts-greedy-128", "x", "agent", "GREEDY-2"),
        "agent-2",
    ]


def test_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    small = ("--edition", "bibliogamo-tiny", "--games", 2, "--agents", "random")
    outcome = cli("evaluate", "bibliogamo", *small, "--record", tmp_path / "a", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    assert len(load_replays(tmp_path / "a" / "random.jsonl")) == 2
    tiny = ("--edition", "scriptorium-tiny", "--games", 1, "--agents", "random")
    against = ("--against", "random")
    outcome = cli("evaluate", "scriptorium", *tiny, *against, "--record", tmp_path / "b")
    assert outcome.status == 0
    assert len(load_replays(tmp_path / "b" / "random.jsonl")) == 2
    assert cli("evaluate", "bibliogamo", "--record", "").err.startswith("incunabula: record: the")
