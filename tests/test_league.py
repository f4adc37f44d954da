"""Leagues and evaluations of several players: the games, the results, the reports, the commands."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.seeds import list_hash, seed_list
from incunabula.training.evaluation.statistics import DealBootstrap
from incunabula.training.league.against import evaluate_against
from incunabula.training.league.evaluate import evaluate_versus
from incunabula.training.league.league import League, league
from incunabula.training.league.play import EPISODES_PER_DEAL, TableGames, play_tables
from incunabula.training.league.seating import program

EDITION = load_edition("scriptorium-tiny")
TINY = "scriptorium-tiny"


class First(Agent):
    """The first legal action."""

    name = "first"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return view.action_mask.argmax(axis=1)


class Last(Agent):
    """The last legal action; ends its turn as soon as it can."""

    name = "last"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return np.asarray(view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1))


class Watcher(First):
    """Notes what it is asked."""

    name = "watcher"

    def __init__(self) -> None:
        self.asked: list[tuple[int, int, int]] = []
        self.calls = 0

    def act(self, view: View) -> npt.NDArray[np.intp]:
        self.calls += 1
        self.asked += zip(
            view.episode.tolist(), view.decision.tolist(), view.seat.tolist(), strict=True
        )
        return super().act(view)


class Illegal(Agent):
    """Action 0 always."""

    name = "illegal"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return np.zeros(len(view), np.intp)


class TooFew(Agent):
    """Forgets a game."""

    name = "too few"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return np.zeros(len(view) - 1, np.intp)


def without_times(value: Any) -> Any:
    """The result but for what stands under a ``timing`` key."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key != "timing"}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


# Playing ----------------------------------------------------------------------------------------


def one_by_one(agents: list[Agent], seats: npt.NDArray[np.intp], deals: int) -> TableGames:
    """The same games, each in an engine of its own."""
    settings, players = seats.shape
    scores = np.zeros((deals, settings, players), np.int64)
    decisions = np.zeros((deals, settings), np.int64)
    row = np.arange(1)
    for d, seed in enumerate(seed_list("dev", deals)):
        for s in range(settings):
            engine = ScriptoriumEngine(EDITION, 1, players)
            engine.deal(row, [int(seed)])
            episode = np.array([d * EPISODES_PER_DEAL + s], np.uint64)
            while (player := int(engine.state.player[0])) >= 0:
                view = View(engine, row, episode, decisions[d, [s]])
                engine.apply(agents[seats[s, player]].act(view))
                decisions[d, s] += 1
            scores[d, s] = engine.state.score[0]
    return TableGames(seats, scores, decisions, [])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_are_those_of_playing_one_after_the_other(players: int) -> None:
    agents = [RandomAgent(0), First(), RandomAgent(5)]
    seats = np.array(program(3, players, "cyclic").seats)
    expected = one_by_one(agents, seats, 2)
    for batch_size in (1, 7, 512):
        games = play_tables(agents, seats, EDITION, seed_list("dev", 2), batch_size=batch_size)
        assert np.array_equal(games.scores, expected.scores)
        assert np.array_equal(games.decisions, expected.decisions)
        assert sum(work.decisions for work in games.work) == games.decisions.sum()


