"""Width of SASS operands in registers: a trace names only the first register of each.

Sources: the operand forms that nvdisasm prints for each opcode, and for matrix products the fragment sizes that follow
from shape and element type (a matrix of m x k elements of b bits takes m k b / 1024 registers per lane).  A modifier
``W`` with digits, written by `warpreg.sass.export`, gives the widths explicitly: of the result, then of each source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from warpreg.ir.opcodes import Unit
from warpreg.sass.isa.opcodes import SassOpcode, find

BITS = re.compile(r"[UBSF]?(8|16|32|64|96|128|256)")
EXPLICIT = re.compile(r"W(\d)(\d*)")


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of an instruction in a trace line: opcode, modifiers, number of results and of sources, the immediate (0
    for none)."""

    opcode: str
    modifiers: tuple[str, ...]
    results: int
    sources: int
    immediate: int = 0


@dataclass(frozen=True, slots=True)
class Widths:
    """Registers of the result, of each source, and of a second result."""

    result: int
    sources: tuple[int, ...] = ()
    """Widths of sources that are not 1."""
    second: int = 1


SINGLE = Widths(1)


def widths(shape: Shape) -> Widths:
    """The number of registers of each operand; 1 by default."""
    explicit = next((m for m in map(EXPLICIT.fullmatch, shape.modifiers) if m), None)
    if explicit:
        given = tuple(map(int, explicit[2]))
        return Widths(int(explicit[1]), (*given, *(1,) * shape.sources)[: shape.sources])
    row = find(shape.opcode)
    found = _rule(row)(shape, row)
    return Widths(found.result, (*found.sources, *(1,) * shape.sources)[: shape.sources], found.second)


def _rule(row: SassOpcode) -> Rule:
    if row.widths:
        return RULES[row.widths]
    return _memory if row.pipe == "mem" else BY_UNIT.get(row.unit, _by_modifier)


def access_bytes(opcode: str, modifiers: tuple[str, ...]) -> int:
    """Bytes that each lane accesses in memory: the width among the modifiers, 4 without one."""
    if find(opcode).widths == "matrices":
        return 16
    found = [m for m in map(BITS.fullmatch, modifiers) if m]
    return int(found[0][1]) // 8 if found else 4


def _pairs(shape: Shape, row: SassOpcode) -> Widths:
    """Doubles, packed pairs of floats, code addresses."""
    return Widths(2, (2,) * shape.sources)


def _by_modifier(shape: Shape, row: SassOpcode) -> Widths:
    """Integer arithmetic on 64 bits has a modifier: ``IADD.64``."""
    return _pairs(shape, row) if "64" in shape.modifiers else SINGLE


