"""Fast path of vector loads of machine code inside the basic block: several words per lane, all lanes active, and the
vectors contiguous or all at one address (`coalesced_path` does the same for scalars)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.simt.block import address_recording
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.records import SiteField, Slot
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, LANES, Value, Variable, lanes_of
from warpreg.simt.memory.coalesced_path import Shape

WORD = 4


@dataclass(frozen=True)
class VectorLoad:
    """A load of ``count`` words per lane from ``space`` (global or shared) at ``found`` plus a byte ``offset``;
    ``found`` is the shape of addresses of vectors of that size."""

    values: BlockValues
    space: str
    count: int
    found: Shape
    offset: int
    site: Value
    record: bool

    def emit(self, otherwise: Callable[[], list[Value]]) -> list[Value]:
        """The words; ``otherwise`` emits the calls for all other cases."""
        builder, code = self.values.code.builder, self.values.code
        address, host, sound = self._place()
        if self.record:
            fits, append = address_recording.step(code, self.values.launch, self.site, address, self.found.stride)
            sound = sound & fits
        results = [code.var(code.undefined(lanes_of(I32))) for _ in range(self.count)]
        with builder.if_else((self.found.usual & sound).llvm, likely=True) as (usual, rest):
            with usual:
                if self.record:
                    append()
                with code.if_else(self.found.row) as (row, equal):
                    with row:
                        self._set(results, self._apart(host))
                    with equal:
                        self._set(results, [(host + WORD * n).load(I32, align=4).splat() for n in range(self.count)])
            with rest:
                self._set(results, otherwise())
        return [result.get() for result in results]

    def _set(self, results: list[Variable], words: list[Value]) -> None:
        for result, word in zip(results, words, strict=True):
            result.set(word)

    def _apart(self, host: Value) -> list[Value]:
        """The words of contiguous vectors, by their place in a vector."""
        code, everything = self.values.code, ir.VectorType(I32, LANES * self.count)
        loaded = host.load(everything, align=4).llvm
        places = [
            code.const(lanes_of(I32), [self.count * lane + n for lane in range(LANES)]) for n in range(self.count)
        ]
        return [Value(code, code.builder.shuffle_vector(loaded, loaded, place.llvm)) for place in places]

    def _place(self) -> tuple[Value, Value, Value]:
        """The address of lane 0 (i64), the host address, and whether all lanes are in bounds and aligned."""
        values, found, size = self.values, self.found, WORD * self.count
        at = found.base + self.offset % (1 << found.base.type.width) if self.offset else found.base
        address = at.zext(I64)
        if self.space == "shared":
            sound = address + found.reach + size <= values.field(Slot.SHARED_BYTES)
            host = values.field(Slot.SHARED) + address
        else:
            span = (self.site + SiteField.SPAN).load(I64)
            distance = at - (self.site + SiteField.FIRST).load(I64)
            sound = (distance < span) & (distance + found.reach + (size - WORD) < span)
            host = at + values.field(Slot.GLOBAL_BIAS)
        if self.offset % size:
            sound = values.code.const(sound.type, 0)
        return address, host, sound
