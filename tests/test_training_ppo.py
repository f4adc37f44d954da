"""The lean MaskablePPO: the same numbers as sb3-contrib's, from the same rollouts."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sb3_contrib = pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.logger import Logger  # noqa: E402
from stable_baselines3.common.vec_env import VecNormalize  # noqa: E402

from incunabula.agents.networks import NumpyNetwork, expected_shapes  # noqa: E402
from incunabula.envs.adapters.sb3 import BibliogamoSB3VecEnv  # noqa: E402
from incunabula.envs.errors import IllegalActionError  # noqa: E402
from incunabula.training.ppo.bench import compare  # noqa: E402
from incunabula.training.ppo.config import Network, Shaping, load_config  # noqa: E402
from incunabula.training.ppo.lean import LeanMaskablePPO, Rollout  # noqa: E402
from incunabula.training.ppo.learner import Learner  # noqa: E402
from incunabula.training.ppo.modules import HandScores  # noqa: E402
from incunabula.training.ppo.network import LeanPolicy, masked_log_softmax, sample  # noqa: E402
from incunabula.training.ppo.precision import choose_device, choose_precision  # noqa: E402
from incunabula.training.ppo.vecenv import TrainingVecEnv  # noqa: E402

GAMES, STEPS = 16, 8
HYPERPARAMETERS: dict[str, Any] = {
    "n_steps": STEPS,
    "batch_size": GAMES * STEPS,
    "n_epochs": 1,
    "gamma": 0.99,
    "gae_lambda": 0.9,
    "ent_coef": 0.02,
    "learning_rate": 1e-3,
    "seed": 3,
    "device": "cpu",
}


def environment(games: int = GAMES, **options: Any) -> TrainingVecEnv:
    return TrainingVecEnv(games, seed=5, gamma=0.99, shaping=Shaping(), **options)


def lean(env: TrainingVecEnv, network: Network, bf16: bool = False, **changes: Any) -> Any:
    model = LeanMaskablePPO(
        LeanPolicy,
        env,
        policy_kwargs={"network": network, "engine": env.engine, "bf16": bf16},
        **(HYPERPARAMETERS | changes),
    )
    return prepared(model)


def prepared(model: Any) -> Any:
    model.set_logger(Logger(None, []))
    _, model.callback = model._setup_learn(1000)
    return model


def roll(model: Any) -> None:
    model.collect_rollouts(model.env, model.callback, model.rollout_buffer, model.n_steps)


@pytest.fixture(scope="module")
def twins() -> tuple[Any, Any]:
    """A lean and a stock learner of equal weights, after a rollout both have in their buffers."""
    network = Network(layers=(32, 16))
    a = lean(environment(), network)
    b = prepared(
        MaskablePPO(
            MaskableActorCriticPolicy,
            environment(),
            policy_kwargs={"net_arch": {"pi": [32, 16], "vf": [32, 16]}},
            **HYPERPARAMETERS,
        )
    )
    with torch.no_grad():  # away from the start, where all logits are nearly 0
        for parameter in a.policy.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    b.policy.load_state_dict(a.policy.state_dict())
    for _ in range(12):
        roll(a)
    buffer, r = b.rollout_buffer, a.rollout
    buffer.reset()
    for name, tensor in (
        ("observations", r.obs),
        ("actions", r.actions[..., None]),
        ("rewards", r.rewards),
        ("episode_starts", r.starts),
        ("values", r.values),
        ("log_probs", r.log_probs),
        ("action_masks", r.masks),
    ):
        array = getattr(buffer, name)
        array[:] = tensor.numpy().reshape(array.shape)
    buffer.full = True
    return a, b


def test_parameters_have_the_stock_names_and_start_equal() -> None:
    torch.manual_seed(0)
    env = environment(2)
    mine = LeanPolicy(env.observation_space, env.action_space, lambda _: 1e-3, Network())
    torch.manual_seed(0)
    stock = MaskableActorCriticPolicy(
        env.observation_space, env.action_space, lambda _: 1e-3, net_arch=[256, 256]
    )
    for (a, x), (b, y) in zip(mine.state_dict().items(), stock.state_dict().items(), strict=True):
        assert a == b
        assert torch.equal(x, y)


def test_policy_agrees_with_the_stock_one(twins: tuple[Any, Any]) -> None:
    a, b = twins
    data = a.rollout.flat()
    mine = a.policy.evaluate_actions(data["obs"], data["actions"], data["masks"])
    stock = b.policy.evaluate_actions(data["obs"], data["actions"], data["masks"])
    for x, y in zip(mine, stock, strict=True):
        torch.testing.assert_close(x, y)
    torch.testing.assert_close(a.policy.predict_values(data["obs"]), stock[0])
    masks = data["masks"].numpy()
    for deterministic in (True, False):
        action, value, log_prob = a.policy(data["obs"], deterministic, masks)
        assert data["masks"][torch.arange(len(action)), action].all()
        torch.testing.assert_close(value, stock[0])
        _, again, _ = b.policy.evaluate_actions(data["obs"], action, data["masks"])
        torch.testing.assert_close(log_prob, again)
    np.testing.assert_array_equal(
        a.policy.predict(data["obs"].numpy(), action_masks=masks, deterministic=True)[0],
        b.policy.predict(data["obs"].numpy(), action_masks=masks, deterministic=True)[0],
    )


def test_advantages_agree_with_the_stock_ones(twins: tuple[Any, Any]) -> None:
    a, b = twins
    assert a.rollout.starts.sum() > 0
    with torch.no_grad():
        last = a.policy.predict_values(torch.from_numpy(a._last_obs)).flatten()
    dones = np.arange(GAMES) % 3 == 0
    b.rollout_buffer.compute_returns_and_advantage(last, dones)
    a.rollout.compute_returns(last, torch.from_numpy(dones).float(), 0.99, 0.9)
    np.testing.assert_allclose(a.rollout.advantages, b.rollout_buffer.advantages, atol=1e-6)
    np.testing.assert_allclose(a.rollout.returns, b.rollout_buffer.returns, atol=1e-6)


def test_an_update_agrees_with_the_stock_one(twins: tuple[Any, Any]) -> None:
    a, b = twins
    for name in ("advantages", "returns"):
        array = getattr(b.rollout_buffer, name)
        array[:] = getattr(a.rollout, name).numpy()
    before = {k: v.clone() for k, v in a.policy.state_dict().items()}
    a.train()
    b.train()
    for name in (
        *("policy_gradient_loss", "value_loss", "entropy_loss", "loss", "approx_kl"),
        *("clip_fraction", "explained_variance"),
    ):
        figures = [m.logger.name_to_value[f"train/{name}"] for m in (a, b)]
        assert figures[0] == pytest.approx(figures[1], rel=1e-3, abs=1e-6), name
    for (name, x), (_, y) in zip(
        a.policy.named_parameters(), b.policy.named_parameters(), strict=True
    ):
        assert x.grad.abs().sum() > 0
        torch.testing.assert_close(x.grad, y.grad, rtol=1e-3, atol=1e-7)
        assert not torch.equal(x, before[name])
        # Adam's first step is the gradient's sign, which rounding decides where it is about 0.
        close = torch.isclose(x, y, atol=1e-5)
        assert close.float().mean() > 0.99


@pytest.mark.parametrize("kind", ["mlp", "cards", "towers"])
def test_every_network_learns_something(kind: Any) -> None:
    model = lean(environment(), Network(kind=kind, layers=(16,), card_dim=4, tower_dim=4))
    for _ in range(20):  # until there are florins, so that walking is learned too
        roll(model)
    before = [p.clone() for p in model.policy.parameters()]
    model.train()
    for old, (name, new) in zip(before, model.policy.named_parameters(), strict=True):
        assert not torch.equal(old, new), name
        assert torch.isfinite(new).all()


def test_hand_scores_have_the_gradients_torch_finds() -> None:
    torch.manual_seed(0)
    ids = torch.randint(0, 7, (5, 3))
    queries = torch.randn(5, 4, 2, requires_grad=True)
    keys = torch.randn(7, 2, requires_grad=True)
    weights = torch.randn(5, 3, 4)
    plain = torch.einsum("bhd,bpd->bhp", keys[ids], queries)
    wanted = torch.autograd.grad((plain * weights).sum(), (queries, keys))
    scores = HandScores.apply(queries, keys, ids)
    torch.testing.assert_close(scores, plain)
    found = torch.autograd.grad((scores * weights).sum(), (queries, keys))
    for x, y in zip(found, wanted, strict=True):
        torch.testing.assert_close(x, y)


@pytest.mark.parametrize("edition", ["bibliogamo", "bibliogamo-tiny"])
@pytest.mark.parametrize("kind", ["mlp", "cards", "towers"])
def test_networks_are_those_of_the_policy_folder(kind: Any, edition: str) -> None:
    """torch's training networks and NumPy's playing networks compute the same."""
    config = load_config(
        {
            "game": "bibliogamo",
            "edition": edition,
            "total_steps": 1000,
            "num_envs": 64,
            "n_steps": 8,
            "batch_size": 64,
            "network": {"kind": kind, "layers": [24, 16], "value_layers": [8]},
        }
    )
    learner = Learner(config, torch.device("cpu"), False)
    learner.step()
    with torch.no_grad():
        for parameter in learner.model.policy.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    assert isinstance(learner.environment, TrainingVecEnv)
    engine = learner.environment.engine
    obs = engine.observe()
    weights, network = learner.weights(), learner.network()
    shapes = expected_shapes(network, engine)
    assert {name: array.shape for name, array in weights.items()} == shapes
    numpy_network = NumpyNetwork(network, weights, engine.tables)
    policy = learner.model.policy
    assert isinstance(policy, LeanPolicy)
    with torch.no_grad():
        logits, values = policy.logits_and_values(policy.encode(torch.from_numpy(obs)))
    np.testing.assert_allclose(numpy_network.logits(obs), logits, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(numpy_network.values(obs), values[:, 0], rtol=1e-4, atol=1e-5)


def test_hand_slots_are_interchangeable_for_networks_that_know_cards() -> None:
    """Swapping two cards' slots in an observation swaps the logits of their actions."""
    env = environment()
    env.reset()
    engine = env.engine
    actions, hand = engine.actions, engine.layout.fields["hand"]
    obs = torch.from_numpy(engine.observe())
    swapped = obs.clone()
    slots = swapped[:, hand.slice].view(GAMES, *hand.shape)
    slots[:, [0, 3]] = slots[:, [3, 0]]
    order = np.arange(actions.n)
    for action in range(actions.n):
        form = actions.describe(action)
        if "slot" in form:
            other = {0: 3, 3: 0}.get(form["slot"], form["slot"])
            step = actions.towers if form["type"] == "hire" else 1
            order[action] = action + (other - form["slot"]) * step
    for kind in ("cards", "towers"):
        network = Network(kind=kind, layers=(16,), card_dim=4, tower_dim=4)
        policy = lean(env, network).policy
        with torch.no_grad():
            torch.testing.assert_close(policy.logits(swapped), policy.logits(obs)[:, order])


