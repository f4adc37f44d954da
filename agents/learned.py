"""An agent that plays a learned policy; needs neither torch nor anything else of the trainer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.baselines import make_greedy
from incunabula.agents.networks import NumpyNetwork
from incunabula.agents.policy_folder import Policy, load_policy
from incunabula.envs.editions import BaseEdition, load_any_edition
from incunabula.envs.errors import IncunabulaError

# Rows the network is evaluated on at a time, always: float32 results of one row depend on how many
# rows are multiplied with it, and results must not depend on the batch size.
BLOCK = 64


class PolicyWarning(UserWarning):
    """A policy plays what it wasn't trained for; it can, but don't expect it to play well."""


class PolicyAgent(Agent):
    """Takes the legal action with the highest logit, the first among equals.

    Args:
        policy: a policy folder, or one loaded for `edition`.
        edition: what it is to play: a name, a path or an edition; by default the shipped edition
            it was made for.

    Raises:
        IncunabulaError: the folder can't be used, or is for another edition.
    """

    def __init__(
        self,
        policy: str | Path | Policy,
        edition: str | Path | BaseEdition | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(policy, Policy):
            if edition is None:
                edition = str(load_policy(policy).description["edition"])
            policy = load_policy(policy, load_any_edition(edition))
        self.policy = policy
        self.name = name or policy.folder.name
        self._network: NumpyNetwork | None = None
        self._advisor: Agent | None = None
        self._warned: set[int] = set()

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return self.logits(view).argmax(axis=1)

    def logits(self, view: View) -> npt.NDArray[np.float32]:
        """A logit for every action, -inf where it is illegal; float32 (n, A)."""
        if view.edition.sha256 != self.policy.description["edition_sha256"]:
            raise IncunabulaError(
                f"agent {self.name!r}: was made for edition "
                f"{self.policy.description['edition']!r}, not for {view.edition.name!r}"
            )
        if self._network is None:
            network = self.policy.network
            self._network = NumpyNetwork(network, self.policy.weights, view.tables)
            if network.get("advisor") == "greedy":
                self._advisor = make_greedy(view.edition.game)
        self._check_players(view)
        actions = int(self.policy.description["actions"])
        logits = by_blocks(self._network.logits, view.observation, actions)
        if self._advisor is not None:
            weight = np.float32(self.policy.network.get("advice", 0.0))
            logits[np.arange(len(logits)), self._advisor.act(view)] += weight
        return np.where(view.action_mask, logits, np.float32(-np.inf))

    def _check_players(self, view: View) -> None:
        """Warn, once, if there are more or fewer players than the policy was trained for."""
        trained = self.policy.description.get("players")
        if trained is None:
            return
        count = view.num_players
        if count not in trained and count not in self._warned:
            self._warned.add(count)
            known = ", ".join(map(str, trained))
            warnings.warn(
                f"agent {self.name!r} was trained for {known} players and now plays with {count}",
                PolicyWarning,
                stacklevel=3,
            )


def by_blocks(
    compute: Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]],
    rows: npt.NDArray[np.float32],
    width: int,
) -> npt.NDArray[np.float32]:
    """What a network computes of each row, float32 (n, F) -> (n, width); result i depends on row i
    alone, not on how many there are."""
    n = len(rows)
    out = np.empty((n, width), np.float32)
    block = np.zeros((BLOCK, rows.shape[1]), np.float32)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        block[:count] = rows[start : start + count]
        block[count:] = 0
        out[start : start + count] = compute(block)[:count]
    return out
