"""Staging taints: run-time tracking of registers that are in a staging unit only while a region of code needs them.

For each register and lane, a checked run knows whether its value was *lost*, because the code has dropped it, and
whether it is *absent*, because the region under way has not preloaded it.  A write brings the register in; lanes that
it does not write are lost if they were absent.  It is a fault if an executing lane reads a lost or absent register.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.llvm.emitter import I32, I64, Value

LOST, ABSENT = 0, 4
"""Bytes of the lanes of a register."""
EVERYONE = -1
READS_LOST, READS_ABSENT = range(2)
KIND_SHIFT = 16


@dataclass(frozen=True, slots=True)
class StagingEvent:
    """An instruction: whether a warp ``begins`` with it; registers that are ``dropped`` before it, and after it
    (``erased``); of a region that starts with it, those that are ``present`` and ``absent``; those that it ``reads``
    and ``writes``.
    """

    begins: bool = False
    dropped: tuple[int, ...] = ()
    present: tuple[int, ...] = ()
    absent: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    erased: tuple[int, ...] = ()


@dataclass(frozen=True)
class StagingTaints:
    """The events by pc of a kernel with this number of ``registers``."""

    registers: int
    events: Mapping[int, StagingEvent]

    @property
    def bytes(self) -> int:
        """Bytes for the taints of a warp, a multiple of 64."""
        return max(64, -(-8 * self.registers // 64) * 64)

    def described(self, number: int) -> str:
        """The fault of an error record."""
        register = number & (1 << KIND_SHIFT) - 1
        return {
            READS_LOST: f"reads R{register}, whose value was dropped",
            READS_ABSENT: f"reads R{register}, which its region has not preloaded",
        }[number >> KIND_SHIFT]

    def at(self, pc: int, values: BlockValues, offset: int) -> StagingTaintCode | None:
        """What emits the event at a pc, if there is one."""
        event = self.events.get(pc)
        return StagingTaintCode(values, self, offset, event) if event else None


@dataclass(frozen=True, slots=True)
class StagingTaintCode:
    """Emits one event; the taints are ``offset`` bytes into a warp's register memory."""

    values: BlockValues
    taints: StagingTaints
    offset: int
    event: StagingEvent

    def arrive(self) -> None:
        """Emit the start of a warp, and of a region."""
        if self.event.begins:
            for register in range(self.taints.registers):
                self._set(register, LOST, 0)
                self._set(register, ABSENT, 0)
        for register in self.event.dropped:
            self._set(register, LOST, EVERYONE)
        for register in self.event.present:
            self._set(register, ABSENT, 0)
        for register in self.event.absent:
            self._set(register, ABSENT, EVERYONE)

    def wrong_reads(self, lanes: Value) -> Iterator[tuple[Value, Value]]:
        """For each fault, the lanes in which it occurs, and the number for the error record."""
        for register in self.event.reads:
            yield self._lanes(register, LOST).load(I32, align=4) & lanes, self._record(READS_LOST, register)
            yield self._lanes(register, ABSENT).load(I32, align=4) & lanes, self._record(READS_ABSENT, register)

    def leave(self, lanes: Value) -> None:
        """Emit the effects of the instruction; ``lanes`` have executed it."""
        for register in self.event.erased:
            self._set(register, LOST, EVERYONE)
        for register in self.event.writes:
            lost, absent = self._lanes(register, LOST), self._lanes(register, ABSENT)
            lost.store((lost.load(I32, align=4) | absent.load(I32, align=4)) & ~lanes, align=4)
            self._set(register, ABSENT, 0)

    def _set(self, register: int, what: int, lanes: int) -> None:
        self._lanes(register, what).store(self.values.code.const(I32, lanes), align=4)

    def _lanes(self, register: int, what: int) -> Value:
        return self.values.registers + (self.offset + 8 * register + what)

    def _record(self, kind: int, register: int) -> Value:
        return self.values.code.const(I64, kind << KIND_SHIFT | register)
