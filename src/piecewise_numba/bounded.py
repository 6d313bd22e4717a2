"""Compilation that leaves a bounded amount of memory in a process, however many entry points it compiles.

numba takes about 90 MiB, a large entry point up to 200 more, and of these 10 to 20 stay for each that follows: nothing
gives them back before the process ends.  So a process compiles its first entry point itself, which loads numba, and all
others in copies of itself, whose machine code it loads.  A copy has numba as its process has it, and costs no more
processor time than compiling here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from piecewise_numba.entry_points import EntryPoint, code_from
from piecewise_numba.settings import has_own_threads, ready_for_copy

makes_copies = sys.platform == "linux"
"""Whether copies of this process may compile."""
_is_ready = False
"""Whether this process has compiled an entry point that a copy could have sent."""


def built(build: Callable[[], Any]) -> Any:
    """What ``build`` makes, an entry point; of a copy of this process from the second one on.  Raises as ``build``.

    A process with threads that a copy would lack compiles itself, unless they are the program's own.
    """
    global _is_ready
    if _is_ready and makes_copies and has_own_threads():
        code = _code_of_copy(build)
        if code is not None:
            return EntryPoint.loaded(code_from(code))
    made = build()
    _is_ready = _is_ready or (isinstance(made, EntryPoint) and made.code is not None)
    return made


def _code_of_copy(build: Callable[[], Any]) -> bytes | None:
    """The code that a copy of this process compiles.

    None if it has none to send: the system has no room for it, it died, it met an error, which compiling here will
    raise again, or its code cannot be stored.  Raises KeyboardInterrupt if Ctrl-C has ended it, which this process
    may miss while it forks.
    """
    reading, writing = os.pipe()
    copy, status = 0, 0
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        with os.fdopen(reading, "rb") as pipe:  # to close it ends the copy, as after Ctrl-C
            try:
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until it is clear which process meets it
                copy = _copy()
                if copy == 0:
                    _send(pipe, writing, build, mask)
            finally:
                os.close(writing)
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            sent = pipe.read()
    except OSError:
        return None
    finally:
        if copy:
            with contextlib.suppress(ChildProcessError):  # where SIGCHLD is ignored
                _, status = os.waitpid(copy, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT:
        raise KeyboardInterrupt
    return sent if sent and status == 0 else None


def _copy() -> int:
    """Fork this process while no other thread of it uses numba or LLVM; returns as `os.fork`."""
    from llvmlite.binding import ffi
    from numba.core.compiler_lock import global_compiler_lock

    lock: Any = ffi.lib._lock
    with ready_for_copy(), global_compiler_lock, lock:
        return os.fork()


def _send(reading: BinaryIO, pipe: int, build: Callable[[], Any], mask: Iterable[int]) -> None:
    """Compile in this copy, and end it; it also ends when nobody reads the pipe any more.  Does not return.  ``mask``
    are the signals that are blocked otherwise.
    """
    status = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGIO):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        reading.close()
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
