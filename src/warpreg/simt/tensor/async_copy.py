"""Asynchronous copies and mbarriers inside a basic block.

A copy completes where it is issued.  A wait for an mbarrier whose phase is not complete ends the warp's turn, so that
others can complete it; `PATIENCE` consecutive failed waits without progress of any mbarrier end the launch.
"""

from __future__ import annotations

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.opcodes import mbarrier
from warpreg.sass.isa.opcodes import is_sass
from warpreg.simt.block.native_records import Fault, Slot, set_slot, slot
from warpreg.simt.block.stops import stop_if
from warpreg.simt.lanes import lane_instructions
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I32, I64, Value, lanes_of
from warpreg.simt.memory.bulk_copy import Transfer
from warpreg.simt.memory.load_store import Operation
from warpreg.simt.memory.memory_instructions import ATOMICS, MemoryAccess, Source

PATIENCE = 1_000_000
"""Consecutive failed waits after which the launch counts as deadlocked."""

BULK_ALIGNMENT = 16
OBJECT_BYTES = 8


class AsynchronousInstruction(MemoryAccess):
    """One asynchronous copy or mbarrier instruction of a block."""

    def emit(self, sources: list[Source], mask: Value) -> list[Value]:
        """Execute it in the lanes of ``mask`` (i32); returns its results."""
        if self.instruction.opcode == "mbarrier":
            return self._mbarrier(sources, self.new_site(), mask)
        if "prefetch" in self.instruction.modifiers:
            return []
        site, modifiers = self.new_site(), self.instruction.modifiers
        if "arrive" in modifiers:
            if "noinc" in modifiers:
                self.update(self.address(sources[0]), site, mask, arrivals=self._constant(1))
        elif "bulk" in modifiers:
            self._bulk(sources, site, mask)
        else:
            self._small(sources, site, mask)
        return []

    def _constant(self, value: int) -> Value:
        return self.code.const(lanes_of(I64), value)

    def _small(self, sources: list[Source], site: Value, mask: Value) -> None:
        """``cp.async``: 4, 8 or 16 bytes per lane, of which fewer may be read."""
        size = self._size(sources[2])
        rest = sources[3:-1] if "L2::cache_hint" in self.instruction.modifiers else sources[3:]
        count = self.code.const(lanes_of(I32), size)
        for operand in self.operands(rest):
            if operand.type.element == I1:
                count = operand.select(0, count)
            else:
                count = (operand < size).select(operand, count)
        self._transfer(Transfer("shared", "global", size, size, record=self.sites.record), sources, count, site, mask)

    def _size(self, source: Source) -> int:
        operand = source[0]
        size = getattr(operand, "value", 0)
        if size not in (4, 8, 16):
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "copies 4, 8 or 16 bytes")
        return int(size)

    def _bulk(self, sources: list[Source], site: Value, mask: Value) -> None:
        """``cp.async.bulk`` and ``cp.reduce.async.bulk``."""
        modifiers = self.instruction.modifiers
        places = [m.split("::")[0] for m in modifiers if m.split("::")[0] in ("shared", "global")]
        action = ""
        if "reduce" in modifiers:
            action = f"{next(m for m in modifiers if m in ATOMICS)}.{self.type}"
        count = self.operands(sources[2:3])[0]
        transfer = Transfer(places[0], places[1], BULK_ALIGNMENT, action=action)
        self._transfer(transfer, sources, count, site, mask)
        if len(sources) > 3 and "bulk_group" not in modifiers:
            self.update(self._object(sources[3]), site, mask, bytes_=self._constant(0) - count.zext(lanes_of(I64)))

    def _transfer(self, transfer: Transfer, sources: list[Source], count: Value, site: Value, mask: Value) -> None:
        ends = [self.located(sources[0], transfer.target), self.located(sources[1], transfer.source)]
        self.call_native(transfer, ir.VoidType(), [self.values.launch, site, mask, *ends, count])

    def _object(self, source: Source) -> Value:
        """The shared-memory offset of the mbarrier that counts the bytes of a copy."""
        return self.located(source, "shared")

    def _mbarrier(self, sources: list[Source], site: Value, mask: Value) -> list[Value]:
        modifiers, given = self.instruction.modifiers, self.operands(sources[1:])
        address, wide = self.address(sources[0]), [v.zext(lanes_of(I64)) for v in given]
        action = modifiers[0]
        if action == "inval":
            return []
        if action in ("test_wait", "try_wait"):
            expected = given[0]
            if expected.type.element == I64:
                expected = (expected >> mbarrier.PHASE_SHIFT).trunc(lanes_of(I32))
            return [self.is_complete(address, mask, expected, site)]
        if action == "init":
            algebra = lane_instructions.algebra(self.code.builder, self.code.module)
            content = Value(self.code, mbarrier.initial(algebra, given[0].llvm))
            self.call(self._operation("store"), site, mask, [address, content])
            return []
        one, none = self._constant(1), self._constant(0)
        if action in ("expect_tx", "complete_tx"):
            self.update(address, site, mask, bytes_=wide[0] if action == "expect_tx" else none - wide[0])
            return []
        expects = "expect_tx" in modifiers
        arrivals = wide[0] if wide and not expects else one
        if action == "arrive_drop":
            arrivals = arrivals | (arrivals << mbarrier.DROPPED_SHIFT)
        return [self.update(address, site, mask, arrivals, wide[0] if expects else none)]

    def _operation(self, action: str) -> Operation:
        """An access to an object; those of machine code have no record."""
        return Operation(action, self.space, OBJECT_BYTES, self.sites.record and not is_sass(self.instruction))

    def is_complete(self, address: Value, mask: Value, parity: Value, site: Value | None = None) -> Value:
        """Whether the phase of a parity (i32, the lowest bit) is complete; the turn of a warp ends where it is not."""
        site = site or self.new_site()
        now = self.call(self._operation("load"), site, mask, [address]) >> mbarrier.PHASE_SHIFT
        passed = now != (parity & 1).zext(now.type)
        self._note(mask & ~passed.bitcast(I32), site)
        return passed

    def exchanged(self, address: Value, mask: Value, content: Value) -> Value:
        """Write an object (i64); returns the one before."""
        operation = Operation("exch.b64", self.space, OBJECT_BYTES)
        return self.call(operation, self.new_site(), mask, [address, content, content])

    def _note(self, waiting: Value, site: Value) -> None:
        """End the turn of a warp if some of its lanes wait, and the launch after too many failed waits."""
        code, launch = self.code, self.values.launch
        with code.if_else(waiting == 0) as (all_passed, some_wait):
            with all_passed:
                set_slot(launch, Slot.FAILED_WAITS, code.const(I64, 0))
            with some_wait:
                failed = slot(code, launch, Slot.FAILED_WAITS) + 1
                set_slot(launch, Slot.FAILED_WAITS, failed)
                set_slot(launch, Slot.YIELD, code.const(I64, 1))
                hopeless = (failed > PATIENCE).select(waiting, code.const(I32, 0))
                stop_if(code, launch, Fault.UNANSWERED, site, hopeless)
