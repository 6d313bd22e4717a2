"""Section taints: run-time tracking of registers that a warp has only while it holds a section of a shared pool.

The registers from ``base`` on are lost when the warp releases its section, in all lanes, and a section that it acquires
holds nothing of the warp.  For each of them and each lane, a checked run knows whether the warp has written it since.
It is a fault if an executing lane reads a lost register, if the warp names one without a section, or if it holds a
section where it may wait for another warp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.llvm.emitter import I32, I64, Value

HELD, LOST = 0, 4
"""Bytes of the flag whether the warp holds a section, and of the lost lanes of the first register."""
EVERYONE = -1
READS_LOST, READS_WITHOUT, WRITES_WITHOUT, WAITS = range(4)
KIND_SHIFT = 16


@dataclass(frozen=True, slots=True)
class SectionEvent:
    """An instruction: whether a warp ``begins`` with it, ``acquires``, ``releases`` or may wait for another warp
    (``waits``), and the registers of a section that it reads and writes."""

    begins: bool = False
    acquires: bool = False
    releases: bool = False
    waits: bool = False
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()


@dataclass(frozen=True)
class SectionTaints:
    """The events by pc of a kernel whose registers from ``base`` to ``registers`` - 1 are those of a section."""

    base: int
    registers: int
    events: Mapping[int, SectionEvent]

    @property
    def bytes(self) -> int:
        """Bytes for the taints of a warp, a multiple of 64."""
        return -(-(LOST + 4 * max(0, self.registers - self.base)) // 64) * 64

    def described(self, number: int) -> str:
        """The fault of an error record."""
        register = number & (1 << KIND_SHIFT) - 1
        return {
            READS_LOST: f"reads R{register}, which was lost with its section",
            READS_WITHOUT: f"reads R{register}, and the warp holds no section",
            WRITES_WITHOUT: f"writes R{register}, and the warp holds no section",
            WAITS: "may wait for another warp, and the warp holds a section",
        }[number >> KIND_SHIFT]

    def at(self, pc: int, values: BlockValues, offset: int) -> SectionTaintCode | None:
        """What emits the event at a pc, if there is one."""
        event = self.events.get(pc)
        return SectionTaintCode(values, self, offset, event) if event else None


@dataclass(frozen=True, slots=True)
class SectionTaintCode:
    """Emits one event; the taints are ``offset`` bytes into a warp's register memory."""

    values: BlockValues
    taints: SectionTaints
    offset: int
    event: SectionEvent

    def arrive(self) -> None:
        """Emit the start of a warp."""
        if self.event.begins:
            self._held().store(self._number(0))
            self._lose()

    def wrong_reads(self, lanes: Value) -> Iterator[tuple[Value, Value]]:
        """For each fault, the lanes in which it occurs, and the number for the error record."""
        holds = self._held().load(I32, align=4)
        for register in self.event.reads:
            yield ~holds & lanes, self._record(READS_WITHOUT, register)
            yield self._lost(register).load(I32, align=4) & lanes, self._record(READS_LOST, register)
        for register in self.event.writes:
            yield ~holds & lanes, self._record(WRITES_WITHOUT, register)
        if self.event.waits:
            yield holds & lanes, self._record(WAITS, 0)

    def leave(self, lanes: Value) -> None:
        """Emit the effects of the instruction; ``lanes`` have executed it."""
        for register in self.event.writes:
            place = self._lost(register)
            place.store(place.load(I32, align=4) & ~lanes, align=4)
        if self.event.acquires:
            self._held().store(self._number(EVERYONE), align=4)
        elif self.event.releases:
            self._held().store(self._number(0), align=4)
            self._lose()

    def _lose(self) -> None:
        """No register of the section holds a value of this warp any more."""
        for register in range(self.taints.base, self.taints.registers):
            self._lost(register).store(self._number(EVERYONE), align=4)

    def _record(self, kind: int, register: int) -> Value:
        return self.values.code.const(I64, kind << KIND_SHIFT | register)

    def _number(self, value: int) -> Value:
        return self.values.code.const(I32, value)

    def _held(self) -> Value:
        """All ones while the warp holds a section, else 0."""
        return self.values.registers + (self.offset + HELD)

    def _lost(self, register: int) -> Value:
        return self.values.registers + (self.offset + LOST + 4 * (register - self.taints.base))
