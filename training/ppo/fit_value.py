"""`python -m incunabula.training.ppo.fit_value POLICY OUT`: a value network for a search.

The critic of PPO expects discounted and shaped rewards, so its values can't be added to points.
This fits the value network of a policy anew, by regression on what comes of games that the policy
plays with itself on `dev` deals: first on the returns, then, as these are noisy, on λ-returns
(Sutton, "Learning to predict by the methods of temporal differences", 1988) that look ahead by the
network itself. Nothing is discounted. The policy stays as it is.
"""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import typer
from torch import nn

from incunabula.agents.agent import View
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.networks import NumpyNetwork
from incunabula.agents.policy_folder import Policy, load_policy, save_policy
from incunabula.agents.search.guide import earned, reward_weights
from incunabula.cli import run
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.seeds import seed_list

Float16Array = npt.NDArray[np.float16]
Float32Array = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

# Values are points (of Bibliogamo) divided by this, to be about 1.
SCALE = {"bibliogamo": 10.0, "scriptorium": 1.0}
FIRST_DEAL = 1_000_000  # of `dev`: not the deals on which choices are made
BATCH = 2048
LEARNING_RATE = 5e-4
LAMBDA = 0.95


class Positions(NamedTuple):
    """Decisions of many games, those of one seat of one game after another.

    `have` is what was safe then, `paid` what the game came to in the end, in payoffs.
    """

    inputs: Float16Array  # (n, inputs) of the value network; halves, to save memory
    line: Rows  # (n,) which seat of which game, ascending
    have: Float32Array  # (n,)
    paid: Float32Array  # (n,)


def play(policy: Policy, games: int, players: int, start: int) -> Positions:
    """Positions in which there was a choice, of games the policy played with itself."""
    edition = load_any_edition(str(policy.description["edition"]))
    engine: Engine
    if edition.game == "scriptorium":
        engine = ScriptoriumEngine(edition, games, players, "auto")
    else:
        engine = BibliogamoEngine(edition, games, "auto")
    agent, network = (
        PolicyAgent(policy),
        NumpyNetwork(policy.network, policy.weights, engine.tables),
    )
    engine.deal(np.arange(games), seed_list("dev", games, start=start))
    weights = reward_weights(policy)
    parts: list[tuple[Any, ...]] = []
    live, step = np.arange(games), 0
    while live.size:
        view = View(engine, live, live.astype(np.uint64), np.full(len(live), step))
        free = view.action_mask.sum(axis=1) > 1
        inputs = network.value_inputs(view.observation[free]).astype(np.float16)
        seat = view.seat[free]
        have = earned(engine, live, weights)[np.flatnonzero(free), seat]
        parts.append((inputs, live[free] * players + seat, have.astype(np.float32)))
        _, over = engine.apply(agent.act(view), live)
        live, step = live[~over], step + 1
    inputs, line, have = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    paid = earned(engine, np.arange(games), weights).reshape(-1)
    line = line[order]
    return Positions(inputs[order], line, have[order], paid[line].astype(np.float32))


