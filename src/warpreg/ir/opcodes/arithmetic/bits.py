"""Logic, shifts and bit fields (PTX ISA, sections 9.7.1 and 9.7.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Opcode
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")

BITS = "(pred|b16|b32|b64)"
INDEXED = "(u32|u64|s32|s64)"


def ones(m: Algebra[V], bits: int) -> V:
    return m.constant(bits, -1)


def low_mask(m: Algebra[V], bits: int, count: V) -> V:
    """``count`` low ones; all ones if the count is at least the width."""
    return m.xor(m.shl(ones(m, bits), count), ones(m, bits))


def resized(m: Algebra[V], a: V, bits: int) -> V:
    return m.zext(a, bits) if bits >= m.width(a) else m.trunc(a, bits)


def amount(m: Algebra[V], f: Form, n: V) -> V:
    """A 32-bit shift amount, extended or saturated to the width of the shifted value."""
    if f.bits >= 32:
        return resized(m, n, f.bits)
    limit = m.constant(32, f.bits)
    return m.trunc(m.select(m.ult(n, limit), n, limit), f.bits)


def field(m: Algebra[V], f: Form, n: V) -> V:
    """The low byte of a position or length, at the width of the value."""
    return resized(m, m.and_(n, m.constant(32, 0xFF)), f.bits)


def extract_unsigned(m: Algebra[V], f: Form, a: V, position: V, length: V) -> V:
    return m.and_(m.lshr(a, field(m, f, position)), low_mask(m, f.bits, field(m, f, length)))


def extract_signed(m: Algebra[V], f: Form, a: V, position: V, length: V) -> V:
    """The field extended by its highest bit, or by that of the value if the field extends beyond it."""
    width, count = m.constant(f.bits, f.bits), field(m, f, length)
    unused = m.select(m.ult(count, width), m.sub(width, count), m.constant(f.bits, 0))
    shifted = m.shl(m.ashr(a, field(m, f, position)), unused)
    return m.select(m.eq(count, m.constant(f.bits, 0)), count, m.ashr(shifted, unused))


def insert(m: Algebra[V], f: Form, a: V, b: V, position: V, length: V) -> V:
    at = field(m, f, position)
    mask = m.shl(low_mask(m, f.bits, field(m, f, length)), at)
    return m.or_(m.and_(m.shl(a, at), mask), m.and_(b, m.xor(mask, ones(m, f.bits))))


def bit_mask(m: Algebra[V], f: Form, start: V, length: V) -> V:
    if f.has("wrap"):
        start, length = (m.and_(x, m.constant(32, 31)) for x in (start, length))
    return m.shl(low_mask(m, 32, length), start)


def find_highest(m: Algebra[V], f: Form, a: V) -> V:
    """Position of the highest bit that is not a sign bit, or with ``shiftamt`` its distance from the top."""
    if f.signed:
        a = m.xor(a, m.ashr(a, m.constant(f.bits, f.bits - 1)))
    zeros = resized(m, m.ctlz(a), 32)
    if not f.has("shiftamt"):
        return m.sub(m.constant(32, f.bits - 1), zeros)
    return m.select(m.eq(a, m.constant(f.bits, 0)), ones(m, 32), zeros)


def permute_bytes(m: Algebra[V], f: Form, a: V, b: V, selector: V) -> V:
    """Each nibble of the selector selects one of the eight bytes of {b, a}; its top bit replicates that byte's sign."""
    both = m.or_(m.zext(a, 64), m.shl(m.zext(b, 64), m.constant(64, 32)))
    result = m.constant(32, 0)
    for byte in range(4):
        nibble = m.lshr(selector, m.constant(32, 4 * byte))
        at = m.shl(m.and_(nibble, m.constant(32, 7)), m.constant(32, 3))
        chosen = m.trunc(m.lshr(both, m.zext(at, 64)), 8)
        signs = m.ashr(chosen, m.constant(8, 7))
        plain = m.eq(m.and_(nibble, m.constant(32, 8)), m.constant(32, 0))
        placed = m.shl(m.zext(m.select(plain, chosen, signs), 32), m.constant(32, 8 * byte))
        result = m.or_(result, placed)
    return result