def test_bf16_is_close_to_float32() -> None:
    """In the networks alone: log-probabilities and losses stay float32."""
    env = environment()
    for kind in ("mlp", "towers"):
        network = Network(kind=kind, layers=(64, 64))
        exact, rough = lean(env, network), lean(env, network, bf16=True)
        rough.policy.load_state_dict(exact.policy.state_dict())
        roll(rough)
        data = rough.rollout.flat()
        assert all(data[n].dtype == torch.float32 for n in ("log_probs", "values", "returns"))
        x = exact.policy.evaluate(data["obs"], data["actions"], data["masks"])
        y = rough.policy.evaluate(data["obs"], data["actions"], data["masks"])
        for a, b in zip(x, y, strict=True):
            assert b.dtype == torch.float32
            torch.testing.assert_close(a, b, rtol=0.02, atol=0.02)
        rough.train()
        assert all(torch.isfinite(p).all() for p in rough.policy.parameters())
        assert all(p.dtype == torch.float32 for p in rough.policy.parameters())


def test_precision_is_chosen_and_said() -> None:
    device = choose_device(None)
    assert choose_precision("float32", device) == (False, "float32")
    assert choose_precision("bf16", device)[0]
    _, words = choose_precision("auto", device)
    assert "float" in words


# Masks --------------------------------------------------------------------------------------------


