"""``cvt`` between integers and floating-point formats of 16 to 64 bits (PTX ISA, "Data Movement and Conversion
Instructions: cvt").
"""

from __future__ import annotations

from tests.reference import floats
from tests.reference.instruction import Pure, kind_and_bits
from tests.reference.integers import clamp, value
from tests.reference.number import FORMATS, Exact, Format, mask, round_integer

FLOAT_ROUNDINGS = ("rn", "rz", "rm", "rp", "rna")
INTEGER_ROUNDINGS = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
TF32 = Format(19, 11, -136, 0x3FFFF)
"""The upper 19 bits of single precision."""


def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    """The conversion that full opcode ``cvt`` with these types and other modifiers makes."""
    to, source = types
    if to.endswith("x2"):
        one = to.removesuffix("x2")
        return Pure(
            to, (source, source), lambda a, b: convert(rest, one, source, a) << 16 | convert(rest, one, source, b)
        )
    if to == "tf32":
        return Pure(to, (source,), lambda a: _to_tf32(rest, a))
    return Pure(to, (source,), lambda a: convert(rest, to, source, a))


def _to_tf32(rest: tuple[str, ...], single: int) -> int:
    source = FORMATS["f32"]
    out = floats.resized(source, TF32, single, _rounding(rest))
    if "satfinite" in rest and TF32.is_infinite(out):
        out = TF32.signed_bits(TF32.sign(out), TF32.infinity - 1)
    out = floats.limited(TF32, out, rest)
    return source.nan if TF32.is_nan(out) else out << 13


def _rounding(rest: tuple[str, ...]) -> str:
    return next((m for m in rest if m in FLOAT_ROUNDINGS), "rn")


def convert(modifiers: tuple[str, ...], to: str, source: str, pattern: int) -> int:
    """The pattern of type ``to`` (such as ``s16``) for a pattern of type ``source``, before extension to the
    register.
    """
    kind, bits = kind_and_bits(to)
    source_kind, source_bits = kind_and_bits(source)
    if source_kind == "f":
        if "ftz" in modifiers and source == "f32":
            pattern = FORMATS[32].flush(pattern)
        if kind == "f":
            return _float_to_float(modifiers, to, source, pattern)
        return _float_to_integer(modifiers, kind, bits, source, pattern)
    number = value(source_kind, source_bits, pattern)
    if kind == "f":
        out = FORMATS[to].round(Exact(int(number < 0), abs(number), 0), _rounding(modifiers))
        return floats.saturate(FORMATS[to], out) if "sat" in modifiers else out
    return (clamp(kind, bits, number) if "sat" in modifiers else number) & mask(bits)


def _float_to_integer(modifiers: tuple[str, ...], kind: str, bits: int, source: str, pattern: int) -> int:
    f = FORMATS[source]
    if f.is_nan(pattern):
        return 0 if source != "f64" and bits != 64 else 1 << (bits - 1)
    if f.is_infinite(pattern):
        number = -(1 << 70) if f.sign(pattern) else 1 << 70
    else:
        exact = f.exact(pattern)
        mode = next(INTEGER_ROUNDINGS[m] for m in modifiers if m in INTEGER_ROUNDINGS)
        number = round_integer(exact, 0, mode) * (-1) ** exact.sign
    return clamp(kind, bits, number) & mask(bits)


def _float_to_float(modifiers: tuple[str, ...], to: str, source: str, pattern: int) -> int:
    f, target = FORMATS[source], FORMATS[to]
    integral = next((INTEGER_ROUNDINGS[m] for m in modifiers if m in INTEGER_ROUNDINGS), None)
    if integral and not f.is_nan(pattern) and not f.is_infinite(pattern):
        exact = f.exact(pattern)
        out = target.round(Exact(exact.sign, round_integer(exact, 0, integral), 0), "rn")
    else:
        out = floats.resized(f, target, pattern, _rounding(modifiers))
    if "satfinite" in modifiers and target.is_infinite(out):
        out = target.signed_bits(target.sign(out), target.infinity - 1)
    flushed = modifiers if to == "f32" else tuple(m for m in modifiers if m != "ftz")
    return floats.limited(target, out, flushed)
