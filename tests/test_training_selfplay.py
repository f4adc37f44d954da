"""Self-play PPO: seats as trajectories, opponents, snapshots, resuming, and runs of Scriptorium."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from incunabula.agents.agent import Agent  # noqa: E402
from incunabula.agents.learned import PolicyAgent, PolicyWarning  # noqa: E402
from incunabula.agents.networks import NumpyNetwork, expected_shapes  # noqa: E402
from incunabula.agents.policy_folder import load_policy  # noqa: E402
from incunabula.envs.errors import IncunabulaError  # noqa: E402
from incunabula.envs.scriptorium.edition import load_edition  # noqa: E402
from incunabula.envs.scriptorium.payoffs import margins, outcome  # noqa: E402
from incunabula.training.evaluation.seeds import seed_list  # noqa: E402
from incunabula.training.league.play import play_tables  # noqa: E402
from incunabula.training.ppo.clone import clone_teacher  # noqa: E402
from incunabula.training.ppo.command import report, train  # noqa: E402
from incunabula.training.ppo.config import ScriptoriumConfig, load_config  # noqa: E402
from incunabula.training.ppo.learner import Learner  # noqa: E402
from incunabula.training.ppo.seats import (  # noqa: E402
    GREEDY,
    OPPONENTS,
    PAST,
    RANDOM,
    SELF,
    SelfPlayVecEnv,
)
from incunabula.training.ppo.selfplay import SelfPlayPPO, SelfPlayRollout  # noqa: E402
from incunabula.training.ppo.trainer import Trainer  # noqa: E402

SMALL: dict[str, Any] = {
    "game": "scriptorium",
    "players": [2, 3, 4],
    "total_steps": 1536,
    "num_envs": 12,
    "n_steps": 32,
    "batch_size": 128,
    "n_epochs": 1,
    "network": {"kind": "tiles", "layers": [16], "tile_dim": 4},
    "opponents": {"self": 1, "past": 1, "greedy": 0, "random": 1},
    "past": {"every": 384, "size": 2},
    "eval": {"every": 1536, "games": 1},
    "checkpoint_every": 384,
}


def small(**changes: Any) -> ScriptoriumConfig:
    config = load_config(SMALL | changes)
    assert isinstance(config, ScriptoriumConfig)
    return config


def make_learner(**changes: Any) -> tuple[Learner, SelfPlayPPO, SelfPlayRollout]:
    learner = Learner(small(**changes), torch.device("cpu"), False)
    model = learner.model
    assert isinstance(model, SelfPlayPPO)
    assert isinstance(model.rollout, SelfPlayRollout)
    return learner, model, model.rollout


def games_of(learner: Learner) -> SelfPlayVecEnv:
    assert isinstance(learner.environment, SelfPlayVecEnv)
    return learner.environment


def roll(learner: Learner) -> None:
    model, steps = learner.model, learner.config.n_steps
    model.collect_rollouts(learner.environment, learner._callback, model.rollout_buffer, steps)


# Returns ------------------------------------------------------------------------------------------


def by_hand(r: Any, gamma: float, gae_lambda: float) -> dict[tuple[int, int], tuple[float, float]]:
    """{(t, row): (advantage, return)} of the learner's decisions, seat by seat, in plain loops."""
    steps, games, seats = r.rewards.shape
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for row in range(games):
        for seat in range(seats):
            # Stretches of one game; the last goes on after the rollout.
            decisions: list[list[float]] = []  # t, value, paid until the next decision
            for t in range(steps):
                if r.decided[t, row] and int(r.movers[t, row]) == seat:
                    decisions.append([t, float(r.values[t, row]), 0.0])
                if decisions:
                    decisions[-1][2] += float(r.rewards[t, row, seat])
                if r.dones[t, row]:
                    found |= {
                        (int(d[0]), row): x for d, x in gae(decisions, 0.0, gamma, gae_lambda)
                    }
                    decisions = []
            if decisions:
                *known, last = decisions
                found |= {(int(d[0]), row): x for d, x in gae(known, last[1], gamma, gae_lambda)}
    return found


