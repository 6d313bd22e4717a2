"""The processes that compile the texts of pages: one for each text, and one that waits for the next text."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from warpreg.ir.errors import WarpregError
from warpreg.report.explorer.subject import Edit, Subject

SECONDS = 30.0
"""Limit of a compilation; the largest kernel of the workloads takes 3 s with all codes."""
MAX_PAGES = 4
"""Pages that compile at once."""


class CompilationError(WarpregError):
    """A compilation that has no result."""


class SupersededError(CompilationError):
    """The same page has asked for another text."""


@contextmanager
def compilations(subject: Subject, seconds: float = SECONDS) -> Iterator[Compilations]:
    """Compilations of a subject's texts; its processes end with the block."""
    made = Compilations(subject, seconds)
    try:
        yield made
    finally:
        made.close()


class Compilations:
    """Compiles texts, at most one of a page at a time: a new one ends the one before."""

    def __init__(self, subject: Subject, seconds: float) -> None:
        self._subject = subject
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._is_closed = False
        self._waiting: subprocess.Popen[bytes] | None = _started()

    def answer(self, page: str, edit: Edit) -> bytes:
        """What the page shows of a text, as JSON.  Raises SupersededError, CompilationError at a limit."""
        process = self._begin(page)
        try:
            output, _ = process.communicate(pickle.dumps((self._subject, edit)), self._seconds)
        except subprocess.TimeoutExpired as error:
            raise CompilationError(f"not compiled after {self._seconds:g} s") from error
        finally:
            is_newest = self._end(page, process)
        if not is_newest:
            raise SupersededError("a newer text is compiled")
        if process.returncode:
            raise CompilationError(f"the compilers have ended with status {process.returncode}: a limit, or a defect")
        return output

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._is_closed = True
            for process in self._running.values():
                _kill(process)
            if self._waiting is not None:
                _kill(self._waiting)
                self._waiting.communicate()

    def _begin(self, page: str) -> subprocess.Popen[bytes]:
        with self._lock:
            _kill(self._running.pop(page, None))
            if len(self._running) >= MAX_PAGES:
                raise CompilationError(f"{MAX_PAGES} other pages are compiling; try again later")
            process, self._waiting = self._waiting or _started(), None
            self._running[page] = process
            return process

    def _end(self, page: str, process: subprocess.Popen[bytes]) -> bool:
        """Whether the page still waits for this process, which is over; another one is started for the next text."""
        with self._lock:
            _kill(process)
            is_newest = self._running.get(page) is process
            if is_newest:
                del self._running[page]
            if self._waiting is None and not self._is_closed:
                self._waiting = _started()
            return is_newest


def _started() -> subprocess.Popen[bytes]:
    """A new process, in a group of its own with all that it will call."""
    command = [sys.executable, "-P", "-m", "warpreg.report.explorer.worker"]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _kill(process: subprocess.Popen[bytes] | None) -> None:
    """End a process and its group."""
    if process is not None and process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
