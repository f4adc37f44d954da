"""Potential-based reward shaping: help for the learner that leaves the best policy as it is.

The trainer adds gamma * Phi(s') - Phi(s) to the (scaled) rewards, with its own discount and with
Phi = 0 at the end of a game. Over a game these terms add up to -Phi(start), whatever was played
(Ng, Harada and Russell, "Policy invariance under reward transformations", ICML 1999), so that
nothing can be gained by chasing them. They belong to the trainer: the environment's rewards, and
every score reported, are true ones.

Without them learning hardly starts: random play almost never completes a tower.
"""

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.state import PublicState
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.training.ppo.config import Shaping

Float32Array = npt.NDArray[np.float32]


class Potential:
    """Phi(s) = scale * fade * sum over towers of worth * (filled / required) ** power
    + day_value * days left.

    `worth` is what selling that tower's book is worth now, in points: vp_per_book, the mean price
    in VP, the best open prestige slot for the tower, and its share of the completion bonus. `fade`
    goes to 0 over the last `late_days` days. Everything is in points times the reward scale.
    """

    def __init__(self, tables: Tables, shaping: Shaping, reward_scale: float) -> None:
        t = self._tables = tables
        self._shaping = shaping
        self._scale = np.float32(reward_scale)
        price = t.price[: t.cards].mean() if t.cards else 0.0
        self._base = np.float32(t.vp_per_book + price / t.florins_per_vp)
        share = t.bonus / np.maximum(t.slot_count, 1)
        slots = np.where(t.slot_tower >= 0, t.slot_vp + share[:, None], 0)
        # Whether slot l of collection p belongs to tower k, and what it is worth, bonus included.
        owned = t.slot_tower[:, None, :] == np.arange(t.towers)[None, :, None]
        self._slot_worth = np.where(owned, slots[:, None, :], 0).astype(np.float32)  # (P, T, L)
        self._required = (1 / np.maximum(t.requires.sum(axis=1), 1)).astype(np.float32)

    def worth(self, p: PublicState) -> Float32Array:
        """Points that selling a book of each tower would bring now, float32 (N, T)."""
        slots: Float32Array = self._slot_worth[p.prestige]  # a copy
        slots *= ~p.slots_filled[:, None, :]
        worth: Float32Array = slots.max(axis=2)
        worth += self._base
        return worth

    def __call__(self, p: PublicState) -> Float32Array:
        """Phi of every row, float32 (N,)."""
        s = self._shaping
        left = (self._tables.days - p.time).astype(np.float32)
        share = p.filled.sum(axis=2, dtype=np.float32) * self._required
        progress = share * share if s.power == 2 else share ** np.float32(s.power)
        phi = (self.worth(p) * progress).sum(axis=1)
        phi *= np.float32(s.scale) * np.clip(left / np.float32(s.late_days), 0, 1)
        phi += np.float32(s.day_value) * left
        phi *= self._scale
        return phi