def test_every_decision_goes_to_whom_it_belongs() -> None:
    """The watcher is asked in its own seat alone, once for each of its decisions."""
    watcher = Watcher()
    seats = np.array([[0, 1], [1, 0]])
    games = play_tables([watcher, Last()], seats, EDITION, seed_list("dev", 10), batch_size=8)
    assert games.work[0].decisions == len(watcher.asked) == len(set(watcher.asked))
    for episode, _, seat in watcher.asked:
        setting = episode % EPISODES_PER_DEAL
        assert seats[setting, seat] == 0
    assert {episode // EPISODES_PER_DEAL for episode, _, _ in watcher.asked} == set(range(10))


def test_an_agent_decides_for_all_its_games_at_once() -> None:
    watcher = Watcher()
    play_tables([watcher, watcher], np.array([[0, 1]]), EDITION, seed_list("dev", 20))
    most = max(decision for _, decision, _ in watcher.asked) + 1
    assert watcher.calls == most


def test_draws_do_not_depend_on_other_tables() -> None:
    """A game is the same whoever else plays in the league."""
    small = league([First(), RandomAgent(1)], num_players=2, edition=TINY, deals=3)
    large = league([First(), RandomAgent(1), Last()], num_players=2, edition=TINY, deals=3)
    assert np.array_equal(large.games.scores[:, :2], small.games.scores)


def test_a_later_start_is_another_part_of_the_same_list() -> None:
    agents, seats = [RandomAgent(0), RandomAgent(3)], np.array([[0, 1], [1, 0]])
    whole = play_tables(agents, seats, EDITION, seed_list("dev", 6))
    part = play_tables(agents, seats, EDITION, seed_list("dev", 4, start=2), start=2)
    assert np.array_equal(part.scores, whole.scores[2:])


def test_illegal_actions_name_agent_deal_and_seat() -> None:
    seats = np.array([[0, 1], [1, 0]])
    with pytest.raises(
        IncunabulaError, match=r"agent 'illegal', deal 3, seat [01], decision \d+: action 0 is"
    ):
        play_tables([First(), Illegal()], seats, EDITION, seed_list("dev", 1), start=3)


def test_a_wrong_number_of_actions_is_refused() -> None:
    message = "agent 'too few': act must return an array of 2 integers"
    with pytest.raises(IncunabulaError, match=message):
        play_tables([TooFew(), First()], np.array([[0, 1]]), EDITION, seed_list("dev", 2))


# Against one opponent ---------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_against_has_every_seat_once_a_deal(players: int) -> None:
    played = evaluate_against(First(), Last(), EDITION, players, seed_list("dev", 12))
    assert played.games.scores.shape == (12, players, players)
    assert np.array_equal(played.games.seats == 0, np.eye(players, dtype=bool))
    summary = played.summary()
    own = played.games.scores[:, np.arange(players), np.arange(players)]
    assert summary["games"] == 12 * players
    assert summary["mean_score"] == pytest.approx(own.mean(), abs=1e-5)
    assert [seat["seat"] for seat in summary["seats"]] == list(range(players))
    for k, seat in enumerate(summary["seats"]):
        assert seat["mean_score"] == pytest.approx(own[:, k].mean(), abs=1e-5)
        best = played.games.scores[:, k].max(axis=1)
        ties = (played.games.scores[:, k] == best[:, None]).sum(axis=1)
        share = np.where(own[:, k] == best, 1 / ties, 0)
        assert seat["win_share"] == pytest.approx(share.mean(), abs=1e-5)
    assert json.loads(json.dumps(summary)) == summary


def test_an_agent_against_itself_has_an_even_share() -> None:
    played = evaluate_against(First(), First(), EDITION, 4, seed_list("dev", 30))
    assert played.summary()["win_share"] == pytest.approx(0.25)
    assert played.summary()["ci95"] == [0.25, 0.25]  # in every deal


def test_evaluate_versus() -> None:
    """What is said of each agent and each pair is what their games say."""
    agents = [First(), Last(), RandomAgent(0)]
    evaluation = evaluate_versus(
        agents, against=RandomAgent(9), num_players=3, edition=TINY, deals=15, seeds="dev"
    )
    result = evaluation.result
    assert [entry["name"] for entry in result["agents"]] == ["first", "last", "random"]
    assert (result["players"], result["against"]) == (3, {"name": "random"})
    assert result["seeds"] == {
        "list": "dev",
        "deals": 15,
        "sha256": list_hash(seed_list("dev", 15)),
    }
    bootstrap = DealBootstrap(15)
    for entry in result["agents"]:
        summary = evaluation.games[entry["name"]].summary(bootstrap)
        assert {key: entry[key] for key in summary} == summary
    shares = {entry["name"]: entry["win_share"] for entry in result["agents"]}
    assert [(pair["a"], pair["b"]) for pair in result["paired"]] == [
        ("last", "first"),
        ("random", "first"),
        ("random", "last"),
    ]
    for pair in result["paired"]:
        difference = shares[pair["a"]] - shares[pair["b"]]
        assert pair["mean_difference"] == pytest.approx(difference, abs=1e-5)
        assert pair["a_better"] + pair["equal"] + pair["b_better"] == pair["deals"] == 15
        assert pair["ci95"][0] <= pair["mean_difference"] <= pair["ci95"][1]
    assert json.loads(json.dumps(result)) == result


def test_evaluations_do_not_depend_on_the_batch_size() -> None:
    def run(batch_size: int) -> Any:
        return evaluate_versus(
            ["random"], against="random", edition=TINY, deals=9, batch_size=batch_size
        ).result

    assert without_times(run(4)) == without_times(run(512))


# The league -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played() -> League:
    pytest.importorskip("choix")
    agents = [RandomAgent(0), First(), Last()]
    return league(agents, num_players=4, edition=TINY, deals=12, seeds="dev")


def test_the_result_says_what_was_played(played: League) -> None:
    result = played.result
    assert (result["game"], result["players"], result["rotations"]) == ("scriptorium", 4, "cyclic")
    assert result["edition"]["sha256"] == EDITION.sha256
    assert result["seeds"]["sha256"] == list_hash(seed_list("dev", 12))
    assert result["games"] == 6 * 4 * 12 == played.games.decisions.size
    assert len(result["tables"]) == 6
    assert {"choix", "scipy", "numpy", "python", "incunabula"} <= set(result["versions"])
    assert json.loads(json.dumps(result)) == result


def test_figures_of_a_league_agree_with_each_other(played: League) -> None:
    result = played.result
    for agent in result["agents"]:
        assert agent["games"] == 2 * 4 * 12  # alone among copies of each of two others
        assert agent["ci95"][0] <= agent["win_share"] <= agent["ci95"][1]
        assert agent["rating_ci95"][0] <= agent["rating"] <= agent["rating_ci95"][1]
        rows = [entry for entry in result["cross"] if entry["a"] == agent["name"]]
        assert np.mean([row["win_share"] for row in rows]) == pytest.approx(
            agent["win_share"], abs=1e-5
        )
        own = [
            entry["mean_score"]
            for seat in result["seats"]
            for entry in seat["agents"]
            if entry["name"] == agent["name"]
        ]
        assert np.mean(own) == pytest.approx(agent["mean_score"], abs=1e-5)
    assert sum(agent["rating"] for agent in result["agents"]) == pytest.approx(0, abs=1e-5)
    assert sum(seat["win_share"] for seat in result["seats"]) == pytest.approx(1, abs=1e-5)


def test_leagues_are_the_same_from_run_to_run_and_for_every_batch_size(played: League) -> None:
    agents = [RandomAgent(0), First(), Last()]
    again = league(agents, num_players=4, edition=TINY, deals=12, seeds="dev", batch_size=5)
    assert without_times(again.result) == without_times(played.result)


def test_an_agent_may_stand_twice() -> None:
    pytest.importorskip("choix")
    found = league(["random", "random"], num_players=2, edition=TINY, deals=10).result
    assert [agent["name"] for agent in found["agents"]] == ["random#1", "random#2"]
    assert sum(agent["win_share"] for agent in found["agents"]) == pytest.approx(1, abs=1e-5)


def test_two_agents_of_one_name_stay_two() -> None:
    pytest.importorskip("choix")
    found = league([RandomAgent(0), RandomAgent(1)], num_players=2, edition=TINY, deals=10)
    other = league([RandomAgent(0), RandomAgent(0)], num_players=2, edition=TINY, deals=10)
    assert not np.array_equal(found.games.scores, other.games.scores)


def test_a_single_deal_has_no_intervals() -> None:
    pytest.importorskip("choix")
    found = league(["random", "random"], num_players=2, edition=TINY, deals=1).result
    entries = [*found["agents"], *found["seats"], *found["cross"]]
    assert {entry["ci95"] for entry in entries} == {None}
    assert found["agents"][0]["rating_ci95"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": []}, "expected at least one name"),
        ({"agents": "random"}, "in a list"),
        ({"agents": ["random"]}, "expected 2 to 16, got 1; to see an agent against itself"),
        ({"agents": ["random"] * 17}, "expected 2 to 16, got 17"),
        ({"agents": ["random", "rnadom"]}, "did you mean 'random'"),
        ({"num_players": 5}, "players: this edition is for 2, 3, 4, got 5"),
        ({"rotations": "some"}, "there is no kind of rotations 'some'"),
        ({"deals": 0}, "deals: expected"),
        ({"deals": True}, "deals: expected"),
        ({"deals": 100_001}, "deals: expected a whole number from 1 to 100,000, got 100001"),
        (
            {"agents": ["random"] * 16, "num_players": 4, "rotations": "all", "deals": 500},
            "500 in 43,680 seatings of 1,820 tables make 21,840,000 games, more than 10,000,000",
        ),
        ({"seeds": "test"}, "seed list"),
        ({"batch_size": 0}, "batch size: expected"),
        ({"seed": 1.5}, "seed"),
        ({"edition": "bibliogamo"}, "only 'scriptorium' editions can be loaded here"),
    ],
)
def test_arguments_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    pytest.importorskip("choix")
    arguments: dict[str, Any] = {"agents": ["random"] * 2, "edition": TINY, "deals": 2} | options
    with pytest.raises(IncunabulaError, match=re.escape(message)):
        league(**arguments)


