"""Processes that outlive the one that started them, also in sessions of their own: on Linux, a parent adopts them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

CHILD_SUBREAPER = 36
"""The option of ``prctl`` after which orphans among the descendants become children of this process."""


def adopt_orphans() -> None:
    """From now on, what a descendant leaves behind becomes a child of this process; does nothing outside of Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The children of this process, as far as the system tells."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, task.read_text(encoding="ascii").split()))
    return found


def kill_children(but: set[int]) -> None:
    """Kill all children but these, and what they leave behind."""
    while orphans := children() - but:
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)
