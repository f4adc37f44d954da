"""Whether a state can stand on the table: its fields against each other.

What can't be told from the public state alone (how many inks were spent, which tiles were
discarded) is bounded, not recomputed.
"""

from __future__ import annotations

import numpy as np

from incunabula.envs.json_state import StateError
from incunabula.envs.scriptorium.state import Phase, State
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, INKS, SPACES, Tables
from incunabula.envs.scriptorium.tape import MAX_BAG

_BEFORE_ILLUMINATION = (Phase.INK, Phase.LECTERN, Phase.QUILL)


def most_tiles(t: Tables, num_players: int) -> int:
    """How many tiles a game can have: a tape's bag may be larger than the edition's."""
    return max(MAX_BAG, int(t.copies[num_players].sum()))


def check_position(t: Tables, s: State) -> None:
    """Check the only row of ``s``, each field of which is in its own range.

    Raises:
        StateError: naming a field of the JSON form that contradicts others.
    """
    phase = Phase(int(s.phase[0]))
    _check_bag(t, s, phase)
    _check_inks(t, s, phase)
    _check_lecterns(t, s, phase)
    for seat in range(s.num_players):
        _check_player(t, s, phase, seat)
    _check_achievements(t, s)
    if int(s.tokens[0].sum()) > s.num_players * t.help_tokens:
        raise StateError(
            f"state.players: {int(s.tokens[0].sum())} help tokens among {s.num_players} players; "
            f"expected at most {t.help_tokens} each at the start, {s.num_players * t.help_tokens}"
        )
    _check_turn(t, s, phase)


def over_limit(t: Tables, s: State, seat: int) -> bool:
    """Whether a seat owes a discard (phase 4)."""
    held = int(s.storage[0, seat].sum() + s.achievements[0, seat].sum())
    return held > t.storage_limit or int(s.inks[0, seat].sum()) > t.ink_limit


def _check_bag(t: Tables, s: State, phase: Phase) -> None:
    in_bag, left = int(s.bag[0].sum(dtype=np.int64)), int(s.bag_left[0])
    if in_bag != left:
        raise StateError(f"state.bag_left: {left} contradicts bag, which holds {in_bag} tiles")
    drawn = (
        int(s.market[0].sum())
        + int(s.tiles[0].sum())
        + int(s.lectern_tiles[0].sum())
        + int(s.storage[0].sum())
        + int(s.filled[0].sum())
    )
    a_round = (s.num_players + 1) * t.tiles_per_lectern
    most = int(s.round[0]) * a_round
    if drawn > most:
        raise StateError(
            f"state.round: by round {int(s.round[0])} at most {most} tiles were drawn; {drawn} are "
            "on lecterns, in the scriptorium, in storages and in manuscripts"
        )
    # Full rounds were drawn, the last one too if tiles are left.
    began = left + most if left else max(drawn, most - a_round + 1)
    if began > most_tiles(t, s.num_players):
        raise StateError(
            f"state.round: {int(s.round[0])} rounds with {left} tiles left in the bag need a bag "
            f"of {began}; expected at most {most_tiles(t, s.num_players)}"
        )
    full = [seat for seat in range(s.num_players) if (s.filled[0, seat] == t.capacity).all()]
    if phase == Phase.OVER and left and not full:
        raise StateError(
            f"state.phase: over needs an empty bag or a full manuscript; {left} tiles are left"
        )
    if phase in _BEFORE_ILLUMINATION and full and t.capacity.any():
        raise StateError(
            f"state.phase: {_name(phase)}, but the game ended the day that seat {full[0]}'s "
            "manuscript was full"
        )


def _check_inks(t: Tables, s: State, phase: Phase) -> None:
    pot = t.pots[s.num_players]
    held = s.pot[0] + s.inks[0].sum(axis=0, dtype=np.int64)
    for k, ink in enumerate(INKS):
        if s.pot[0, k] > pot[k]:
            raise StateError(
                f"state.pot.{ink}: a round brings {int(pot[k])}, got {int(s.pot[0, k])}"
            )
        most = int(pot[k]) * int(s.round[0])
        if held[k] > most:
            raise StateError(
                f"state.players: {int(held[k])} {ink} inks with the pot's; expected at most {most} "
                f"by round {int(s.round[0])}"
            )
    if bool(s.pot[0].any()) != (phase == Phase.INK):
        raise StateError(
            f"state.pot: holds inks in phase ink and none in others, got {int(s.pot[0].sum())} in "
            f"phase {_name(phase)}"
        )


def _check_lecterns(t: Tables, s: State, phase: Phase) -> None:
    owners = s.lectern[0].any(axis=1)
    if phase == Phase.INK and owners.any():
        raise StateError("state.lecterns: expected no owner before phase 2, in phase ink")
    if phase == Phase.LECTERN and owners.all():
        raise StateError("state.phase: lectern, but everybody has a lectern")
    late = phase not in _BEFORE_ILLUMINATION
    if late and not owners.all():
        raise StateError(
            f"state.lecterns: expected an owner for every seat in phase {_name(phase)}; seat "
            f"{int(owners.argmin())} owns none"
        )
    for lectern in np.flatnonzero(s.in_play[0] > s.lectern[0].any(axis=0)).tolist():
        tiles = int(s.tiles[0, lectern].sum())
        where = f"state.lecterns: {tiles} tiles on lectern {lectern}, which nobody owns"
        if late and tiles:
            raise StateError(f"{where}; expected none in phase {_name(phase)}: they were put away")
        if tiles > t.tiles_per_lectern:
            raise StateError(f"{where}; expected at most {t.tiles_per_lectern}")
        if not late and tiles < t.tiles_per_lectern and s.bag_left[0]:
            raise StateError(
                f"{where}; expected {t.tiles_per_lectern} as long as the bag holds tiles"
            )
    _check_quill_next(t, s, phase)