def test_without_choix_nothing_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import util

    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "choix" else found(name))
    watcher = Watcher()
    with pytest.raises(IncunabulaError, match=r"pip install 'incunabula\[train\]'"):
        league([watcher, First()], edition=TINY, deals=1)
    assert watcher.calls == 0


# Reports ----------------------------------------------------------------------------------------


def test_a_leagues_report(played: League, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from incunabula.training.league.report import league_verdict, write_league

    page = write_league(tmp_path / "new", played)
    files = {file.name for file in page.parent.iterdir()}
    assert files == {"report.html", "league.png", "league.json", "games.csv"}
    assert json.loads((page.parent / "league.json").read_text()) == played.result
    with (page.parent / "games.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == played.result["games"]
    best = league_verdict(played.result).split(" leads")[0]
    text = page.read_text()
    assert f"{best} leads with a rating of" in text
    assert "http" not in text.replace("http-equiv", "")
    mine = [row for row in rows if [row[f"seat {k}"] for k in range(4)].count(best) == 1]
    scores = [int(row[f"score {k}"]) for row in mine for k in range(4) if row[f"seat {k}"] == best]
    entry = next(agent for agent in played.result["agents"] if agent["name"] == best)
    assert np.mean(scores) == pytest.approx(entry["mean_score"], abs=1e-5)


def test_reports_are_the_same_from_run_to_run(played: League) -> None:
    pytest.importorskip("matplotlib")
    from incunabula.training.league.plots import league_png

    assert league_png(played.result) == league_png(played.result)


def test_who_leads_and_who_wins_most_may_differ() -> None:
    from incunabula.training.league.report import league_verdict

    agents = [
        {"name": "steady", "rating": 0.4, "win_share": 0.3},
        {"name": "bold", "rating": -0.4, "win_share": 0.4},
    ]
    entry = {"a": "steady", "b": "bold", "ahead": 0.6, "ahead_ci95": [0.45, 0.75]}
    seats = [{"win_share": 0.35, "ci95": [0.25, 0.45]}]
    result = {"agents": agents, "cross": [entry], "seats": seats, "players": 3}
    said = league_verdict(result)
    assert said.startswith(
        "steady leads with a rating of +0.40; it finishes ahead of the next, bold"
    )
    assert "which doesn't tell them apart. The largest win share is bold's, 0.400. Seat 0" in said
    entry["ahead_ci95"] = [0.55, 0.65]
    agents[1]["win_share"] = 0.2
    assert "the better of the two. Seat 0" in league_verdict(result)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.4, 0.5, "sitting first is an advantage"),
        (0.1, 0.2, "sitting first is a disadvantage"),
        (0.2, 0.3, "can't be told from an even 0.250"),
    ],
)
def test_what_is_said_of_the_first_seat(low: float, high: float, said: str) -> None:
    from incunabula.training.league.report import seat_verdict

    assert said in seat_verdict([{"win_share": (low + high) / 2, "ci95": [low, high]}], 4)


