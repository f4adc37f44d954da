"""Printing on terminals and into files that can't show every character."""

import codecs
import io
import sys

# What stands for the characters that tables, notes and boards use, where the encoding hasn't got
# them. What boards are made of is one character each, so that columns stay where they are.
_PLAIN = {
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "x",
    "·": "-",
    "…": "~",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "²": "2",
    **dict(zip("╭╮╰╯╔╗╚╝─━═│║┃", "++++####-==|#|", strict=True)),
    **dict(zip("■□◆▲▼♠★●▶", "#.+^v&*o>", strict=True)),
}
_ERRORS = "incunabula.plain"


def print_anything() -> None:
    """Let stdout and stderr print any text, whatever their encoding.

    What the encoding hasn't got is replaced by something like it, or by its escape. An error
    handler that the user has chosen (``PYTHONIOENCODING=ascii:replace``) is left alone.
    """
    codecs.register_error(_ERRORS, _plain)
    for stream in (sys.stdout, sys.stderr):
        usual = ("strict", "surrogateescape", "backslashreplace")
        if isinstance(stream, io.TextIOWrapper) and stream.errors in usual:
            stream.reconfigure(errors=_ERRORS)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """A codecs error handler: the next character that can't be encoded, in another way."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character, end = error.object[error.start], error.start + 1
    if "\udc80" <= character <= "\udcff":  # a byte of a file's name that was no text
        return bytes([ord(character) - 0xDC00]), end
    return _PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode(), end
