"""Moves, conversions and address spaces (PTX ISA, section 9.7.9)."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.address_space import GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import ROUNDING, finished, flushed, is_nan
from warpreg.ir.opcodes.form import Form, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait
from warpreg.ir.types import TYPES, Type

V = TypeVar("V")

NAMES = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
INTEGERS = f"({'|'.join(NAMES)})"
TO_INTEGER = "(rni|rzi|rmi|rpi)"

WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


def move(m: Algebra[V], f: Form, *sources: V) -> tuple[V, ...]:
    """One value, several packed into one (the first lowest), or one unpacked into several."""
    if len(sources) == len(f.signature.results):
        return sources
    if len(f.signature.results) == 1:
        return (packed(m, f.bits, sources),)
    return unpacked(m, f, sources[0])


def packed(m: Algebra[V], bits: int, parts: tuple[V, ...]) -> V:
    whole = m.zext(parts[0], bits)
    for index, part in enumerate(parts[1:], 1):
        whole = m.or_(whole, m.shl(m.zext(part, bits), m.constant(bits, index * bits // len(parts))))
    return whole


def unpacked(m: Algebra[V], f: Form, whole: V) -> tuple[V, ...]:
    bits = f.bits // len(f.signature.results)
    places = range(0, f.bits, bits)
    return tuple(m.trunc(m.lshr(whole, m.constant(f.bits, at)), bits) for at in places)


def limits(type_: Type) -> tuple[int, int]:
    """Smallest and largest integer of a type."""
    return (-(1 << type_.bits - 1), (1 << type_.bits - 1) - 1) if type_.is_signed else (0, (1 << type_.bits) - 1)


def integer_to_integer(m: Algebra[V], f: Form, a: V) -> V:
    """Extend by the source's signedness, or truncate; ``.sat`` clamps to the result's range."""
    result, source = f.types
    bits = max(result.bits, source.bits)
    a = m.sext(a, bits) if source.is_signed else m.zext(a, bits)
    if f.sat:
        (low, high), (least, most) = limits(result), limits(source)
        less = m.slt if source.is_signed else m.ult
        if least < low:
            a = m.select(less(a, m.constant(bits, low)), m.constant(bits, low), a)
        if most > high:
            a = m.select(less(m.constant(bits, high), a), m.constant(bits, high), a)
    return m.trunc(a, result.bits)


def float_to_integer(m: Algebra[V], f: Form, a: V) -> V:
    """Round as specified and clamp to the result's range.

    NaN becomes 0, or only the highest bit if the source is f64 or the result has 64 bits.
    """
    result, source = f.types
    a = flushed(m, f, a)
    rounding = next(x for x in f.modifiers if x in ("rni", "rzi", "rmi", "rpi"))
    whole = a if rounding == "rzi" else m.fround(a, rounding[:2])
    converted = m.float_to_int(whole, result.is_signed, result.bits)
    if source.bits < 64 and result.bits < 64:
        return converted
    return m.select(is_nan(m, a), m.constant(result.bits, 1 << result.bits - 1), converted)


def integer_to_float(m: Algebra[V], f: Form, a: V) -> V:
    result, source = f.types
    converted = m.int_to_float(a, source.is_signed, result.bits, f.rounding)
    return finished(m, f, converted) if f.sat else converted


def float_to_float(m: Algebra[V], f: Form, a: V) -> V:
    result, source = f.types
    a = flushed(m, f, a)
    if result.bits != source.bits:
        return finished(m, f, m.float_resize(a, result.bits, f.rounding))
    rounding = next((x for x in f.modifiers if x in ("rni", "rzi", "rmi", "rpi")), None)
    return finished(m, f, m.fround(a, rounding[:2]) if rounding else a)


def to_generic(m: Algebra[V], f: Form, a: V) -> V:
    """The generic address of an address in a state space."""
    return m.add(a, m.constant(f.bits, _window(f)))


def from_generic(m: Algebra[V], f: Form, a: V) -> V:
    """The address in a state space for a generic address."""
    return m.sub(a, m.constant(f.bits, _window(f)))


def is_in_space(m: Algebra[V], f: Form, a: V) -> V:
    """Whether a generic address is in a state space; constants and parameters share the global addresses."""
    bits, space = m.width(a), f.modifiers[0].split("::")[0]
    if space in WINDOWS:
        return m.ult(m.sub(a, m.constant(bits, WINDOWS[space])), m.constant(bits, WINDOW_BYTES))
    return m.xor(m.ult(a, m.constant(bits, GLOBAL_BASE)), m.constant(1, 1))


def _window(f: Form) -> int:
    space = next(x for x in f.modifiers if x not in ("to", f.type.name)).split("::")[0]
    return WINDOWS.get(space, 0)


def _narrower(source: str) -> list[str]:
    """The integer types that cannot represent every value of another type."""
    least, most = limits(TYPES[source])
    return [name for name in NAMES if limits(TYPES[name])[0] > least or limits(TYPES[name])[1] < most]


SPACES = "(const|global|local|param|param::entry|shared|shared::cta|shared::cluster)"

OPCODES = (
    Opcode(
        "mov.(pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64)",
        "B <- B",
        move,
        constants=False,
        traits=Trait.UNIFORM,
    ),
    Opcode(f"cvt.{INTEGERS}.{INTEGERS}", "T0 <- T", integer_to_integer),
    *(Opcode(f"cvt.sat.({'|'.join(_narrower(name))}).{name}", "T0 <- T", integer_to_integer) for name in NAMES),
    Opcode(f"cvt.{TO_INTEGER}[.ftz][.sat].{INTEGERS}.f32", "T0 <- T", float_to_integer),
    Opcode(f"cvt.{TO_INTEGER}[.sat].{INTEGERS}.f64", "T0 <- T", float_to_integer, Unit.DP),
    Opcode(f"cvt.{ROUNDING}[.ftz][.sat].f32.{INTEGERS}", "T0 <- T", integer_to_float),
    Opcode(f"cvt.{ROUNDING}[.sat].f64.{INTEGERS}", "T0 <- T", integer_to_float, Unit.DP),
    Opcode(f"cvt.{ROUNDING}[.ftz][.sat].f32.f64", "T0 <- T", float_to_float, Unit.DP),
    Opcode("cvt[.ftz][.sat].f64.f32", "T0 <- T", float_to_float, Unit.DP),
    Opcode(f"cvt[.{TO_INTEGER}][.ftz][.sat].f32.f32", "T0 <- T", float_to_float),
    Opcode(f"cvt[.{TO_INTEGER}][.sat].f64.f64", "T0 <- T", float_to_float, Unit.DP),
    Opcode(f"cvta.{SPACES}.(u32|u64)", "T <- T", to_generic, constants=False),
    Opcode(f"cvta.to.{SPACES}.(u32|u64)", "T <- T", from_generic, constants=False),
    Opcode(
        "isspacep.(const|global|local|shared|shared::cta|shared::cluster)", "pred <- u64", is_in_space, constants=False
    ),
    Opcode("isspacep.(param|param::entry)", "pred <- u64", is_in_space, constants=False),
    Opcode("mapa[.shared::cluster].(u32|u64)", "T <- T u32", lambda m, f, a, block: a, constants=False),
    Opcode("getctarank[.shared::cluster].(u32|u64)", "u32 <- T", lambda m, f, a: m.constant(32, 0), constants=False),
)
