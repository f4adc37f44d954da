"""What the command ``hindsight`` does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from incunabula.agents.hindsight.certificate import check_certificate
from incunabula.agents.hindsight.search import SEARCH_VERSION, check_width
from incunabula.envs.bibliogamo.deals import checked_prestige
from incunabula.envs.bibliogamo.edition import GAME, Edition, edition_by_hash, load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.tables import build_tables
from incunabula.envs.chance import check_seed
from incunabula.envs.errors import CheckFailedError, IncunabulaError
from incunabula.training.arguments import check_game
from incunabula.training.evaluation.files import kept_if_used
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.result import edition_entry
from incunabula.training.evaluation.seeds import list_hash, seed_list
from incunabula.training.evaluation.statistics import mean_interval, paired, summary
from incunabula.training.evaluation.tables import interval, signed, table
from incunabula.training.hindsight.deals import Found, find_lines
from incunabula.training.hindsight.lines import read_bytes, read_lines
from incunabula.training.output import deliver

Json = dict[str, Any]
LOWER = "a lower bound on the best in hindsight"


def run_hindsight(
    game: str,
    *,
    deal: int | None,
    seeds: str | None,
    games: int | None,
    edition: str | None,
    prestige: int | None,
    width: int | None,
    workers: int | None,
    save: str | None,
    check: str | None,
    as_json: bool,
) -> None:
    """Search one deal or many and print, or check a file of lines."""
    check_bibliogamo(game, "hindsight")
    given = {
        **{"deal": deal, "seeds": seeds, "games": games, "prestige": prestige},
        **{"width": width, "workers": workers, "save": save},
    }
    if check is not None:
        for name, value in given.items():
            if value is not None:
                raise IncunabulaError(f"{name}: a file is checked as it is; leave --{name} out")
        if not check.strip():
            raise IncunabulaError(f"check: expected a file of lines, got {check!r}")
        deliver(check_file(Path(check), edition), print_checked, None, as_json=as_json)
        return
    loaded = load_edition(GAME if edition is None else edition)
    width, workers = (120 if width is None else width), (1 if workers is None else workers)
    check_width(width)
    if prestige is not None:
        prestige = checked_prestige(build_tables(loaded), prestige)
    if deal is not None:
        for name in ("seeds", "games"):
            if given[name] is not None:
                raise IncunabulaError(f"{name}: --deal is one deal; leave --{name} out")
        deals = np.array([check_seed(deal, "deal")], np.uint64)
    elif games is None:
        raise IncunabulaError(
            "deal: expected the seed of a deal by --deal, deals of a list by --seeds and --games, "
            "or a file of lines by --check"
        )
    else:
        seeds = "final" if seeds is None else seeds
        deals = seed_list(seeds, games)
    began = time.perf_counter()
    folder = None if save is None else Path(save).parent
    with kept_if_used(folder), Working(len(deals), save) as working:
        found = find_lines(
            loaded,
            deals.tolist(),
            width=width,
            prestige=prestige,
            workers=workers,
            save=save,
            on_progress=working.advance,
        )
    seconds = time.perf_counter() - began
    if deal is not None:
        deliver(one_entry(loaded, found[0]), print_one, None, as_json=as_json)
        return
    listed = {"list": seeds, "games": len(deals), "sha256": list_hash(deals)}
    result = many_entry(loaded, found, prestige, listed, seconds)
    deliver(result, print_many, None, as_json=as_json)


def check_bibliogamo(game: str, option: str) -> None:
    """Raise IncunabulaError unless the game is the one that can be searched in hindsight."""
    check_game(game)
    if game != GAME:
        raise IncunabulaError(
            f"{option}: {game} has no line of play that is best in hindsight, since what others "
            f"do isn't part of a deal; only {GAME} has"
        )


# Results ------------------------------------------------------------------------------------------


def one_entry(edition: Edition, found: Found) -> Json:
    """The line of one deal, as JSON values."""
    form = found.form
    return {
        "edition": edition_entry(edition),
        "deal": {name: form[name] for name in ("seed", "prestige", "prestige_drawn")},
        "width": form["width"],
        "lower_bound": form["score"],
        "upper_bound": form["upper_bound"],
        "certificate": form,
        "turns": turns_of(edition, form),
        "timing": {"seconds": None if found.seconds is None else round(found.seconds, 3)},
    }


def many_entry(
    edition: Edition, found: list[Found], prestige: int | None, seeds: Json, seconds: float
) -> Json:
    """The lines of many deals, as JSON values."""
    forms = [line.form for line in found]
    scores = np.array([form["score"] for form in forms], np.int64)
    bounds = np.array([form["upper_bound"] for form in forms], np.int64)
    spent = [line.seconds for line in found if line.seconds is not None]
    upper, _ = mean_interval(bounds)
    names = ("seed", "prestige", "score", "upper_bound")
    return {
        "edition": edition_entry(edition),
        "prestige": prestige,
        "seeds": seeds,
        "width": forms[0]["width"],
        "search": SEARCH_VERSION,
        "lower_bound": summary(scores),
        "upper_bound": {"mean": upper, "gap": paired(bounds, scores)["mean_difference"]},
        "deals": [{name: form[name] for name in names} for form in forms],
        "timing": {
            "seconds": round(seconds, 3),
            "searched": len(spent),
            "processor_seconds_per_deal": round(sum(spent) / len(spent), 3) if spent else None,
        },
    }


def check_file(path: Path, edition: str | None) -> Json:
    """Replay every line of a file by the rules; what the lines show, as JSON values.

    Raises:
        CheckFailedError: a line is wrong; names the field or the action.
        IncunabulaError: the file, or the edition of a line, can't be read.
    """
    raw = read_bytes(path)
    if not raw:
        raise IncunabulaError(f"{path}: is empty; expected lines that hindsight --save wrote")
    given = None if edition is None else load_edition(edition)
    shown = []
    for where, form in read_lines(path, raw):
        played = _shipped(form, where) if given is None else given
        try:
            check_certificate(form, played, where)
        except IncunabulaError as error:
            raise CheckFailedError(str(error)) from None
        names = ("seed", "prestige", "width")
        bounds = {"lower_bound": form["score"], "upper_bound": form["upper_bound"]}
        shown.append({"edition": played.name} | {name: form[name] for name in names} | bounds)
    return {"file": str(path), "lines": shown}


def _shipped(form: Json, where: str) -> Edition:
    """The shipped edition that a certificate is of."""
    try:
        return edition_by_hash(form["edition_sha256"])
    except IncunabulaError:
        raise IncunabulaError(
            f"{where}: edition_sha256: no shipped edition has {form['edition_sha256'][:64]!r}; "
            "give the edition's file by --edition"
        ) from None


def turns_of(edition: Edition, form: Json) -> list[Json]:
    """A certificate's actions turn by turn: ``turn``, ``day`` it began, ``actions``."""
    engine = BibliogamoEngine(edition)
    fixed = None if form["prestige_drawn"] else form["prestige"]
    engine.deal(np.arange(1), np.array([form["seed"]], np.uint64), fixed)
    turns: list[Json] = []
    for action in form["actions"]:
        turn, day = int(engine.state.turn[0]), int(engine.state.time[0])
        if not turns or turns[-1]["turn"] != turn:
            turns.append({"turn": turn, "day": day, "actions": []})
        turns[-1]["actions"].append(action)
        engine.apply(np.array([engine.action_from_json(0, action)]))
    return turns


