"""Limits that a process sets for itself before it runs code of others, without privileges.

Processor time, memory, and sizes of files are limits of POSIX.  On Linux with Landlock (5.13), the process and all that
it starts write files in one folder only, from version 6.7 on they open no TCP connection, and from 6.12 on they send no
signal to other processes.  They still read what the user can read, and whatever shares a process with the measurement
can forge its result: this holds mistakes, not attacks.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
from dataclasses import dataclass
from pathlib import Path

FILE_BYTES = 256 << 20
"""The largest file."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls of Landlock, the same on all architectures."""
PATH_BENEATH = 1
NO_NEW_PRIVILEGES = 38
WRITES = 1 << 1 | 0b1_1111_1111 << 4
"""Writing, removing and making files of all kinds (Landlock 1)."""
MOVES, TRUNCATES = 1 << 13, 1 << 14
"""From Landlock 2 and 3 on."""
TCP = 0b11
SIGNALS = 1 << 1
FIRST_WITH_TCP, FIRST_WITH_SIGNALS = 4, 6


@dataclass(frozen=True)
class Limits:
    """``seconds`` of processor time; ``wall_seconds`` until the process is killed; ``memory`` in bytes."""

    seconds: int
    wall_seconds: int
    memory: int


def confine(folder: Path, limits: Limits) -> bool:
    """Limit this process; returns whether the system keeps its writes in the folder."""
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return _write_only_in(folder)


def _write_only_in(folder: Path) -> bool:
    """Restrict writes by Landlock; False where the system has none."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        version = system.syscall(CREATE_RULESET, None, 0, 1)
    except (OSError, AttributeError):
        return False
    if version < 1:
        return False
    handled = WRITES | (MOVES if version >= 2 else 0) | (TRUNCATES if version >= 3 else 0)
    words = (handled, TCP if version >= FIRST_WITH_TCP else 0, SIGNALS if version >= FIRST_WITH_SIGNALS else 0)
    size = 8 if version < FIRST_WITH_TCP else 16 if version < FIRST_WITH_SIGNALS else 24
    rules = system.syscall(CREATE_RULESET, struct.pack("=QQQ", *words), size, 0)
    if rules < 0:
        return False
    allowed = [(folder, handled), (Path(os.devnull), handled & (1 << 1 | TRUNCATES))]
    return all(_allow(system, rules, *one) for one in allowed) and _enter(system, rules)


def _allow(system: ctypes.CDLL, rules: int, path: Path, rights: int) -> bool:
    opened = os.open(path, os.O_PATH)
    try:
        return int(system.syscall(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights, opened), 0)) == 0
    finally:
        os.close(opened)


def _enter(system: ctypes.CDLL, rules: int) -> bool:
    system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return int(system.syscall(RESTRICT_SELF, rules, 0)) == 0
