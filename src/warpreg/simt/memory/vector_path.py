"""Fast path of vector loads of machine code inside the basic block: several words per lane, all lanes active, and the
vectors contiguous or all at one address (`coalesced_path` does the same for scalars)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, LANES, Value, lanes_of
from warpreg.simt.memory.coalesced_path import Access, Place, Shape, group_of, placed

WORD = 4


@dataclass(frozen=True)
class VectorLoad:
    """A load of ``count`` words per lane from ``space`` (global or shared) at a place of ``addresses``, the
    shape of addresses of vectors of that size."""

    values: BlockValues
    space: str
    count: int
    addresses: Shape
    place: Place
    record: bool

    def emit(self, otherwise: Callable[[], list[Value]]) -> list[Value]:
        """The words; ``otherwise`` emits the calls for all other cases."""
        code = self.values.code
        size = WORD * self.count
        host, sound = placed(self.values, self.space, self.addresses, self.place, size, WORD)
        group = group_of(self.values, self.addresses, self.place.site) if self.record else None

        def usual() -> list[Value]:
            return code.choose_several(self.addresses.row, lambda: self._apart(host), lambda: self._equal(host))

        return Access(self.values, self.addresses, self.place, group).choose(sound, usual, otherwise)

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