# For people ---------------------------------------------------------------------------------------


def print_one(result: Json, console: Console) -> None:
    """The line of one deal."""
    deal = result["deal"]
    for turn in result["turns"]:
        plays = ", ".join(_words(action) for action in turn["actions"])
        console.print(f"turn {turn['turn']}, day {turn['day']}: {plays}", highlight=False)
    drawn = "drawn" if deal["prestige_drawn"] else "chosen"
    console.print(
        f"Deal {deal['seed']} of {result['edition']['name']}, prestige collection "
        f"{deal['prestige']} ({drawn}), width {result['width']}: {result['lower_bound']} points "
        f"({LOWER}); no play scores more than {result['upper_bound']} (pathwise bound).",
        highlight=False,
    )


def _words(action: Json) -> str:
    """An action as words: "hire 12 into 3"."""
    kind, *values = action.values()
    return (
        " into ".join(f"{part}" for part in (f"{kind} {values[0]}", *values[1:]))
        if values
        else kind
    )


def print_many(result: Json, console: Console) -> None:
    """The lines of many deals: their mean."""
    lower, upper = result["lower_bound"], result["upper_bound"]
    rows = table(
        "Best lines found in hindsight", *("width", "mean", "95% interval", "sd", "5–95%", "best")
    )
    quantiles = lower["quantiles"]
    rows.add_row(
        f"{result['width']:,}",
        signed(lower["mean"], plus=""),
        interval(lower["ci95"]),
        "–" if lower["sd"] is None else f"{lower['sd']:.1f}",
        f"{quantiles['5']}–{quantiles['95']}",
        str(lower["max"]),
    )
    console.print(rows)
    spent = result["timing"]["processor_seconds_per_deal"]
    cost = "" if spent is None else f" · {spent:.2f} processor seconds a deal"
    seeds = result["seeds"]
    console.print(
        f"{seeds['games']:,} deals of the {seeds['list']!r} list · edition "
        f"{result['edition']['name']} · each line is {LOWER}; the pathwise upper bound is "
        f"{upper['mean']:.2f} on average{cost}.",
        style="dim",
        highlight=False,
    )


def print_checked(result: Json, console: Console) -> None:
    """What a file that was checked shows."""
    for line in result["lines"]:
        console.print(
            f"deal {line['seed']} of {line['edition']}: {line['lower_bound']} points ({LOWER}), "
            f"at most {line['upper_bound']}",
            highlight=False,
        )
    count = len(result["lines"])
    console.print(
        f"{result['file']}: {count:,} line{'' if count == 1 else 's'} checked: every action is "
        "legal, every score is right",
        highlight=False,
    )


class Working(SlowProgress):
    """A bar while deals are searched; says what is kept should it be interrupted."""

    def __init__(self, deals: int, save: str | None) -> None:
        super().__init__(deals, "hindsight")
        self._deals, self._save = deals, save

    def interrupted(self) -> str:
        kept = "nothing is kept" if self._save is None else f"{self._save} keeps them"
        deals = "1 deal" if self._deals == 1 else f"{self._deals:,} deals"
        return f"hindsight: interrupted after {self.done:,.0f} of {deals}; {kept}"
