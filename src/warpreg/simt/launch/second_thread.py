"""A second thread of the process, which compresses and writes recordings while native code runs in the first one.

Without a second processor, in a process that shares the processors with others, or where no thread can start, the first
thread does its work.

Ctrl-C may interrupt the first thread after any call.  So only locks and queues are used that Python has in C: condition
variables, and with them semaphores and the futures of `concurrent`, may be left locked.
"""

from __future__ import annotations

import atexit
import functools
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Generic, ParamSpec, TypeVar

from piecewise_numba import settings

P = ParamSpec("P")
T = TypeVar("T")

IS_LINUX = sys.platform == "linux"

MOST = 8
"""Pieces of work that may wait or run: each holds buffers."""

TOGETHER = 8
"""Small pieces of work that are handed over at once: handing over each takes as long as doing it.  In `nw`, 4 and 16
take as long.
"""


class Task(Generic[T]):
    """A piece of work that may not be done yet."""

    _result: T
    _error: BaseException | None = None
    _is_seen = False
    """Whether the error was raised."""

    def __init__(self) -> None:
        self.undone = threading.Lock()
        """Held until the work is done."""
        self.undone.acquire()

    def do(self, work: Callable[[], T]) -> None:
        """Do the work; its error is kept for `result`.  Raises only what is no Exception, as after Ctrl-C."""
        try:
            self._result = work()
        except BaseException as error:
            self._error = error
            if not isinstance(error, Exception):
                raise
        finally:
            self.undone.release()

    @property
    def is_done(self) -> bool:
        """Whether `result` need not wait."""
        return not self.undone.locked()

    def result(self) -> T:
        """What the work returned, once it is done.  Raises its error."""
        with self.undone:
            pass
        if self._error is not None:
            self._is_seen = True
            raise self._error
        return self._result

    def check(self) -> None:
        """Raise the error that the work has met by now, if `result` or this has not raised it before."""
        if self.is_done and not self._is_seen:
            self.result()


class SmallTask(Task[T]):
    """A piece of work that may still wait for others to be handed over with."""

    def result(self) -> T:
        """As of the base class; hands over what waits."""
        if not self.is_done:
            submit(_do_small)
        return super().result()


class _SecondThread(threading.Thread):
    """Does what is put into its queue, until that is None."""

    def __init__(self) -> None:
        super().__init__(name="recording", daemon=True)
        settings.own_thread(self)
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._last: deque[threading.Lock] = deque(maxlen=MOST)

    def run(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the first thread may have blocked it
        for work in iter(self._queue.get, None):
            work()
            del work  # with its buffers

    def submit(self, task: Task[T], work: Callable[[], T]) -> None:
        """Do a task after the others, once there is a place for it."""
        if len(self._last) == MOST:
            with self._last[0]:
                pass
        self._queue.put(functools.partial(task.do, work))
        self._last.append(task.undone)

    def end_when_done(self) -> None:
        """End the thread, once it has nothing to do."""
        self._queue.put(None)


_submitting = threading.RLock()
_thread: _SecondThread | None = None
_small: deque[Callable[[], None]] = deque()
"""Small pieces of work that nobody has begun."""


def submit(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Task[T]:
    """Do ``work`` after what was submitted before, in the second thread if there may be one."""
    task: Task[T] = Task()
    given = functools.partial(work, *args, **kwargs)
    with _submitting:
        thread = _running()
        if thread is not None:
            thread.submit(task, given)
            return task
    task.do(given)
    return task


def submit_small(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> SmallTask[T]:
    """Do ``work``, which depends on no other, together with other small work: once there is enough of it, or where a
    result is needed."""
    task: SmallTask[T] = SmallTask()
    _small.append(functools.partial(task.do, functools.partial(work, *args, **kwargs)))
    if len(_small) % TOGETHER == 0:
        submit(_do_small)
    return task


def _do_small() -> None:
    """Do the small work that waits."""
    with suppress(IndexError):
        while True:
            _small.popleft()()


def may_use_two_processors() -> bool:
    """Whether there is a processor for the second thread; other systems than Linux do not tell."""
    return IS_LINUX and len(os.sched_getaffinity(0)) > 1 and multiprocessing.parent_process() is None


def _running() -> _SecondThread | None:
    """The second thread, which begins with the first work; None if there may be none."""
    global _thread
    if _thread is None and may_use_two_processors():
        thread = _SecondThread()
        try:
            thread.start()
        except RuntimeError:  # the system allows no more
            return None
        except KeyboardInterrupt:
            thread.end_when_done()
            raise
        _thread = thread
    return _thread


def end() -> None:
    """End the thread, once it has nothing to do."""
    global _thread
    ending, _thread = _thread, None
    if ending is not None:
        ending.end_when_done()
        ending.join()


@contextmanager
def ended() -> Iterator[None]:
    """Without the thread, which begins again with the first work after this."""
    with _submitting:
        end()
        yield


def _before_copy() -> None:
    """A copy of this process would lack the thread."""
    _submitting.acquire()
    end()


settings.around_copies(ended)
if IS_LINUX:
    os.register_at_fork(before=_before_copy, after_in_parent=_submitting.release, after_in_child=_submitting.release)
atexit.register(end)
