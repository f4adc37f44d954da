"""Paired evaluation: the deals, the games, the figures."""

import json
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import AGENT_STREAM, Agent, RandomAgent, View, nth_legal
from incunabula.agents.registry import make_agent
from incunabula.envs.adapters.gymnasium import BibliogamoEnv
from incunabula.envs.backend import chosen_backend
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.chance import key
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.evaluate import Evaluation, evaluate
from incunabula.training.evaluation.games import Games, play_games
from incunabula.training.evaluation.report import verdict
from incunabula.training.evaluation.seeds import list_hash, seed_list
from incunabula.training.evaluation.statistics import mean_interval, paired, summary, t_quantile
from tests.evaluations import TINY, Other, evaluation, write_policy

__all__ = ["evaluation"]


class Illegal(Agent):
    """Always the first action, which is not always legal."""

    name = "illegal"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return np.zeros(len(view), np.intp)


def without_timing(value: Any) -> Any:
    """The result less what may differ from run to run."""
    if isinstance(value, dict):
        return {k: without_timing(v) for k, v in value.items() if k != "timing"}
    return [without_timing(v) for v in value] if isinstance(value, list) else value


# Deals ------------------------------------------------------------------------------------------


def test_seed_lists_are_the_published_formula() -> None:
    for name, seed in (("dev", 1), ("final", 2)):
        seeds = seed_list(name, 100)
        assert seeds.dtype == np.uint64
        assert seeds.tolist() == [int(key(seed, 2**34, i)) for i in range(100)]
    assert seed_list("dev", 2).tolist() == [15958922082217645411, 12729663289862962405]
    assert list_hash(seed_list("final", 2000)) == (
        "84d4b5b855223e4eb30cf5912ef2e768be61c87b2fc2f0767944246a11207f30"
    )


def test_seed_lists_have_any_length_and_share_no_deal() -> None:
    dev, final = seed_list("dev", 20_000), seed_list("final", 20_000)
    assert np.array_equal(dev[:50], seed_list("dev", 50))
    assert np.array_equal(dev[100:150], seed_list("dev", 50, start=100))
    assert len(np.unique(np.concatenate([dev, final]))) == 40_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("finals", 10), "there is no seed list 'finals' (did you mean 'final'?)"),
        (("dev", 0), "games: expected a whole number from 1 to"),
        (("dev", -3), "got -3"),
        (("dev", True), "got True"),
    ],
)
def test_seed_list_errors(arguments: Any, message: str) -> None:
    with pytest.raises(IncunabulaError, match=re.escape(message)):
        seed_list(*arguments)


# Figures ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("df", "t"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (30, 2.0423), (999, 1.9623)],
)
def test_t_quantile_agrees_with_the_tables(df: int, t: float) -> None:
    assert t_quantile(df) == pytest.approx(t, abs=5e-5)


def test_t_quantile_of_many_games_is_nearly_normal() -> None:
    assert t_quantile(10**7) == pytest.approx(1.95996, abs=5e-5)


def test_interval_by_hand() -> None:
    # Mean 3, sd sqrt(2.5), n 5: half width 2.7764 * sqrt(2.5 / 5).
    mean, ci95 = mean_interval(np.array([1, 2, 3, 4, 5]))
    assert mean == 3
    assert ci95 == pytest.approx([3 - 1.96324, 3 + 1.96324], abs=1e-4)
    assert mean_interval(np.array([7])) == (7, None)
    assert mean_interval(np.array([7, 7, 7])) == (7, [7, 7])


def test_interval_covers_the_mean_95_times_in_100() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(2000):
        _, ci95 = mean_interval(rng.exponential(10, 60))
        assert ci95 is not None
        inside += ci95[0] <= 10 <= ci95[1]
    assert 0.91 < inside / 2000 < 0.97


def test_summary_and_pairs() -> None:
    found = summary(np.array([3, 0, 3, 10]))
    assert found["distribution"] == {"score": [0, 3, 10], "games": [1, 2, 1]}
    assert (found["min"], found["max"], found["quantiles"]["50"]) == (0, 10, 3)
    pair = paired(np.array([3, 0, 3, 10]), np.array([1, 0, 4, 4]))
    assert pair["mean_difference"] == 1.75
    assert (pair["a_better"], pair["equal"], pair["b_better"]) == (2, 1, 1)


