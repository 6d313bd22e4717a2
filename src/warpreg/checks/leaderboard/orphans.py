"""Processes that outlive the one that started them, also in sessions of their own: on Linux, a parent adopts them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

CHILD_SUBREAPER = 36
"""The option of ``prctl`` after which orphans among the descendants become children of this process."""


@contextlib.contextmanager
def killed_orphans() -> Iterator[None]:
    """What descendants leave behind becomes a child of this process, and is killed at the end, as are all children that
    were not there before.  Outside of Linux, nothing is done.
    """
    before = children()
    _adopt(1)
    try:
        yield
    finally:
        _kill_children(but=before)
        _adopt(0)


def _adopt(orphans: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(CHILD_SUBREAPER, orphans, 0, 0, 0)


def children() -> set[int]:
    """The children of this process, as far as the system tells."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, task.read_text(encoding="ascii").split()))
    return found


def _kill_children(but: set[int]) -> None:
    while orphans := children() - but:
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)
