"""Our own games: the engine on NumPy as something to compare with, and what our rows measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.against.suite import Contender, Suite, Traits
from incunabula.training.evaluation.bench_play import STAGGER, TABLE_STAGGER
from incunabula.training.evaluation.bench_stepper import StepperPlay

BACKENDS = {"numpy": "NumPy", "numba": "numba"}  # as people write them


class Implementation(Suite):
    """A stepper of a NumPy engine, all seats stepped."""

    name = "numpy"
    most = 1 << 18

    def contenders(
        self, edition: BaseEdition, players: int, sizes: Sequence[int], seed: int
    ) -> Iterator[Contender]:
        for n in sizes:
            engine = numpy_engine(edition, n, players)
            fields = {"view": "stepper", "num_envs": n}
            stagger = STAGGER if players == 1 else TABLE_STAGGER
            yield Contender(fields, traits_of(engine), StepperPlay(engine, seed, stagger))


def numpy_engine(edition: BaseEdition, num_envs: int, players: int) -> Engine:
    """An engine of the edition's game."""
    if edition.game == "bibliogamo":
        return BibliogamoEngine(edition, num_envs, backend="numpy")
    return ScriptoriumEngine(edition, num_envs, players, backend="numpy")


def traits_of(engine: Engine, view: str = "stepper", backend: str = "numpy") -> Traits:
    """What a view of games of ours measures."""
    traits = Traits(
        plays=engine.game,
        technique=f"{BACKENDS[backend]}, all games in one call",
        observation=f"{engine.layout.size} float32",
        action_mask=f"{engine.actions.n} bool",
        autoreset="same step",
        sampling_timed=False,
    )
    if view == "stepper":
        return traits
    if view == "rollout":
        technique = f"{BACKENDS[backend]}, many steps in one call"
        return traits._replace(technique=technique, observation="none", sampling_timed=True)
    return traits._replace(action_mask=f"{engine.actions.n} int8", autoreset="next step")


def own_traits(
    edition: BaseEdition, players: int, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What our own rows measure, once for each view and number of threads."""
    engine = numpy_engine(edition, 1, players)
    lines = []
    for row in rows:
        traits = traits_of(engine, row["view"], row["backend"])
        if "threads" in row:  # what they do is timed as a whole
            traits = traits._replace(threads=row["threads"], sampling_timed=True)
        line = {"view": row["view"], "backend": row["backend"], **traits._asdict()}
        if line not in lines:
            lines.append(line)
    return lines
