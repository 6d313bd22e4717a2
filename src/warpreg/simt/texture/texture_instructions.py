"""Texture instructions inside a basic block: handle, coordinates, and the call of the native fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpreg.ir import opcodes
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes.texture import COORDINATES, CUBES, geometry, texture_operands
from warpreg.ir.operands import Address, ConstantBank, Operand, Sink
from warpreg.ir.types import U64, Kind, Type
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import SITE_BYTES, Slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.lanes.single_precision import WORDS
from warpreg.simt.llvm.emitter import I64, LANES, MASK, Value, lanes_of
from warpreg.simt.texture import levels as levels
from warpreg.simt.texture.fetch import ADDRESSES, ROW_BYTES, TextureFetch
from warpreg.simt.texture.half_results import as_half, as_halves
from warpreg.simt.texture.queries import TextureQuery
from warpreg.simt.texture.state import QUERIES, Field, Resource
from warpreg.simt.texture.surfaces import SurfaceOperation
from warpreg.simt.texture.texel_addresses import AddressRecord

if TYPE_CHECKING:
    from warpreg.simt.block.sites import Sites

SCRATCH_BYTES = ADDRESSES + 8 * LANES
"""Bytes of four rows of 64-bit elements and of the recorded addresses."""

Source = tuple[Operand, Type, tuple[Cell, ...]]


class TextureAccess:
    """One texture or surface instruction of a block."""

    def __init__(self, values: BlockValues, sites: Sites, instruction: Instruction, pc: int) -> None:
        self.values = values
        self.sites = sites
        self.instruction = instruction
        self.pc = pc
        self.code = values.code

    def emit(self, sources: list[Source], mask: Value) -> list[Value]:
        """Execute the instruction in the lanes of ``mask`` (i32); returns the values of its result slots."""
        if not self.instruction.traits.accesses_memory:
            return [self._query(sources, mask)]
        if self.instruction.opcode.startswith("su"):
            return self._surface(sources, mask)
        return self._fetch(sources, mask)

    def _fetch(self, sources: list[Source], mask: Value) -> list[Value]:
        instruction = self.instruction
        parts = texture_operands(instruction)
        assert parts is not None
        handles = 1 if parts.sampler is None else 2
        shape, given = geometry(instruction), sources[handles:]
        used = given[: COORDINATES[shape]] + given[len(parts.coordinates) + len(parts.extra) :][: self._moves(shape)]
        slots = opcodes.flattened(instruction.results)
        named = [self._handle(s) for s in sources[:handles]]
        if parts.extra:
            extra = [self._operand(s) for s in given[len(parts.coordinates) :][: len(parts.extra)]]
            named[0] = self._at_level(named[0], extra, mask)
        scattered = any(h.type != I64 for h in named)
        fetch = TextureFetch(
            geometry=shape,
            whole=instruction.types[-1].is_integer,
            used=self._used(slots),
            gathered="rgba".index(instruction.modifiers[0]) if instruction.opcode == "tld4" else -1,
            offsets=len(parts.offsets) > 0,
            sampler=handles == 2,
            scattered=scattered,
            record=self.sites.record,
        )
        out = self.values.scratch(SCRATCH_BYTES)
        arguments = [h.splat() if scattered and h.type == I64 else h for h in named]
        self._access(fetch, mask, out, [*arguments, *map(self._operand, used)])
        rows = [(out + row * ROW_BYTES).load(WORDS, align=64) for row in range(4)]
        results = as_halves(self.values, instruction, rows)
        residence = self.code.const(MASK, 1)
        return [*results, residence][: len(slots)]

    def _surface(self, sources: list[Source], mask: Value) -> list[Value]:
        instruction, modifiers = self.instruction, self.instruction.modifiers
        shape = geometry(instruction)
        count = next((int(m[1:]) for m in modifiers if m in ("v2", "v4")), 1)
        stored = 0 if instruction.opcode == "suld" else count
        handle = self._handle(sources[0])
        samples = modifiers[0] == "p"
        operation = SurfaceOperation(
            action=self._action(),
            geometry=shape,
            size=instruction.types[-1].bytes,
            count=count,
            clamp=next((m for m in modifiers if m in ("clamp", "zero")), "trap"),
            samples=samples,
            by_format=samples and instruction.types[-1].kind is Kind.BITS and modifiers[1] in ("min", "max"),
            scattered=handle.type != I64,
            record=self.sites.record,
        )
        rows = self.values.scratch(SCRATCH_BYTES)
        given = [self._operand(source) for source in sources[len(sources) - stored :]]
        row_bytes = LANES * operation.size
        for place, value in enumerate(given):
            (rows + place * row_bytes).store(value, align=32)
        if operation.action == "format":
            for place, value in enumerate(given):
                half = as_half(self.values, instruction, value).zext(WORDS)
                (rows + (4 + place) * ROW_BYTES).store(half, align=64)
        points = map(self._operand, sources[1 : 1 + COORDINATES[shape]])
        self._access(operation, mask, rows, [handle, *points])
        if stored:
            return []
        element = lanes_of(operation.element)
        return [(rows + place * row_bytes).load(element, align=32) for place in range(count)]

    def _action(self) -> str:
        """The ``action`` of the `SurfaceOperation`."""
        instruction = self.instruction
        if instruction.opcode == "sured":
            operation, type_ = instruction.modifiers[1], instruction.types[-1]
            kind = "b" if operation in ("and", "or") else "s" if type_.is_signed else "u"
            return f"{operation}.{kind}{type_.bits}"
        if instruction.opcode == "suld":
            return "load"
        return "format" if instruction.modifiers[0] == "p" else "store"

    def _moves(self, shape: str) -> int:
        parts = texture_operands(self.instruction)
        if parts is None or not parts.offsets:
            return 0
        return 2 if "cube" in shape else COORDINATES[shape] - shape.startswith("a")

    def _used(self, slots: tuple[Operand, ...]) -> int:
        """One bit per channel that is used."""
        if "f16x2" in self.instruction.modifiers:
            return sum(3 << 2 * i for i, slot in enumerate(slots[:2]) if not isinstance(slot, Sink))
        return sum(1 << i for i, slot in enumerate(slots[:4]) if not isinstance(slot, Sink))

    def _handle(self, source: Source) -> Value:
        """A scalar from a constant bank, or 32 lanes."""
        operand, type_, cells = source
        if isinstance(operand, Address):
            if operand.offset:
                raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "goes past a texture's name")
            operand = operand.base
        if isinstance(operand, ConstantBank):
            return self.values.bank(operand, U64, self.instruction)
        return self.values.operand(operand, type_, cells, self.instruction)

    def _operand(self, source: Source) -> Value:
        return self.values.operand(*source, self.instruction)

    def _at_level(self, handle: Value, extra: list[Value], mask: Value) -> Value:
        """The handles of the levels of detail that a level or two gradients select (32 lanes)."""
        lanes = handle.splat() if handle.type == I64 else handle

        def ask(field: int) -> Value:
            return self._call(TextureQuery(field, Resource.TEXTURE), mask, [lanes], self._site())

        if len(extra) == 1:
            level = levels.nearest(extra[0], self.instruction.types[-1].is_float)
        elif geometry(self.instruction) in CUBES:
            level = self.code.const(WORDS, 0)
        else:
            half = len(extra) // 2
            extents = [ask(field) for field in (Field.WIDTH, Field.HEIGHT, Field.DEPTH)[:half]]
            level = levels.of_gradients(extra[:half], extra[half:], extents)
        return levels.handles(lanes, level, ask(Field.LEVELS), ask(Field.SMALLER))

    def _query(self, sources: list[Source], mask: Value) -> Value:
        """A field of the record of each lane's handle."""
        handle = self._handle(sources[0])
        lanes = handle.splat() if handle.type == I64 else handle
        if self.instruction.opcode == "istypep":
            resources = {"texref": Resource.TEXTURE, "samplerref": Resource.SAMPLER, "surfref": Resource.SURFACE}
            query = TextureQuery(0, resources[self.instruction.modifiers[-1]], True)
        else:
            asked = next(m for m in self.instruction.modifiers if m in QUERIES)
            of_sampler = asked in ("force_unnormalized_coords", "filter_mode") or asked.startswith("addr")
            resource = Resource.SURFACE if self.instruction.opcode == "suq" else Resource.TEXTURE
            query = TextureQuery(QUERIES[asked], resource, also=Resource.SAMPLER if of_sampler else None)
            if len(sources) > 1:
                lanes = self._at_level(lanes, [self._operand(sources[1])], mask)
        found = self._call(query, mask, [lanes], self._site())
        return found != 0 if query.test else found

    def _access(self, operation: Any, mask: Value, rows: Value, given: list[Value]) -> None:
        """Call an operation on rows of scratch memory; record the addresses that it stores there."""
        site = self._site()
        addresses, wide = rows + ADDRESSES, lanes_of(I64)
        if self.sites.record:
            addresses.store(self.code.const(wide, 0), align=64)
        self._call(operation, mask, [rows, *given], site)
        if self.sites.record:
            self._call(AddressRecord(), mask, [addresses.load(wide, align=64)], site)

    def _site(self) -> Value:
        number = self.sites.site(self.pc, self.instruction.guard is not None)
        return self.values.field(Slot.SITES) + number * SITE_BYTES

    def _call(self, operation: Any, mask: Value, arguments: list[Value], site: Value) -> Value:
        address = (self.values.field(Slot.HELPERS) + 8 * self.sites.operation(operation)).load(I64)
        return self.code.call_at(address, operation.result, [self.values.launch, site, mask, *arguments])
