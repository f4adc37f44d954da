"""The edition as plain arrays: what the rules look up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.edition import Edition

Int16Array = npt.NDArray[np.int16]


class Tables(NamedTuple):
    """Arrays of an edition with C cards, T towers, K artisan types, S spaces, Q coins.

    P prestige collections with at most L slots. Card tables have one row more, for "no card"
    (index C): it moves nobody, bans nothing, hires nobody.
    """

    requires: Int16Array  # (T, K) artisans one book needs
    board: Int16Array  # (S,) tower on each space, clockwise
    distance: Int16Array  # (S, S) spaces walked along the shorter way
    move: Int16Array  # (C+1,) spaces the librarian moves, clockwise positive
    icon: npt.NDArray[np.int8]  # (C+1,) small artisan icon, a type; -1 for no card
    coin: npt.NDArray[np.int8]  # (C+1,) column of the price table; 0 for no card
    price: npt.NDArray[np.int32]  # (C+1, Q) florins offered in each coin
    artisans: Int16Array  # (C+1, K) artisans hired
    usable: npt.NDArray[np.unsignedinteger]  # (K+1, C+1) types hired, as bits; 0 under a ban
    all_bits: npt.NDArray[np.unsignedinteger]  # (T,) types the empty tower lacks, as bits
    bits: npt.NDArray[np.unsignedinteger]  # (K,) bit of each type
    bans: npt.NDArray[np.bool_]  # (K+1, C+1) card may not be hired under this ban; row K: no ban
    lifts: npt.NDArray[np.bool_]  # (K+1, C+1) card's icon is the banned type; row K: no ban
    slot_tower: npt.NDArray[np.int8]  # (P, L) tower of each slot, -1 beyond the collection
    slot_vp: Int16Array  # (P, L) VP of each slot, 0 beyond
    first_slots: Int16Array  # (P, T) VP of the slot that the first book of each tower fills
    slot_count: Int16Array  # (P,) slots of each collection
    bonus: Int16Array  # (P,) VP for filling every slot
    days: int
    hand_size: int
    librarian_step: int
    hires_per_turn: int
    lifts_per_turn: int
    allow_empty_hire: bool
    florins_per_vp: int
    vp_per_book: int
    florin_cap: int  # -1 = no limit
    cubes: int
    start_time: int
    start_florins: int
    start_librarian: int

    @property
    def cards(self) -> int:
        return len(self.move) - 1

    @property
    def towers(self) -> int:
        return int(self.requires.shape[0])

    @property
    def types(self) -> int:
        return int(self.requires.shape[1])

    @property
    def spaces(self) -> int:
        return len(self.board)

    @property
    def coins(self) -> int:
        return int(self.price.shape[1])

    @property
    def collections(self) -> int:
        return len(self.bonus)

    @property
    def slots(self) -> int:
        return int(self.slot_tower.shape[1])

    @property
    def display_size(self) -> int:
        """Most cards one price display can hold: two, and one more for each day waited."""
        return max(2, min(self.cards, self.days + 1))


def build_tables(edition: Edition) -> Tables:
    """Turn a validated edition into arrays."""
    rules = edition.rules
    types = {name: k for k, name in enumerate(edition.artisan_types)}
    coins = {name: q for q, name in enumerate(edition.coins)}
    towers = {tower.name: t for t, tower in enumerate(edition.towers)}
    cards = sorted(edition.cards, key=lambda card: card.id)
    c, k, s = len(cards), len(types), len(edition.board.spaces)

    requires = np.zeros((len(towers), k), np.int16)
    for t, tower in enumerate(edition.towers):
        for name, count in tower.requires.items():
            requires[t, types[name]] = count

    move = np.zeros(c + 1, np.int16)
    icon = np.full(c + 1, -1, np.int8)
    coin = np.zeros(c + 1, np.int8)
    price = np.zeros((c + 1, len(coins)), np.int32)
    artisans = np.zeros((c + 1, k), np.int16)
    for i, card in enumerate(cards):
        move[i] = card.librarian
        icon[i] = types[card.icon]
        coin[i] = coins[card.coin]
        for name, florins in card.florins.items():
            price[i, coins[name]] = florins
        for name, count in card.artisans.items():
            artisans[i, types[name]] = count

    bans = np.zeros((k + 1, c + 1), np.bool_)
    lifts = np.zeros((k + 1, c + 1), np.bool_)
    bans[:k] = artisans.T > 0  # R12: only artisans count as a card's symbols
    lifts[:k] = icon == np.arange(k)[:, None]

    longest = max(len(collection.slots) for collection in edition.prestige)
    slot_tower = np.full((len(edition.prestige), longest), -1, np.int8)
    slot_vp = np.zeros((len(edition.prestige), longest), np.int16)
    for p, collection in enumerate(edition.prestige):
        for j, slot in enumerate(collection.slots):
            slot_tower[p, j] = towers[slot.tower]
            slot_vp[p, j] = slot.vp

    dtype = next(d for d in (np.uint8, np.uint16, np.uint32, np.uint64) if k <= d(0).nbytes * 8)
    bits = np.left_shift(np.ones(k, dtype), np.arange(k, dtype=dtype))
    hired = ((artisans > 0) * bits).sum(axis=1).astype(dtype)
    usable = np.where(bans, dtype(0), hired)

    gap = np.abs(np.arange(s)[:, None] - np.arange(s))
    return Tables(
        requires=requires,
        board=np.array([towers[name] for name in edition.board.spaces], np.int16),
        distance=np.minimum(gap, s - gap).astype(np.int16),
        move=move,
        icon=icon,
        coin=coin,
        price=price,
        artisans=artisans,
        usable=usable,
        all_bits=((requires > 0) * bits).sum(axis=1).astype(dtype),
        bits=bits,
        bans=bans,
        lifts=lifts,
        slot_tower=slot_tower,
        slot_vp=slot_vp,
        first_slots=np.array(
            [
                [max(vp[slot == j], default=0) for j in range(len(towers))]
                for slot, vp in zip(slot_tower, slot_vp, strict=True)
            ],
            np.int16,
        ),
        slot_count=np.array([len(p.slots) for p in edition.prestige], np.int16),
        bonus=np.array([p.bonus for p in edition.prestige], np.int16),
        days=rules.days,
        hand_size=rules.hand_size,
        librarian_step=rules.librarian_step,
        hires_per_turn=rules.hires_per_turn,
        lifts_per_turn=rules.lifts_per_turn,
        allow_empty_hire=rules.allow_empty_hire,
        florins_per_vp=rules.florins_per_vp,
        vp_per_book=rules.vp_per_book,
        florin_cap=-1 if rules.florin_cap is None else rules.florin_cap,
        cubes=rules.cubes,
        start_time=edition.start.time,
        start_florins=edition.start.florins,
        start_librarian=edition.start.librarian,
    )
