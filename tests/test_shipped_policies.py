"""The trained policies that come with the package play what they were made for, and well."""

import warnings

import pytest

from incunabula.agents.learned import PolicyAgent, PolicyWarning
from incunabula.agents.registry import make_agent
from incunabula.envs.editions import GAMES, load_any_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.league.against import evaluate_against


@pytest.mark.parametrize("game", GAMES)
def test_receipts_say_how_they_were_made(game: str) -> None:
    agent = make_agent("ppo", load_any_edition(game))
    assert isinstance(agent, PolicyAgent)
    receipt = agent.policy.description["training"]
    assert receipt["config"]["game"] == game
    assert receipt["evaluation"]["eval_seeds"] == "dev"
    assert receipt["steps"] > 10**6
    assert {"seed", "seconds", "versions", "decisions"} <= set(receipt)


@pytest.mark.parametrize(("players", "share"), [(2, 0.55), (3, 0.38), (4, 0.28)])
def test_scriptoriums_beats_greedy_with_every_number_of_players(players: int, share: float) -> None:
    edition = load_edition("scriptorium")
    agent, greedy = (make_agent(name, edition) for name in ("ppo", "greedy"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PolicyWarning)
        played = evaluate_against(agent, greedy, edition, players, seed_list("dev", 60))
    assert played.summary()["win_share"] > share


def test_other_editions_are_refused() -> None:
    with pytest.raises(IncunabulaError, match=r"agent 'ppo': .*edition_sha256: the policy was"):
        make_agent("ppo", load_edition("scriptorium-tiny"))
