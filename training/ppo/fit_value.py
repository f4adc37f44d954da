"""`python -m incunabula.training.ppo.fit_value POLICY OUT`: a value network for a search.

The critic of PPO expects discounted and shaped rewards, so its values can't be added to points.
This fits the value network of a policy anew, by regression on what comes of games on `dev` deals:
first on the returns, then, as these are noisy, on λ-returns (Sutton, "Learning to predict by the
methods of temporal differences", 1988) that look ahead by the network itself; each round takes
noise out of the next one's targets. Nothing is discounted. The policy stays as it is.

A search goes where it is promised most, so a value must also be right about positions that good
play avoids. Every game begins with a stretch in which actions are now and then, in some games
often, drawn at random; what is learnt from is what comes after it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import typer
from torch import nn

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.baselines import make_greedy
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

# Share of random actions in the first stretch of a game: of most games the first.
RATES, SHARES = (0.05, 0.2, 0.5, 1.0), (0.85, 0.05, 0.05, 0.05)
STRETCH = (-60, 165)  # decisions: the stretch is drawn from these, and is often empty
# Values are points (of Bibliogamo) divided by this, to be about 1.
SCALE = {"bibliogamo": 10.0, "scriptorium": 1.0}
FIRST_DEAL = 1_000_000  # of `dev`: not the deals on which choices are made
TOGETHER = 4096  # games played at once
BATCH = 4096
LEARNING_RATE = 2e-3
LAMBDAS = (0.8, 0.7, 0.6)  # of the rounds after the first


class Positions(NamedTuple):
    """Decisions of many games, those of one seat of one game after another.

    `have` is what was safe then, `paid` what the game came to in the end, in payoffs.
    """

    inputs: Float16Array  # (n, inputs) of the value network; halves, to save memory
    line: Rows  # (n,) which seat of which game, ascending
    have: Float32Array  # (n,)
    paid: Float32Array  # (n,)


def play(policy: Policy, games: int, players: int, start: int, seed: int = 0) -> Positions:
    """Positions of games that the policy played with itself, or, where it hears an advisor, that
    one, as it does in a search: of a solitaire those at the start of a turn, where a search cuts
    off; of others all in which there was a choice."""
    edition = load_any_edition(str(policy.description["edition"]))
    engine: Engine
    if edition.game == "scriptorium":
        engine = ScriptoriumEngine(edition, min(games, TOGETHER), players, "auto")
    else:
        engine = BibliogamoEngine(edition, min(games, TOGETHER), "auto")
    agent: Agent = PolicyAgent(policy)
    if policy.network["advisor"] is not None:
        agent = make_greedy(edition.game)
    network = NumpyNetwork(policy.network, policy.weights, engine.tables)
    weights = reward_weights(policy)
    deals = seed_list("dev", games, start=start)
    parts = [
        _play(engine, agent, network, weights, deals[first : first + TOGETHER], first, seed)
        for first in range(0, games, TOGETHER)
    ]
    return Positions._make(np.concatenate(column) for column in zip(*parts, strict=True))


def _play(
    engine: Engine,
    agent: Agent,
    network: NumpyNetwork,
    weights: tuple[float, float],
    deals: npt.NDArray[np.uint64],
    first: int,
    seed: int,
) -> Positions:
    """The positions of some games, played at once; ``first``: the number of the first."""
    n, players = len(deals), engine.num_players
    rng, chance = np.random.default_rng([seed, first]), RandomAgent(seed)
    rate, until = rng.choice(RATES, n, p=SHARES), rng.integers(*STRETCH, n)
    engine.deal(np.arange(n), deals)
    parts: list[tuple[Any, ...]] = []
    turn, live, step = np.zeros(n, np.int64), np.arange(n), 0
    while live.size:
        view = View(engine, live, (first + live).astype(np.uint64), np.full(len(live), step))
        seen = step >= until[live]
        if players == 1:
            seen &= engine.turn[live] != turn[live]
            turn[live] = engine.turn[live]
        else:
            seen &= view.action_mask.sum(axis=1) > 1
        inputs = network.value_inputs(view.observation[seen]).astype(np.float16)
        seat = view.seat[seen]
        have = earned(engine, live, weights)[np.flatnonzero(seen), seat]
        parts.append((inputs, (first + live[seen]) * players + seat, have.astype(np.float32)))
        action = agent.act(view)
        random = (step < until[live]) & (rng.random(len(live)) < rate[live])
        action[random] = chance.act(view)[random]
        _, over = engine.apply(action, live)
        live, step = live[~over], step + 1
    inputs, line, have = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    paid = earned(engine, np.arange(n), weights).reshape(-1)
    line = line[order]
    came = paid[line - first * players].astype(np.float32)
    return Positions(inputs[order], line, have[order].astype(np.float32), came)


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
    policy: Policy,
    seen: Positions,
    *,
    epochs: int = 2,
    lambdas: Sequence[float] = LAMBDAS,
    seed: int = 0,
) -> tuple[dict[str, Float32Array], dict[str, float]]:
    """New value arrays, and the error on games held out (one in ten): `error` and `spread`, the
    standard deviation of what is expected from what came, and of what came by itself."""
    scale = SCALE[str(policy.description["game"])]
    network = ValueNetwork(policy)
    held = seen.line >= np.quantile(seen.line, 0.9)
    train = np.flatnonzero(~held)
    came = seen.paid - seen.have
    rng = np.random.default_rng(seed)
    for share in (None, *lambdas):
        target = came
        if share is not None:
            target = lambda_returns(seen, network.values(seen.inputs) * scale, share)
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


def fit_folder(
    policy: Path, out: Path, games: int, players: int, seed: int = 0
) -> dict[str, float]:
    """Write the policy with a new value network; its error on games held out."""
    given = load_policy(policy)
    edition = load_any_edition(str(given.description["edition"]))
    loaded = load_policy(policy, edition)
    seen = play(loaded, games, players, FIRST_DEAL, seed)
    arrays, figures = fit(loaded, seen, seed=seed)
    value = {
        "scale": SCALE[edition.game],
        "games": games,
        "deals": f"dev from {FIRST_DEAL}",
        "positions": len(seen.line),
        "seed": seed,
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
    games: Annotated[int, typer.Option(min=10, help="Games to learn from.")] = 60000,
    players: Annotated[int, typer.Option(min=1, max=4, help="Seats (Scriptorium).")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
) -> None:
    """Fit a policy's value network to undiscounted payoffs."""
    figures = fit_folder(policy, out, games, players, seed)
    typer.echo(", ".join(f"{name} {figure:.3f}" for name, figure in figures.items()))


if __name__ == "__main__":
    run(lambda: typer.run(_main))
