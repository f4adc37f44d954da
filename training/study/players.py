"""Players with a weakness that is known: they never do something, or err now and then."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import AGENT_STREAM, Agent, RandomAgent, View
from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.chance import check_seed, key
from incunabula.envs.errors import IncunabulaError

ABSTENTIONS = ("walking", "waiting")
_FLIPS = 1 << 32  # added to the number of a decision: draws of whether to err, not of what to do


class Abstaining(Agent):
    """Plays Bibliogamo as another agent, but never walks (4a), or never waits in a sale (4b).

    Where the other would walk it stays, where it would wait it accepts. The other doesn't know.

    Args:
        base: the other.
        never: ``walking`` or ``waiting``.

    Raises:
        IncunabulaError: ``never`` is neither.
    """

    def __init__(self, base: Agent, never: str) -> None:
        if never not in ABSTENTIONS:
            raise IncunabulaError(f"never: expected {' or '.join(ABSTENTIONS)}, got {never!r}")
        self.base, self.never = base, never
        self.name = f"{base.name} without {never}"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        chosen = np.asarray(self.base.act(view), np.intp)
        actions = Actions(view.tables)
        if self.never == "walking":
            walks = (chosen >= actions.walk) & (chosen < actions.keep)
            return np.where(walks, actions.stay, chosen)
        return np.where(chosen == actions.wait, actions.accept, chosen)


class Erring(Agent):
    """Plays as another agent, but for a share of the decisions, which are drawn uniformly from what
    is legal.

    Args:
        base: the other.
        share: of the decisions, 0 to 1.
        seed: of the draws.

    Raises:
        IncunabulaError: ``share`` is not such a number.
    """

    def __init__(self, base: Agent, share: float, seed: int = 0) -> None:
        if not 0 <= share <= 1:
            raise IncunabulaError(f"share: expected a number from 0 to 1, got {share!r}")
        self.base, self.share, self.seed = base, float(share), check_seed(seed)
        self.name = f"{base.name} erring {100 * share:g}%"
        self._random = RandomAgent(self.seed)

    def act(self, view: View) -> npt.NDArray[np.intp]:
        stream = np.uint64(AGENT_STREAM) + view.episode
        draws = key(self.seed, stream, view.decision.astype(np.uint64) + np.uint64(_FLIPS))
        errs = (draws >> np.uint64(11)) * 2.0**-53 < self.share
        return np.where(errs, self._random.act(view), self.base.act(view))
