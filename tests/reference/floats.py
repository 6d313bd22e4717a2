"""IEEE 754 arithmetic as PTX defines it, on bit patterns (PTX ISA, "Floating Point Instructions").

Every arithmetic NaN result is the canonical one of its format (0x7fffffff or 0x7ff8000000000000). ``negate``,
``absolute`` and ``copysign`` only change the sign bit.
"""

from __future__ import annotations

from tests.reference.number import Exact, Format, exact_product, exact_quotient, exact_root, exact_sum


def add(f: Format, a: int, b: int, mode: str) -> int:
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_infinite(a) and f.is_infinite(b):
        return a if a == b else f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        return a if f.is_infinite(a) else b
    return f.round(exact_sum(f.exact(a), f.exact(b), mode), mode)


def subtract(f: Format, a: int, b: int, mode: str) -> int:
    return f.nan if f.is_nan(b) else add(f, a, b ^ f.sign_bit, mode)


def multiply(f: Format, a: int, b: int, mode: str) -> int:
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        if f.is_zero(a) or f.is_zero(b):
            return f.nan
        return f.signed_bits(f.sign(a) ^ f.sign(b), f.infinity)
    return f.round(exact_product(f.exact(a), f.exact(b)), mode)


def fused(f: Format, a: int, b: int, c: int, mode: str) -> int:
    """a * b + c with one rounding."""
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        product = multiply(f, a, b, mode)
        return f.nan if f.is_nan(product) else add(f, product, c, mode)
    if f.is_infinite(c):
        return c
    return f.round(exact_sum(exact_product(f.exact(a), f.exact(b)), f.exact(c), mode), mode)


def divide(f: Format, a: int, b: int, mode: str) -> int:
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    sign = f.sign(a) ^ f.sign(b)
    if f.is_infinite(a):
        return f.nan if f.is_infinite(b) else f.signed_bits(sign, f.infinity)
    if f.is_infinite(b):
        return f.signed_bits(sign, 0)
    if f.is_zero(b):
        return f.nan if f.is_zero(a) else f.signed_bits(sign, f.infinity)
    if f.is_zero(a):
        return f.signed_bits(sign, 0)
    return f.round(exact_quotient(f.exact(a), f.exact(b)), mode)


def reciprocal(f: Format, a: int, mode: str) -> int:
    return divide(f, f.round(Exact(0, 1, 0), "rn"), a, mode)


def square_root(f: Format, a: int, mode: str) -> int:
    if f.is_nan(a) or (f.sign(a) and not f.is_zero(a)):
        return f.nan
    if f.is_infinite(a) or f.is_zero(a):
        return a
    return f.round(exact_root(f.exact(a)), mode)


def negate(f: Format, a: int) -> int:
    return a ^ f.sign_bit


def absolute(f: Format, a: int) -> int:
    return a & ~f.sign_bit


def copysign(f: Format, a: int, b: int) -> int:
    """The magnitude of ``b`` with the sign of ``a`` (PTX operand order)."""
    return f.signed_bits(f.sign(a), f.magnitude(b))


def order(f: Format, a: int) -> int:
    """An integer that orders patterns that are not NaN as their values, with -0 below +0."""
    return -f.magnitude(a) - 1 if f.sign(a) else f.magnitude(a)


def least(f: Format, a: int, b: int, propagate: bool = False) -> int:
    return _choose(f, a, b, order(f, a) <= order(f, b), propagate)


def greatest(f: Format, a: int, b: int, propagate: bool = False) -> int:
    return _choose(f, a, b, order(f, a) >= order(f, b), propagate)


def _choose(f: Format, a: int, b: int, first: bool, propagate: bool) -> int:
    if f.is_nan(a) or f.is_nan(b):
        if propagate or (f.is_nan(a) and f.is_nan(b)):
            return f.nan
        return b if f.is_nan(a) else a
    return a if first else b


def saturate(f: Format, a: int) -> int:
    """Clamp to [0, 1]; NaN and negative numbers, -0 included, become +0."""
    one = f.round(Exact(0, 1, 0), "rn")
    if f.is_nan(a) or f.sign(a):
        return 0
    return min(a, one)


def limited(f: Format, a: int, modifiers: tuple[str, ...]) -> int:
    """``.ftz``, ``.sat`` and ``.relu`` (a negative number, -0 included, becomes +0) applied to a result."""
    if "ftz" in modifiers:
        a = f.flush(a)
    if "sat" in modifiers:
        return saturate(f, a)
    return 0 if "relu" in modifiers and f.sign(a) and not f.is_nan(a) else a


def resized(source: Format, target: Format, a: int, mode: str) -> int:
    """The same number in another format; a NaN becomes the canonical one."""
    if source.is_nan(a):
        return target.nan
    if source.is_infinite(a):
        return target.signed_bits(source.sign(a), target.infinity)
    return target.round(source.exact(a), mode)


def compare(f: Format, relation: str, a: int, b: int) -> bool:
    """``eq ne lt le gt ge`` are false for NaN, ``equ neu ltu leu gtu geu`` true; ``num`` and ``nan`` test for it."""
    unordered = f.is_nan(a) or f.is_nan(b)
    if relation == "num":
        return not unordered
    if relation == "nan":
        return unordered
    if unordered:
        return relation.endswith("u")
    x = 0 if f.is_zero(a) else order(f, a)
    y = 0 if f.is_zero(b) else order(f, b)
    return compare_integers(relation.removesuffix("u"), x, y)


def compare_integers(relation: str, x: int, y: int) -> bool:
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[relation]
