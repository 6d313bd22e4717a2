"""Floating-point instructions by opcode: rounding, flushing and saturation around the arithmetic of `floats`."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import approximate, floats
from tests.reference.instruction import ROUNDINGS, Pure
from tests.reference.number import FORMATS, Format


def _wrap(name: str, rest: tuple[str, ...], arity: int, function: Callable[..., int]) -> Pure:
    """Flush the operands and the result under ``.ftz``, then clamp under ``.sat``."""
    f = FORMATS[int(name[1:])]

    def run(*operands: int) -> int:
        if "ftz" in rest:
            operands = tuple(map(f.flush, operands))
        out = function(f, *operands)
        if "ftz" in rest:
            out = f.flush(out)
        return floats.saturate(f, out) if "sat" in rest else out

    return Pure(name, (name,) * arity, run)


def _rounded(arity: int, function: Callable[..., int]) -> Callable[[str, tuple[str, ...]], Pure]:
    def build(name: str, rest: tuple[str, ...]) -> Pure:
        mode = next((m for m in rest if m in ROUNDINGS), "rn")
        return _wrap(name, rest, arity, lambda f, *operands: function(f, *operands, mode))

    return build


def _plain(arity: int, function: Callable[..., int]) -> Callable[[str, tuple[str, ...]], Pure]:
    return lambda name, rest: _wrap(name, rest, arity, function)


def _extreme(function: Callable[..., int]) -> Callable[[str, tuple[str, ...]], Pure]:
    def build(name: str, rest: tuple[str, ...]) -> Pure:
        def choose(f: Format, a: int, b: int) -> int:
            if "xorsign" not in rest:
                return function(f, a, b, "NaN" in rest)
            sign = f.sign(a) ^ f.sign(b)
            out = function(f, floats.absolute(f, a), floats.absolute(f, b), "NaN" in rest)
            return f.nan if f.is_nan(out) else f.signed_bits(sign, out)

        return _wrap(name, rest, 2, choose)

    return build


def _maybe_approximate(opcode: str, arity: int, exact: Callable[..., int] | None):
    def build(name: str, rest: tuple[str, ...]) -> Pure:
        if exact and not {"approx", "full"} & set(rest):
            return _rounded(arity, exact)(name, rest)
        bits = int(name[1:])
        return Pure(name, (name,) * arity, lambda *p: approximate.evaluate(opcode, bits, p, "ftz" in rest))

    return build


FLOAT: dict[str, Callable[[str, tuple[str, ...]], Pure]] = {
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
