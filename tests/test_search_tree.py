"""The tree search: legal, honest, the same in any batch, and right where the answer is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import View
from incunabula.agents.networks import expected_shapes
from incunabula.agents.policy_folder import engine_of, load_policy, save_policy
from incunabula.agents.registry import make_agent
from incunabula.agents.search.budget import Budget
from incunabula.agents.search.forest import Forest
from incunabula.agents.search.guide import Guide
from incunabula.agents.search.tree import Arms, Search, Settings, TreeSearch, least_costs
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.payoffs import margins, outcome
from tests.by_hand import PSALTER, stand, tiny

GAMES = [("bibliogamo", 1), ("scriptorium", 2), ("scriptorium", 3)]
NETWORK: dict[str, Any] = {
    "kind": "mlp",
    "layers": [8],
    "value_layers": [8],
    "activation": "tanh",
    "card_dim": 4,
    "tower_dim": 4,
    "tile_dim": 4,
    "advisor": None,
    "advice": 0.0,
}
DEEP = Settings(tried=4, sure=1.0, depth=4, width=3, horizon=2, c_scale=20.0)


def make_policy(folder: Path, game: str, **training: Any) -> Path:
    """A policy of random weights for the tiny edition."""
    edition = load_any_edition(f"{game}-tiny")
    network = NETWORK | {"advisor": "greedy" if game == "bibliogamo" else None, "advice": 1.0}
    shapes = expected_shapes(network, engine_of(edition))
    rng = np.random.default_rng(0)
    save_policy(
        folder,
        {name: (0.3 * rng.normal(size=shape)).astype(np.float32) for name, shape in shapes.items()},
        edition=edition,
        network=network,
        training=training or {"value": {"scale": 5.0}},
        players=None if game == "bibliogamo" else [2, 3],
    )
    return folder


def search(
    folder: Path, game: str, settings: Settings = DEEP, seed: int = 0, **budget: Any
) -> TreeSearch:
    edition = load_any_edition(f"{game}-tiny")
    given = Budget(**(budget or {"simulations": 12}))
    return TreeSearch(folder, edition, budget=given, settings=settings, seed=seed)


def positions(game: str, players: int, n: int = 6, steps: int = 3) -> Engine:
    """n games of the tiny edition after some moves, none of them over."""
    engine: Engine
    if game == "bibliogamo":
        engine = BibliogamoEngine("bibliogamo-tiny", n)
    else:
        engine = ScriptoriumEngine("scriptorium-tiny", n, players)
    engine.deal(np.arange(n), np.arange(n))
    rng = np.random.default_rng(0)
    for step in range(steps):
        engine.apply((rng.random(engine.mask.shape) * engine.mask).argmax(axis=1))
        over = np.flatnonzero(engine.state.phase == engine.over)
        if over.size:
            engine.deal(over, over + n * (step + 1))
    return engine


def view(engine: Engine, rows: list[int] | None = None) -> View:
    at = np.arange(engine.num_envs) if rows is None else np.array(rows, np.intp)
    return View(engine, at, at.astype(np.uint64), at + 5)


def root_draws(agent: TreeSearch, engine: Engine) -> npt.NDArray[np.uint64]:
    """What the imagined games of each game are drawn from."""
    games = np.arange(engine.num_envs)
    return Search(agent, view(engine), games, np.zeros(engine.mask.shape)).draw


@pytest.mark.parametrize(("game", "players"), GAMES)
def test_plays_whole_games_legally(game: str, players: int, tmp_path: Path) -> None:
    agent = search(make_policy(tmp_path / "p", game), game, simulations=4)
    engine = positions(game, players, n=4, steps=1)
    live = np.arange(4)
    for _ in range(400):
        _, over = engine.apply(agent.act(view(engine, live.tolist())), live)
        live = live[~over]
        if not live.size:
            break
    assert not live.size


@pytest.mark.parametrize("settings", [DEEP, replace(DEEP, depth=0)])
@pytest.mark.parametrize(("game", "players"), GAMES)
def test_the_batch_does_not_matter_but_the_seed_does(
    game: str, players: int, settings: Settings, tmp_path: Path
) -> None:
    folder = make_policy(tmp_path / "p", game)
    engine = positions(game, players)
    together = search(folder, game, settings).act(view(engine))
    agent = search(folder, game, settings)
    apart = [agent.act(view(engine, [row]))[0] for row in reversed(range(6))]
    assert together.tolist() == apart[::-1]
    other = search(folder, game, settings, seed=1)
    assert (root_draws(other, engine) != root_draws(agent, engine)).all()


@pytest.mark.parametrize(("game", "players"), GAMES)
def test_the_choice_does_not_depend_on_the_hidden_order(
    game: str, players: int, tmp_path: Path
) -> None:
    folder = make_policy(tmp_path / "p", game)
    engine = positions(game, players, steps=0)
    agent = search(folder, game)
    chosen = agent.act(view(engine))
    hidden = "deck" if game == "bibliogamo" else "order"
    before = getattr(engine.state, hidden).copy()
    engine.determinise(np.arange(6), np.arange(100, 106, dtype=np.uint64))
    assert (getattr(engine.state, hidden) != before).any(axis=1).sum() > 3
    assert agent.act(view(engine)).tolist() == chosen.tolist()


class Exact(Guide):
    """Prefers what it is told to by so much; payoffs are the scores so far."""

    def __init__(self, favourite: int, by: float) -> None:
        self.favourite, self.by = favourite, by
        self.asked = 0

    def logits(self, view: View) -> npt.NDArray[np.float32]:
        self.asked += len(view)
        found = np.where(view.action_mask, np.float32(0), np.float32(-np.inf))
        found[:, self.favourite] += np.float32(self.by)
        return found

    def payoffs(self, engine: Engine, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        return np.asarray(engine.state.score[rows], np.float64).reshape(len(rows), -1)


@pytest.mark.parametrize("depth", [0, 3])
def test_finds_the_better_of_two_actions(depth: int, tmp_path: Path) -> None:
    # Last turn, the psalter stands complete: to sell it brings a book, a slot and florins.
    data = tiny()
    form = stand(
        data, phase="sell", time=4, turn=4, towers=PSALTER, hand=[0, 1], deck=[2, 3, 4, 5, 6, 7]
    )
    engine = BibliogamoEngine(data)
    engine.restore(0, form, 0)
    keep, sell = (engine.action_from_json(0, {"type": name}) for name in ("keep", "sell"))
    settings = replace(DEEP, depth=depth, horizon=8, c_visit=1.0, c_scale=1.0)
    agent = search(make_policy(tmp_path / "p", "bibliogamo"), "bibliogamo", settings)
    agent.policy.description["edition_sha256"] = engine.edition.sha256
    for by, expected in ((2.0, sell), (100.0, keep)):
        agent.guide = Exact(keep, by)
        assert agent.act(view(engine)).tolist() == [expected]


def test_is_not_clairvoyant() -> None:
    """Where only the hidden order would tell two actions apart, their mean payoffs are alike."""
    forest = Forest(2, 1.0)
    seen = np.zeros((1, 3), np.float32)
    tree = np.zeros(1, np.intp)
    forest.add(tree, seen, np.zeros((1, 2), np.float32), tree)
    nodes = [forest.find(tree, seen)[0] for _ in range(2)]
    assert nodes == [0, 0]  # the same information state, whatever is hidden
    assert forest.find(tree + 1, seen).tolist() == [-1]
    assert forest.find(tree, seen + 1).tolist() == [-1]


def test_payoffs_are_backed_up_to_who_chooses() -> None:
    # Seat 0 chooses at the root, seat 1 below its first action.
    forest = Forest(2, 0.0)
    tree = np.zeros(1, np.intp)
    root, below = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    logits = np.array([[0.0, 1.0, -np.inf]], np.float32)
    forest.add(tree, root, logits, np.array([0]))
    forest.add(tree, below, logits, np.array([1]))
    assert len(forest) == 2
    place, action = forest.select(np.array([0]))
    assert (place[0], action[0]) == (0, 1)  # the likelier
    for action_below, pays in ((0, [3.0, -1.0]), (1, [-2.0, 5.0]), (1, [0.0, 1.0])):
        for node, at in ((0, 0), (1, action_below)):
            forest.back_up(np.array([node]), np.array([at]), np.array([pays]))
    assert forest.mean(np.array([0])).tolist() == [[pytest.approx(1 / 3), 0.0]]
    assert forest.mean(np.array([1])).tolist() == [[-1.0, 3.0]]
    assert forest.select(np.array([1]))[0].tolist() == [1]  # 3 beats -1, for seat 1
    # At the root the other action, untried, counts as the node's mean and so ties with the first.
    forest.back_up(np.array([0]), np.array([1]), np.array([[9.0, 9.0]]))
    assert forest.select(np.array([0]))[0].tolist() == [1]


def test_halving_keeps_the_better_half() -> None:
    logit = np.array([[3.0, 2.0, 1.0, 0.0], [1.0, 0.0, -np.inf, -np.inf]])
    visits = np.array([[2, 2, 2, 2], [4, 4, 0, 0]])
    total = np.array([[0.0, 0.0, 4.0, 6.0], [4.0, 0.0, 0.0, 0.0]])
    action = np.tile(np.arange(4), (2, 1))
    arms = Arms(action, logit, np.isfinite(logit), visits, total)
    settings = replace(
        DEEP, c_visit=0.0, c_scale=1.0
    )  # σ = 2 q in the first game, 4 q in the second
    assert arms.rank(settings)[0].tolist() == [3.0, 2.0, 5.0, 6.0]
    arms.halve(settings)
    assert arms.alive.tolist() == [[False, False, True, True], [True, False, False, False]]


@pytest.mark.parametrize("depth", [0, 2])
def test_simulations_are_what_was_asked_for(
    depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[int, int]] = []
    folder = make_policy(tmp_path / "p", "scriptorium")
    agent = search(folder, "scriptorium", replace(DEEP, depth=depth), simulations=24)
    engine = positions("scriptorium", 2, n=3)
    original = TreeSearch.imagine

    def counted(self: TreeSearch, view: View, games: Any, seeds: Any) -> Engine:
        played.extend(zip(games.tolist(), seeds.tolist(), strict=True))
        return original(self, view, games, seeds)

    monkeypatch.setattr(TreeSearch, "imagine", counted)
    agent.act(view(engine))
    options = engine.mask.sum(axis=1)
    assert (options >= 4).any()
    for game in np.flatnonzero(options >= 4):
        orders = [seed for at, seed in played if at == game]
        assert len(orders) == 24
        # Two rounds of 12: 3 orders for each of 4 actions, then 6 more for each of 2.
        assert sorted(orders.count(seed) for seed in set(orders)) == [2] * 6 + [4] * 3


@pytest.mark.parametrize("depth", [0, 2])
def test_no_more_simulations_than_allowed(
    depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = np.zeros(3, np.int64)
    original = TreeSearch.imagine

    def counting(self: TreeSearch, view: View, games: Any, seeds: Any) -> Engine:
        np.add.at(counted, games, 1)
        return original(self, view, games, seeds)

    monkeypatch.setattr(TreeSearch, "imagine", counting)
    folder = make_policy(tmp_path / "p", "scriptorium")
    engine = positions("scriptorium", 2, n=3)
    settings = replace(DEEP, tried=8, depth=depth)
    for simulations in range(1, 33):
        counted[:] = 0
        agent = search(folder, "scriptorium", settings, simulations=simulations)
        likeliest = agent.guide.logits(view(engine)).argmax(axis=1)
        chosen = agent.act(view(engine))
        assert counted.max() <= simulations
        assert counted.max() >= simulations // 2
        if simulations == 1:  # nothing can be compared
            assert np.array_equal(chosen, likeliest)


def test_least_costs_are_those_of_halving() -> None:
    assert least_costs(8).tolist() == [0, 0, 2, 5, 6, 10, 11, 13, 14]


def test_seconds_are_kept(tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p", "bibliogamo")
    engine = positions("bibliogamo", 1)
    agent = search(folder, "bibliogamo", seconds=1e-6)
    chosen = agent.act(view(engine))  # at least one try of each
    assert engine.mask[np.arange(6), chosen].all()
    for budget in (Budget(seconds=0.02), Budget(simulations=1 << 20, seconds=0.02)):
        agent.budget = budget
        agent.act(view(engine))  # would take for ever if it did not look at the clock


def test_sure_choices_take_no_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = positions("bibliogamo", 1)
    agent = search(make_policy(tmp_path / "p", "bibliogamo"), "bibliogamo")
    agent.guide = guide = Exact(int(engine.mask[0].argmax()), 50.0)
    monkeypatch.setattr(TreeSearch, "imagine", None)
    agent.settings = replace(DEEP, sure=0.9)
    assert agent.act(view(engine, [0])).tolist() == [guide.favourite]
    assert guide.asked == 1


@pytest.mark.parametrize("players", [2, 3])
def test_payoffs_of_finished_games_are_exact(players: int, tmp_path: Path) -> None:
    training = {"config": {"gamma": 1.0, "reward": {"outcome": 1.0, "margin": 0.1}}}
    policy = load_policy(
        make_policy(tmp_path / "p", "scriptorium", **training), load_any_edition("scriptorium-tiny")
    )
    engine = positions("scriptorium", players, n=6)
    guide = Guide(policy, engine.tables)
    rows = np.arange(6)
    cut = guide.payoffs(engine, rows)
    assert cut.shape == (6, players)
    if players == 2:
        assert np.allclose(cut.sum(axis=1), 0)
    for row in rows:
        while engine.state.phase[row] != engine.over:
            engine.apply(engine.mask[[row]].argmax(axis=1), np.array([row]))
    scores = engine.state.score[rows]
    assert np.allclose(guide.payoffs(engine, rows), outcome(scores) + 0.1 * margins(scores))


def test_values_of_unknown_unit_are_refused(tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p", "bibliogamo", config={"gamma": 0.99})
    with pytest.raises(IncunabulaError, match=r"needs a value network in the game's points"):
        search(folder, "bibliogamo")


def test_agents_by_name(tmp_path: Path) -> None:
    agent = make_agent("search", load_any_edition("scriptorium"), budget=Budget(3), seed=7)
    assert isinstance(agent, TreeSearch)
    assert (agent.budget, agent.seed) == (Budget(simulations=3), 7)
    edition = load_any_edition("scriptorium-tiny")
    folder = make_policy(tmp_path / "p", "scriptorium")
    named = make_agent(f"search:{folder}", edition, budget=Budget(seconds=0.5))
    assert isinstance(named, TreeSearch)
    assert named.budget == Budget(seconds=0.5)
    with pytest.raises(IncunabulaError, match=r"agent 'search': .*edition_sha256"):
        make_agent("search", edition)
    with pytest.raises(IncunabulaError, match="there is no such folder"):
        make_agent("search:nowhere/at/all", edition)
    for name in ("greedy", "ppo", "optimal"):
        with pytest.raises(IncunabulaError, match=f"got the agent '{name}'; write ./{name}"):
            make_agent(f"search:{name}", edition)
    with pytest.raises(IncunabulaError, match="seed"):
        make_agent(f"search:{folder}", edition, seed=1.5)  # type: ignore[arg-type]