def _check_quill_next(t: Tables, s: State, phase: Phase) -> None:
    seat = int(s.quill_next[0])
    if seat < 0:
        return
    if phase in (Phase.INK, Phase.QUILL, Phase.OVER):
        raise StateError(f"state.quill_next: expected null in phase {_name(phase)}, got {seat}")
    if not s.lectern[0, seat, t.lectern_ink < 0].any():
        raise StateError(f"state.quill_next: seat {seat} doesn't own the quill lectern")


def _check_player(t: Tables, s: State, phase: Phase, seat: int) -> None:
    where = f"state.players[{seat}]"
    for k, name in enumerate(SPACES):
        if s.filled[0, seat, k] > t.capacity[k]:
            raise StateError(
                f"{where}.filled.{name}: expected at most {int(t.capacity[k])}, "
                f"got {int(s.filled[0, seat, k])}"
            )
    tiles = int(s.lectern_tiles[0, seat].sum())
    most = t.tiles_per_lectern if s.lectern[0, seat].any() else 0
    if phase in (Phase.DISCARD, Phase.OVER):
        most = 0  # all in the storage
    if tiles > most:
        raise StateError(
            f"{where}.lectern_tiles: expected at most {most} in phase {_name(phase)}"
            f"{'' if s.lectern[0, seat].any() else ' without a lectern'}, got {tiles}"
        )
    held = int(s.storage[0, seat].sum() + s.achievements[0, seat].sum())
    if phase in _BEFORE_ILLUMINATION and held > t.storage_limit:
        raise StateError(
            f"{where}.storage: expected at most {t.storage_limit} tiles and achievements after "
            f"the day's end, in phase {_name(phase)}; got {held}"
        )
    best = np.zeros(len(SPACES), np.int64)
    np.maximum.at(best, t.space.ravel(), np.repeat(t.points, t.space.shape[1]))
    top = int(s.filled[0, seat] @ best) + int(s.round[0]) * t.quill_points
    if s.points[0, seat] > top:
        raise StateError(
            f"{where}.points: at most {top} can be had with these spaces filled in "
            f"{int(s.round[0])} rounds, got {int(s.points[0, seat])}"
        )


def _check_achievements(t: Tables, s: State) -> None:
    for k, name in enumerate(ACHIEVEMENTS):
        asked = t.group[k] & (t.capacity > 0)
        filled = (s.filled[0][:, asked] == t.capacity[asked]).all(axis=1) & asked.any()
        holder = s.achievements[0, :, k]
        if holder.any() and not filled[holder.argmax()]:
            raise StateError(
                f"state.achievements.{name}: seat {int(holder.argmax())} hasn't filled its spaces"
            )
        if bool(s.open[0, k]) == bool(filled.any()):
            who = f"seat {int(filled.argmax())} has" if filled.any() else "nobody has"
            raise StateError(
                f"state.achievements.{name}: null as long as nobody has filled its spaces, and "
                f"{who}"
            )


def _check_turn(t: Tables, s: State, phase: Phase) -> None:
    """The seat to act, by phase."""
    player, grimoire = int(s.player[0]), int(s.grimoire[0])
    if (player < 0) != (phase == Phase.OVER):
        raise StateError(
            f"state.player: null when over and a seat before, got "
            f"{None if player < 0 else player} in phase {_name(phase)}"
        )
    owners = set(np.flatnonzero(s.lectern[0].any(axis=1)).tolist())
    if grimoire >= 0 and owners and grimoire not in owners:
        raise StateError(
            f"state.grimoire: seat {grimoire} holds it, so the first lectern is his, but he owns "
            "none"
        )
    seats = [(int(s.quill[0]) + k) % s.num_players for k in range(s.num_players)]
    owing = [seat for seat in seats if over_limit(t, s, seat)]
    match phase:
        case Phase.INK:
            fitting, why = {*seats} - {grimoire}, "who took the grimoire has no more turns"
        case Phase.LECTERN:
            fitting, why = _givers(s, owners), "the grimoire's holder, or the giver"
        case Phase.QUILL:
            quill_owners = s.lectern[0][:, t.lectern_ink < 0].any(axis=1)
            fitting = set(np.flatnonzero(quill_owners).tolist())
            why = "who owns the quill lectern"
        case Phase.DISCARD:
            fitting, why = {*owing[:1]}, "the first seat from the quill that is over a limit"
        case _:
            if phase == Phase.OVER and owing:
                raise StateError(f"state.phase: over, but seat {owing[0]} still owes a discard")
            return
    if player not in fitting:
        among = ", ".join(f"seat {seat}" for seat in sorted(fitting)) or "nobody"
        raise StateError(f"state.player: {player} in phase {_name(phase)}; expected {among}: {why}")


def _givers(s: State, owners: set[int]) -> set[int]:
    """Who can be choosing a lectern, with these seats served (phase 2)."""
    quill, grimoire = int(s.quill[0]), int(s.grimoire[0])
    if grimoire >= 0 and not owners:
        return {grimoire}
    if owners - {grimoire}:
        return owners - {grimoire}  # one of them was served last
    if grimoire >= 0 and len(owners) == s.num_players - 1 and quill not in owners:
        return {grimoire}  # S4
    return {quill}


def _name(phase: Phase) -> str:
    return phase.name.lower()
