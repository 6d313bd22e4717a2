"""Atomic file writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path, makes_folders: bool = True) -> Iterator[Path]:
    """A temporary path to write to; it replaces ``path`` at the end, or is deleted if the block fails.
    ``makes_folders``: missing folders are made.

    An OSError of the block that does not say of which file, as one of a write, names ``path``.
    """
    if makes_folders:
        path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
