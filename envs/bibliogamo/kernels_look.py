"""Legal actions and observations of one game of Bibliogamo; see ``kernels``."""

# ruff: noqa: E741 (l is the observation's table)

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs.bibliogamo.kernels import (
    IN_DISPLAY,
    PHASE_HIRE,
    PHASE_PAY,
    PHASE_PRICE,
    PHASE_SELL,
    PHASE_TRAVEL,
    held,
)
from incunabula.envs.bibliogamo.state import COUNTS, MARKS
from incunabula.envs.compiled.functions import compiled, compiled_apart

MARK_COUNT, COUNT_COUNT = len(MARKS), len(COUNTS)
HALF = np.float32(0.5)


@compiled_apart
def legal(t: Any, a: Any, s: Any, i: int, mask: Any) -> None:
    """Write the legal actions into ``mask``, bool (A,); none once the game is over."""
    for action in range(len(mask)):
        mask[action] = False
    phase = s.phase[i]
    if phase == PHASE_HIRE:
        legal_hire(t, a, s, i, mask)
    elif phase == PHASE_PAY:  # step 4c: any card can pay (R4)
        for slot in range(held(t, s, i)):
            mask[a.pay + slot] = True
    elif phase == PHASE_TRAVEL:  # step 4a: stay, or any space that can be paid for
        mask[a.stay] = True
        for space in range(t.spaces):
            walked = t.distance[s.librarian[i], space]
            mask[a.walk + space] = 0 < walked <= s.florins[i]
    elif phase == PHASE_SELL:  # step 4b
        mask[a.keep] = mask[a.sell] = True
    elif phase == PHASE_PRICE:  # step 4b: accept; wait while there are days and cards (R10)
        mask[a.accept] = True
        more = t.cards - held(t, s, i) - s.display_len[i] > 0
        mask[a.wait] = s.time[i] < t.days and more


@compiled
def legal_hire(t: Any, a: Any, s: Any, i: int, mask: Any) -> None:
    """Step 4c: hire, lift the ban, or end."""
    mask[a.end] = True
    cards, ban = held(t, s, i), s.banned[i] if s.banned[i] >= 0 else t.types
    if t.lifts_per_turn > 0:  # R11
        for slot in range(cards):
            mask[a.lift + slot] = t.lifts[ban, s.hand[i, slot]]
    if cards < 2 or s.hires_left[i] == 0:  # one card to play, one to pay (R7)
        return
    if t.allow_empty_hire:
        for slot in range(cards):
            playable = not t.bans[ban, s.hand[i, slot]]  # R4
            for tower in range(t.towers):
                mask[a.hire + slot * t.towers + tower] = playable
        return
    if s.supply[i] == 0:  # R8: a hire must place at least one cube
        return
    for slot in range(cards):
        usable = t.usable[ban, s.hand[i, slot]]
        for tower in range(t.towers):
            mask[a.hire + slot * t.towers + tower] = usable & s.lacks[i, tower] != 0


@compiled_apart
def observe(t: Any, l: Any, s: Any, i: int, seat: int, out: Any) -> None:
    """Write the observation into ``out``, float32 (F,); there is one seat only."""
    for k in range(l.counts):
        out[k] = 0
    for mark in range(MARK_COUNT):
        out[l.one_hot[mark] + s.marks[i, mark]] = 1
    for k in range(COUNT_COUNT):
        # As NumPy multiplies an int32 and a float32: in float64.
        shifted = np.float64(s.counts[i, k]) + np.float64(l.shift[k])
        out[l.counts + k] = np.float32(shifted * np.float64(l.scale[k]))
    filled, required, at = s.filled_flat, l.required, l.filled
    for tower in range(t.towers):
        for k in range(t.types):
            out[at] = np.float32(filled[i * t.towers + tower, k]) * required[tower, k]
            at += 1
    for j in range(t.slots):
        out[l.slots_filled + j] = s.slots_filled[i, j]
    for tower in range(t.towers):
        out[l.next_slot + tower] = np.float32(s.next_slot[i, tower]) * l.next_slot_scale[0]
    place, at = s.places[i], l.cards
    for card in range(t.cards):
        seen = max(place[card], IN_DISPLAY - 1) - 1  # deck 2, display 1, elsewhere 0
        out[at + card] = np.float32(seen) * HALF
    at, width = l.hand, l.card.shape[1]
    for slot in range(t.hand_size):
        card = l.card[s.hand[i, slot]]
        for k in range(width):
            out[at + k] = card[k]
        at += width
