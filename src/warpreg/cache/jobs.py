"""Logs of commands that take long: what they do, how much is done, what has failed.  ``warpreg watch`` shows them.

A log is a file of JSON lines, ``<cache>/jobs/<begin>-<process>.jsonl``.  The values of a line replace those of earlier
ones; lists are added to theirs.  The process that writes a log has it locked, so that it can be told from one that was
killed, also where the disk is shared.  A command that takes less than a second has no log.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpreg.cache.directory import cache_directory
from warpreg.cache.trust import directory_refusal

FOLDER, SUFFIX = "jobs", ".jsonl"
PATIENCE_S = 1.0
"""Seconds that a command must take to have a log."""
INTERVAL_S = 1.0
"""Seconds between lines, at least."""
MOST = 100
"""Logs that are left of commands that have ended."""
FIRST = {"at", "command", "process", "began"}
"""Values of the first line; a log without them is damaged, and left out."""
LISTS = "failures", "rows", "notes"
"""Values that are lists: what failed (``what``, ``why``), figures of results, and sentences."""


class JobLog:
    """The log of this command.  What a disk error keeps from being written is written later, if that is possible."""

    def __init__(self, arguments: Sequence[str], clock: Callable[[], float] = time.time) -> None:
        self._clock, self._began, self._started = clock, clock(), time.monotonic()
        self._process = os.getpid()
        self._waiting: dict[str, Any] = {"command": list(arguments), "process": self._process, "began": self._began}
        self._has_news = False
        self._lock = threading.RLock()
        self._file: int | None = None

    def update(self, **values: Any) -> None:
        """Note values, which are written with the next line."""
        if os.getpid() != self._process:  # a worker that is a copy of the command's process
            return
        with self._lock:
            self._waiting |= values
            self._has_news = True

    def add(self, name: str, entries: Sequence[Mapping[str, Any] | str]) -> None:
        """Add to one of the `LISTS`."""
        if os.getpid() != self._process:
            return
        with self._lock:
            self._waiting.setdefault(name, []).extend(entries)
            self._has_news = True

    def write(self) -> None:
        """Write a line with what has been noted since the last one, if anything has."""
        with self._lock:
            if not self._has_news:
                return
            line = json.dumps({"at": self._clock(), **self._waiting}, default=str, separators=(",", ":"))
            with contextlib.suppress(OSError):
                if self._file is None:
                    self._file = _opened(self._began)
                _append(self._file, f"{line}\n".encode())
                self._waiting, self._has_news = {}, False

    def write_until(self, ended: threading.Event) -> None:
        """Write lines at intervals, so that a step of hours is in the log from its begin."""
        if not ended.wait(PATIENCE_S):
            self.write()
        while not ended.wait(INTERVAL_S):
            self.write()

    def end(self, state: str) -> None:
        """Write the last line, if the command took long enough to have a log."""
        with self._lock:
            if self._file is not None or (self._has_news and time.monotonic() - self._started >= PATIENCE_S):
                self.update(end=state)
                self.write()
            if self._file is not None:
                os.close(self._file)
                self._file = None


_CURRENT: ContextVar[JobLog | None] = ContextVar("log", default=None)


@contextmanager
def logged(arguments: Sequence[str]) -> Iterator[JobLog]:
    """A log of a command with these arguments, which `current` is inside."""
    log, ended = JobLog(arguments), threading.Event()
    token = _CURRENT.set(log)
    writer = threading.Thread(target=log.write_until, args=[ended], daemon=True)
    writer.start()
    try:
        yield log
    finally:
        ended.set()
        writer.join()
        _CURRENT.reset(token)


def current() -> JobLog:
    """The log of this command; one that nothing is written to outside of a command."""
    return _CURRENT.get() or _NOWHERE


class _Nowhere(JobLog):
    def update(self, **values: Any) -> None:
        """Forget them."""

    def add(self, name: str, entries: Sequence[Mapping[str, Any] | str]) -> None:
        """Forget them."""


_NOWHERE = _Nowhere(())


@dataclass(frozen=True, slots=True)
class Job:
    """A logged command: its ``values`` so far and its ``state``: running, finished, failed, interrupted or stopped
    (killed without a last line).
    """

    name: str
    state: str
    values: Mapping[str, Any]


def jobs() -> list[Job]:
    """The logged commands, the latest first."""
    paths = sorted((cache_directory() / FOLDER).glob(f"*{SUFFIX}"), reverse=True)
    found = ((path, _values(path)) for path in paths)
    return [Job(path.stem, _state(path, values), values) for path, values in found if values.keys() >= FIRST]


def _state(path: Path, values: Mapping[str, Any]) -> str:
    return str(values.get("end") or ("running" if _is_locked(path) else "stopped"))


def _values(path: Path) -> Mapping[str, Any]:
    try:
        about = path.stat()
    except OSError:
        return {}
    return _read(path, about.st_size, about.st_mtime_ns)


@functools.lru_cache(maxsize=2 * MOST)
def _read(path: Path, size_bytes: int, changed_ns: int) -> Mapping[str, Any]:
    """The values of a log, which is not read again while nobody has written to it; a line in writing is left out."""
    values: dict[str, Any] = {}
    with contextlib.suppress(OSError), path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with contextlib.suppress(ValueError):
                said = json.loads(line)
                if not isinstance(said, dict):
                    continue
                for name in LISTS:
                    said[name] = values.get(name, []) + said.get(name, [])
                values |= said
    return values


def _append(file: int, line: bytes) -> None:
    """Append a whole line or nothing.  Raises OSError."""
    size_bytes = os.fstat(file).st_size
    if os.write(file, line) < len(line):
        os.ftruncate(file, size_bytes)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _opened(began: float) -> int:
    """The descriptor of a new log, locked; removes the oldest ones of others.  Raises OSError."""
    directory = cache_directory()
    if refused := directory_refusal(directory):
        raise OSError(refused)
    folder = directory / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    ended = [path for path in sorted(folder.glob(f"*{SUFFIX}")) if not _is_locked(path)]
    for path in ended[: max(0, len(ended) - MOST + 1)]:
        path.unlink(missing_ok=True)
    name = time.strftime("%Y%m%d-%H%M%S", time.localtime(began))
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(folder / f"{name}-{os.getpid()}{SUFFIX}", flags, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _is_locked(path: Path) -> bool:
    """Whether the process that writes a log is there."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_UN)  # for a process that was forked meanwhile, too
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
