"""The static instructions of a trace, numbered in order of appearance, as columns for compiled code."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.errors import Location
from warpreg.sass.isa.opcodes import find, is_known
from warpreg.sass.isa.widths import access_bytes
from warpreg.sass.parse.line import TraceLine
from warpreg.sass.parse.state import Window, empty_sites
from warpreg.sass.rebuild.flow import Ends, empty_program
from warpreg.sass.rebuild.program import StaticInstruction, has_record

FIRST_CAPACITY = 1 << 10
SLOTS = 4
"""Hash table slots per static instruction of the capacity."""

WINDOWS = {"shared": Window.SHARED, "local": Window.LOCAL, "generic": Window.GENERIC}
ENDS = {"": Ends.NOTHING, "branch": Ends.BRANCH, "exit": Ends.EXIT, "sync": Ends.SYNC, "barrier": Ends.BARRIER}


class Catalogue:
    """Static instructions ``seen`` by number.  ``program`` and ``sites`` are columns that the compiled readers read and
    update; ``keys`` and ``numbers`` are the hash table in which the scanner looks up a number.
    """

    def __init__(self) -> None:
        self.seen: list[StaticInstruction] = []
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
        """Reset the address records of all instructions."""
        self.sites.base[:] = 0
        self.sites.stride[:] = 0

    def add(self, key: int, line: TraceLine, location: Location) -> None:
        """Add a static instruction; the catalogue must not be full."""
        number, row = len(self.seen), find(line.opcode)
        self.seen.append(StaticInstruction(line, location))
        self._insert(key, number)
        self.program.pc[number] = line.pc
        self.program.ends[number] = ENDS[row.flow]
        self.sites.copies[number] = row.action == "copy"
        if has_record(line):
            self.sites.unit[number] = access_bytes(line.opcode, line.modifiers)
            self.sites.window[number] = WINDOWS.get(row.space, Window.NONE)

    def grow(self) -> None:
        """Double the capacity."""
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
        """Opcodes that are in no table, with the number of executions by warps."""
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
