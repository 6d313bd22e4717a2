"""Native access to the record of a texture, sampler or surface, with a check of the handle; fields are scalars."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.ir.address_space import TEXTURE_WINDOW
from warpreg.simt.block import stops
from warpreg.simt.block.native_records import Fault, Slot, slot
from warpreg.simt.lanes.single_precision import F32
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I32, I64, Code, Value
from warpreg.simt.texture.state import GEOMETRIES, RECORD_BYTES, Field, Resource

Place = tuple[Value, Value, Value]
"""Launch record, site record and mask of active lanes."""


@dataclass(frozen=True)
class Descriptor:
    """The record at a host address (i64)."""

    code: Code
    address: Value

    @property
    def base(self) -> Value:
        """The device address of the first texel."""
        return (self.address + Field.BASE).load(I64)

    def word(self, field: int) -> Value:
        return (self.address + field).load(I32)

    def number(self, field: int) -> Value:
        return (self.address + field).load(F32)


def find(code: Code, place: Place, handle: Value, resource: Resource, geometry: str) -> Descriptor:
    """The record of a handle; the emitted function returns with a fault if there is none, or one of another kind.

    Surfaces of cubes are accessed as layers.  Without a ``geometry`` any kind is accepted.
    """
    launch, _, _ = place
    distance = handle - TEXTURE_WINDOW
    known = (distance < slot(code, launch, Slot.TEXTURE_BYTES)) & ((distance & (RECORD_BYTES - 1)) == 0)
    with code.if_(~known, likely=False):
        stop(code, place, Fault.UNKNOWN_HANDLE, handle)
    descriptor = Descriptor(code, slot(code, launch, Slot.TEXTURES) + distance)
    with code.if_(descriptor.word(Field.RESOURCE) != resource, likely=False):
        stop(code, place, Fault.WRONG_RESOURCE, handle)
    if geometry:
        kind = descriptor.word(Field.KIND)
        fits = kind == GEOMETRIES.index(geometry)
        if resource is Resource.SURFACE and geometry == "a2d":
            fits = fits | (kind == GEOMETRIES.index("cube")) | (kind == GEOMETRIES.index("acube"))
        with code.if_(~fits, likely=False):
            stop(code, place, Fault.WRONG_KIND, handle)
    return descriptor


def stop(code: Code, place: Place, fault: Fault, address: Value) -> None:
    """Report a fault of the lowest active lane, unless there is one already, and return."""
    launch, site, mask = place
    with code.if_(slot(code, launch, Slot.FAULT) == 0):
        lane = code.intrinsic("llvm.cttz.i32", I32, [mask, code.const(I1, 1)])
        stops.stop(code, launch, fault, site, lane, address)
    result = code.function.signature.result
    code.ret(None if isinstance(result, ir.VoidType) else code.const(result, 0))
