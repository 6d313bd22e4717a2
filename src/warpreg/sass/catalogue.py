"""The static instructions of a trace, numbered as they appear, in the columns that compiled code reads."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.errors import Location
from warpreg.sass.flow import Ends, empty_program
from warpreg.sass.line import TraceLine
from warpreg.sass.opcodes import find, is_known
from warpreg.sass.program import Seen, has_record
from warpreg.sass.state import Window, empty_sites
from warpreg.sass.widths import access_bytes

FIRST_CAPACITY = 1 << 10
SLOTS = 4
"""Slots of the hash table for each static instruction that there is room for."""

WINDOWS = {"shared": Window.SHARED, "local": Window.LOCAL, "generic": Window.GENERIC}
ENDS = {"": Ends.NOTHING, "branch": Ends.BRANCH, "exit": Ends.EXIT, "sync": Ends.SYNC, "barrier": Ends.BARRIER}


class Catalogue:
    """``seen`` by number; ``program`` and ``sites`` hold what the compiled readers know and learn, ``keys`` and
    ``numbers`` are the hash table by which the scanner finds a number."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.program = empty_program(FIRST_CAPACITY)
        self.sites = empty_sites(FIRST_CAPACITY)
        self.keys = np.zeros(SLOTS * FIRST_CAPACITY, np.uint64)
        self.numbers = np.full(SLOTS * FIRST_CAPACITY, -1, np.int32)

    def __len__(self) -> int:
        return len(self.seen)

    @property
    def is_full(self) -> bool:
        return len(self.seen) == len(self.program.pc)

    def begin_launch(self) -> None:
        """No instruction has a record yet."""
        self.sites.base[:] = 0
        self.sites.stride[:] = 0

    def add(self, key: int, line: TraceLine, location: Location) -> None:
        """A new static instruction; there must be room."""
        number, row = len(self.seen), find(line.opcode)
        self.seen.append(Seen(line, location))
        self._insert(key, number)
        self.program.pc[number] = line.pc
        self.program.ends[number] = ENDS[row.flow]
        self.sites.copies[number] = row.action == "copy"
        if has_record(line):
            self.sites.unit[number] = access_bytes(line.opcode, line.modifiers)
            self.sites.window[number] = WINDOWS.get(row.space, Window.NONE)

    def grow(self) -> None:
        """Room for twice as many."""
        before = len(self.program.pc)
        program, sites = empty_program(2 * before), empty_sites(2 * before)
        wider: list[NDArray[Any]] = [*program, *sites]
        for column, old in zip(wider, (*self.program, *self.sites), strict=True):
            column[:before] = old
        self.program, self.sites = program, sites
        used = [(int(self.keys[slot]), int(self.numbers[slot])) for slot in np.flatnonzero(self.numbers >= 0)]
        self.keys = np.zeros(SLOTS * 2 * before, np.uint64)
        self.numbers = np.full(SLOTS * 2 * before, -1, np.int32)
        for key, number in used:
            self._insert(key, number)

    def unknown(self) -> Counter[str]:
        """Opcodes that are in no table, with how often warps executed them."""
        counts: Counter[str] = Counter()
        for seen, executed in zip(self.seen, self.program.executed.tolist(), strict=False):
            if not is_known(seen.line.opcode):
                counts[seen.line.opcode] += executed
        return counts

    def _insert(self, key: int, number: int) -> None:
        slot = key & (len(self.keys) - 1)
        while self.numbers[slot] >= 0:
            slot = (slot + 1) & (len(self.keys) - 1)
        self.keys[slot], self.numbers[slot] = key, number
