"""Worker processes that end with the process that started them, also where that was killed.

A worker waits for work on a pipe whose other end its siblings hold too, so without this it would wait for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.connection import wait


def end_with_parent() -> None:
    """Ask the system to end this process when its parent does, in the middle of compiled code too: the initializer of a
    pool.  The parent holds the other end of a pipe; the default action of the signal that its end causes is to end the
    process.
    """
    parent = multiprocessing.parent_process()
    if parent is None or sys.platform == "win32":
        return
    import fcntl

    pipe = parent.sentinel
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([pipe], timeout=0):
        os._exit(1)  # it has ended before