def test_an_evaluations_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from incunabula.training.league.versus_report import write_versus

    run = tmp_path / "run"
    run.mkdir()
    lines = [{"steps": k, "eval_mean": 0.1 * k, "eval_ci95": [0.0, 0.2 * k]} for k in (1, 2)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    evaluation = evaluate_versus([First(), Last()], against="random", edition=TINY, deals=10)
    page = write_versus(tmp_path / "report", evaluation, run)
    assert {file.name for file in page.parent.iterdir()} == {
        *("report.html", "win_shares.png", "learning_curve.png", "evaluation.json", "games.csv")
    }
    text = page.read_text()
    for said in ("Differences, deal by deal", "seat 1", "last − first", "bootstrap by deal"):
        assert said in text
    with (page.parent / "games.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2 * 10 * 2
    write_versus(tmp_path / "report", evaluation)
    assert not (tmp_path / "report" / "learning_curve.png").exists()


def test_playing_loads_nothing_it_does_not_need() -> None:
    """Neither torch nor matplotlib nor numba, unless an agent or a report needs them."""
    pytest.importorskip("choix")
    code = (
        "import sys; from incunabula.training.league.league import league; "
        "league(['random', 'random'], edition='scriptorium-tiny', deals=2, backend='numpy'); "
        "print(sorted({'torch', 'matplotlib', 'stable_baselines3', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
