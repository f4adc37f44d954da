"""`python -m incunabula.training.ppo.fit_value POLICY OUT`: a value network for a search.

The critic of PPO expects discounted and shaped rewards, so its values can't be added to points.
This fits the value network of a policy anew, by regression on what comes of games on `dev` deals:
first on the returns, then, as these are noisy, on λ-returns (Sutton, "Learning to predict by the
methods of temporal differences", 1988) that look ahead by the network itself; each round takes
noise out of the next one's targets. Nothing is discounted. The policy stays as it is.

The network begins from new weights: from the critic's it comes out far noisier.

A search goes where it is promised most, so a value must also be right about positions that good
play avoids. Every game begins with a stretch in which actions are now and then, in some games
often, drawn at random; what is learnt from is what comes after it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import torch
import typer
from torch import nn

from incunabula.agents.policies import new_folder
from incunabula.agents.policy_folder import Policy, load_policy, save_policy
from incunabula.envs.chance import MASK64
from incunabula.envs.editions import load_any_edition
from incunabula.exits import run
from incunabula.training.evaluation.files import check_folder, kept_if_used
from incunabula.training.ppo.value_games import FIRST_DEAL, Positions, play

Float16Array = npt.NDArray[np.float16]
Float32Array = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

# Values are points (of Bibliogamo) divided by this, to be about 1.
SCALE = {"bibliogamo": 10.0, "scriptorium": 1.0}
BATCH = 4096
LEARNING_RATE = 3e-3
LAMBDAS = (0.7, 0.5, 0.3)  # of the rounds after the first


class ValueNetwork(nn.Module):
    """As `agents.networks` has it, of the shape of a policy's; its weights are new."""

    def __init__(self, policy: Policy, seed: int = 0) -> None:
        super().__init__()
        depth = len(policy.network["value_layers"])
        chance = torch.Generator().manual_seed(seed)
        self.layers = nn.ModuleList()
        for i in range(depth + 1):
            outputs, inputs = policy.weights[f"value.{i}.weight"].shape
            layer = nn.utils.skip_init(nn.Linear, inputs, outputs)
            bound = inputs**-0.5  # as torch begins, but from a seed of its own
            nn.init.uniform_(layer.weight, -bound, bound, generator=chance)
            nn.init.uniform_(layer.bias, -bound, bound, generator=chance)
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
    network = ValueNetwork(policy, seed)
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
    """Some passes, the learning rate rising and falling to 0 (Smith and Topin, "Super-convergence",
    2019)."""
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    steps = epochs * -(-len(train) // BATCH)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps)
    for _ in range(epochs):
        order = rng.permutation(train)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            loss = (network(_tensor(inputs[part])) - _tensor(target[part])).square().mean()
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
    seed: Annotated[int, typer.Option(min=0, max=MASK64, help="Of all that is drawn.")] = 0,
) -> None:
    """Fit a policy's value network to undiscounted payoffs."""
    with kept_if_used(out.parent):
        check_folder(new_folder(out).parent)
        figures = fit_folder(policy, out, games, players, seed)
    typer.echo(", ".join(f"{name} {figure:.3f}" for name, figure in figures.items()))


if __name__ == "__main__":
    run(lambda: typer.run(_main))
