"""Native texture fetches of 32 lanes: ``tex`` and ``tld4`` (CUDA C++ Programming Guide, "Texture Fetching").

A fetch is a function of its own module, generated and cached by its `TextureFetch`; compiled kernels call it through
the table of memory operations:

    void(launch, site, mask, out, handle, [sampler,] coordinates...)

``out`` is the host address of four rows of 32 words, of which the used ones are written in the active lanes.
``handle`` and ``sampler`` are i64, or 32 lanes of i64; coordinates are 32 lanes of i32 as defined by PTX.  Different
handles are processed one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from warpreg.ir.opcodes.texture import COORDINATES, CUBES, LAYERED
from warpreg.simt.block.native_records import Slot, slot
from warpreg.simt.lanes import single_precision as fp
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, LANES, MASK, Code, Value
from warpreg.simt.texture import means, texels
from warpreg.simt.texture.axes import Axis, faces
from warpreg.simt.texture.descriptors import Descriptor, find
from warpreg.simt.texture.scattered_handles import each_handle
from warpreg.simt.texture.state import Field, Resource
from warpreg.simt.texture.texel_addresses import leave_addresses

ROW_BYTES = 4 * LANES
ADDRESSES = 8 * ROW_BYTES
"""Byte offset of the recorded addresses from ``out``."""


@dataclass(frozen=True)
class TextureFetch:
    """One native fetch.

    ``geometry`` is PTX's; ``whole``: coordinates are integers; ``used`` has a bit for each of the four results that is
    used; ``gathered`` is the channel of ``tld4``, -1 for ``tex``; ``offsets``: coordinate offsets follow the
    coordinates; ``sampler``: there is one; ``scattered``: each lane has its own handle; ``record``: store the texel
    addresses after the four rows, as 32 lanes of i64 (the lower left texel if a filter mixes several, the texture's
    first texel if a lane reads none).
    """

    geometry: str
    whole: bool
    used: int
    gathered: int = -1
    offsets: bool = False
    sampler: bool = False
    scattered: bool = False
    record: bool = False

    @property
    def name(self) -> str:
        parts = [self.geometry, "s32" if self.whole else "f32", f"{self.used:x}"]
        parts += [f"gather{self.gathered}"] if self.gathered >= 0 else []
        parts += [word for word in ("offsets", "sampler", "scattered", "record") if getattr(self, word)]
        return "_".join(("texture", *parts))

    @property
    def result(self) -> Any:
        return ir.VoidType()

    @property
    def dimensions(self) -> int:
        """Coordinates within a layer or face."""
        return 2 if self.geometry in CUBES else COORDINATES[self.geometry] - (self.geometry in LAYERED)

    def module(self) -> str:
        """LLVM IR that defines the fetch under its name."""
        module = ir.Module(self.name)
        if self.scattered:
            _define_scattered(module, self)
        else:
            _Fetch(module, self).define()
        return str(module)


def define(module: Any, fetch: TextureFetch) -> Any:
    """Define a fetch from one texture in a module; returns the function."""
    made = _Fetch(module, fetch)
    made.define()
    return made.code.function


def _define_scattered(module: Any, fetch: TextureFetch) -> None:
    """A loop over the distinct handles (with their samplers) of the active lanes."""
    inner = _Fetch(module, replace(fetch, scattered=False))
    inner.define()
    each_handle(module, fetch.name, inner.code.function, inner.coordinate_types, 1 + fetch.sampler)


class _Fetch:
    """The fetch from one texture."""

    def __init__(self, module: Any, fetch: TextureFetch) -> None:
        count = COORDINATES[fetch.geometry] + (fetch.dimensions if fetch.offsets else 0)
        self.fetch = fetch
        self.coordinate_types = [WORDS] * count
        self.reader = texels.reader(module)
        handles = [I64] * (1 + fetch.sampler)
        self.code = Code(module, fetch.name, fetch.result, [I64, I64, I32, I64, *handles, *self.coordinate_types])

    def define(self) -> None:
        code, fetch = self.code, self.fetch
        self.launch, self.site, self.mask, self.out, handle, *rest = code.arguments
        with code.if_(self.mask == 0, likely=False):
            code.ret()
        place = (self.launch, self.site, self.mask)
        self.texture = find(code, place, handle, Resource.TEXTURE, fetch.geometry)
        self.sampler = find(code, place, rest.pop(0), Resource.SAMPLER, "") if fetch.sampler else self.texture
        self.base = self.texture.base + slot(code, self.launch, Slot.GLOBAL_BIAS)
        self.kind = self.texture.word(Field.FORMAT)
        self.channels = self.texture.word(Field.CHANNELS)
        self.present = self.mask
        coordinates, layer, offsets = self._split(rest)
        slice_ = self.texture.word(Field.SLICE)
        self.first = code.const(WORDS, 0) if layer is None else layer * slice_.splat()
        if fetch.whole:
            self._point([Axis.whole(code, c, self._field(i)) for i, c in enumerate(coordinates)])
        elif fetch.gathered >= 0:
            self._footprint(self._axes(Axis.linear, coordinates, offsets))
        else:
            linear = (self.sampler.word(Field.FILTER) & self.texture.word(Field.FILTERABLE)) != 0
            with code.if_else(linear) as (mixed, nearest):
                with mixed:
                    self._linear(self._axes(Axis.linear, coordinates, offsets))
                with nearest:
                    self._point(self._axes(Axis.point, coordinates, offsets))
        code.ret()

    def _field(self, axis: int) -> tuple[Descriptor, Descriptor, int]:
        return self.texture, self.sampler, axis

    def _axes(self, kind: Callable[..., Axis], coordinates: list[Value], offsets: list[Value | None]) -> list[Axis]:
        each = enumerate(zip(coordinates, offsets, strict=True))
        return [kind(self.code, point, offset, self._field(i)) for i, (point, offset) in each]

    def _split(self, given: list[Value]) -> tuple[list[Value], Value | None, list[Value | None]]:
        """Coordinates within a layer, the layer, and offsets in texels, which are added to integer coordinates.

        Layers are clamped to the array; with integer coordinates, others read nothing (measured on an H100).
        """
        code, geometry = self.code, self.fetch.geometry
        count = COORDINATES[geometry]
        points, offsets = given[:count], given[count:]
        layer: Value | None = None
        if geometry in LAYERED:
            last = self.texture.word(Field.LAYERS) - 1
            layer, *points = points
            if self.fetch.whole:
                self.present = self.mask & (layer <= last.splat()).bitcast(I32)
            layer = (layer < last.splat()).select(layer, last.splat())
        if geometry in CUBES:
            face, points = faces(code, points)
            layer = face if layer is None else layer * 6 + face
        if not self.fetch.whole:
            shifts: list[Value | None] = [*offsets] if offsets else [None] * len(points)
            return [p.bitcast(fp.FLOATS) for p in points], layer, shifts
        if offsets:
            points = [point + offset for point, offset in zip(points, offsets, strict=True)]
        return points, layer, [None] * len(points)

    def _point(self, axes: list[Axis]) -> None:
        """One texel per lane."""
        offsets, valid = self._place([axis.corner(0) for axis in axes])
        self._record(offsets, valid)
        for channel in range(4):
            if self.fetch.used >> channel & 1:
                self._put(channel, self._channel(channel, offsets, valid))

    def _place(self, corners: list[tuple[Value, Value]]) -> tuple[Value, Value]:
        """Byte offsets of texels, and the active lanes (i32) in which they exist."""
        shift = self.texture.word(Field.TEXEL_SHIFT).splat()
        offsets, valid = self.first + (corners[0][0] << shift), self.present
        for (index, _), field in zip(corners[1:], (Field.ROW, Field.SLICE), strict=False):
            offsets = offsets + index * self.texture.word(field).splat()
        for _, exists in corners:
            valid = valid & exists.bitcast(I32)
        return offsets, valid

    def _channel(self, channel: int, offsets: Value, valid: Value) -> Value:
        """One channel of a texel per lane; 0 if there is no texel, or if the format lacks the channel."""
        code = self.code

        def read() -> Value:
            size = self.texture.word(Field.TEXEL_SHIFT)
            bytes_ = (code.const(I32, 1) << size) // self.channels if channel else code.const(I32, 0)
            at = offsets + (bytes_ * channel).splat() if channel else offsets
            return code.call(self.reader, [self.base, at, valid, self.kind])

        return code.choose(self.channels > channel, read, lambda: code.const(WORDS, 0)) if channel else read()

    def _linear(self, axes: list[Axis]) -> None:
        """The weighted mean of the surrounding texels, rounded once.  Sums are in double precision, x fastest."""
        code = self.code
        places = [
            (self._place([axis.corner(bits >> n & 1) for n, axis in enumerate(axes)]), weight)
            for bits, weight in enumerate(self._weights(axes))
        ]
        self._record(*places[0][0])
        mean = means.mean(code.module)
        count = means.counter(code.module)
        for channel in range(4):
            if self.fetch.used >> channel & 1:
                total: Value | None = None
                for (offsets, valid), weight in places:
                    texel = code.call(count, [self._channel(channel, offsets, valid), self.kind])
                    term = means.product(weight, texel)
                    total = term if total is None else means.total(total, term)
                assert total is not None
                self._put(channel, code.call(mean, [total, self.kind]))

    def _weights(self, axes: list[Axis]) -> list[Value]:
        """The weights of the corners in 256ths, x fastest: each axis splits the weights so far, and the upper part is
        rounded to 256ths, ties to even (weights measured on an H100, but for the ties).
        """
        code = self.code
        weights = [fp.number(code, 256.0)]
        for axis in axes:
            assert axis.upper is not None
            part = fp.mul(axis.upper, fp.number(code, 1.0 / 256.0))
            above = [fp.nearest(fp.mul(weight, part)) for weight in weights]
            weights = [*(fp.sub(weight, high) for weight, high in zip(weights, above, strict=True)), *above]
        return weights

    def _footprint(self, axes: list[Axis]) -> None:
        """The four texels that a linear filter would mix, counter-clockwise from the lower left."""
        self._record(*self._place([axis.corner(0) for axis in axes]))
        for row, (right, below) in enumerate(((0, 1), (1, 1), (1, 0), (0, 0))):
            if self.fetch.used >> row & 1:
                offsets, valid = self._place([axes[0].corner(right), axes[1].corner(below)])
                texel = self._channel(self.fetch.gathered, offsets, valid)
                self._put(row, self.code.call(means.gathered(self.code.module), [texel, self.kind]))

    def _record(self, offsets: Value, valid: Value) -> None:
        if self.fetch.record:
            leave_addresses(self.code, self.out + ADDRESSES, self.texture.base, offsets, valid, self.mask)

    def _put(self, row: int, value: Value) -> None:
        code = self.code
        pointer = Value(code, code.pointer(self.out + row * ROW_BYTES, WORDS))
        arguments = [value, pointer, code.const(I32, 4), self.mask.bitcast(MASK)]
        code.intrinsic("llvm.masked.store.v32i32.p0", ir.VoidType(), arguments)