# Games ------------------------------------------------------------------------------------------


def same(a: Games, b: Games) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("batch_size", [1, 7, 39, 40, 1000])
def test_games_do_not_depend_on_the_batch_size(batch_size: int) -> None:
    edition, seeds = load_edition("bibliogamo-small"), seed_list("dev", 40)
    whole = play_games(RandomAgent(5), edition, seeds, batch_size=16)
    assert same(whole, play_games(RandomAgent(5), edition, seeds, batch_size=batch_size))


def test_games_are_those_of_the_single_environment_played_one_after_the_other() -> None:
    """No short-episode bias: every deal is played once, to its end (fault 34)."""
    edition, seeds = load_edition("bibliogamo"), seed_list("final", 12)
    games = play_games(RandomAgent(9), edition, seeds, batch_size=5)
    env = BibliogamoEnv(edition)
    for i, seed in enumerate(seeds.tolist()):
        _, info = env.reset(seed=seed)
        total, decisions, terminated = 0.0, 0, False
        while not terminated:
            draw = key(9, AGENT_STREAM + i, decisions)
            action = nth_legal(info["action_mask"].astype(bool)[None], draw[None])[0]
            _, reward, terminated, _, info = env.step(action)
            total += reward
            decisions += 1
        assert (total, decisions) == (games.score[i], games.decisions[i])


def test_score_is_the_sum_of_its_parts() -> None:
    games = play_games(RandomAgent(), load_edition(TINY), seed_list("dev", 300))
    parts = games.books_vp + games.florins_vp + games.prestige_vp + games.bonus_vp
    assert np.array_equal(parts, games.score)
    assert all(part.any() for part in (games.books_vp, games.florins_vp, games.prestige_vp))


def test_games_continue_a_list() -> None:
    edition, seeds = load_edition(TINY), seed_list("dev", 30)
    whole = play_games(RandomAgent(), edition, seeds)
    rest = play_games(RandomAgent(), edition, seeds[20:], start=20)
    assert np.array_equal(whole.score[20:], rest.score)


def test_an_illegal_action_names_agent_game_and_rule() -> None:
    with pytest.raises(IncunabulaError, match=r"agent 'illegal', game \d+, decision \d+: action"):
        play_games(Illegal(), load_edition("bibliogamo"), seed_list("dev", 5))


# Evaluation -------------------------------------------------------------------------------------


def test_result_is_the_same_from_run_to_run_and_for_any_batch_size(evaluation: Evaluation) -> None:
    again = evaluate(["random", Other()], edition=TINY, games=200, batch_size=3)
    assert without_timing(again.result) == without_timing(evaluation.result)
    other = evaluate(["random", Other()], edition=TINY, games=200, seed=1)
    assert other.result["agents"][0]["mean"] != evaluation.result["agents"][0]["mean"]
    assert other.result["agents"][1]["mean"] == evaluation.result["agents"][1]["mean"]


def test_result_says_what_was_played(evaluation: Evaluation) -> None:
    result = evaluation.result
    edition = load_edition(TINY)
    assert result["schema_version"] == 1
    assert result["edition"] == {
        "name": TINY,
        "edition": edition.edition,
        "provenance": "variant",
        "sha256": edition.sha256,
    }
    assert result["seeds"] == {
        "list": "final",
        "games": 200,
        "sha256": list_hash(seed_list("final", 200)),
    }
    assert result["backend"] == chosen_backend("auto")
    assert {"incunabula", "python", "numpy"} <= set(result["versions"])
    assert json.loads(json.dumps(result)) == result


