"""Comparison and selection: ``set``, ``setp``, ``selp``, ``slct``, ``testp`` (PTX ISA, "Comparison and Selection
Instructions" and "Half Precision Comparison Instructions").
"""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import floats, integers
from tests.reference.instruction import COMBINE, RELATIONS, UNSIGNED_RELATIONS, Builder, Pure, kind_and_bits
from tests.reference.number import FORMATS, mask

_ONE = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}
"""What a floating-point result of ``set`` holds for true."""


def comparison(rest: tuple[str, ...], name: str) -> Callable[[int, int], bool]:
    """The relation of ``set`` and ``setp`` on patterns of type ``name``."""
    relation = next(m for m in rest if m in RELATIONS)
    kind, bits = kind_and_bits(name)
    if kind == "f":
        f = FORMATS[name]
        prepare = f.flush if "ftz" in rest else lambda a: a
        return lambda a, b: floats.compare(f, relation, prepare(a), prepare(b))
    plain = UNSIGNED_RELATIONS.get(relation, relation)
    number = integers.value
    return lambda a, b: floats.compare_integers(plain, number(kind, bits, a), number(kind, bits, b))


def _relation(source: str, rest: tuple[str, ...]) -> tuple[Callable[..., list[bool]], tuple[str, ...]]:
    """The truth of each element of the operands, lowest first, combined with a predicate if there is one; and the
    operands' types.
    """
    element = source.removesuffix("x2")
    compare = comparison(rest, element)
    combine = next((COMBINE[m] for m in rest if m in COMBINE), None)
    shifts = (0, kind_and_bits(source)[1] // 2) if source.endswith("x2") else (0,)
    bits = kind_and_bits(element)[1]

    def run(a: int, b: int, c: int = 0) -> list[bool]:
        found = [compare(a >> at & mask(bits), b >> at & mask(bits)) for at in shifts]
        return [combine(p, bool(c)) for p in found] if combine else found

    return run, (source, source, "pred") if combine else (source, source)


def _set(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    to, source = types
    related, sources = _relation(source, rest)
    width = kind_and_bits(to)[1] // (2 if source.endswith("x2") else 1)
    true = _ONE.get(to, mask(width))
    return Pure(to, sources, lambda *p: sum(true << (i * width) for i, x in enumerate(related(*p)) if x))


def _setp(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    """The second predicate is that of the upper half of a pair, or the inverse relation, combined as well."""
    related, sources = _relation(types[0], rest)
    combine = next((COMBINE[m] for m in rest if m in COMBINE), None)
    compare = comparison(rest, types[0].removesuffix("x2"))

    def run(*operands: int) -> tuple[int, int]:
        found = related(*operands)
        if len(found) == 2:
            return int(found[0]), int(found[1])
        inverse = not compare(*operands[:2])
        return int(found[0]), int(combine(inverse, bool(operands[2])) if combine else inverse)

    return Pure("pred", sources, run, second="pred")


def _select(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    return Pure(types[0], (types[0], types[0], "pred"), lambda a, b, p: a if p else b)


def _select_sign(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    f = FORMATS[32]

    def run(a: int, b: int, c: int) -> int:
        if types[1] == "s32":
            return a if integers.value("s", 32, c) >= 0 else b
        return a if floats.compare(f, "ge", f.flush(c) if "ftz" in rest else c, 0) else b

    return Pure(types[0], (types[0], types[0], types[1]), run)


def _property(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    """Zeros count as normal numbers."""
    f = FORMATS[types[0]]
    tests: dict[str, Callable[[int], bool]] = {
        "finite": lambda a: f.magnitude(a) < f.infinity,
        "infinite": f.is_infinite,
        "number": lambda a: not f.is_nan(a),
        "notanumber": f.is_nan,
        "normal": lambda a: f.magnitude(a) < f.infinity and not f.is_denormal(a),
        "subnormal": f.is_denormal,
    }
    return Pure("pred", types, lambda a: int(tests[rest[0]](a)))


BUILDERS: dict[str, Builder] = {
    "set": _set, "setp": _setp, "selp": _select, "slct": _select_sign, "testp": _property,
}  # fmt: skip
