"""Native memory-to-memory copies, a byte range per lane: ``copy(launch, site, mask, target, source, bytes)``.

``target`` and ``source`` are 32 addresses, ``bytes`` (i32) the number of bytes read in each lane.  Both ranges are
checked before anything is written; lanes act one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.ir.types import TYPES
from warpreg.simt.block import address_recording
from warpreg.simt.block.native_records import Fault, SiteField, Slot, slot
from warpreg.simt.block.stops import stop_if
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I8, I32, I64, Code, Value, lanes_of
from warpreg.simt.llvm.spilling import spilled
from warpreg.simt.memory import atomics
from warpreg.simt.memory.buffers import find_buffer


@dataclass(frozen=True)
class Transfer:
    """A copy from ``source`` to ``target`` (``global`` or ``shared``), both aligned to ``alignment`` bytes.

    ``size`` bytes are written, padded with zeros after those that are read; 0 means as many as are read.  ``action`` is
    an atomic operation with its type that combines elements instead of copying them.  ``record``: record the addresses
    read by all executing lanes.
    """

    target: str
    source: str
    alignment: int
    size: int = 0
    action: str = ""
    record: bool = False

    @property
    def name(self) -> str:
        what = self.action.replace(".", "_") or "copy"
        recorded = "_recorded" if self.record else ""
        return f"{what}_{self.source}_to_{self.target}_{self.size}_aligned_{self.alignment}{recorded}"

    def module(self) -> str:
        """LLVM IR that defines the operation under its name."""
        module = ir.Module(self.name)
        addresses = [lanes_of(I32 if space == "shared" else I64) for space in (self.target, self.source)]
        code = Code(module, self.name, ir.VoidType(), [I64, I64, I32, *addresses, lanes_of(I32)])
        launch, site, mask, target, source, count = code.arguments
        if self.record:
            address_recording.append(code, launch, site, mask, source, self.alignment)
        to, from_ = (spilled(code, a.zext(lanes_of(I64))) for a in (target, source))
        counts = spilled(code, count.zext(lanes_of(I64)))
        with code.each_set_bit(mask) as lane:
            at = lane.zext(I64) * 8
            _Run(code, self, launch, site, lane).move(*((array + at).load(I64) for array in (to, from_, counts)))
        code.ret()
        return str(module)


@dataclass
class _Run:
    """The bytes of one lane."""

    code: Code
    transfer: Transfer
    launch: Value
    site: Value
    lane: Value

    def move(self, target: Value, source: Value, count: Value) -> None:
        written = self.code.const(I64, self.transfer.size) if self.transfer.size else count
        to, to_is_inside = self._host(self.transfer.target, target, written)
        from_, from_is_inside = self._host(self.transfer.source, source, count)
        self._check(target, to_is_inside, written)
        self._check(source, from_is_inside, count)
        with self.code.if_(slot(self.code, self.launch, Slot.FAULT) == 0):
            if self.transfer.action:
                self._combine(to, from_, count)
            elif self.transfer.size:
                with self.code.if_else(count == self.transfer.size) as (whole, part):
                    with whole:
                        type_ = ir.IntType(8 * self.transfer.size)
                        to.store(from_.load(type_, align=1), align=1)
                    with part:
                        self._copy(to, from_, count)
                        self._fill(to + count, written - count)
            else:
                self._copy(to, from_, count)

    def _host(self, space: str, address: Value, count: Value) -> tuple[Value, Value]:
        """The host address, and whether all bytes are inside the space (true for zero bytes)."""
        code, nothing = self.code, count == 0
        if space == "shared":
            limit = slot(code, self.launch, Slot.SHARED_BYTES)
            inside = (count <= limit) & (address <= limit - count)
            return address + slot(code, self.launch, Slot.SHARED), inside | nothing
        first, span = ((self.site + field).load(I64) for field in (SiteField.FIRST, SiteField.SPAN))
        offset = address - first
        is_sound = code.var(((offset < span) & (count <= span - offset)) | nothing)
        with code.if_(~is_sound.get()):
            is_sound.set(find_buffer(code, self.launch, self.site, address, 1))
            start, size = ((self.site + field).load(I64) for field in (SiteField.FIRST, SiteField.SPAN))
            is_sound.set(is_sound.get() & (count <= size - (address - start)))
        return address + slot(code, self.launch, Slot.GLOBAL_BIAS), is_sound.get()

    def _check(self, address: Value, inside: Value, count: Value) -> None:
        code, bit = self.code, self.code.const(I32, 1) << self.lane
        all_lanes = address.splat()
        askew = (address & (self.transfer.alignment - 1)) != 0
        nobody = code.const(I32, 0)
        for fault, wrong in (
            (Fault.MISALIGNED, askew & (count != 0)),
            (Fault.OUT_OF_BOUNDS, ~inside),
        ):
            stop_if(code, self.launch, fault, self.site, wrong.select(bit, nobody), all_lanes)

    def _copy(self, to: Value, from_: Value, count: Value) -> None:
        pointers = [Value(self.code, self.code.pointer(a, I8)) for a in (to, from_)]
        no = self.code.const(I1, 0)
        self.code.intrinsic("llvm.memmove.p0.p0.i64", ir.VoidType(), [*pointers, count, no])

    def _fill(self, to: Value, count: Value) -> None:
        arguments = [Value(self.code, self.code.pointer(to, I8)), self.code.const(I8, 0), count]
        self.code.intrinsic("llvm.memset.p0.i64", ir.VoidType(), [*arguments, self.code.const(I1, 0)])

    def _combine(self, to: Value, from_: Value, count: Value) -> None:
        """Combine element by element; a trailing partial element is unchanged."""
        code, action = self.code, self.transfer.action
        type_: Any = TYPES[action.split(".")[1]]
        element, index = ir.IntType(type_.bits), code.var(code.const(I64, 0))
        with code.loop():
            with code.if_(index.get() + type_.bytes > count):
                code.break_()
            place = to + index.get()
            old, given = place.load(element, align=1), (from_ + index.get()).load(element, align=1)
            place.store(atomics.combine(code, action, old, given, given, self.transfer.target), align=1)
            index.set(index.get() + type_.bytes)
