"""Window taints: run-time tracking of values that are in a window of recent instructions and nowhere else.

A register is in the window from the instruction of its warp that last touched it until ``length`` instructions later.
For each register and lane, a checked run knows whether the window holds the lane, and whether the register file lacks
it and will never receive it: then the register is poisoned once it has left the window.  It is a fault if an executing
lane reads a poisoned register.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.llvm.emitter import I32, I64, Value

TOUCHED, HELD, LACKING = 0, 4, 8
RECORD_BYTES = 12
"""Per register: the instruction that last touched it, the lanes that the window holds, the lanes that the register file
lacks.  The number of instructions so far stands in front."""
LONG_AGO = 1 << 30


@dataclass(frozen=True, slots=True)
class WindowWrite:
    """A result: whether it enters the window, whether the register file receives it now or later, and whether lanes
    that do not execute the instruction may need the old value (``partial``)."""

    register: int
    enters: bool
    saved: bool
    partial: bool


@dataclass(frozen=True, slots=True)
class WindowEvent:
    """An instruction: whether a warp ``begins`` with it, the registers that it reads, and its results."""

    begins: bool
    reads: tuple[int, ...]
    writes: tuple[WindowWrite, ...]


@dataclass(frozen=True)
class WindowTaints:
    """The events by pc.  A read finds its register up to ``reach`` instructions after the last touch, a result up to
    ``length`` - 1; with ``extended`` a read is a touch."""

    length: int
    reach: int
    extended: bool
    registers: int
    events: Mapping[int, WindowEvent]

    @property
    def bytes(self) -> int:
        """Bytes for the taints of a warp, a multiple of 64."""
        return -(-(4 + self.registers * RECORD_BYTES) // 64) * 64

    def described(self, number: int) -> str:
        """The read of an error record."""
        return f"reads R{number}, which has left the window"

    def at(self, pc: int, values: BlockValues, offset: int) -> WindowTaintCode | None:
        """What emits the event at a pc, if there is one."""
        event = self.events.get(pc)
        return WindowTaintCode(values, self, offset, event) if event else None


@dataclass(frozen=True, slots=True)
class WindowTaintCode:
    """Emits one event; the taints are ``offset`` bytes into a warp's register memory."""

    values: BlockValues
    taints: WindowTaints
    offset: int
    event: WindowEvent

    def arrive(self) -> None:
        """Emit the effects before the reads."""
        if self.event.begins:
            self._clock().store(self._number(0))
            for register in range(self.taints.registers):
                self._store(register, TOUCHED, self._number(-LONG_AGO))
                self._store(register, HELD, self._number(0))
                self._store(register, LACKING, self._number(0))
        self._clock().store(self._clock().load(I32, align=4) + 1)

    def wrong_reads(self, lanes: Value) -> Iterator[tuple[Value, Value]]:
        """For each read, the lanes that do not find their value, and the number for the error record.

        A register that is not in the window is read from the file, and the window then holds what the file has.
        """
        now = self._clock().load(I32, align=4)
        for register in self.event.reads:
            is_inside = now - self._load(register, TOUCHED) <= self.taints.reach
            lacking = self._load(register, LACKING)
            held = is_inside.select(self._load(register, HELD), ~lacking)
            yield lacking & ~held & lanes, self.values.code.const(I64, register)
            self._store(register, HELD, held)
            touched = now if self.taints.extended else is_inside.select(self._load(register, TOUCHED), now)
            self._store(register, TOUCHED, touched)

    def leave(self, lanes: Value) -> None:
        """Emit the effects of the results in the lanes that executed the instruction."""
        now = self._clock().load(I32, align=4)
        for write in self.event.writes:
            is_inside = now - self._load(write.register, TOUCHED) < self.taints.length
            old = self._load(write.register, LACKING)
            held = is_inside.select(self._load(write.register, HELD), self._number(0))
            if not write.partial:
                old, held = ~lanes, self._number(0)
            if write.enters:
                held = held | lanes
                lacking = old & ~held if write.saved else old | lanes
            else:
                held, lacking = self._number(0), old & ~lanes if write.saved else old | lanes
            self._store(write.register, HELD, held)
            self._store(write.register, LACKING, lacking)
            self._store(write.register, TOUCHED, now if write.enters else self._number(-LONG_AGO))

    def _number(self, value: int) -> Value:
        return self.values.code.const(I32, value)

    def _clock(self) -> Value:
        return self.values.registers + self.offset

    def _place(self, register: int, field: int) -> Value:
        return self.values.registers + (self.offset + 4 + register * RECORD_BYTES + field)

    def _load(self, register: int, field: int) -> Value:
        return self._place(register, field).load(I32, align=4)

    def _store(self, register: int, field: int, value: Value) -> None:
        self._place(register, field).store(value, align=4)
