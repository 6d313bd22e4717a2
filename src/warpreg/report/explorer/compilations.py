"""The processes that compile the texts of pages: one for each text, and one that waits for the next text."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class Worker:
    """A process in a group of its own with all that it calls, and the folder of their temporary files."""

    process: subprocess.Popen[bytes]
    folder: tempfile.TemporaryDirectory[str]

    def end(self) -> None:
        """End the process and its group, and delete the files that they had no time to delete."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.folder.cleanup()


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
        self._running: dict[str, Worker] = {}
        self._is_closed = False
        self._waiting: Worker | None = _started()

    def answer(self, page: str, edit: Edit) -> bytes:
        """What the page shows of a text, as JSON.  Raises SupersededError, CompilationError at a limit."""
        worker = self._begin(page)
        try:
            output, _ = worker.process.communicate(pickle.dumps((self._subject, edit)), self._seconds)
        except subprocess.TimeoutExpired as error:
            raise CompilationError(f"not compiled after {self._seconds:g} s") from error
        finally:
            is_newest = self._end(page, worker)
        if not is_newest:
            raise SupersededError("a newer text is compiled")
        if status := worker.process.returncode:
            raise CompilationError(f"the compilers have ended with status {status}: a limit, or a defect")
        return output

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._is_closed = True
            for worker in self._running.values():
                worker.end()
            if self._waiting is not None:
                self._waiting.end()
                self._waiting.process.communicate()

    def _begin(self, page: str) -> Worker:
        with self._lock:
            if self._is_closed:
                raise CompilationError("the server has ended")
            if older := self._running.pop(page, None):
                older.end()
            if len(self._running) >= MAX_PAGES:
                raise CompilationError(f"{MAX_PAGES} other pages are compiling; try again later")
            worker, self._waiting = self._waiting or _started(), None
            self._running[page] = worker
            return worker

    def _end(self, page: str, worker: Worker) -> bool:
        """Whether the page still waits for this process, which is over; another one is started for the next text."""
        with self._lock:
            worker.end()
            is_newest = self._running.get(page) is worker
            if is_newest:
                del self._running[page]
            if self._waiting is None and not self._is_closed:
                self._waiting = _started()
            return is_newest


def _started() -> Worker:
    """A new process; the compilers that it calls write to a folder of its own."""
    folder = tempfile.TemporaryDirectory(prefix="warpreg-explorer-", ignore_cleanup_errors=True)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "warpreg.report.explorer.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "TMPDIR": folder.name},
    )
    return Worker(process, folder)