def test_sampling_follows_the_probabilities_and_never_the_impossible() -> None:
    torch.manual_seed(0)
    logits = torch.randn(1, 52).repeat(200_000, 1)
    masks = torch.zeros(1, 52, dtype=torch.bool)
    masks[0, [3, 4, 17, 50]] = True
    log_probs = masked_log_softmax(logits, masks.expand_as(logits))
    actions = sample(log_probs)
    share = torch.bincount(actions, minlength=52) / len(actions)
    assert (share[~masks[0]] == 0).all()
    torch.testing.assert_close(share, log_probs[0].exp(), atol=4e-3, rtol=0)


def test_one_legal_action_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = torch.eye(52, dtype=torch.bool)
    log_probs = masked_log_softmax(torch.randn(52, 52) * 20, masks)
    for extreme in (0.0, 1.0 - 2.0**-24):
        monkeypatch.setattr(torch, "rand", lambda *s, e=extreme, **_: torch.full(s, e))
        assert torch.equal(sample(log_probs), torch.arange(52))


def test_masked_distributions_can_be_validated_and_masked_twice() -> None:
    """No "simplex" error at this action count, one-legal masks included."""
    env = environment(52)
    obs = torch.from_numpy(env.reset())
    policy = lean(env, Network(layers=(16,))).policy
    masks = np.eye(env.engine.actions.n, dtype=np.bool_)
    torch.distributions.Distribution.set_default_validate_args(True)
    try:
        distribution = policy.get_distribution(obs, masks)
        distribution.apply_masking(env.masks)
        distribution.apply_masking(masks)
        assert (distribution.get_actions().numpy() == np.arange(52)).all()
        assert torch.isfinite(distribution.entropy()).all()
    finally:
        torch.distributions.Distribution.set_default_validate_args(__debug__)