def _data_words(shape: Shape) -> int:
    return max(1, access_bytes(shape.opcode, shape.modifiers) // 4)


def _memory(shape: Shape, row: SassOpcode) -> Widths:
    """The address comes first; ``.E`` makes that of a global or generic access 64 bits wide."""
    data = _data_words(shape)
    address = 2 if "E" in shape.modifiers and row.space in ("global", "generic") else 1
    if row.action == "copy":
        return Widths(1, (1, address))
    return Widths(data, (address, *(data,) * shape.sources))


def _fetch(shape: Shape, row: SassOpcode) -> Widths:
    """The immediate is the component mask, all four without one; coordinates are assumed to be two, one for ``TLD``
    (texels by index)."""
    mask = shape.immediate if 0 < shape.immediate < 16 else 15
    components, coordinates = mask.bit_count(), 1 if shape.opcode == "TLD" else 2
    if shape.results < 2:
        return Widths(components, (coordinates,))
    return Widths(max(1, components - 2), (coordinates,), second=min(components, 2))


def _small_matrices(shape: Shape, row: SassOpcode) -> Widths:
    """``LDSM.16.M88.4`` loads four registers, ``STSM`` stores them."""
    count = next((int(m) for m in reversed(shape.modifiers) if m in ("1", "2", "4")), 1)
    return Widths(count, (1, count))


def _constant(shape: Shape, row: SassOpcode) -> Widths:
    return Widths(_data_words(shape), ())


def _wide_product(shape: Shape, row: SassOpcode) -> Widths:
    """``IMAD.WIDE`` adds 64 bits to the product of two registers; if one operand is an immediate or a constant, the
    immediate of the line determines which."""
    if "WIDE" not in shape.modifiers:
        return _by_modifier(shape, row)
    if shape.sources == 2 and shape.immediate:
        return Widths(2, (1, 2))
    return Widths(2, (1, 1, 2))


def _conversion(shape: Shape, row: SassOpcode) -> Widths:
    """``F2F.F64.F32``: the result's type, then the source's; ``F2I`` and ``I2F`` name types that are not 32 bits."""
    wide = [m in ("F64", "S64", "U64") for m in shape.modifiers if re.fullmatch(r"[FSU](8|16|32|64)", m)]
    if shape.opcode in ("F2F", "FRND"):
        to, source = (wide[0], wide[-1]) if wide else (False, False)
    elif shape.opcode == "F2I":
        to, source = any(m in ("S64", "U64") for m in shape.modifiers), "F64" in shape.modifiers
    else:
        to, source = "F64" in shape.modifiers, any(m in ("S64", "U64") for m in shape.modifiers)
    return Widths(1 + to, (1 + source,) * shape.sources)


def _special(shape: Shape, row: SassOpcode) -> Widths:
    """``CS2R`` writes a pair unless it has ``.32``."""
    return Widths(1 if "32" in shape.modifiers else 2, ())


ELEMENT_BITS = {"BF16": 16, "TF32": 32, "S8": 8, "U8": 8, "S4": 4, "U4": 4, "E4M3": 8, "E5M2": 8, "F16": 16}


def _product(shape: Shape, row: SassOpcode) -> Widths:
    """``HMMA.16816.F32 D, A, B, C``; Volta's ``HMMA.884`` works on register pairs, step by step."""
    spelled = next((m for m in shape.modifiers if m.isdigit() or SEPARATED.fullmatch(m)), "")
    separated = SEPARATED.fullmatch(spelled)
    sizes = MATRIX_SHAPES.get(spelled) if separated is None else tuple(map(int, separated.groups()))
    if sizes is None:
        return SINGLE
    if spelled == "884" and shape.opcode == "HMMA":
        return Widths(2, (2, 2, 2))
    m, n, k = sizes
    usual = {"HMMA": 16, "IMMA": 8, "BMMA": 1, "DMMA": 64, "QMMA": 8}.get(shape.opcode, 16)
    bits = next((ELEMENT_BITS[x] for x in shape.modifiers if x in ELEMENT_BITS and x != "F16"), usual)
    half = shape.opcode in ("HMMA", "QMMA") and "F32" not in shape.modifiers
    sum_bits = 16 if half else 64 if shape.opcode == "DMMA" else 32
    a, b, c = (max(1, elements * size // 1024) for elements, size in ((m * k, bits), (k * n, bits), (m * n, sum_bits)))
    return Widths(c, (a, b, c))


SEPARATED = re.compile(r"(\d+)x(\d+)x(\d+)")
MATRIX_SHAPES = {
    "884": (8, 8, 4),
    "1684": (16, 8, 4),
    "1688": (16, 8, 8),
    "16816": (16, 8, 16),
    "16832": (16, 8, 32),
    "16864": (16, 8, 64),
    "8816": (8, 8, 16),
    "8832": (8, 8, 32),
    "88128": (8, 8, 128),
    "168128": (16, 8, 128),
    "168256": (16, 8, 256),
}
"""Rows, columns and depth of shapes that an opcode writes without separators."""

Rule = Callable[[Shape, SassOpcode], Widths]

RULES: dict[str, Rule] = {
    "wide-product": _wide_product,
    "matrices": _small_matrices,
    "constant": _constant,
    "single": lambda shape, row: SINGLE,
    "special": _special,
    "conversion": _conversion,
    "fetch": _fetch,
    "pairs": _pairs,
}
"""By name, as the table of opcodes has them."""

BY_UNIT: dict[Unit, Rule] = {Unit.DP: _pairs, Unit.TENSOR: _product, Unit.CTRL: lambda shape, row: SINGLE}