PERMUTATIONS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""The selectors of each mode of ``prmt``, by the low two bits of the operand."""


def permute_bytes_mode(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    choices = PERMUTATIONS[next(x for x in f.modifiers if x in PERMUTATIONS)]
    low = m.and_(c, m.constant(32, 3))
    selector = m.constant(32, choices[0])
    for index, choice in enumerate(choices[1:], 1):
        selector = m.select(m.eq(low, m.constant(32, index)), m.constant(32, choice), selector)
    return permute_bytes(m, f, a, b, selector)


def funnel_shift(m: Algebra[V], f: Form, a: V, b: V, count: V) -> V:
    """{b, a} shifted as 64 bits; a left shift returns the high word, a right shift the low word."""
    both = m.or_(m.zext(a, 64), m.shl(m.zext(b, 64), m.constant(64, 32)))
    limit = m.constant(32, 32)
    n = m.and_(count, m.constant(32, 31)) if f.has("wrap") else m.select(m.ult(count, limit), count, limit)
    if f.has("r"):
        return m.trunc(m.lshr(both, m.zext(n, 64)), 32)
    return m.trunc(m.lshr(m.shl(both, m.zext(n, 64)), m.constant(64, 32)), 32)


def any_logic(m: Algebra[V], f: Form, a: V, b: V, c: V, table: V) -> V:
    """Bit i of the table is the result for bits (a, b, c) that encode i: a tree of bitwise selections."""
    zero, one = m.constant(32, 0), m.constant(32, 1)
    leaves = [m.sub(zero, m.and_(m.lshr(table, m.constant(32, index)), one)) for index in range(8)]
    for value in (c, b, a):
        pairs = zip(leaves[::2], leaves[1::2], strict=True)
        leaves = [m.xor(low, m.and_(value, m.xor(low, high))) for low, high in pairs]
    return leaves[0]


def any_logic_and_test(m: Algebra[V], f: Form, a: V, b: V, c: V, table: V, q: V) -> tuple[V, V]:
    """The predicate states whether a bit is set, combined with q."""
    result = any_logic(m, f, a, b, c, table)
    some = m.xor(m.eq(result, m.constant(32, 0)), m.constant(1, 1))
    return result, m.or_(some, q) if f.has("or") else m.and_(some, q)


def extend_field(m: Algebra[V], f: Form, a: V, length: V) -> V:
    """The low bits of a, extended by sign or zeros; a length of 32 or more keeps a, or with ``.wrap`` is taken modulo
    32.
    """
    width, zero = m.constant(32, 32), m.constant(32, 0)
    if f.has("wrap"):
        length = m.and_(length, m.constant(32, 31))
    unused = m.select(m.ult(length, width), m.sub(width, length), zero)
    shifted = m.shl(a, unused)
    return m.select(m.eq(length, zero), zero, (m.ashr if f.signed else m.lshr)(shifted, unused))


def find_nth_set(m: Algebra[V], f: Form, mask: V, base: V, offset: V) -> V:
    """Position of the |offset|-th set bit from ``base`` on, upwards or downwards; all ones if there is none.

    Offset 0 tests the base bit itself.  A downward search is an upward search in the reversed mask.
    """
    zero, one, last = m.constant(32, 0), m.constant(32, 1), m.constant(32, 31)
    downwards, itself = m.slt(offset, zero), m.eq(offset, zero)
    from_base = m.and_(mask, m.shl(ones(m, 32), base))
    until_base = m.select(m.ult(last, base), zero, m.and_(mask, low_mask(m, 32, m.add(base, one))))
    rest = m.select(downwards, m.bitreverse(until_base), m.select(itself, m.and_(mask, m.shl(one, base)), from_base))
    skipped = m.select(itself, zero, m.sub(m.select(downwards, m.sub(zero, offset), offset), one))
    result, seen = ones(m, 32), zero
    for position in range(32):
        bit = m.and_(m.lshr(rest, m.constant(32, position)), one)
        hit = m.and_(m.eq(bit, one), m.eq(seen, skipped))
        result, seen = m.select(hit, m.constant(32, position), result), m.add(seen, bit)
    reverses = m.and_(downwards, m.ult(result, m.constant(32, 32)))
    return m.select(reverses, m.sub(last, result), result)


def _shift(name: str) -> Callable[..., object]:
    return lambda m, f, a, n: getattr(m, name)(a, amount(m, f, n))


UNIFORM = Trait.UNIFORM
LOGIC = UNIFORM | Trait.COMMUTES

OPCODES = (
    Opcode(f"and.{BITS}", "T <- T T", lambda m, f, a, b: m.and_(a, b), traits=LOGIC),
    Opcode(f"or.{BITS}", "T <- T T", lambda m, f, a, b: m.or_(a, b), traits=LOGIC),
    Opcode(f"xor.{BITS}", "T <- T T", lambda m, f, a, b: m.xor(a, b), traits=LOGIC),
    Opcode(f"not.{BITS}", "T <- T", lambda m, f, a: m.xor(a, ones(m, f.bits)), traits=UNIFORM),
    Opcode("cnot.(b16|b32|b64)", "T <- T", lambda m, f, a: m.zext(m.eq(a, m.constant(f.bits, 0)), f.bits)),
    Opcode("shl.(b16|b32|b64)", "T <- T u32", _shift("shl"), traits=UNIFORM),
    Opcode("shr.(b16|b32|b64|u16|u32|u64)", "T <- T u32", _shift("lshr"), traits=UNIFORM),
    Opcode("shr.(s16|s32|s64)", "T <- T u32", _shift("ashr"), traits=UNIFORM),
    Opcode("shf.(l|r).(clamp|wrap).b32", "T <- T T u32", funnel_shift),
    Opcode("popc.(b32|b64)", "u32 <- T", lambda m, f, a: resized(m, m.ctpop(a), 32)),
    Opcode("clz.(b32|b64)", "u32 <- T", lambda m, f, a: resized(m, m.ctlz(a), 32)),
    Opcode("brev.(b32|b64)", "T <- T", lambda m, f, a: m.bitreverse(a)),
    Opcode(f"bfind[.shiftamt].{INDEXED}", "u32 <- T", find_highest),
    Opcode("bfe.(u32|u64)", "T <- T u32 u32", extract_unsigned, constants=False),
    Opcode("bfe.(s32|s64)", "T <- T u32 u32", extract_signed, constants=False),
    Opcode("bfi.(b32|b64)", "T <- T T u32 u32", insert, constants=False),
    Opcode("bmsk.(clamp|wrap).b32", "T <- T T", bit_mask, constants=False),
    Opcode("prmt.b32", "T <- T T T", permute_bytes, constants=False),
    Opcode("prmt.b32.(f4e|b4e|rc8|ecl|ecr|rc16)", "T <- T T T", permute_bytes_mode, constants=False),
    Opcode("lop3.b32", "T <- T T T T", any_logic, constants=False, traits=UNIFORM),
    Opcode("lop3.(or|and).b32", "T pred <- T T T T pred", any_logic_and_test, constants=False),
    Opcode("szext.(clamp|wrap).(u32|s32)", "T <- T u32", extend_field, constants=False),
    Opcode("fns.b32", "T <- T u32 s32", find_nth_set, outlined=True, constants=False),
)
