"""Textures and surfaces (PTX ISA, sections "Texture Instructions" and "Surface Instructions"), executed by the
executor.

The number of operands does not identify them: a sampler, coordinate offsets and a level of detail are all optional.
Therefore a row's signature depends on the grouping of the operands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.opcodes.form import Latency, Opcode, Signature, Unit
from warpreg.ir.opcodes.trait import Trait
from warpreg.ir.operands import AddressTuple, Operand, Pair, Register, Vector
from warpreg.ir.types import F32, PRED, S32, U32, U64, Type

if TYPE_CHECKING:
    from warpreg.ir.instruction import Instruction

COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
"""Number of coordinates by geometry; that of an array begins with the index of the layer."""

LAYERED = frozenset({"a1d", "a2d", "acube"})
CUBES = frozenset({"cube", "acube"})


@dataclass(frozen=True)
class TextureOperands:
    """The sources of a texture or surface instruction by role.

    ``coordinates`` are as written, padding elements included; ``extra`` is the level of detail or the two gradients,
    ``data`` the values that a surface instruction stores.
    """

    handle: Operand
    sampler: Operand | None
    coordinates: tuple[Operand, ...]
    extra: tuple[Operand, ...] = ()
    offsets: tuple[Operand, ...] = ()
    data: tuple[Operand, ...] = ()


def geometry(instr: Instruction) -> str:
    """The modifier that names the geometry: ``2d``, ``acube``, ..."""
    return next(m for m in instr.modifiers if m in COORDINATES)


def texture_operands(instr: Instruction) -> TextureOperands | None:
    """The parts of ``tex``, ``tld4``, ``suld``, ``sust`` or ``sured``; None if they do not match.

    Raises UnsupportedError for a depth comparison.
    """
    if not instr.sources or not isinstance(instr.sources[0], AddressTuple):
        return None
    place, *rest = instr.sources
    assert isinstance(place, AddressTuple)
    handle, *middle, coordinates = place.elements
    points = _elements(coordinates)
    if len(middle) > 1 or len(points) < COORDINATES[geometry(instr)] or len(points) > 4:
        return None
    sampler = middle[0] if middle else None
    if instr.opcode.startswith("su"):
        data = tuple(e for operand in rest for e in _elements(operand))
        return TextureOperands(handle, sampler, points, data=data) if sampler is None else None
    count = 1 if "level" in instr.modifiers else 2 if "grad" in instr.modifiers else 0
    extra = tuple(e for operand in rest[:count] for e in _elements(operand))
    offsets: tuple[Operand, ...] = ()
    for operand in rest[count:]:
        if not isinstance(operand, Vector) and (not isinstance(operand, Register) or operand.type.is_float):
            raise UnsupportedError(instr.full_opcode, instr.location, "compares depths, which is not supported")
        offsets += _elements(operand)
    dimensions = COORDINATES[geometry(instr)] - (geometry(instr) in LAYERED)
    fits = len(rest) >= count and len(extra) == (count if count < 2 else 2 * dimensions)
    if offsets:
        fits = fits and geometry(instr) not in CUBES and dimensions <= len(offsets) <= 4
    return TextureOperands(handle, sampler, points, extra, offsets) if fits else None


def _elements(operand: Operand) -> tuple[Operand, ...]:
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _fetched(instr: Instruction) -> Signature | None:
    parts = texture_operands(instr)
    if parts is None:
        return None
    results, kind = _results(instr), instr.types[-1]
    extra = (kind,) if "level" in instr.modifiers else (F32,) * len(parts.extra)
    return Signature(results, (*_place(instr, parts, kind), *extra, *[S32] * len(parts.offsets)))


def _results(instr: Instruction) -> tuple[Type, ...]:
    types = [instr.types[0]] * (2 if "v2" in instr.modifiers else 4)
    return (*types, PRED) if isinstance(instr.results[0], Pair) else tuple(types)


def _place(instr: Instruction, parts: TextureOperands, kind: Type) -> tuple[Type, ...]:
    handles = (U64,) if parts.sampler is None else (U64, U64)
    points = [kind] * len(parts.coordinates)
    if geometry(instr) in LAYERED:
        points[0] = U32
    return (*handles, *points)


def _surface(instr: Instruction) -> Signature | None:
    parts = texture_operands(instr)
    count = next((int(m[1:]) for m in instr.modifiers if m in ("v2", "v4")), 1)
    if parts is None or len(parts.data) != (0 if instr.opcode == "suld" else count):
        return None
    values = (instr.types[-1],) * count
    place = _place(instr, parts, S32)
    return Signature(values, place) if instr.opcode == "suld" else Signature((), (*place, *values))


def _texture(syntax: str, types: str, effect: str) -> Opcode:
    traits = Trait.READS | Trait.CHANNELS | Trait.HANDLE
    return Opcode(
        syntax, types, None, Unit.TEX, Latency.TEXTURE, effect, arrangement=_fetched, reads_only=True, traits=traits
    )


def _access(syntax: str, types: str, effect: str, latency: Latency, traits: Trait) -> Opcode:
    """A row of surfaces."""
    return Opcode(syntax, types, None, Unit.TEX, latency, effect, arrangement=_surface, traits=traits | Trait.HANDLE)


def _load(syntax: str, effect: str) -> Opcode:
    return _access(syntax, "T*n <- ...", effect, Latency.TEXTURE, Trait.READS)


def _store(syntax: str, effect: str) -> Opcode:
    return _access(syntax, "<- ...", effect, Latency.STORE, Trait.WRITES)


def _reduction(syntax: str) -> Opcode:
    return _access(syntax, "<- ...", REDUCES, Latency.STORE, Trait.READS | Trait.WRITES | Trait.ATOMIC)


def _query(syntax: str, types: str = "b32 <- address") -> Opcode:
    return Opcode(syntax, types, None, Unit.TEX, Latency.TEXTURE, ASKS, reads_only=True, traits=Trait.HANDLE)


MODE = "[.(base|level|grad)]"
FLAT = "(1d|2d|3d|a1d|a2d)"
CUBE = "(cube|acube)"
CLAMP = "[.(trap|clamp|zero)]"
FETCHES = "reads the texel at a coordinate, or mixes those around it"
TEXTURE_QUERIES = "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels"
SAMPLER_QUERIES = "num_samples|force_unnormalized_coords|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2"
SURFACE_QUERIES = "width|height|depth|channel_data_type|channel_order|array_size|memory_layout"
ASKS = "tells a property of a texture or surface"
REDUCES = "combines with a surface's element, lane after lane"

OPCODES = (
    _texture(f"tex{MODE}.{FLAT}.v4.(u32|s32|f16|f32).(s32|f32)", "T0*n <- ...", FETCHES),
    _texture(f"tex{MODE}.{CUBE}.v4.(u32|s32|f16|f32).f32", "T0*n <- ...", FETCHES),
    _texture(f"tex{MODE}.{FLAT}.v2.f16x2.(s32|f32)", "T0*n <- ...", FETCHES),
    _texture(f"tex{MODE}.{CUBE}.v2.f16x2.f32", "T0*n <- ...", FETCHES),
    _texture(
        "tld4.(r|g|b|a).(2d|a2d|cube|acube).v4.(u32|s32|f32).f32", "T0*n <- ...",
        "reads one channel of the four texels around a coordinate",
    ),
    _query(f"txq.({TEXTURE_QUERIES}|{SAMPLER_QUERIES}).b32"),
    _query("txq.level.(width|height|depth).b32", "b32 <- address u32"),
    _query(f"suq.({SURFACE_QUERIES}).b32"),
    Opcode(
        "istypep.(texref|samplerref|surfref)", "pred <- u64",
        effect="whether a handle is of that type", reads_only=True, traits=Trait.HANDLE,
    ),
    _load(f"suld.b.{FLAT}[.(ca|cg|cs|cv)][.(v2|v4)].(b8|b16|b32|b64){CLAMP}", "reads a surface at a byte offset"),
    _store(f"sust.b.{FLAT}[.(wb|cg|cs|wt)][.(v2|v4)].(b8|b16|b32|b64){CLAMP}", "writes a surface at a byte offset"),
    _store(
        f"sust.p.(1d|2d|3d)[.(v2|v4)].b32{CLAMP}", "writes an element of a surface, converted to its format",
    ),
    _reduction(f"sured.b.add.(1d|2d|3d).(u32|s32|u64){CLAMP}"),
    _reduction(f"sured.b.(min|max).(1d|2d|3d).(u32|s32|u64|s64){CLAMP}"),
    _reduction(f"sured.b.(and|or).(1d|2d|3d).b32{CLAMP}"),
    _reduction(f"sured.p.(add|min|max|and|or).(1d|2d|3d).(b32|u32|s32){CLAMP}"),
    _reduction(f"sured.p.(min|max).(1d|2d|3d).(b64|u64|s64){CLAMP}"),
)  # fmt: skip