def gae(decisions: list[list[float]], after: float, gamma: float, gae_lambda: float) -> Any:
    """Advantages as the sum over later errors, written out."""
    values = [d[1] for d in decisions] + [after]
    errors = [d[2] + gamma * values[i + 1] - values[i] for i, d in enumerate(decisions)]
    for i, d in enumerate(decisions):
        advantage = sum((gamma * gae_lambda) ** j * e for j, e in enumerate(errors[i:]))
        yield d, (advantage, advantage + d[1])


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_returns_of_every_seat_are_those_of_plain_loops(gamma: float) -> None:
    learner, _, r = make_learner(
        gamma=gamma, n_steps=500, reward={"outcome": 1, "margin": 0.1, "score": 0.01}
    )
    roll(learner)
    assert r.dones.sum() > 10
    wanted = by_hand(r, gamma, 0.95)
    records = r.records().tolist()
    games = r.actions.shape[1]
    assert sorted(wanted) == [divmod(i, games) for i in records]
    assert 0.3 < len(records) / r.actions.numel() < 0.95  # opponents decide too
    data = r.flat()
    for i in records:
        advantage, total = wanted[divmod(i, games)]
        assert float(data["advantages"][i]) == pytest.approx(advantage, abs=1e-4)
        assert float(data["returns"][i]) == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("reward", ["outcome", "margin", "score"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_a_seat_is_paid_adds_up_to_the_game(reward: str, players: int) -> None:
    """Rewards of whole games, seat by seat, are the payoffs that the rules name."""
    learner, _, _ = make_learner(players=players, reward=reward, reward_scale=2.0, num_envs=6)
    env = games_of(learner)
    engine = env.groups[0].engine
    paid = np.zeros((6, players))
    first = env.observe().copy()
    assert first.shape == (6, engine.layout.size)
    rng, ended = np.random.default_rng(0), 0
    start = engine.state.score.copy()
    while ended < 12:
        over_soon = engine.state.copy()
        masks = env.masks
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        rewards, dones = env.step_arrays(actions)
        paid += rewards
        for row in np.flatnonzero(dones):
            # The same last action in a copy of the game as it was shows the final score.
            twin = engine.empty_like(1)
            twin.put(np.array([0]), over_soon.take(np.array([row])))
            twin.apply(actions[row : row + 1])
            scores = twin.state.score.astype(np.int64)
            wanted = {
                "outcome": outcome(scores),
                "margin": margins(scores),
                "score": scores - start[row],
            }[reward]
            np.testing.assert_allclose(paid[row], 2 * wanted[0], atol=1e-4)
            paid[row] = 0
            ended += 1


# Who sits where -----------------------------------------------------------------------------------


def test_seats_rotate_and_opponents_are_drawn_by_weight() -> None:
    learner, model, _ = make_learner(
        num_envs=600, opponents={"self": 3, "past": 3, "greedy": 2, "random": 2}, past={"size": 3}
    )
    env = games_of(learner)
    for _ in range(3):
        model.take_snapshot()
    for group in env.groups:
        before = group.main.copy()
        group.episode += np.uint64(1)
        env._begin(group, group.all)
        own = group.seats == SELF
        assert own[group.all, group.main].all()
        assert (group.main == (before + 1) % group.players).all()
        counts = np.bincount(group.main)
        assert len(counts) == group.players
        assert counts.max() - counts.min() <= 1
        for number, name in enumerate(OPPONENTS):
            rows = group.opponent == number
            assert 0.1 < rows.mean() < 0.45
            others = group.seats[rows][~own[rows]]
            if name == "self":
                assert own[rows].all()
            elif name == "past":
                assert set(others.tolist()) == {PAST, PAST + 1, PAST + 2}
            else:
                assert set(others.tolist()) == {GREEDY if name == "greedy" else RANDOM}
                assert (own[rows].sum(axis=1) == 1).all()


class Last(Agent):
    """Takes the last legal action, and remembers whom it was asked about."""

    name = "last"

    def act(self, view: Any) -> Any:
        mask = view.action_mask
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


def test_opponents_choose_for_themselves_and_are_not_learned_from() -> None:
    learner, model, r = make_learner(
        opponents={"self": 0, "past": 1, "greedy": 1, "random": 1}, n_steps=200
    )
    model.greedy = Last()
    model.take_snapshot()
    with torch.no_grad():
        for parameter in model.past[0].parameters():
            parameter.add_(1.0)  # another policy than the latest
    before = {k: v.clone() for k, v in model.past[0].state_dict().items()}
    env = games_of(learner)
    holders = []
    play = env.step_arrays

    def watched(actions: Any) -> Any:
        holders.append(env.holders.copy())
        greedy = env.holders == GREEDY
        masks = env.masks
        last = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        assert (actions[greedy] == last[greedy]).all()
        return play(actions)

    env.step_arrays = watched  # type: ignore[method-assign]
    for _ in range(3):
        holders.clear()
        roll(learner)
    seen = np.stack(holders)
    assert {SELF, GREEDY, RANDOM, PAST} <= set(np.unique(seen).tolist())
    decided = r.decided.numpy()
    assert not decided[seen != SELF].any()
    forced = r.masks.sum(dim=2).numpy() == 1
    np.testing.assert_array_equal(decided, (seen == SELF) & ~forced)
    model.train()
    for name, value in model.past[0].state_dict().items():
        assert torch.equal(value, before[name])
    assert all(not p.requires_grad and p.grad is None for p in model.past[0].parameters())
    # What is recorded is what the latest policy thinks of it.
    fresh, _, r2 = make_learner(seed=3)
    roll(fresh)
    records, data = r2.records(), r2.flat()
    values, log_probs, _ = fresh.model.policy.evaluate(  # type: ignore[operator]
        data["obs"][records], data["actions"][records], data["masks"][records]
    )
    torch.testing.assert_close(values.flatten(), data["values"][records], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(log_probs, data["log_probs"][records], atol=1e-5, rtol=1e-4)


def test_the_pool_keeps_the_latest_snapshots() -> None:
    learner, model, _ = make_learner()
    for number in range(5):
        with torch.no_grad():
            for parameter in model.policy.parameters():
                parameter.fill_(number)
        model.take_snapshot()
    kept = [int(next(iter(p.parameters())).flatten()[0]) for p in model.past]
    assert kept == [4, 3]
    assert games_of(learner).filled == 2


# Runs ---------------------------------------------------------------------------------------------


def state_of(trainer: Trainer) -> dict[str, Any]:
    """Everything that decides what comes next, by name."""
    model, environment, progress = trainer.learner.get_state()
    return {
        **{f"model.{k}": v for k, v in model.items()},
        **{f"environment.{k}": v for k, v in environment.items()},
        **progress,
    }


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl without what depends on the clock."""
    timed = {"seconds", "cpu_seconds", "steps_per_second"}
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(x).items() if k not in timed} for x in lines]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trainer, Path]:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    trainer = Trainer.start(small(), folder)
    trainer.run(quiet=True)
    return trainer, folder


@pytest.mark.parametrize("stop", [384, 1152])
def test_resuming_is_going_on(stop: int, finished: tuple[Trainer, Path], tmp_path: Path) -> None:
    """N steps, then resumed: bit for bit the uninterrupted run, snapshots included."""
    whole, whole_folder = finished
    folder = tmp_path / "parts"
    Trainer.start(small(), folder).run(stop_after=stop, quiet=True)
    torch.manual_seed(99)  # whatever happened to the generators in between
    np.random.seed(99)  # noqa: NPY002
    resumed = Trainer.resume(folder)
    assert resumed.learner.steps == stop
    resumed.run(quiet=True)
    a, b = state_of(whole), state_of(resumed)
    assert set(a) == set(b)
    assert {"model.past.0.action_net.last.weight", "model.past.1.action_net.last.weight"} <= set(a)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    assert metrics(whole_folder) == metrics(folder)
    assert resumed.best == whole.best


def test_the_run_folder_says_how_it_went(finished: tuple[Trainer, Path]) -> None:
    trainer, folder = finished
    assert load_config(folder / "config.yaml") == small()
    evaluations = [line for line in metrics(folder) if "eval_mean" in line]
    assert [line["steps"] for line in evaluations] == [1536]
    for line in evaluations:
        for players in (2, 3, 4):
            for baseline in ("greedy", "random"):
                prefix = f"eval/{players}/{baseline}"
                assert 0 <= line[f"{prefix}/win_share"] <= 1
                assert {f"{prefix}/margin", f"{prefix}/score"} <= set(line)
        shares = [line[f"eval/{players}/greedy/win_share"] for players in (2, 3, 4)]
        assert line["eval_mean"] == pytest.approx(np.mean(shares), abs=1e-5)
    policy = load_policy(folder / "policy", load_edition("scriptorium"))
    assert policy.description["players"] == [2, 3, 4]
    receipt = policy.description["training"]
    assert receipt["evaluation"] == trainer.best
    assert receipt["config"]["opponents"] == {"self": 1, "past": 1, "greedy": 0, "random": 1}
    assert [point["steps"] for point in receipt["curve"]] == [1536]
    text = report(trainer.summary())
    assert "win share against greedy" in text
    assert "incunabula league scriptorium" in text
    assert [line for line in metrics(folder) if "train/value_loss" in line]


def test_the_saved_policy_plays_as_the_learner_at_every_table(
    finished: tuple[Trainer, Path],
) -> None:
    trainer, folder = finished
    edition = load_edition("scriptorium")
    learner = trainer.learner
    engine = games_of(learner).groups[0].engine
    policy = load_policy(folder / "policy-last", edition)
    network = NumpyNetwork(policy.network, policy.weights, engine.tables)
    shapes = expected_shapes(policy.network, engine)
    assert {name: array.shape for name, array in policy.weights.items()} == shapes
    obs = learner.environment.observe().copy()
    with torch.no_grad():
        logits = learner.model.policy.logits(torch.from_numpy(obs))  # type: ignore[operator]
        values = learner.model.policy.predict_values(torch.from_numpy(obs))
    np.testing.assert_allclose(network.logits(obs), logits.numpy(), atol=1e-5)
    np.testing.assert_allclose(network.values(obs), values.numpy()[:, 0], atol=1e-5)
    agent = PolicyAgent(folder / "policy-last", edition)
    for players in (2, 3, 4):
        seats = np.zeros((1, players), np.intp)  # in every seat
        games = [
            play_tables([agent], seats, edition, seed_list("dev", 2), batch_size=size)
            for size in (1, 2)
        ]
        np.testing.assert_array_equal(games[0].scores, games[1].scores)
        assert (games[0].decisions > 50).all()


def test_a_policy_says_when_there_are_more_or_fewer_players(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    config = small(players=2, total_steps=768, eval={"every": 10**6, "games": 1})
    Trainer.start(config, folder).run(quiet=True)
    edition = load_edition("scriptorium")
    agent = PolicyAgent(folder / "policy", edition)
    assert agent.policy.description["players"] == [2]
    deals = seed_list("dev", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play_tables([agent], np.zeros((1, 2), np.intp), edition, deals)
    with pytest.warns(PolicyWarning, match="trained for 2 players and now plays with 3"):
        play_tables([agent], np.zeros((1, 3), np.intp), edition, deals)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"players": []}, "players: must be a list of numbers from 2 to 4"),
        ({"players": [2, 7]}, "players: must be a list"),
        ({"players": [True]}, "players: must be a list"),
        ({"players": None}, "players: must be a list"),
        ({"game": "chess"}, "plays 'chess', not 'scriptorium'"),
        (
            {"network": {"kind": "towers"}},
            "network.kind: is 'towers', but must be one of mlp, tiles",
        ),
        ({"network": {"kind": "tiles", "layers": [8]}}, "network.activation"),
    ],
)
def test_policy_folders_are_checked(
    changes: dict[str, Any], words: str, finished: tuple[Trainer, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "policy"
    shutil.copytree(finished[1] / "policy", folder)
    path = folder / "policy.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(IncunabulaError) as caught:
        load_policy(folder, load_edition("scriptorium"))
    assert words in str(caught.value)


@pytest.mark.parametrize("reward", ["outcome", "margin", "score"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_reward_and_number_of_players_trains(reward: str, players: int) -> None:
    learner, model, _ = make_learner(
        players=players, reward=reward, num_envs=4, network={"layers": [8]}
    )
    before = [p.clone() for p in model.policy.parameters()]
    figures = learner.step()
    assert np.isfinite(list(figures.values())).all()
    for old, (name, new) in zip(before, model.policy.named_parameters(), strict=True):
        assert not torch.equal(old, new), name
        assert torch.isfinite(new).all()


# Greedy as opponent, teacher and advisor ----------------------------------------------------------


def test_a_teacher_is_imitated_in_every_seat() -> None:
    learner, _, _ = make_learner(
        network={"kind": "mlp", "layers": [32]},
        clone={"decisions": 20_000, "epochs": 4, "batch_size": 256, "num_envs": 48},
    )
    figures = clone_teacher(learner, Last())
    assert figures["agreement"] > 0.9


def test_with_an_advisor_it_starts_as_the_advisor(tmp_path: Path) -> None:
    config = small(
        network={"layers": [8], "advisor": "greedy", "advice": 50.0},
        opponents={"self": 1, "past": 1, "greedy": 1},
        learning_rate={"start": 0, "end": 0},
        total_steps=1536,
        eval={"every": 1536, "games": 4},
    )
    trainer = Trainer.start(config, tmp_path / "run")
    trainer.run(quiet=True)
    assert trainer.last_evaluation is not None
    # From every seat of a deal, greedy against itself has exactly its share.
    for players in (2, 3, 4):
        share = trainer.last_evaluation[f"eval/{players}/greedy/win_share"]
        assert share == pytest.approx(1 / players, abs=1e-6)


# The command ------------------------------------------------------------------------------------


def test_options_of_the_command(tmp_path: Path) -> None:
    for arguments, words in (
        ({"game": "bibliogamo", "players": "2"}, "bibliogamo has one player"),
        ({"game": "scriptorium", "players": "2,x"}, "isn't a number, or numbers"),
        ({"game": "scriptorium", "players": "5"}, "players[0]: is 5"),
        ({"game": "scriptorium", "config": "long"}, "is for 'bibliogamo', not for 'scriptorium'"),
        ({"resume": str(tmp_path), "players": "2"}, "players: can't be given with resume"),
    ):
        with pytest.raises(IncunabulaError) as caught:
            train(**arguments, quiet=True)  # type: ignore[arg-type]
        assert words in str(caught.value)


# Learning -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_learns_to_beat_random_play() -> None:
    learner, _, _ = make_learner(
        players=2,
        num_envs=128,
        n_steps=64,
        batch_size=1024,
        n_epochs=3,
        total_steps=200_000,
        reward={"outcome": 1, "margin": 0.05},
        network={"layers": [64]},
        opponents={"self": 1, "past": 0, "greedy": 0, "random": 1},
    )
    while learner.steps < 200_000:
        learner.step()
    assert learner.environment.statistics()["random/win_share"] > 0.75
