"""A ladder's tables as text, for the page and the terminal alike."""

from __future__ import annotations

from typing import Any

from incunabula.training.evaluation.tables import interval, short_names, signed
from incunabula.training.league.tables import share

Json = dict[str, Any]
NONE = "–"


def heading(table: Json) -> str:
    """What a table ranks by."""
    if table["players"] == 1:
        return "Mean score"
    return f"{table['players']} players (an even share is {share(1 / table['players'])})"


def ranking(table: Json) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a ranking."""
    names = short_names([row["name"] for row in table["rows"]])
    solitaire = table["players"] == 1
    adjusted = any("luck_adjusted" in row for row in table["rows"])
    figures = ["mean score", "sd of a game", "games"]
    if adjusted:
        figures.insert(1, "less luck")
    if not solitaire:
        figures = ["win share", "rating", "score", "deals"]
    head = ["rank", "agent", *figures, "to the next", "ms a decision", "training"]
    rows = []
    for row in table["rows"]:
        if solitaire:
            sd = NONE if row["sd"] is None else f"{row['sd']:.2f}"
            cells = [with_interval(row["mean"], row["ci95"], 2), sd, f"{row['games']:,}"]
            if adjusted:
                cells.insert(1, less_luck(row))
        else:
            rating = NONE
            if "rating" in row:
                rating = with_interval(row["rating"], row["rating_ci95"], 2, "+")
            cells = [
                with_interval(row["win_share"], row["ci95"], 3),
                rating,
                with_interval(row["mean_score"], row["mean_score_ci95"], 1),
                f"{row['games'] // table['players']:,}",
            ]
        rows.append(
            [
                str(row["rank"]),
                names[row["name"]],
                *cells,
                to_the_next(row, 2 if solitaire else 3),
                f"{row['timing']['ms_per_decision']:.3g}",
                cost(row["training"]),
            ]
        )
    return head, rows


def less_luck(row: Json) -> str:
    """The mean score less luck; a dash if luck wasn't measured."""
    left = row.get("luck_adjusted")
    return NONE if left is None else with_interval(left["mean"], left["ci95"], 2)


def to_the_next(row: Json, digits: int) -> str:
    """The paired difference to the next row, less luck if that was measured."""
    pair = row["next"]
    if pair is None:
        return NONE
    pair = pair.get("luck_adjusted", pair)
    return with_interval(pair["mean_difference"], pair["ci95"], digits, "+")


def with_interval(value: float, ci95: list[float] | None, digits: int, plus: str = "") -> str:
    """ "48.43 [48.26, 48.59]"."""
    shown = signed(value, digits, plus)
    return shown if ci95 is None else f"{shown} {interval(ci95, digits)}"


def cost(training: Json | None) -> str:
    """What training took: "4.06 million steps, 11 min 56 s", "… 10 min 2 s CPU" where known."""
    if training is None:
        return "none"
    steps, seconds, cpu = training["steps"], training["seconds"], training["cpu_seconds"]
    of, parts = "", []
    if isinstance(cpu, int | float):
        seconds, of = cpu, " CPU"
    if isinstance(steps, int):
        millions = f"{steps / 1e6:.2f} million" if steps >= 100_000 else f"{steps:,}"
        parts.append(f"{millions} steps")
    if isinstance(seconds, int | float):
        minutes, rest = divmod(round(seconds), 60)
        parts.append(f"{minutes} min {rest} s{of}" if minutes else f"{rest} s{of}")
    return ", ".join(parts) or "not known"


def spread(table: Json) -> tuple[list[str], list[list[str]]]:
    """The head and the row of the training runs; only where there are any."""
    runs, digits = table["training_runs"], 2 if table["players"] == 1 else 3
    head = [
        *("agent", "mean of the runs", "range of the runs", "sd between runs"),
        *("noise of the games", "sd of a deal", "deals", "training of a run"),
    ]
    low, high = (f"{runs[end]:.{digits}f}" for end in ("min", "max"))
    row = [
        runs["name"],
        with_interval(runs["mean"], runs["ci95_runs"], digits),
        f"{low}–{high}",
        with_interval(runs["training_sd"], runs["training_sd_ci95"], digits),
        f"{runs['game_noise']:.{digits}f}",
        f"{runs['deal_sd']:.{digits}f}",
        f"{runs['deals']:,}",
        cost(runs["each"][0]["training"]),
    ]
    return head, [row]


def conditions(result: Json) -> str:
    """What was played, in a line."""
    edition, seeds, budget = result["edition"], result["seeds"], result["budget"]
    text = f"{seeds['games']['deals']:,} deals of the {seeds['list']!r} list"
    if any(row["searches"] for table in result["tables"] for row in table["rows"]):
        own = "each its own budget" if budget is None else f"a budget of {budget} a move"
        text += f", {seeds['search_games']['deals']:,} for agents that search ({own})"
    if "league_deals" in seeds:
        text += f", {seeds['league_deals']['deals']:,} at each table of the league"
    return (
        f"{text} · edition {edition['name']} ({edition['provenance']}, "
        f"{edition['sha256'][:12]}) · deals {seeds['games']['sha256'][:12]}"
    )


def machines(result: Json) -> str:
    """What the times were measured on."""
    found = {
        f"{timing['machine']['cpu']}, {timing['machine']['cores']} cores, {timing['batch_size']} "
        f"games at once, {timing['backend']}"
        for timing in (row["timing"] for table in result["tables"] for row in table["rows"])
    }
    return "; ".join(sorted(found))
