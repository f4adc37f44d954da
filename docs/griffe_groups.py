"""Docstrings for the reference, as Griffe reads them: several names with one meaning.

``edition, tape: as above`` is short for people; each name becomes an entry of its own, so that
Griffe checks that there is such a parameter.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

# Names separated by commas, on two lines maybe, and what follows the colon with its further lines.
_GROUP = re.compile(r"^( {4})((?:\w+,\s+)+\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


class Groups(Extension):
    """Gives each name of a group its own entry."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = _GROUP.sub(_each, obj.docstring.value)


def _each(group: re.Match[str]) -> str:
    indent, names, meaning = group.groups()
    return "\n".join(f"{indent}{name}: {meaning}" for name in re.split(r",\s+", names))
