"""Fast path of vector loads of machine code inside the basic block: several words per lane, all lanes active, and the
vectors contiguous or all at one address (`coalesced_path` does the same for scalars)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.simt.block.address_groups import Site
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import SiteField, Slot
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, LANES, Value, lanes_of
from warpreg.simt.memory.coalesced_path import Access, Shape, group_of

WORD = 4


@dataclass(frozen=True)
class VectorLoad:
    """A load of ``count`` words per lane from ``space`` (global or shared) at ``addresses`` plus a byte ``offset``;
    ``addresses`` is the shape of addresses of vectors of that size."""

    values: BlockValues
    space: str
    count: int
    addresses: Shape
    offset: int
    site: Site
    record: bool

    def emit(self, otherwise: Callable[[], list[Value]]) -> list[Value]:
        """The words; ``otherwise`` emits the calls for all other cases."""
        code = self.values.code
        host, sound = self._place()
        group = group_of(self.values, self.addresses, self.site) if self.record else None

        def usual() -> list[Value]:
            return code.choose_several(self.addresses.row, lambda: self._apart(host), lambda: self._equal(host))

        return Access(self.values, self.addresses, self.site, self.offset, group).choose(sound, usual, otherwise)

    def _equal(self, host: Value) -> list[Value]:
        """The words of one vector, which all lanes load."""
        return [(host + WORD * n).load(I32, align=4).splat() for n in range(self.count)]

    def _apart(self, host: Value) -> list[Value]:
        """The words of contiguous vectors, by their place in a vector."""
        code, everything = self.values.code, ir.VectorType(I32, LANES * self.count)
        loaded = host.load(everything, align=4).llvm
        places = [
            code.const(lanes_of(I32), [self.count * lane + n for lane in range(LANES)]) for n in range(self.count)
        ]
        return [Value(code, code.builder.shuffle_vector(loaded, loaded, place.llvm)) for place in places]

    def _place(self) -> tuple[Value, Value]:
        """The host address of lane 0, and whether all lanes are in bounds and aligned."""
        values, addresses, size = self.values, self.addresses, WORD * self.count
        at = addresses.base + self.offset % (1 << addresses.base.type.width) if self.offset else addresses.base
        address = at.zext(I64)
        if self.space == "shared":
            sound = address + addresses.reach + size <= values.field(Slot.SHARED_BYTES)
            host = values.field(Slot.SHARED) + address
        else:
            span = (self.site.address + SiteField.SPAN).load(I64)
            distance = at - (self.site.address + SiteField.FIRST).load(I64)
            sound = (distance < span) & (distance + addresses.reach + (size - WORD) < span)
            host = at + values.field(Slot.GLOBAL_BIAS)
        if self.offset % size:
            sound = values.code.const(sound.type, 0)
        return host, sound
