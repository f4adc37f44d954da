"""Files of lines found in hindsight: JSON lines, one deal a line, written as they are found.

A process that is killed while it writes leaves a last line without an end. It is recognised, and
taken away before the next line is written; anything else that is wrong with a file is an error.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from incunabula.agents.hindsight.certificate import KIND, check_certificate, read_certificate
from incunabula.agents.hindsight.search import SEARCH_VERSION
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import open_regular
from incunabula.envs.json_state import Json
from incunabula.training.evaluation.files import check_file

START = json.dumps({"kind": KIND}).encode()[:-1]  # how every line begins
MAX_BYTES = 1 << 30


class LinesFile:
    """The lines of deals of one edition and width, kept in a file.

    Args:
        save: its path; made with the first line; what it holds already is read.
        edition, width: of the lines.
        prestige: the collection of every deal; None = drawn from each seed.

    Raises:
        IncunabulaError: it can't be read, or holds anything else.
    """

    def __init__(
        self, save: str | Path, edition: Edition, width: int, prestige: int | None
    ) -> None:
        path = self._path = Path(save)
        self._edition = edition
        check_file(save)
        self._forms: dict[int, tuple[str, Json]] = {}
        raw = read_bytes(path) if path.exists() else b""
        rest = raw.rpartition(b"\n")[2]
        self._sound, self._size = len(raw) - len(rest), len(raw)  # bytes
        if not (rest.startswith(START) or START.startswith(rest)):
            raise IncunabulaError(
                f"{path}: holds something else than lines found in hindsight, so it isn't "
                "written to; name another file by --save"
            )
        wanted = {
            "search": SEARCH_VERSION,
            "edition_sha256": edition.sha256,
            "width": width,
            "prestige_drawn": prestige is None,
        }
        if prestige is not None:
            wanted["prestige"] = prestige
        for where, form in read_lines(path, raw[: self._sound]) if self._sound else ():
            for name, value in wanted.items():
                if form[name] != value:
                    raise IncunabulaError(
                        f"{where}: {name}: is {form[name]!r}, expected {value!r}; name another "
                        "file by --save"
                    )
            self._forms.setdefault(form["seed"], (where, form))

    def get(self, seed: int) -> Json | None:
        """The line of a deal, if the file held it; checked by the rules.

        Raises:
            IncunabulaError: it isn't what it claims to be.
        """
        if seed not in self._forms:
            return None
        where, form = self._forms[seed]
        check_certificate(form, self._edition, where)
        return form

    def append(self, form: Json) -> None:
        """Write a line at the end of the file.

        Raises:
            IncunabulaError: it can't be written, or isn't as this object left it.
        """
        line = (json.dumps(form) + "\n").encode()
        try:
            with self._path.open("r+b" if self._size else "a+b") as file:
                if os.fstat(file.fileno()).st_size != self._size:
                    raise IncunabulaError(
                        f"{self._path}: something else writes to it too, so no more is written; "
                        "have one command at a time use a file, which goes on with what it holds"
                    )
                file.truncate(self._sound)
                file.seek(self._sound)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise IncunabulaError(f"{self._path}: can't be written: {reason}") from None
        self._sound = self._size = self._sound + len(line)


def read_bytes(path: Path) -> bytes:
    """What a file of lines holds.

    Raises:
        IncunabulaError: it can't be read.
    """
    try:
        with open_regular(path) as file:
            raw = file.read(MAX_BYTES + 1)
    except IncunabulaError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{path}: can't be read: {reason}") from None
    if len(raw) > MAX_BYTES:
        raise IncunabulaError(f"{path}: is larger than {MAX_BYTES:,} bytes")
    return raw


def read_lines(path: Path, raw: bytes) -> list[tuple[str, Json]]:
    """Each line of a file, ended or not: where it stands, for errors, and its certificate.

    Raises:
        IncunabulaError: a line isn't a certificate.
    """
    lines = raw.removesuffix(b"\n").split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise IncunabulaError(f"{where}: isn't text") from None
        found.append((where, read_certificate(text, where)))
    return found
