"""`incunabula hindsight`, files of lines, processes, and par in `incunabula evaluate`."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.agents.hindsight.search import best_line
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.evaluation.report import write_report
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.hindsight import command, deals
from incunabula.training.hindsight.deals import find_lines
from incunabula.training.hindsight.lines import LinesFile
from tests.backends import as_python
from tests.commands import Cli, cli

__all__ = ["as_python", "cli"]

NAME = "bibliogamo-tiny"
TINY = ("--edition", NAME)
EDITION = load_edition(NAME)
SEEDS = seed_list("final", 4).tolist()


@lru_cache
def scores() -> list[int]:
    """Of the lines at width 4."""
    return [best_line(EDITION, seed, width=4).score for seed in SEEDS]


# The command --------------------------------------------------------------------------------------


def test_a_deal_is_shown_with_both_bounds_and_its_line(cli: Cli) -> None:
    outcome = cli("hindsight", "--deal", 3, *TINY, "--width", 8)
    assert (outcome.status, outcome.err) == (0, "")
    text = " ".join(outcome.out.split())
    for said in ("turn 1, day 1: ", "Deal 3 of bibliogamo-tiny", "a lower bound on the best in"):
        assert said in text
    assert "no play scores more than 13 (pathwise bound)" in text


def test_json_holds_the_certificate(cli: Cli) -> None:
    result = json.loads(cli("hindsight", "--deal", 3, *TINY, "--width", 8, "--json").out)
    line = best_line(EDITION, 3, width=8)
    assert (result["lower_bound"], result["upper_bound"]) == (line.score, 13)
    assert result["certificate"]["actions"] == line.actions
    assert result["deal"] == {"seed": 3, "prestige": line.prestige, "prestige_drawn": True}
    assert [action for turn in result["turns"] for action in turn["actions"]] == line.actions
    other = 1 - line.prestige
    result = json.loads(
        cli("hindsight", "--deal", 3, *TINY, "--width", 8, "--json", "--prestige", other).out
    )
    assert result["deal"] == {"seed": 3, "prestige": other, "prestige_drawn": False}


def test_many_deals_have_a_mean(cli: Cli) -> None:
    ask = ("hindsight", "bibliogamo", "--seeds", "final", "--games", 4, *TINY, "--width", 4)
    result = json.loads(cli(*ask, "--json").out)
    assert [deal["score"] for deal in result["deals"]] == scores()
    assert result["lower_bound"]["mean"] == np.mean(scores())
    assert result["upper_bound"]["mean"] == 13
    outcome = cli(*ask)
    assert "4 deals of the 'final' list" in outcome.out
    assert f"{np.mean(scores()):.2f}" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "deal: expected the seed of a deal by --deal"),
        (("scriptorium", "--deal", 1), "only bibliogamo has"),
        (("biblogamo", "--deal", 1), "did you mean 'bibliogamo'"),
        (("--deal", 1, "--games", 2), "games: --deal is one deal; leave --games out"),
        (("--deal", 1, "--seeds", "dev"), "seeds: --deal is one deal"),
        (("--games", 2, "--seeds", "final_"), "did you mean 'final'"),
        (("--games", 0), "games: expected a whole number from 1"),
        (("--deal", 1, "--width", 0), "width: expected a whole number from 1 to 10,000"),
        (("--deal", 1, "--workers", 0), "workers: expected a whole number from 1 to 256"),
        (("--deal", 1, "--prestige", 2), "prestige: expected an integer in 0..1, got 2"),
        (("--deal", 1, "--save", ""), "save: expected a file, got ''"),
        (("--check", "missing.jsonl", "--deal", 1), "leave --deal out"),
        (("--check", ""), "check: expected a file of lines, got ''"),
        (("--check", "missing.jsonl"), "missing.jsonl: can't be read"),
    ],
)
def test_what_cannot_be_asked_is_told_in_a_line(
    cli: Cli, arguments: tuple[Any, ...], said: str
) -> None:
    edition = () if "--check" in arguments else TINY
    outcome = cli("hindsight", *arguments, *edition)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


# Files --------------------------------------------------------------------------------------------


def test_a_saved_file_is_checked_line_by_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "new" / "lines.jsonl"
    assert cli("hindsight", "--games", 3, *TINY, "--width", 4, "--save", file).status == 0
    result = json.loads(cli("hindsight", "--check", file, "--json").out)
    assert [line["lower_bound"] for line in result["lines"]] == scores()[:3]
    assert "3 lines checked" in cli("hindsight", "--check", file).out
    lines = file.read_text().splitlines()
    form = json.loads(lines[1])
    file.write_text(json.dumps(form | {"edition": "of another name"}))
    assert f"of {NAME}: " in cli("hindsight", "--check", file).out
    form["score"] += 1
    lines[1] = json.dumps(form)
    file.write_text("\n".join(lines) + "\n")
    outcome = cli("hindsight", "--check", file)
    assert outcome.status == 1
    assert "line 2: score: the line scores" in outcome.err
    form["edition_sha256"] = "f" * 64
    file.write_text(json.dumps(form) + "\n")
    assert "no shipped edition has" in cli("hindsight", "--check", file).err
    assert "edition_sha256: is of edition" in cli("hindsight", "--check", file, *TINY).err
    file.write_text("")
    assert "is empty" in cli("hindsight", "--check", file).err


def test_what_was_kept_is_not_searched_again(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, searched = tmp_path / "lines.jsonl", []
    search = deals.best_line

    def noted(edition: Any, seed: int, **options: Any) -> Any:
        searched.append(seed)
        if len(searched) == 3:
            raise KeyboardInterrupt
        return search(edition, seed, **options)

    monkeypatch.setattr(deals, "best_line", noted)
    ask = ("hindsight", "--games", 4, *TINY, "--width", 4, "--save", file)
    outcome = cli(*ask)
    assert (outcome.status, outcome.out) == (130, "")
    assert "interrupted after 2 of 4 deals" in outcome.err
    assert f"{file} keeps them" in outcome.err
    assert len(file.read_text().splitlines()) == 2
    assert cli(*ask, "--json").status == 0
    assert searched == [*SEEDS[:3], *SEEDS[2:]]
    whole = file.read_bytes()
    result = json.loads(cli(*ask, "--json").out)
    assert [deal["score"] for deal in result["deals"]] == scores()
    assert result["timing"]["searched"] == 0
    assert file.read_bytes() == whole


@pytest.mark.parametrize("left", [1, 30, 200, -1])
def test_a_line_that_was_cut_off_is_found_again(tmp_path: Path, left: int) -> None:
    file = tmp_path / "lines.jsonl"
    find_lines(EDITION, SEEDS[:3], width=2, save=file)
    whole = file.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    file.write_bytes(whole[: start + left] if left > 0 else whole[:-1])
    find_lines(EDITION, SEEDS[:3], width=2, save=file)
    assert file.read_bytes() == whole
    file.write_bytes(whole[:left])  # the very first
    find_lines(EDITION, SEEDS[:3], width=2, save=file)
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("notes of mine", "holds something else than lines"),
        ("notes of mine\n", "line 1: isn't JSON"),
        ('{"kind": "else"}\n', "line 1: kind: expected"),
        ("\n", "line 1: isn't JSON"),
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(content)
    with pytest.raises(IncunabulaError, match=said):
        find_lines(EDITION, SEEDS[:1], width=2, save=file)
    assert file.read_text() == content


def test_lines_of_another_kind_are_not_mixed(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    find_lines(EDITION, SEEDS[:1], width=2, save=file)
    kept = file.read_bytes()
    with pytest.raises(IncunabulaError, match="line 1: width: is 2, expected 3; name another"):
        find_lines(EDITION, SEEDS[:1], width=3, save=file)
    with pytest.raises(IncunabulaError, match="line 1: prestige_drawn: is True, expected False"):
        find_lines(EDITION, SEEDS[:1], width=2, prestige=0, save=file)
    with pytest.raises(IncunabulaError, match="line 1: edition_sha256: is '"):
        find_lines(load_edition("bibliogamo-small"), SEEDS[:1], width=2, save=file)
    file.write_bytes(kept.replace(b'"score": ', b'"score": 1'))
    with pytest.raises(IncunabulaError, match="line 1: score: the line scores"):
        find_lines(EDITION, SEEDS[:1], width=2, save=file)
    with pytest.raises(IncunabulaError, match="save: expected a file"):
        find_lines(EDITION, SEEDS[:1], width=2, save=tmp_path)


def test_a_file_that_something_else_writes_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    first, second = (LinesFile(file, EDITION, 2, None) for _ in range(2))
    forms = [line.form for line in find_lines(EDITION, SEEDS[:3], width=2)]
    first.append(forms[0])
    first.append(forms[1])
    kept = file.read_bytes()
    with pytest.raises(IncunabulaError, match="something else writes to it too"):
        second.append(forms[2])
    assert file.read_bytes() == kept
    LinesFile(file, EDITION, 2, None).append(forms[2])
    with pytest.raises(IncunabulaError, match="something else writes to it too"):
        first.append(forms[2])
    file.unlink()
    with pytest.raises(IncunabulaError, match="can't be written: No such file"):
        first.append(forms[2])
    assert not file.exists()


@pytest.mark.parametrize("name", ["long" * 100, "nul\0"])
def test_a_name_that_no_file_can_have_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(IncunabulaError, match=r"can't be written: (File name too long|emb)"):
        find_lines(EDITION, SEEDS[:1], width=2, save=tmp_path / name)


# Processes ----------------------------------------------------------------------------------------


def test_processes_change_no_number(tmp_path: Path) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    find_lines(EDITION, SEEDS, width=4, save=alone)
    found = find_lines(EDITION, SEEDS, width=4, save=shared, workers=2)
    assert [line.form["score"] for line in found] == scores()
    assert alone.read_bytes() == shared.read_bytes()


# Par ----------------------------------------------------------------------------------------------


def test_agents_are_held_against_par(tmp_path: Path) -> None:
    evaluation = evaluate(["random", "greedy"], edition=NAME, games=4, par_width=4)
    result, par = evaluation.result, evaluation.par
    assert par is not None
    assert par.tolist() == scores()
    assert (result["par"]["mean"], result["par"]["width"]) == (np.mean(scores()), 4)
    for row in result["par"]["agents"]:
        own = evaluation.games[row["name"]].score
        assert row["mean_difference"] == pytest.approx((own - par).mean())
        assert row["share"] == pytest.approx(own.mean() / par.mean(), abs=1e-6)
        assert row["above"] + row["equal"] + row["below"] == 4
        assert row["ci95"][0] <= row["mean_difference"] <= row["ci95"][1]
    assert result["par"]["agents"][1]["above"] == 0  # no line is worse than greedy
    assert "par" not in evaluate(["random"], edition=NAME, games=2).result
    pytest.importorskip("matplotlib")
    page = write_report(tmp_path, evaluation).read_text()
    assert "Against par" in page
    games = (tmp_path / "games.csv").read_text().splitlines()
    assert games[0] == "game,seed,random,greedy,par"
    assert [int(line.split(",")[-1]) for line in games[1:]] == scores()


def test_par_is_of_the_prestige_that_is_played() -> None:
    evaluation = evaluate(["random"], edition=NAME, games=3, prestige=1, par_width=2)
    lines = [best_line(EDITION, seed, width=2, prestige=1) for seed in SEEDS[:3]]
    assert evaluation.par is not None
    assert evaluation.par.tolist() == [line.score for line in lines]


def test_evaluate_shows_par(cli: Cli) -> None:
    ask = ("evaluate", "bibliogamo", *TINY, "--agents", "greedy", "--games", 3, "--par")
    outcome = cli(*ask, "--par-width", 4)
    assert (outcome.status, outcome.err) == (0, "")
    assert "Against par" in outcome.out
    assert "a lower bound" in outcome.out
    result = json.loads(cli(*ask, "--par-width", 4, "--json").out)
    assert result["par"]["mean"] == pytest.approx(np.mean(scores()[:3]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scriptorium", "--par"), "par: scriptorium has none, since what opponents do"),
        (("bibliogamo", "--par-width", 4), "par-width: is the width of the search for par"),
        (("bibliogamo", "--par", "--par-width", 0), "par width: expected a whole number from 1"),
    ],
)
def test_par_that_cannot_be_had_is_told(cli: Cli, arguments: tuple[Any, ...], said: str) -> None:
    outcome = cli("evaluate", *arguments, "--agents", "random", "--games", 2)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err


def test_the_command_says_what_is_lost(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "find_lines", interrupted)
    outcome = cli("hindsight", "--deal", 1, *TINY)
    assert outcome.status == 130
    assert "interrupted after 0 of 1 deal; nothing is kept" in outcome.err
