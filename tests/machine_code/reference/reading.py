"""How an instruction reads its sources and writes its results: functions of a lane."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference.operands import TRUE, UNIFORM_ZERO, ZERO, Operand, double_bits, single_bits
from tests.machine_code.reference.state import Lane

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
Read = Callable[[Lane], int]
Write = Callable[[Lane, int], None]
Test = Callable[[Lane], bool]
SIGN32, SIGN64 = 1 << 31, 1 << 63


def signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def bits32(one: Operand) -> Read:
    """A word without its sign."""
    n = one.number
    if one.kind == "register":
        return (lambda lane: lane.u[n]) if one.uniform else (lambda lane: lane.r[n])
    if one.kind == "integer":
        return lambda lane: n & M32
    if one.kind == "number":
        bits = single_bits(one)
        return lambda lane: bits
    if one.kind == "constant":
        return constant(one, 4)
    raise ValueError(f"no word: {one.text}")


def bits64(one: Operand) -> Read:
    """A pair of words without its sign; an immediate is sign-extended."""
    n = one.number
    if one.is_zero_register():
        return lambda lane: 0
    if one.kind == "register" and one.uniform:
        return lambda lane: lane.u[n] | lane.u[n + 1] << 32
    if one.kind == "register":
        return lambda lane: lane.r[n] | lane.r[n + 1] << 32
    if one.kind == "integer":
        return lambda lane: signed(n & M32) & M64
    if one.kind == "number":
        bits = double_bits(one)
        return lambda lane: bits
    if one.kind == "constant":
        return constant(one, 8)
    raise ValueError(f"no pair: {one.text}")


def constant(one: Operand, size: int) -> Read:
    """``size`` bytes of a constant bank."""
    bank, offset = one.bank, one.offset
    if not one.terms:
        return lambda lane: int.from_bytes(lane.warp.block.launch.constants[bank][offset : offset + size], "little")
    (register,) = one.terms
    base = bits32(register)

    def read(lane: Lane) -> int:
        at = base(lane) + offset & M32
        found = lane.warp.block.launch.constants[bank][at : at + size]
        if len(found) < size:
            raise IndexError(f"{one.text}: {at:#x} is outside the constant bank")
        return int.from_bytes(found, "little")

    return read


def integer(one: Operand) -> Read:
    """A word; ``-`` negates it, ``~`` inverts it, ``|x|`` is its magnitude."""
    read = bits32(one)
    if one.negated:
        return lambda lane: -read(lane) & M32
    if one.inverted:
        return lambda lane: ~read(lane) & M32
    return read


def long(one: Operand) -> Read:
    """A pair; ``-`` negates it, ``~`` inverts it."""
    read = bits64(one)
    if one.negated:
        return lambda lane: -read(lane) & M64
    if one.inverted:
        return lambda lane: ~read(lane) & M64
    return read


def addend(one: Operand, bits: int = 32) -> Read:
    """A word or pair in a sum that has a carry: a negative one is its complement and one, with that carry."""
    read = bits32(one) if bits == 32 else bits64(one)
    if one.negated:
        return lambda lane: (1 << bits) - read(lane)
    if one.inverted:
        return lambda lane: ~read(lane) & ((1 << bits) - 1)
    return read


def single(one: Operand) -> Read:
    """The pattern of a number in single precision."""
    return _signs(one, bits32(one), SIGN32)


def double(one: Operand) -> Read:
    """The pattern of a number in double precision."""
    return _signs(one, bits64(one), SIGN64)


def _signs(one: Operand, read: Read, sign: int) -> Read:
    if one.absolute and one.negated:
        return lambda lane: read(lane) | sign
    if one.absolute:
        return lambda lane: read(lane) & ~sign
    if one.negated:
        return lambda lane: read(lane) ^ sign
    return read


def predicate(one: Operand) -> Test:
    """A predicate, or the sign of a word (``R2.SIGN``)."""
    n, wanted = one.number, not one.inverted
    if one.kind != "predicate":
        word = bits32(one)
        return lambda lane: bool(word(lane) >> 31) == wanted
    if n == TRUE:
        return lambda lane: wanted
    if one.uniform:
        return lambda lane: lane.up[n] == wanted
    return lambda lane: lane.p[n] == wanted


def set_word(one: Operand) -> Write:
    n = one.number
    if one.is_zero_register():
        return lambda lane, value: None
    if one.uniform:
        return lambda lane, value: lane.u.__setitem__(n, value & M32)
    return lambda lane, value: lane.r.__setitem__(n, value & M32)


def set_words(one: Operand, count: int) -> Write:
    """Consecutive registers, the lowest word first."""
    if one.is_zero_register():
        return lambda lane, value: None
    first, last = one.number, UNIFORM_ZERO if one.uniform else ZERO

    def write(lane: Lane, value: int) -> None:
        file = lane.u if one.uniform else lane.r
        for i in range(count):
            if first + i < last:
                file[first + i] = value >> 32 * i & M32

    return write


def words(one: Operand, count: int) -> Read:
    """Consecutive registers, the lowest word first; RZ is zero in all."""
    first = one.number
    if one.is_zero_register():
        return lambda lane: 0
    return lambda lane: sum((lane.u if one.uniform else lane.r)[first + i] << 32 * i for i in range(count))


def set_predicate(one: Operand) -> Callable[[Lane, bool], None]:
    n = one.number
    if n == TRUE:
        return lambda lane, value: None
    if one.uniform:
        return lambda lane, value: lane.up.__setitem__(n, bool(value))
    return lambda lane, value: lane.p.__setitem__(n, bool(value))
