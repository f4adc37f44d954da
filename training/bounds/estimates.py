"""The estimates of an upper bound: shared by processes if wanted, kept in a file if wanted.

The file is JSON lines: what it is for, then the parameters, then an estimate a line, written as
soon as it is there. Each line has a name that stands for all that it rests on, so that nothing is
used that was estimated for another credit or by other constants. The file is written anew as a
whole, so that it never ends in half a line.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from incunabula.agents.bounds.bound import Chosen
from incunabula.agents.bounds.sales import Estimate, Judge, Task
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.files import check_file, write_atomically
from incunabula.training.evaluation.seeds import check_count
from incunabula.training.hindsight.lines import read_bytes
from incunabula.training.workers import MAX_WORKERS, made_by_processes

Json = dict[str, Any]
KIND = "incunabula bound"
VERSION = 2  # of the estimates; those of another aren't gone on with


class Estimates:
    """Makes a bound's choice and estimates, or takes them from a file.

    Args:
        edition, samples, seed: of the bound.
        workers: processes that share the estimates; changes the time taken and nothing else.
        save: file that keeps the choice and every estimate; what it holds isn't done again.
        on_progress: told how many estimates there are, and of how many.

    Raises:
        IncunabulaError: the file is of another bound, damaged, or can't be used.
    """

    def __init__(
        self,
        edition: Edition,
        samples: int,
        seed: int,
        *,
        workers: int = 1,
        save: str | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        check_count("workers", workers, MAX_WORKERS)
        self._workers, self._tell = workers, on_progress or (lambda _done, _tasks: None)
        names = {"kind": KIND, "version": VERSION, "edition_sha256": edition.sha256}
        self._lines: list[Json] = [names | {"samples": samples, "seed": seed}]
        self._path = None if save is None else Path(save)
        if save is not None:
            self._read(Path(save), save)

    def _read(self, path: Path, save: str) -> None:
        check_file(save)
        if not path.exists():
            return
        try:
            lines = [json.loads(line) for line in read_bytes(path).splitlines()]
            sound = lines[0]["kind"] == KIND and all(map(_is_sound, lines[1:]))
        except (ValueError, LookupError, TypeError):
            sound = False
        if not sound:
            raise IncunabulaError(
                f"save: {path} holds something else than the estimates of a bound, so it isn't "
                "written to; name another file"
            )
        for name, value in self._lines[0].items():
            if (other := lines[0].get(name)) != value:
                raise IncunabulaError(
                    f"save: {path}: {name}: is {other!r}, expected {value!r}; name another file"
                )
        self._lines = lines

    def _keep(self, line: Json) -> None:
        self._lines.append(line)
        if self._path is not None:
            text = "".join(json.dumps(each) + "\n" for each in self._lines)
            write_atomically(self._path, text.encode())

    def choice(self, choose: Callable[[], Chosen]) -> Chosen:
        """The parameters that the file names, or those that are chosen now."""
        for line in self._lines[1:]:
            if "day" in line:
                return Chosen(**line)
        chosen = choose()
        self._keep(chosen._asdict())
        return chosen

    def each(self, judge: Judge, tasks: Sequence[Task]) -> list[Estimate]:
        """What every task comes to, in their order."""
        names = {task.number: judge.name(task) for task in tasks}
        found = {
            line["task"]: Estimate(line["value"], line["limits"])
            for line in self._lines[1:]
            if "task" in line and line["name"] == names.get(line["task"])
        }
        missing = [task for task in tasks if task.number not in found]
        with contextlib.closing(self._made(judge, missing)) as made:
            for task, estimate in zip(missing, made, strict=True):
                found[task.number] = estimate
                self._keep({"task": task.number, "name": names[task.number]} | estimate._asdict())
                self._tell(len(found), len(tasks))
        return [found[task.number] for task in tasks]

    def _made(self, judge: Judge, tasks: Sequence[Task]) -> Generator[Estimate]:
        if self._workers == 1 or len(tasks) < 2:
            yield from map(judge.estimate, tasks)
            return
        yield from made_by_processes(_estimate, tasks, self._workers, _begin, judge)


def _is_sound(line: Json) -> bool:
    """Whether this module could have written the line."""
    if "day" in line:
        return set(line) == set(Chosen._fields) and all(isinstance(x, float) for x in line.values())
    whole = isinstance(line["task"], int) and isinstance(line["limits"], int)
    return whole and isinstance(line["name"], str) and isinstance(line["value"], float)


_judges: list[Judge] = []  # the one that this process asks, if it is one that shares the work


def _begin(judge: Judge) -> None:
    _judges[:] = [judge]


def _estimate(task: Task) -> Estimate:
    return _judges[0].estimate(task)
