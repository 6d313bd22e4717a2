"""Floating-point instructions by opcode: rounding, flushing and saturation around the arithmetic of `floats`."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import approximate, floats
from tests.reference.instruction import ROUNDINGS, Builder, Pure
from tests.reference.number import FORMATS, Format


def _wrap(name: str, rest: tuple[str, ...], arity: int, function: Callable[..., int]) -> Pure:
    """Flush operands and result under ``.ftz``, which f64 disregards, then clamp under ``.sat`` or ``.relu``."""
    f = FORMATS[name]
    rest = tuple(m for m in rest if m != "ftz") if name == "f64" else rest

    def run(*operands: int) -> int:
        if "ftz" in rest:
            operands = tuple(map(f.flush, operands))
        return floats.limited(f, function(f, *operands), rest)

    return Pure(name, (name,) * arity, run)


def _mode(rest: tuple[str, ...]) -> str:
    return next((m for m in rest if m in ROUNDINGS), "rn")


def _rounded(arity: int, function: Callable[..., int]) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        return _wrap(types[-1], rest, arity, lambda f, *operands: function(f, *operands, _mode(rest)))

    return build


def _plain(arity: int, function: Callable[..., int]) -> Builder:
    return lambda types, rest, count: _wrap(types[-1], rest, arity, function)


def _extreme(function: Callable[..., int]) -> Builder:
    """Of two operands, or of three: the first two, then that and the third."""

    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        def choose(f: Format, *operands: int) -> int:
            sign = f.sign(operands[0]) ^ f.sign(operands[1])
            if "abs" in rest:
                operands = tuple(floats.absolute(f, a) for a in operands)
            out = operands[0]
            for other in operands[1:]:
                out = function(f, out, other, "NaN" in rest)
            return out if "xorsign" not in rest or f.is_nan(out) else f.signed_bits(sign, out)

        return _wrap(types[-1], rest, count or 2, choose)

    return build


def _maybe_approximate(opcode: str, arity: int, exact: Callable[..., int] | None) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        if exact and not {"approx", "full"} & set(rest):
            return _rounded(arity, exact)(types, rest, count)
        name = types[-1]
        return Pure(name, (name,) * arity, lambda *p: approximate.evaluate(opcode, name, p, "ftz" in rest))

    return build


def mixed(opcode: str, narrow: str, rest: tuple[str, ...]) -> Pure:
    """``add``, ``sub`` and ``fma`` in single precision whose operands but the last are f16 or bf16."""
    single, f = FLOAT[opcode](("f32",), rest, 0), FORMATS[narrow]

    def run(*operands: int) -> int:
        *first, last = operands
        return int(single.function(*(floats.resized(f, FORMATS[32], a, "rn") for a in first), last))

    return Pure("f32", (*(narrow,) * (len(single.sources) - 1), "f32"), run)


FLOAT: dict[str, Builder] = {
    "add": _rounded(2, floats.add),
    "sub": _rounded(2, floats.subtract),
    "mul": _rounded(2, floats.multiply),
    "fma": _rounded(3, floats.fused),
    "mad": _rounded(3, floats.fused),
    "min": _extreme(floats.least),
    "max": _extreme(floats.greatest),
    "neg": _plain(1, floats.negate),
    "abs": _plain(1, floats.absolute),
    "copysign": _plain(2, floats.copysign),
    "div": _maybe_approximate("div", 2, floats.divide),
    "rcp": _maybe_approximate("rcp", 1, floats.reciprocal),
    "sqrt": _maybe_approximate("sqrt", 1, floats.square_root),
    "rsqrt": _maybe_approximate("rsqrt", 1, None),
    "ex2": _maybe_approximate("ex2", 1, None),
    "lg2": _maybe_approximate("lg2", 1, None),
    "sin": _maybe_approximate("sin", 1, None),
    "cos": _maybe_approximate("cos", 1, None),
    "tanh": _maybe_approximate("tanh", 1, None),
}
