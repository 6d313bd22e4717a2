"""Compilation that leaves a bounded amount of memory in a process, however many entry points it compiles.

numba and LLVM leave 10 to 20 MiB for each large entry point, which nothing gives back before the process ends.  A
process in which they have left more than a bound compiles further entry points in copies of itself, and loads the
machine code that these send.  A copy has all that numba has loaded, so it costs little more than the pages it writes.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from piecewise_numba.entry_points import EntryPoint, code_from
from piecewise_numba.settings import has_own_threads

LEFT_MIB = 160.0
"""What compilation may leave in a process before copies of it compile, in MiB.  numba alone takes about 100, so a
command that compiles two or three cores does it in its own process.
"""
STATM = Path("/proc/self/statm")

_left_mib = 0.0
"""What compilation has left in this process so far."""


def built(build: Callable[[], Any]) -> Any:
    """What ``build`` makes, an entry point; of a copy of this process, once this one is full.  Raises as ``build``."""
    if _left_mib > LEFT_MIB and (has_own_threads() or threading.active_count() == 1):
        code = _code_of_copy(build)
        if code is not None:
            return EntryPoint.loaded(code_from(code))
    return _built_here(build)


def _built_here(build: Callable[[], Any]) -> Any:
    global _left_mib
    before_mib = _resident_mib()
    made = build()
    if isinstance(made, EntryPoint) and made.code is not None:  # which a copy could send
        _left_mib += _resident_mib() - before_mib
    return made


def _resident_mib() -> float:
    """The resident set of this process; 0 where the system does not tell, so that nothing is bounded there."""
    if sys.platform != "linux":
        return 0.0
    return int(STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _code_of_copy(build: Callable[[], Any]) -> bytes | None:
    """The code that a copy of this process compiles.

    None if it has none to send: the system has no room for it, it died, it met an error, which compiling here will
    raise again, or its code cannot be stored.  Raises KeyboardInterrupt if Ctrl-C has ended it, which this process
    may miss while it forks.
    """
    reading, writing = os.pipe()
    copy, status = 0, 0
    try:
        with os.fdopen(reading, "rb") as pipe:  # to close it ends the copy, as after Ctrl-C
            try:
                copy = _copy()
                if copy == 0:
                    pipe.close()
                    _send(writing, build)
            finally:
                os.close(writing)
            sent = pipe.read()
    except OSError:
        return None
    finally:
        if copy:
            _, status = os.waitpid(copy, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT:
        raise KeyboardInterrupt
    return sent if sent and status == 0 else None


def _copy() -> int:
    """Fork this process while no other thread of it uses numba or LLVM; returns as `os.fork`."""
    from llvmlite.binding import ffi
    from numba.core.compiler_lock import global_compiler_lock

    lock: Any = ffi.lib._lock
    with global_compiler_lock, lock:
        return os.fork()


def _send(pipe: int, build: Callable[[], Any]) -> None:
    """Compile in this copy, and end it; it also ends when nobody reads the pipe any more.  Does not return."""
    status = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGIO):
            signal.signal(number, signal.SIG_DFL)
        flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)  # that nobody reads any more is a SIGIO
        if _is_broken(pipe):
            return  # to its end below
        warnings.simplefilter("ignore")  # the process that reads warns when it keeps the code
        code = build().code
        fcntl.fcntl(pipe, fcntl.F_SETFL, flags)
        with os.fdopen(pipe, "wb") as sending:
            sending.write(b"" if code is None else code.as_bytes())
        status = 0
    finally:
        os._exit(status)


def _is_broken(pipe: int) -> bool:
    """Whether nobody reads a pipe."""
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(0))
