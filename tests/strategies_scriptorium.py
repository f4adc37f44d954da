"""Random editions of Scriptorium for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from incunabula.envs.scriptorium.tables import INKS, SPACES

_KINDS = ("corner", "edge", "A", "B", "C", "D", "initial", "text")
_LECTERNS = (*INKS, "quill")
_PLAYERS = st.sampled_from([[2], [3], [2, 3], [4], [2, 3, 4], [2, 4]])
_RULES = st.fixed_dictionaries(
    {
        "tiles_per_lectern": st.integers(1, 5),
        "help_tokens": st.integers(0, 3),
        "storage_limit": st.integers(0, 4) | st.just(7),
        "ink_limit": st.integers(0, 5) | st.just(7),
        "achievement_points": st.integers(0, 5),
        "token_points": st.integers(0, 3),
        "quill_points": st.integers(0, 3),
    }
)
_POT = st.fixed_dictionaries(
    {"black": st.integers(1, 6)}, optional={ink: st.integers(0, 3) for ink in INKS[1:]}
)
_COST = st.fixed_dictionaries(
    {"black": st.integers(1, 2)}, optional={ink: st.integers(0, 2) for ink in INKS[1:]}
)
_TILE = st.tuples(st.sampled_from(_KINDS), st.integers(0, 4), _COST, st.integers(0, 4))
_TILES = st.lists(_TILE, min_size=1, max_size=8)
_SPACE = st.integers(0, 2)
_SPACES = st.tuples(*[_SPACE] * len(SPACES))


@st.composite
def editions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a small valid edition as a plain dict, in the form of the edition files."""
    players = draw(_PLAYERS)
    tiles = draw(_TILES)
    lecterns = draw(st.permutations(_LECTERNS))[: draw(st.integers(max(players) + 1, 6))]
    spaces = dict(zip(SPACES, draw(_SPACES), strict=True))
    if not any(spaces.values()):
        spaces["text"] = 1
    if not any(copies for *_, copies in tiles):
        tiles[0] = (*tiles[0][:3], 1)
    return {
        "game": "scriptorium",
        "edition": "random",
        "provenance": "variant",
        "rules": {"players": players, "lecterns_in_play": "players + 1"} | draw(_RULES),
        "inks": list(INKS),
        "inks_per_round": {n: draw(_POT) for n in players},
        "lecterns": list(lecterns),
        "spaces": spaces,
        "tiles": [
            {
                "id": number,
                "name": f"tile {number}",
                "kind": kind,
                "points": points,
                "copies": {n: copies * n for n in players},
                "cost": cost,
            }
            for number, (kind, points, cost, copies) in enumerate(tiles)
        ],
    }
