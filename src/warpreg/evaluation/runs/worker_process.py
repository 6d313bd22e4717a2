"""Worker processes that end with the command that started them: when it is interrupted, fails, or is killed.

A worker waits for work on a pipe whose other end its siblings hold too, so after the death of its parent it would wait
for ever.  Ctrl-C reaches all processes of a terminal; workers ignore it, since their parent decides what it means, and
asks them to end with SIGTERM.  A worker in the middle of a call meets that as KeyboardInterrupt, so that a timed run
keeps its finished launches.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, TypeVar

from warpreg.ir.errors import InterruptedCodeError

T = TypeVar("T")
GRACE_S = 10.0
"""Seconds that a worker has to keep what it has finished; then it is killed."""
INTERRUPTED = 130


class WorkerPool(ProcessPoolExecutor):
    """Worker processes of a ``with`` block; an error or Ctrl-C in it ends them in the middle of their calls."""

    def __init__(self, workers: int | None = None, context: Any = None) -> None:
        super().__init__(workers, mp_context=context, initializer=_begin)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """As of the base class.  Workers may start here: they inherit that SIGINT is blocked, until they ignore it."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(_call, fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._is_broken:
            self.shutdown()
        else:
            self.end()

    @property
    def _is_broken(self) -> bool:
        """Whether a worker has died.  Another one that misses what then asks it to end may wait for ever."""
        broken: Any = self._broken
        return bool(broken)

    def end(self) -> None:
        """End the workers now; calls that are not finished are dropped.

        The thread of the pool hears first of the calls, then of the workers.  In some versions of Python it prints an
        error where a worker dies before, or where the process ends before it.
        """
        workers: list[Any] = list((self._processes or {}).values())
        thread: Any = self._executor_manager_thread
        self.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + GRACE_S
        try:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join(max(0.0, end - time.monotonic()))
        finally:
            for worker in workers:
                worker.kill()
            if thread is not None:
                thread.join()


def _begin() -> None:
    """What a worker does first."""
    end_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _call(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """A call in a worker, which ends it if it is interrupted."""
    try:
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            return function(*args, **kwargs)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    except (KeyboardInterrupt, InterruptedCodeError):
        os._exit(INTERRUPTED)


def _interrupt(number: int, frame: object) -> None:
    """Interrupt the call, once."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def end_with_parent() -> None:
    """Ask the system to end this process when its parent does, in the middle of compiled code too.  The parent holds
    the other end of a pipe; the default action of the signal that its end causes is to end the process.
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