class ValueNetwork(nn.Module):
    """As `agents.networks` has it."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        depth = len(policy.network["value_layers"])
        self.layers = nn.ModuleList()
        for i in range(depth + 1):
            weight = torch.from_numpy(policy.weights[f"value.{i}.weight"].copy())
            layer = nn.Linear(weight.shape[1], weight.shape[0])
            layer.weight.data, layer.bias.data = (
                weight,
                torch.from_numpy(policy.weights[f"value.{i}.bias"].copy()),
            )
            self.layers.append(layer)
        self.activate = torch.tanh if policy.network["activation"] == "tanh" else torch.relu

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """float32 (n, inputs) -> (n,)."""
        for layer in self.layers[:-1]:
            x = self.activate(layer(x))
        out: torch.Tensor = self.layers[-1](x)
        return out[:, 0]

    def values(self, inputs: Float16Array) -> Float32Array:
        """The same in NumPy, in parts."""
        with torch.inference_mode():
            parts = [self(_tensor(inputs[i : i + 8192])) for i in range(0, len(inputs), 8192)]
        return torch.cat(parts).numpy()

    def arrays(self) -> dict[str, Float32Array]:
        """As a policy folder names them."""
        return {
            f"value.{i}.{name}": array.detach().numpy()
            for i, layer in enumerate(self.layers)
            for name, array in layer.named_parameters()
        }


def _tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    return torch.from_numpy(array.astype(np.float32))


def lambda_returns(seen: Positions, values: Float32Array, share: float) -> Float32Array:
    """λ-returns to the end of each game, in payoffs, float32 (n,); `values` (n,) are payoffs still
    to come."""
    n = len(seen.line)
    found = (seen.paid - seen.have).astype(np.float32)
    last = np.flatnonzero(np.diff(seen.line, append=-1))
    first = np.concatenate([[0], last[:-1] + 1])
    for back in range(1, int((last - first).max()) + 1 if n else 0):
        at = last[last - first >= back] - back
        gained = seen.have[at + 1] - seen.have[at]
        found[at] = gained + share * found[at + 1] + (1 - share) * values[at + 1]
    return found


def fit(
    policy: Policy, seen: Positions, *, epochs: int = 2, rounds: int = 2, seed: int = 0
) -> tuple[dict[str, Float32Array], dict[str, float]]:
    """New value arrays, and the error on games held out (one in ten): `error` and `spread`, the
    standard deviation of what is expected from what came, and of what came by itself."""
    scale = SCALE[str(policy.description["game"])]
    network = ValueNetwork(policy)
    held = seen.line >= np.quantile(seen.line, 0.9)
    train = np.flatnonzero(~held)
    came = seen.paid - seen.have
    rng = np.random.default_rng(seed)
    for round_ in range(1 + rounds):
        target = came
        if round_:
            target = lambda_returns(seen, network.values(seen.inputs) * scale, LAMBDA)
        _learn(network, seen.inputs, target / np.float32(scale), train, epochs, rng)
    off = network.values(seen.inputs[held]) * scale - came[held]
    figures = {"error": float(off.std()), "bias": float(off.mean())}
    return network.arrays(), figures | {"spread": float(came[held].std())}


def _learn(
    network: ValueNetwork,
    inputs: Float16Array,
    target: Float32Array,
    train: Rows,
    epochs: int,
    rng: np.random.Generator,
) -> None:
    """Some passes, the learning rate falling to 0."""
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    steps = epochs * -(-len(train) // BATCH)
    plan = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, steps)
    for _ in range(epochs):
        order = rng.permutation(train)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            loss = (network(_tensor(inputs[chosen])) - _tensor(target[chosen])).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            plan.step()


def fit_folder(policy: Path, out: Path, games: int, players: int) -> dict[str, float]:
    """Write the policy with a new value network; its error on games held out."""
    given = load_policy(policy)
    edition = load_any_edition(str(given.description["edition"]))
    loaded = load_policy(policy, edition)
    seen = play(loaded, games, players, FIRST_DEAL)
    arrays, figures = fit(loaded, seen)
    value = {
        "scale": SCALE[edition.game],
        "games": games,
        "deals": f"dev from {FIRST_DEAL}",
        "positions": len(seen.line),
        **{name: round(figure, 4) for name, figure in figures.items()},
    }
    save_policy(
        out,
        {**loaded.weights, **arrays},
        edition=edition,
        network=loaded.network,
        training=dict(loaded.description["training"], value=value),
        players=loaded.description.get("players"),
    )
    return figures


def _main(
    policy: Annotated[Path, typer.Argument(help="A policy folder.")],
    out: Annotated[Path, typer.Argument(help="A new folder.")],
    games: Annotated[int, typer.Option(min=10, help="Games to learn from.")] = 5000,
    players: Annotated[int, typer.Option(min=1, max=4, help="Seats (Scriptorium).")] = 1,
) -> None:
    """Fit a policy's value network to undiscounted payoffs."""
    figures = fit_folder(policy, out, games, players)
    typer.echo(", ".join(f"{name} {figure:.3f}" for name, figure in figures.items()))


if __name__ == "__main__":
    run(lambda: typer.run(_main))