def test_evaluating_without_masks_is_an_error() -> None:
    model = lean(environment(), Network(layers=(16,)))
    with pytest.raises(IllegalActionError):
        evaluate_policy(model, BibliogamoSB3VecEnv(4, seed=0), n_eval_episodes=4, warn=False)


def test_normalising_leaves_masks_alone() -> None:
    inner = environment(4)
    env = VecNormalize(inner)
    env.reset()
    for _ in range(5):
        (masks,) = env.env_method("action_masks")
        assert masks.dtype == np.bool_
        np.testing.assert_array_equal(masks, inner.engine.legal())
        env.step(masks.argmax(axis=1))


def test_stock_algorithms_train_on_the_training_environment() -> None:
    model = MaskablePPO("MlpPolicy", environment(), n_steps=STEPS, batch_size=64, device="cpu")
    model.learn(2 * GAMES * STEPS)
    assert model.num_timesteps == 2 * GAMES * STEPS


def test_rollout_is_reused() -> None:
    rollout = Rollout(2, 3, 4, 5, "cpu")
    assert {n: tuple(t.shape) for n, t in rollout.flat().items()} == {
        "obs": (6, 4),
        "masks": (6, 5),
        "actions": (6,),
        "advice": (6,),
        "log_probs": (6,),
        "values": (6,),
        "advantages": (6,),
        "returns": (6,),
    }
    rollout.obs[1, 2, 3] = 7
    assert rollout.flat()["obs"][5, 3] == 7


def test_the_comparison_of_speeds_measures_both() -> None:
    found = compare(num_envs=8, n_steps=4, batch_size=16, layers=(8,), threads=(1, 2), rounds=1)
    measured = {(row["learner"], row["threads"]) for row in found["rows"]}
    assert {("stock", 1), ("lean", 1), ("stock", 2), ("lean", 2)} <= measured
    assert found["ratio"]["lean"] > 0
