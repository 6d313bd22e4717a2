"""Logic, shifts, selections, bit fields and predicates of machine code."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic import bits
from warpreg.ir.opcodes.form import Form
from warpreg.ir.opcodes.sass.rows import as_ptx, row

V = TypeVar("V")

PREDICATES = 7


def logic(m: Algebra[V], f: Form, a: V, b: V, c: V, table: V, p: V) -> tuple[V, V]:
    """Whether a bit of the result is set, or p (with ``.PAND``: and p); and the result."""
    result = bits.any_logic(m, f, a, b, c, table)
    some = m.xor(m.eq(result, m.constant(32, 0)), m.constant(1, 1))
    return (m.and_(some, p) if f.has("PAND") else m.or_(some, p)), result


def predicate_logic(m: Algebra[V], f: Form, a: V, b: V, c: V, first: V, second: V) -> tuple[V, V]:
    """Two tables, each with a bit for each combination of three predicates."""
    x, y, z = (m.sext(one, 32) for one in (a, b, c))
    one, other = (m.trunc(bits.any_logic(m, f, x, y, z, table), 1) for table in (first, second))
    return one, other


def shift(m: Algebra[V], f: Form, low: V, count: V, high: V) -> V:
    """{high, low} shifted; ``.HI``: the upper word.  Counts stop at the width of the type, or wrap around (``.W``)."""
    width = 64 if f.has("U64") or f.has("S64") else 32
    wide = m.or_(m.zext(low, 64), m.shl(m.zext(high, 64), m.constant(64, 32)))
    limit = m.constant(32, width)
    n = m.and_(count, m.constant(32, width - 1)) if f.has("W") else m.select(m.ult(count, limit), count, limit)
    if f.has("L"):
        shifted = m.shl(wide, m.zext(n, 64))
    else:
        shifted = (m.ashr if f.has("S32") or f.has("S64") else m.lshr)(wide, m.zext(n, 64))
    return m.trunc(m.lshr(shifted, m.constant(64, 32)) if f.has("HI") else shifted, 32)


def permute(m: Algebra[V], f: Form, a: V, selector: V, b: V) -> V:
    """As ``prmt``, with the selector between the operands."""
    if f.modifiers:
        return bits.permute_bytes_mode(m, as_ptx(f, "prmt"), a, b, selector)
    return bits.permute_bytes(m, f, a, b, selector)


def highest_bit(m: Algebra[V], f: Form, a: V) -> tuple[V, V]:
    """The position of the highest bit that is not a sign, all ones without one (and the predicate says if there is)."""
    more = ("shiftamt",) if f.has("SH") else ()
    found = bits.find_highest(m, as_ptx(f, "bfind", "u32" if f.has("U32") else "s32", more=more), a)
    return found, m.xor(m.eq(found, m.constant(32, -1)), m.constant(1, 1))


def bit_mask(m: Algebra[V], f: Form, start: V, length: V) -> V:
    return bits.bit_mask(m, as_ptx(f, "bmsk", "b32", more=("wrap",) if f.has("W") else ()), start, length)


def extended(m: Algebra[V], f: Form, a: V, length: V) -> V:
    type_ = "u32" if f.has("U32") else "s32"
    return bits.extend_field(m, as_ptx(f, "szext", type_, more=("wrap",) if f.has("W") else ()), a, length)


def predicates_to_register(m: Algebra[V], f: Form, *sources: V) -> V:
    """The predicates of the mask as bits of a byte, by default the lowest, and the bits of c outside of it."""
    *predicates, c, mask = sources
    first = m.constant(32, next((8 * n for n in range(4) if f.has(f"B{n}")), 0))
    packed, mask = m.constant(32, 0), m.shl(mask, first)
    for number, predicate in enumerate(predicates):
        packed = m.or_(packed, m.shl(m.zext(predicate, 32), m.constant(32, number)))
    packed = m.shl(packed, first)
    return m.or_(m.and_(packed, mask), m.and_(c, m.xor(mask, m.constant(32, -1))))


def register_to_predicates(m: Algebra[V], f: Form, a: V, *mask: V) -> tuple[V, ...]:
    return tuple(m.trunc(m.lshr(a, m.constant(32, number)), 1) for number in range(PREDICATES))


def same(m: Algebra[V], f: Form, a: V) -> V:
    return a


def either(m: Algebra[V], f: Form, a: V, b: V, p: V) -> V:
    return m.select(p, a, b)


SHF = ".(L|R)[.W].(U32|S32|U64|S64)[.HI]"
FLO = "[.U32][.SH]"
BYTE = "[.(B0|B1|B2|B3)]"
PRMT = "[.(F4E|B4E|RC8|ECL|ECR|RC16)]"

OPCODES = (
    row("LOP3.LUT[.PAND]", logic),
    row("ULOP3.LUT[.PAND]", logic),
    row("PLOP3.LUT", predicate_logic),
    row("UPLOP3.LUT", predicate_logic),
    row(f"SHF{SHF}", shift),
    row(f"USHF{SHF}", shift),
    row(f"PRMT{PRMT}", permute),
    row(f"UPRMT{PRMT}", permute),
    row("SEL", either),
    row("USEL", either),
    row("FSEL", either),
    row(f"FLO{FLO}", highest_bit),
    row(f"UFLO{FLO}", highest_bit),
    row("BREV", lambda m, f, a: m.bitreverse(a)),
    row("UBREV", lambda m, f, a: m.bitreverse(a)),
    row("POPC", lambda m, f, a: m.ctpop(a)),
    row("UPOPC", lambda m, f, a: m.ctpop(a)),
    row("BMSK[.W]", bit_mask),
    row("UBMSK[.W]", bit_mask),
    row("SGXT[.W][.U32]", extended),
    row("USGXT[.W][.U32]", extended),
    row(f"P2R{BYTE}", predicates_to_register),
    row(f"UP2UR{BYTE}", predicates_to_register),
    row("R2P", register_to_predicates),
    row("UR2UP", register_to_predicates),
    row("MOV", same),
    row("LEPC", same),
    row("UMOV", same),
    row("S2R", same),
    row("S2UR", same),
    row("CS2R[.32]", same),
)
