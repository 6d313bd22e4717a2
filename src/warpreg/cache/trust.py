"""Ownership checks of the cache.  Entries are machine code and pickles: whoever can write them can execute code.

As ssh does for keys, a directory or file that the user does not own, or that others may write, is refused.
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
    """Why a cache directory is refused, None if it is accepted; a missing one is judged by its parents.

    The directory must belong to the user and be writable by no one else.  A directory above it must not allow others to
    replace it: it belongs to the user or to root, and others may write it only if it is sticky, such as ``/tmp``.
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
    """Why a file or folder of the cache is refused, None if it is accepted.  Raises OSError if it is missing."""
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return f"{path} is a symbolic link"
    if about.st_uid != os.geteuid():
        return f"{path} belongs to user {about.st_uid}"
    if about.st_mode & OTHERS_WRITE:
        return f"others may write {path}"
    return None


def is_as_safe_as(path: Path, reference: Path) -> bool:
    """Whether only users can have written a file or folder who can write ``reference`` too, or root, or this user.
    Raises OSError if one is missing.
    """
    about, other = path.lstat(), reference.stat()
    is_of_group = bool(other.st_mode & stat.S_IWGRP) and about.st_gid == other.st_gid
    return (
        not stat.S_ISLNK(about.st_mode)
        and about.st_uid in (ROOT, os.geteuid(), other.st_uid)
        and not about.st_mode & stat.S_IWOTH
        and (is_of_group or not about.st_mode & stat.S_IWGRP)
    )
