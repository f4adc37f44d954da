"""What networks make of the cards and towers in an observation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.tables import Tables

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.intp]

LACKING_SCALE, MISSING_SCALE = np.float32(3), np.float32(8)


class Features:
    """The features of one edition.

    Attributes:
        cards: float32 (C + 1, f), what is known of each card: artisans, icon, coin (one-hot), price
            in each coin, the librarian's move, and which card it is; the last row, no card, is 0.
        hand: the observation's field of the hand, from where on it is replaced by a set.
        hand_set_size: numbers in an observation with the hand as a set, F'.
        tower_size: numbers that are given of each tower.
        requires: float32 (T, K).
        around: float32 (S, T * S), 1 where tower t stands o spaces clockwise of space s; o fastest.
        filled, librarian, next_slot, pending: where these lie in an observation.
    """

    def __init__(self, tables: Tables) -> None:
        t = tables
        fields = Layout(t).fields
        self.tables = t
        self.hand = fields["hand"]
        self.filled, self.librarian = fields["filled"].slice, fields["librarian"].slice
        self.next_slot = fields["next_slot"].slice
        stop = fields["pending_tower"].slice.stop
        self.pending = slice(stop - t.towers, stop)  # the first column means none
        self.cards = _card_features(t)
        self.hand_set_size = self.hand.start + t.cards + self.hand.shape[1] - 1
        self.tower_size = 3 * t.types + 4 + t.spaces
        self.requires = t.requires.astype(np.float32)
        s = np.arange(t.spaces)
        towers = t.board[(s[:, None] + s) % t.spaces]  # (s, o)
        found = towers[:, None, :] == np.arange(t.towers)[None, :, None]
        self.around = found.reshape(t.spaces, -1).astype(np.float32)

    def hand_set(self, observation: Float32Array) -> tuple[Float32Array, IntArray]:
        """Observations with the hand as a set, float32 (n, F'), and the cards in hand, intp (n, H).

        In place of the hand's slots stand 1 for each card that is held, and the sums of the slots'
        artisans and icons. Empty slots hold card C.
        """
        start, (slots, width), c = self.hand.start, self.hand.shape, self.tables.cards
        block = observation[:, start:].reshape(-1, slots, width)
        ids = np.rint(block[:, :, 0] * np.float32(c + 1)).astype(np.intp) - 1
        ids[ids < 0] = c
        out = np.zeros((len(observation), self.hand_set_size + 1), np.float32)
        out[:, :start] = observation[:, :start]
        # The column after the cards takes "no card", then the sums from there on.
        out[np.arange(len(observation))[:, None], start + ids] = 1
        out[:, start + c : -1] = block[:, :, 1:].sum(axis=1)
        return out[:, :-1], ids

    def towers(self, observation: Float32Array) -> Float32Array:
        """What observations say of each tower, float32 (n, T, f).

        Artisans lacking of each type, whether any and whether more than one is; all that are
        missing, whether none is; the VP of its next slot; whether a hire for it is to be paid; and
        where it stands as seen from the librarian (one-hot, clockwise).
        """
        n, t = len(observation), self.tables
        filled = observation[:, self.filled].reshape(n, t.towers, t.types)
        lacking = (np.float32(1) - filled) * self.requires
        missing = lacking.sum(axis=2, keepdims=True)
        around = observation[:, self.librarian] @ self.around
        parts = [
            lacking / LACKING_SCALE,
            lacking > 0.5,
            lacking > 1.5,
            missing / MISSING_SCALE,
            missing < 0.5,
            observation[:, self.next_slot, None],
            observation[:, self.pending, None],
            around.reshape(n, t.towers, -1),
        ]
        return np.concatenate(parts, axis=2, dtype=np.float32)


def _card_features(t: Tables) -> Float32Array:
    c = t.cards
    out = np.zeros((c + 1, t.types * 2 + t.coins * 2 + 1 + c), np.float32)
    parts: list[npt.NDArray[Any]] = [
        t.artisans[:c],
        np.eye(t.types)[t.icon[:c]],
        np.eye(t.coins)[t.coin[:c]],
        t.price[:c] / max(1, int(t.price.max())),
        t.move[:c, None] / max(1, int(np.abs(t.move).max())),
        np.eye(c),
    ]
    out[:c] = np.concatenate(parts, axis=1)
    return out
