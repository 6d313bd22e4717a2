"""Whose a cache is.  Entries are machine code and pickles, so a cache that somebody else may write is code of theirs.

As ssh does with keys: a directory or file that the user does not own, or that others may write, is refused.
"""

from __future__ import annotations

import functools
import os
import stat
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
ROOT = 0


@functools.cache
def directory_refusal(directory: Path) -> str | None:
    """Why a cache directory is not used, None if it is; one that does not exist yet is judged by its parents.

    The directory must be the user's own and writable by nobody else.  A directory above it must not let others replace
    it: it belongs to the user or to root, and others may write it only if it is sticky, as ``/tmp`` is.
    """
    directory = directory.absolute()
    if directory.exists() and (reason := entry_refusal(directory)):
        return reason
    for parent in directory.resolve().parents:
        try:
            about = parent.stat()
        except OSError:
            continue
        if about.st_uid not in (ROOT, os.geteuid()):
            return f"{parent} belongs to user {about.st_uid}"
        if about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX:
            return f"others may write {parent}"
    return None


def entry_refusal(path: Path) -> str | None:
    """Why a file or folder of the cache is not used, None if it is.  Raises OSError if it is not there."""
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return f"{path} is a symbolic link"
    if about.st_uid != os.geteuid():
        return f"{path} belongs to user {about.st_uid}"
    if about.st_mode & OTHERS_WRITE:
        return f"others may write {path}"
    return None