def test_result_holds_what_the_games_say(evaluation: Evaluation) -> None:
    for row in evaluation.result["agents"]:
        games = evaluation.games[row["name"]]
        assert row["mean"] == pytest.approx(games.score.mean(), abs=1e-6)
        assert row["ci95"][0] < row["mean"] < row["ci95"][1]
        assert sum(row["split"].values()) == pytest.approx(row["mean"], abs=1e-5)
        assert sum(row["distribution"]["games"]) == row["games"] == 200
        assert row["timing"]["games_per_second"] > 0
    (pair,) = evaluation.result["paired"]
    difference = evaluation.games["other"].score - evaluation.games["random"].score
    assert (pair["a"], pair["b"]) == ("other", "random")
    assert pair["mean_difference"] == pytest.approx(difference.mean(), abs=1e-6)


def test_every_pair_is_compared_a_later_agent_less_an_earlier() -> None:
    agents = [RandomAgent(k) for k in range(3)]
    for agent, name in zip(agents, "xyz", strict=True):
        agent.name = name
    pairs = evaluate(agents, edition=TINY, games=5).result["paired"]
    assert [(p["a"], p["b"]) for p in pairs] == [("y", "x"), ("z", "x"), ("z", "y")]


def test_a_fixed_prestige_collection_is_played() -> None:
    zero = evaluate(["random"], edition=TINY, games=300, prestige=0)
    one = evaluate(["random"], edition=TINY, games=300, prestige=1)
    assert zero.result["prestige"] == 0
    assert not np.array_equal(zero.games["random"].score, one.games["random"].score)


def test_one_game_has_no_interval() -> None:
    result = evaluate(["random", Other()], edition=TINY, games=1).result
    assert result["agents"][0]["ci95"] is None
    assert result["paired"][0]["ci95"] is None
    assert "one game" in verdict(result)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": []}, "agents: expected at least one"),
        ({"agents": ["random", "random"]}, "agents: 'random' stands twice"),
        ({"agents": ["gredy"]}, "there is no agent 'gredy' (did you mean 'greedy'?)"),
        ({"agents": ["no/such"]}, "agent 'no/such': there is no such folder"),
        ({"games": 0}, "games: expected a whole number from 1 to"),
        ({"games": -5}, "got -5"),
        ({"seeds": "fnal"}, "did you mean 'final'?"),
        ({"batch_size": 0}, "batch size: expected a whole number from 1 to"),
        ({"prestige": 2}, "prestige: expected a collection of the edition, 0..1, got 2"),
        ({"prestige": -1}, "got -1"),
        ({"edition": "bibliogamo-tny"}, "did you mean 'bibliogamo-tiny'?"),
    ],
)
def test_errors_say_what_would_be_right(options: dict[str, Any], message: str) -> None:
    arguments = {"agents": ["random"], "edition": TINY} | options
    with pytest.raises(IncunabulaError, match=re.escape(message)):
        evaluate(**arguments)


# Registry ---------------------------------------------------------------------------------------


def test_agents_by_name_keep_their_seed() -> None:
    edition = load_edition(TINY)
    agent = make_agent("random", edition, seed=2**64 - 1)
    assert isinstance(agent, RandomAgent)
    assert agent.seed == 2**64 - 1
    assert make_agent("greedy", edition).name == "greedy"


def test_a_folder_without_a_policy_is_refused(tmp_path: Any) -> None:
    with pytest.raises(IncunabulaError, match=r"policy\.json"):
        make_agent(tmp_path, load_edition(TINY))
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(IncunabulaError, match="has no policy yet"):
        make_agent(tmp_path, load_edition(TINY))


def test_policy_folders_and_run_folders_play(tmp_path: Any) -> None:
    write_policy(tmp_path / "run" / "policy")
    paths = [str(tmp_path / "run"), str(tmp_path / "run" / "policy")]
    result = evaluate(paths, edition=TINY, games=50, batch_size=7).result
    assert [agent["name"] for agent in result["agents"]] == paths
    assert result["agents"][0]["policy"]["training"] == {"steps": 1}
    assert result["paired"][0]["equal"] == 50
    again = evaluate(paths, edition=TINY, games=50).result
    assert without_timing(again) == without_timing(result)
    with pytest.raises(IncunabulaError, match="edition"):
        evaluate(paths[:1], edition="bibliogamo", games=5)
