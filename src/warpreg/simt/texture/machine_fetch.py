"""Texture instructions of machine code: TEX, TLD, TXD and TXQ (`warpreg.machine_code.textures` says the operands)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.opcodes.texture import CUBES
from warpreg.simt.block.native_records import Slot
from warpreg.simt.lanes import single_precision as fp
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I32, I64, Code, Value
from warpreg.simt.texture import levels
from warpreg.simt.texture.descriptors import find
from warpreg.simt.texture.fetch import ROW_BYTES, TextureFetch, define
from warpreg.simt.texture.queries import TextureQuery
from warpreg.simt.texture.state import GEOMETRIES, Field, Resource
from warpreg.simt.texture.texture_instructions import SCRATCH_BYTES, TextureAccess

SHAPES = {
    "1D": "1d",
    "2D": "2d",
    "3D": "3d",
    "ARRAY_1D": "a1d",
    "ARRAY_2D": "a2d",
    "CUBE": "cube",
    "ARRAY_CUBE": "acube",
}
"""PTX's names of geometries."""


@dataclass(frozen=True)
class LineOrPlane:
    """A fetch from a plane that may be a line: ptxas fetches from a one-dimensional texture with ``2D`` and y 0."""

    fetch: TextureFetch

    @property
    def name(self) -> str:
        return f"line_or_{self.fetch.name}"

    @property
    def result(self) -> Any:
        return ir.VoidType()

    def module(self) -> str:
        """LLVM IR that defines the fetch under its name."""
        module = ir.Module(self.name)
        plane = define(module, replace(self.fetch, scattered=False))
        line = define(module, replace(self.fetch, scattered=False, geometry="1d"))
        code = Code(module, self.name, self.result, [I64, I64, I32, I64, I64, WORDS, WORDS])
        launch, site, mask, out, handle, x, y = code.arguments
        with code.if_(mask == 0, likely=False):
            code.ret()
        kind = find(code, (launch, site, mask), handle, Resource.TEXTURE, "").word(Field.KIND)
        with code.if_(kind == GEOMETRIES.index("1d"), likely=False):
            code.call(line, [launch, site, mask, out, handle, x])
            code.ret()
        code.call(plane, [launch, site, mask, out, handle, x, y])
        code.ret()
        for one in (plane, line):
            one.linkage = "internal"
        return str(module)


class MachineTexture(TextureAccess):
    """One texture instruction of a block."""

    def fetched(
        self, used: int, coordinates: list[Value], further: list[Value], handle: Value, geometry: str, mask: Value
    ) -> list[Value]:
        """The four channels; ``further`` are the level or the gradients, ``handle`` is a scalar (i64), ``used`` has a
        bit for each channel that is read."""
        if geometry not in SHAPES:
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, f"has geometry {geometry}")
        whole = self.instruction.opcode == "TLD"
        fetch = TextureFetch(SHAPES[geometry], whole, used, record=self.sites.record)
        out = self.values.scratch(SCRATCH_BYTES)
        if not further:
            self._fetch_from(fetch, mask, out, handle, coordinates)
            return self._channels(out)
        for field in (Slot.HELPERS, Slot.SITES):
            self.values.field(field)
        with self.code.if_else(self._is_first(further, whole)) as (first, others):
            with first:
                self._fetch_from(fetch, mask, out, handle, coordinates)
            with others:
                chosen = self._level(handle, further, mask, whole, SHAPES[geometry])
                self._access(replace(fetch, scattered=True), mask, out, [chosen, *coordinates])
        return self._channels(out)

    def asked(self, channel: int, level: Value, handle: Value, mask: Value) -> Value:
        """Width, height or depth of a level of a texture, or of a surface."""
        query = TextureQuery((Field.WIDTH, Field.HEIGHT, Field.DEPTH)[channel], Resource.TEXTURE, also=Resource.SURFACE)
        for field in (Slot.HELPERS, Slot.SITES):
            self.values.field(field)
        words = self.code.var(self.code.const(WORDS, 0))
        with self.code.if_else(self._is_first([level], whole=True)) as (first, others):
            with first:
                words.set(self._call(query, mask, [handle.splat()], self._site()))
            with others:
                chosen = self._level(handle, [level], mask, True, "2d")
                words.set(self._call(query, mask, [chosen], self._site()))
        return words.get()

    def _fetch_from(
        self, fetch: TextureFetch, mask: Value, out: Value, handle: Value, coordinates: list[Value]
    ) -> None:
        flat = fetch.geometry == "2d" and not fetch.whole
        self._access(LineOrPlane(fetch) if flat else fetch, mask, out, [handle, *coordinates])

    def _channels(self, out: Value) -> list[Value]:
        return [(out + row * ROW_BYTES).load(WORDS, align=64) for row in range(4)]

    def _is_first(self, further: list[Value], whole: bool) -> Value:
        """Whether all lanes want the first level."""
        if len(further) > 1:
            return self.code.const(ir.IntType(1), 0)
        zero = fp.number(self.code, 0.0)
        low = further[0] == 0 if whole else fp.compare(further[0].bitcast(fp.FLOATS), "<=", zero)
        return (low.bitcast(I32) | ~self.values.mask) == FULL

    def _level(self, handle: Value, further: list[Value], mask: Value, whole: bool, shape: str) -> Value:
        """The handles of the levels that the lanes want."""
        lanes = handle.splat()

        def ask(field: int) -> Value:
            return self._call(TextureQuery(field, Resource.TEXTURE), mask, [lanes], self._site())

        if len(further) == 1:
            level = levels.nearest(further[0], not whole)
        elif shape in CUBES:
            level = self.code.const(WORDS, 0)
        else:
            extents = [ask(field) for field in (Field.WIDTH, Field.HEIGHT, Field.DEPTH)[: len(further) // 2]]
            level = levels.of_gradients(further[::2], further[1::2], extents)
        return levels.handles(lanes, level, ask(Field.LEVELS), ask(Field.SMALLER))
