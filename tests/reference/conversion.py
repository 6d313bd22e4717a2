"""``cvt`` between integers, f32 and f64 (PTX ISA, "Data Movement and Conversion Instructions: cvt")."""

from __future__ import annotations

from tests.reference import floats
from tests.reference.integers import clamp, value
from tests.reference.number import FORMATS, Exact, mask, round_integer

FLOAT_ROUNDINGS = ("rn", "rz", "rm", "rp")
INTEGER_ROUNDINGS = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def convert(modifiers: tuple[str, ...], to: str, source: str, pattern: int) -> int:
    """The pattern of type ``to`` (such as ``s16``) for a pattern of type ``source``, before extension to the
    register.
    """
    kind, bits = to[0], int(to[1:])
    source_kind, source_bits = source[0], int(source[1:])
    if source_kind == "f":
        if "ftz" in modifiers and source_bits == 32:
            pattern = FORMATS[32].flush(pattern)
        if kind == "f":
            return _float_to_float(modifiers, bits, source_bits, pattern)
        return _float_to_integer(modifiers, kind, bits, source_bits, pattern)
    number = value(source_kind, source_bits, pattern)
    if kind == "f":
        mode = next((m for m in modifiers if m in FLOAT_ROUNDINGS), "rn")
        out = FORMATS[bits].round(Exact(int(number < 0), abs(number), 0), mode)
        return floats.saturate(FORMATS[bits], out) if "sat" in modifiers else out
    return (clamp(kind, bits, number) if "sat" in modifiers else number) & mask(bits)


def _float_to_integer(modifiers: tuple[str, ...], kind: str, bits: int, source_bits: int, pattern: int) -> int:
    f = FORMATS[source_bits]
    if f.is_nan(pattern):
        return 0 if source_bits != 64 and bits != 64 else 1 << (bits - 1)
    if f.is_infinite(pattern):
        number = -(1 << 70) if f.sign(pattern) else 1 << 70
    else:
        exact = f.exact(pattern)
        mode = next(INTEGER_ROUNDINGS[m] for m in modifiers if m in INTEGER_ROUNDINGS)
        number = round_integer(exact, 0, mode) * (-1) ** exact.sign
    return clamp(kind, bits, number) & mask(bits)


def _float_to_float(modifiers: tuple[str, ...], bits: int, source_bits: int, pattern: int) -> int:
    source, target = FORMATS[source_bits], FORMATS[bits]
    if source.is_nan(pattern):
        out = target.nan
    elif source.is_infinite(pattern):
        out = target.signed_bits(source.sign(pattern), target.infinity)
    else:
        exact = source.exact(pattern)
        integral = next((INTEGER_ROUNDINGS[m] for m in modifiers if m in INTEGER_ROUNDINGS), None)
        if integral:
            exact = Exact(exact.sign, round_integer(exact, 0, integral), 0)
        out = target.round(exact, next((m for m in modifiers if m in FLOAT_ROUNDINGS), "rn"))
    if "ftz" in modifiers and bits == 32:
        out = target.flush(out)
    return floats.saturate(target, out) if "sat" in modifiers else out
