"""What an edition of Scriptorium amounts to, in figures; printed by `incunabula editions`."""

from collections.abc import Sequence
from typing import Any

from incunabula.envs.scriptorium.edition import Edition
from incunabula.envs.scriptorium.edition_checks import KINDS


def summarise(edition: Edition) -> dict[str, Any]:
    """Figures that show whether an edition is the one meant, and whether it is balanced.

    Returns JSON values; what depends on the number of players is by that number as text. Of
    `kinds`, `points` are the lowest and the highest of a design (null without designs), and
    `best_points` those of the best design on every space. Of `by_players`, `inks` are those of all
    rounds, `tile_points` and `tile_inks` the points and the cost of all tiles in the bag.
    """
    rules = edition.rules
    kinds = {kind: _kind(edition, kind) for kind in KINDS}
    return {
        **edition.identity,
        **sizes(edition),
        "tiles_per_lectern": rules.tiles_per_lectern,
        "help_tokens": rules.help_tokens,
        "storage_limit": rules.storage_limit,
        "ink_limit": rules.ink_limit,
        "lecterns": list(edition.lecterns),
        "spaces": sum(edition.spaces.values()),
        "best_points": sum(facts["best_points"] for facts in kinds.values()),
        "kinds": kinds,
        "by_players": {str(players): _game(edition, players) for players in rules.players},
    }


def _kind(edition: Edition, kind: str) -> dict[str, Any]:
    tiles = [tile for tile in edition.tiles if tile.kind == kind]
    points = [tile.points for tile in tiles]
    spaces = sum(n for space, n in edition.spaces.items() if space.partition("_")[0] == kind)
    return {
        "designs": len(tiles),
        "spaces": spaces,
        "points": [min(points), max(points)] if points else None,
        "best_points": spaces * max(points, default=0),
        "tiles": {
            str(players): sum(tile.copies[players] for tile in tiles)
            for players in edition.rules.players
        },
    }


def _game(edition: Edition, players: int) -> dict[str, Any]:
    pot = {ink: edition.inks_per_round[players].get(ink, 0) for ink in edition.inks}
    rounds = edition.rounds(players)
    copies = [(tile, tile.copies[players]) for tile in edition.tiles]
    return {
        "tiles": edition.bag_size(players),
        "rounds": rounds,
        "inks_per_round": pot,
        "inks": sum(pot.values()) * rounds,
        "tile_points": sum(tile.points * count for tile, count in copies),
        "tile_inks": sum(sum(tile.cost.values()) * count for tile, count in copies),
    }


def sizes(edition: Edition) -> dict[str, Any]:
    """How much it holds, as JSON values; part of `summarise`."""
    players = edition.rules.players
    return {
        "players": list(players),
        "designs": len(edition.tiles),
        "rounds": {str(number): edition.rounds(number) for number in players},
    }


def contents(edition: Edition) -> str:
    """How much it holds, in a few words."""
    players, designs = _one_of(edition.rules.players), len(edition.tiles)
    rounds = _one_of(sorted(set(sizes(edition)["rounds"].values())))
    return f"{players} players, {designs} designs, {rounds} rounds"


def summary_rows(edition: Edition) -> list[tuple[str, str]]:
    """The figures of `summarise` as labels and values; "" goes on with the label before."""
    facts = summarise(edition)
    rules = edition.rules
    designed = {kind: entry for kind, entry in facts["kinds"].items() if entry["designs"]}
    rows = [
        ("players", _one_of(edition.rules.players)),
        (
            "lecterns",
            f"players + 1 of {', '.join(edition.lecterns)}, {rules.tiles_per_lectern} tiles each",
        ),
        (
            "limits",
            f"storage {rules.storage_limit}, inks {rules.ink_limit}; "
            f"help tokens at the start {rules.help_tokens}",
        ),
        (
            "points",
            f"{rules.achievement_points} an achievement, {rules.token_points} a help token, "
            f"{rules.quill_points} instead of the quill",
        ),
        (
            "manuscript",
            f"{facts['spaces']} spaces; the best designs on all of them make "
            f"{facts['best_points']} points",
        ),
    ]
    rows += [
        (
            "" if i else f"tiles ({'/'.join(map(str, rules.players))})",
            f"{kind}: spaces {entry['spaces']}, designs {entry['designs']}, "
            f"points {'-'.join(map(str, dict.fromkeys(entry['points'])))}, "
            f"tiles {'/'.join(map(str, entry['tiles'].values()))}",
        )
        for i, (kind, entry) in enumerate(designed.items())
    ]
    for players, game in facts["by_players"].items():
        pot = ", ".join(f"{count} {ink}" for ink, count in game["inks_per_round"].items())
        rows += [
            (
                f"{players} players",
                f"{game['rounds']} rounds; {game['tiles']} tiles of {game['tile_points']} points",
            ),
            ("", f"{pot} a round"),
            ("", f"{game['inks']} inks in all, {game['tile_inks']} would pay every tile"),
        ]
    return rows


def _one_of(numbers: Sequence[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last}" if others else last
