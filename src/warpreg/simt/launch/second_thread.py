"""A second thread of the process, which compresses and writes recordings while native code runs in the first one.

Without a second processor, or in a process that shares the processors with others, the first thread does its work.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from piecewise_numba.settings import own_thread

P = ParamSpec("P")
T = TypeVar("T")

MOST = 8
"""Pieces of work that may wait or run: each holds buffers."""

_free_places = threading.Semaphore(MOST)
_starting = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def submit(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Do ``work`` after what was submitted before, in the second thread if there may be one."""
    if not may_use_two_processors():
        return _done(work, *args, **kwargs)

    def job() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            _free_places.release()

    _free_places.acquire()
    try:
        return _running().submit(job)
    except BaseException:
        _free_places.release()
        raise


def may_use_two_processors() -> bool:
    """Whether there is a processor for the second thread."""
    return len(os.sched_getaffinity(0)) > 1 and multiprocessing.parent_process() is None


def _running() -> ThreadPoolExecutor:
    global _pool
    with _starting:
        if _pool is None:
            _pool = ThreadPoolExecutor(1, "recording", own_thread)
        return _pool


def _end() -> None:
    """End the thread, once it has nothing to do: a copy of this process would lack it."""
    global _pool
    with _starting:
        if _pool is not None:
            _pool.shutdown()
            _pool = None


os.register_at_fork(before=_end)


def _done(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    future: Future[T] = Future()
    try:
        future.set_result(work(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future
