"""Native surface accesses of 32 lanes: ``suld``, ``sust`` and ``sured`` (PTX ISA, "Surface Instructions").

    void(launch, site, mask, rows, handle, coordinates...)

``rows`` is the host address of the loaded or stored values: 32 lanes per element, element by element; for a formatted
store, four rows of words, then four of the same numbers in half precision.  ``handle`` is i64, or 32 lanes of it;
coordinates are 32 lanes of i32.  Nothing is written if a lane faults.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from warpreg.ir.opcodes.texture import COORDINATES, LAYERED
from warpreg.simt.block.native_records import Fault, Slot, slot
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I8, I16, I32, I64, LANES, MASK, Code, Value, lanes_of
from warpreg.simt.llvm.spilling import spilled
from warpreg.simt.memory import atomics
from warpreg.simt.memory.gather_scatter import gather, scatter
from warpreg.simt.texture.descriptors import Descriptor, find, stop
from warpreg.simt.texture.fetch import ADDRESSES
from warpreg.simt.texture.scattered_handles import each_handle
from warpreg.simt.texture.state import GEOMETRIES, Field, Format, Resource
from warpreg.simt.texture.texel_addresses import leave_addresses

WORD_ROW = 4 * LANES


@dataclass(frozen=True)
class SurfaceOperation:
    """One native surface access.

    ``action`` is ``load``, ``store``, ``format`` (``sust.p``) or an atomic operation with its type (``add.u32``);
    ``size`` the bytes of an element, ``count`` their number; ``clamp`` is PTX's modifier for out-of-bounds accesses.
    ``samples``: the first coordinate counts elements of the surface, not bytes.  ``by_format``: a signed surface
    compares signed.  ``scattered``: each lane has its own handle.  ``record``: store the addresses after the rows, as
    for a fetch.
    """

    action: str
    geometry: str
    size: int
    count: int = 1
    clamp: str = "trap"
    samples: bool = False
    by_format: bool = False
    scattered: bool = False
    record: bool = False

    @property
    def name(self) -> str:
        parts = [self.action.replace(".", "_"), self.geometry, f"{self.size}x{self.count}", self.clamp]
        parts += [word for word in ("samples", "by_format", "scattered", "record") if getattr(self, word)]
        return "_".join(("surface", *parts))

    @property
    def result(self) -> Any:
        return ir.VoidType()

    @property
    def element(self) -> Any:
        return ir.IntType(8 * self.size)

    def module(self) -> str:
        """LLVM IR that defines the access under its name."""
        module = ir.Module(self.name)
        coordinates = [WORDS] * COORDINATES[self.geometry]
        own = f"{self.name}_one" if self.scattered else self.name
        code = Code(module, own, self.result, [I64, I64, I32, I64, I64, *coordinates])
        _Access(code, self).define()
        if self.scattered:
            each_handle(module, self.name, code.function, coordinates, 1)
        return str(module)


@dataclass(frozen=True)
class _Dimension:
    """A coordinate per lane, the largest valid one, and the bytes between neighbours.  Layers have no sign: -3 clamps
    to the last one (PTX ISA, "suld"; measured on an H100).
    """

    coordinate: Value
    last: Value
    step: Value
    is_layer: bool = False

    def clamped(self, code: Code) -> _Dimension:
        """The dimension with the coordinate clamped."""
        nothing, last = code.const(WORDS, 0), self.last.splat()
        if self.is_layer:
            return replace(self, coordinate=(self.coordinate <= last).select(self.coordinate, last))
        before = Value(code, code.builder.icmp_signed("<", self.coordinate.llvm, nothing.llvm))
        past = Value(code, code.builder.icmp_signed(">", self.coordinate.llvm, last.llvm))
        return replace(self, coordinate=before.select(nothing, past.select(last, self.coordinate)))


class _Access:
    """The access to one surface."""

    def __init__(self, code: Code, operation: SurfaceOperation) -> None:
        self.code, self.operation = code, operation
        self.launch, self.site, self.mask, self.rows, self.handle, *self.coordinates = code.arguments

    def define(self) -> None:
        code, operation = self.code, self.operation
        with code.if_(self.mask == 0, likely=False):
            code.ret()
        place = (self.launch, self.site, self.mask)
        self.surface = find(code, place, self.handle, Resource.SURFACE, operation.geometry)
        self.base = self.surface.base + slot(code, self.launch, Slot.GLOBAL_BIAS)
        offsets, inside = self._offsets()
        lanes = inside.bitcast(MASK)
        if operation.record:
            leave_addresses(code, self.rows + ADDRESSES, self.surface.base, offsets, inside, self.mask)
        if operation.action == "load":
            for element in range(operation.count):
                self._row(element).store(
                    gather(code, self.base, self._at(offsets, element), inside, lanes, operation.element), align=32
                )
        elif operation.action == "store":
            for element in range(operation.count):
                value = self._row(element).load(lanes_of(operation.element), align=32)
                scatter(code, self.base, self._at(offsets, element), value, inside, lanes)
        elif operation.action == "format":
            self._format(offsets, inside)
        else:
            self._reduce(offsets, inside)
        code.ret()

    def _row(self, element: int) -> Value:
        return self.rows + element * self.operation.size * LANES

    def _at(self, offsets: Value, element: int) -> Value:
        return offsets + element * self.operation.size if element else offsets

    def _offsets(self) -> tuple[Value, Value]:
        """Byte offsets, and the active lanes (i32) to access; the function returns with a fault on an invalid lane."""
        code, clamp = self.code, self.operation.clamp
        dimensions = self._dimensions()
        last = dimensions[0].last
        too_wide = Value(code, code.builder.icmp_signed("<", last.llvm, code.const(I32, 0).llvm))
        inside = self.mask
        if clamp == "zero":
            inside = too_wide.select(0, inside)
        else:
            self._stop_if(too_wide, Fault.OUTSIDE_SURFACE, self.mask, self.handle)
        if clamp == "clamp":
            dimensions = [d.clamped(code) for d in dimensions]
        for dimension in dimensions:
            inside = inside & (dimension.coordinate <= dimension.last.splat()).bitcast(I32)
        outside = self.mask & ~inside
        if clamp == "trap":
            self._stop_if(outside != 0, Fault.OUTSIDE_SURFACE, outside, self.handle)
        offsets = code.const(WORDS, 0)
        for dimension in dimensions:
            coordinate = dimension.coordinate
            if dimension is dimensions[0] and not self.operation.samples:
                coordinate = self._aligned(coordinate, inside)
            offsets = offsets + coordinate * dimension.step.splat()
        return offsets, inside

    def _dimensions(self) -> list[_Dimension]:
        """The dimensions of the access: the column first, then row, slice and layer as far as the geometry has them."""
        surface, layered = self.surface, self.operation.geometry in LAYERED
        column, *others = self.coordinates[layered:]
        dimensions = [self._columns(column)]
        fields = ((Field.HEIGHT, Field.ROW), (Field.DEPTH, Field.SLICE))
        for coordinate, (extent, step) in zip(others, fields, strict=False):
            dimensions.append(_Dimension(coordinate, surface.word(extent) - 1, surface.word(step)))
        if layered:
            dimensions.append(
                _Dimension(self.coordinates[0], self._layers(surface) - 1, surface.word(Field.SLICE), True)
            )
        return dimensions

    def _columns(self, coordinate: Value) -> _Dimension:
        """Bytes, elements of the surface (``sust.p``), or of the instruction (``sured.p``)."""
        code, surface, operation = self.code, self.surface, self.operation
        row, size = surface.word(Field.ROW), operation.size * operation.count
        if not operation.samples:
            return _Dimension(coordinate, row - size, code.const(I32, 1))
        if operation.action == "format":
            texel = code.const(I32, 1) << surface.word(Field.TEXEL_SHIFT)
            return _Dimension(coordinate, surface.word(Field.WIDTH) - 1, texel)
        return _Dimension(coordinate, row // size - 1, code.const(I32, size))

    def _aligned(self, column: Value, inside: Value) -> Value:
        """A byte offset, which must be a multiple of the access's size; one that was clamped is rounded down."""
        size = self.operation.size * self.operation.count
        if self.operation.clamp == "clamp":
            return column & (-size % (1 << 32))
        odd = ((column & (size - 1)) != 0).bitcast(I32) & inside
        first = self.code.intrinsic("llvm.cttz.i32", I32, [odd, self.code.const(I1, 0)]) & (LANES - 1)
        self._stop_if(odd != 0, Fault.MISALIGNED, odd, column.lane(first).zext(I64))
        return column

    def _stop_if(self, condition: Value, fault: Fault, lanes: Value, address: Value) -> None:
        with self.code.if_(condition, likely=False):
            stop(self.code, (self.launch, self.site, lanes), fault, address)

    def _layers(self, surface: Descriptor) -> Value:
        """Layers of an array, faces of a cube, or both multiplied."""
        kind, layers = surface.word(Field.KIND), surface.word(Field.LAYERS)
        cubes = (kind == GEOMETRIES.index("acube")).select(layers * 6, layers)
        return (kind == GEOMETRIES.index("cube")).select(6, cubes)

    def _reduce(self, offsets: Value, inside: Value) -> None:
        """Reduce lane by lane."""
        code, operation = self.code, self.operation
        given = spilled(code, offsets)
        signed = self._is_signed()
        with code.each_set_bit(inside) as lane:
            index = lane.zext(I64)
            address = self.base + (given + index * 4).load(I32).zext(I64)
            value = (self.rows + index * operation.size).load(operation.element)
            before = address.load(operation.element, align=1)
            after = atomics.combine(code, operation.action, before, value, value)
            if operation.by_format:
                turned = operation.action.replace(".u", ".s")
                after = signed.select(atomics.combine(code, turned, before, value, value), after)
            address.store(after, align=1)

    def _is_signed(self) -> Value:
        kind = self.surface.word(Field.FORMAT)
        return (kind == Format.SIGNED8) | (kind == Format.SIGNED16) | (kind == Format.SIGNED32)

    def _format(self, offsets: Value, inside: Value) -> None:
        """Store numbers in the surface's format: integers saturate, floats are rounded."""
        code, surface = self.code, self.surface
        given, kind, channels = spilled(code, offsets), surface.word(Field.FORMAT), surface.word(Field.CHANNELS)
        bytes_ = (code.const(I32, 1) << surface.word(Field.TEXEL_SHIFT)) // channels
        with code.each_set_bit(inside) as lane:
            index = lane.zext(I64)
            texel = self.base + (given + index * 4).load(I32).zext(I64)
            for channel in range(self.operation.count):
                with code.if_(channels > channel):
                    word = (self.rows + channel * WORD_ROW + index * 4).load(I32)
                    half = (self.rows + (4 + channel) * WORD_ROW + index * 4).load(I32)
                    number = (kind == Format.HALF).select(half, self._saturated(word, bytes_))
                    address = texel + (bytes_ * channel).zext(I64)
                    for type_ in (I8, I16, I32):
                        with code.if_(bytes_ == type_.width // 8):
                            address.store(number.trunc(type_), align=1)

    def _saturated(self, word: Value, bytes_: Value) -> Value:
        """An integer saturated to the surface's signedness and width; floats of 32 bits are unchanged."""
        code = self.code
        one, bits = code.const(I32, 1), bytes_ << 3
        whole = bytes_ == 4
        high = (one << (whole.select(31, bits))) - 1
        unsigned = (word > high).select(high, word)
        top = (one << (whole.select(31, bits - 1))) - 1
        low = ~top
        above = Value(code, code.builder.icmp_signed(">", word.llvm, top.llvm))
        below = Value(code, code.builder.icmp_signed("<", word.llvm, low.llvm))
        signed = above.select(top, below.select(low, word))
        return whole.select(word, self._is_signed().select(signed, unsigned))
