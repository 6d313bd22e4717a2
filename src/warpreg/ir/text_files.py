"""Reads text files up to a bound, so that an endless one (``/dev/zero``) is an error."""

from __future__ import annotations

from pathlib import Path

from warpreg.ir.errors import WarpregError

MAX_CHARACTERS = 1 << 27
"""More than ten times the longest PTX file known to the authors."""


def read_text(path: Path, errors: str = "strict") -> str:
    """The text of a UTF-8 file, without a byte order mark, as editors of Windows write one.

    Raises OSError, UnicodeDecodeError unless ``errors`` says otherwise, and WarpregError for a file that is too long.
    """
    with path.open(encoding="utf-8-sig", errors=errors) as file:
        text = file.read(MAX_CHARACTERS + 1)
    if len(text) > MAX_CHARACTERS:
        raise WarpregError(f"{path}: more than {MAX_CHARACTERS} characters; no input is that long")
    return text
