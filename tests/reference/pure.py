"""Instructions whose result depends on their operands alone: ``lookup`` gives the types and the function of one."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import floats, integers
from tests.reference.conversion import convert
from tests.reference.instruction import COMBINE, RELATIONS, UNSIGNED_RELATIONS, Pure, is_type, kind_and_bits
from tests.reference.memory import FIRST_GLOBAL, LOCAL_WINDOW, SHARED_WINDOW
from tests.reference.number import FORMATS, Format, mask
from tests.reference.pure_floats import FLOAT


def lookup(opcode: str, modifiers: tuple[str, ...]) -> Pure | None:
    """The instruction, or None if it is not a pure one."""
    types = tuple(m for m in modifiers if is_type(m))
    rest = tuple(m for m in modifiers if not is_type(m))
    if opcode in _CARRY and ("cc" in rest or opcode.endswith("c")):
        return _carry(opcode, types[0], rest)
    if opcode not in _BUILDERS:
        return None
    if types and types[-1][0] == "f" and opcode in FLOAT:
        return FLOAT[opcode](types[-1], rest)
    return _BUILDERS[opcode](types, rest)


def _carry(opcode: str, name: str, rest: tuple[str, ...]) -> Pure:
    _, bits = kind_and_bits(name)
    kind = name[0]

    def run(*operands: int) -> tuple[int, int]:
        *values, carry = operands
        carry = carry if opcode.endswith("c") else 0
        if opcode.startswith("sub"):
            total = values[0] - values[1] - carry
        elif opcode.startswith("add"):
            total = values[0] + values[1] + carry
        else:
            product = integers.value(kind, bits, values[0]) * integers.value(kind, bits, values[1])
            total = ((product >> bits if "hi" in rest else product) & mask(bits)) + values[2] + carry
        return total & mask(bits), int(total < 0 or total > mask(bits))

    return Pure(name, (name,) * (3 if opcode.startswith("mad") else 2), run, True, "cc" in rest)


_CARRY = ("add", "sub", "mad", "addc", "subc", "madc")

# Integers, bits and predicates.

Builder = Callable[[tuple[str, ...], tuple[str, ...]], Pure]


def _integer(arity: int, function: Callable[..., int]) -> Builder:
    """``function(kind, bits, *patterns)``, masked to the type."""

    def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
        kind, bits = kind_and_bits(types[0])
        return Pure(types[0], (types[0],) * arity, lambda *p: function(kind, bits, *p) & mask(bits))

    return build


def _sum(sign: int) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
        kind, bits = kind_and_bits(types[0])

        def run(a: int, b: int) -> int:
            total = integers.value(kind, bits, a) + sign * integers.value(kind, bits, b)
            return (integers.clamp(kind, bits, total) if "sat" in rest else total) & mask(bits)

        return Pure(types[0], (types[0],) * 2, run)

    return build


def _product(arity: int) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
        kind, bits = kind_and_bits(types[0])
        wide = 2 * bits if "wide" in rest else bits

        def run(a: int, b: int, c: int = 0) -> int:
            product = integers.value(kind, bits, a) * integers.value(kind, bits, b)
            if "hi" in rest:
                product = (product >> bits) & mask(bits)
            total = integers.value(kind, wide, product) + integers.value(kind, wide, c)
            return (integers.clamp(kind, wide, total) if "sat" in rest else total) & mask(wide)

        sources = (types[0], types[0], f"{kind}{wide}")[:arity]
        return Pure(f"{kind}{wide}", sources, run)

    return build


def _logic(arity: int, function: Callable[..., int]) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
        bits = kind_and_bits(types[0])[1]
        return Pure(types[0], (types[0],) * arity, lambda *p: function(*p) & mask(bits))

    return build


def _to_u32(function: Callable[[str, int, int], int]) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
        kind, bits = kind_and_bits(types[0])
        return Pure("u32", types[:1], lambda a: function(kind, bits, a))

    return build


def _shift(function: Callable[[str, int, int, int], int]) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
        kind, bits = kind_and_bits(types[0])
        return Pure(types[0], (types[0], "u32"), lambda a, n: function(kind, bits, a, n) & mask(bits))

    return build


def _field(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    kind, bits = kind_and_bits(types[0])
    return Pure(types[0], (types[0], "u32", "u32"), lambda a, p, n: integers.extract(kind, bits, a, p, n))


def _insert(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    bits = kind_and_bits(types[0])[1]
    sources = (types[0], types[0], "u32", "u32")
    return Pure(types[0], sources, lambda a, b, p, n: integers.insert(bits, a, b, p, n))


def _find(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    kind, bits = kind_and_bits(types[0])
    return Pure("u32", types[:1], lambda a: integers.find(kind, bits, "shiftamt" in rest, a))


def _funnel(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    sources = ("b32", "b32", "u32")
    return Pure("b32", sources, lambda a, b, n: integers.funnel(rest[0], "clamp" in rest, a, b, n) & mask(32))


def _permute(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    mode = rest[0] if rest else ""
    return Pure("b32", ("b32",) * 3, lambda a, b, c: integers.permute(mode, a, b, c))


def _logic3(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    return Pure("b32", ("b32",) * 4, lambda a, b, c, table: integers.logic3(table, a, b, c))


def _convert(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    to, source = types
    return Pure(to, (source,), lambda a: convert(rest, to, source, a))


def _select(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    return Pure(types[0], (types[0], types[0], "pred"), lambda a, b, p: a if p else b)


def _select_sign(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    def run(a: int, b: int, c: int) -> int:
        if types[1] == "s32":
            return a if integers.value("s", 32, c) >= 0 else b
        c = FORMATS[32].flush(c) if "ftz" in rest else c
        return a if floats.compare(FORMATS[32], "ge", c, 0) else b

    return Pure(types[0], (types[0], types[0], types[1]), run)


def comparison(rest: tuple[str, ...], name: str) -> Callable[[int, int], bool]:
    """The relation of ``set`` and ``setp`` on patterns of type ``name``."""
    relation = next(m for m in rest if m in RELATIONS)
    kind, bits = kind_and_bits(name)
    if kind == "f":
        f: Format = FORMATS[bits]
        prepare = f.flush if "ftz" in rest else lambda a: a
        return lambda a, b: floats.compare(f, relation, prepare(a), prepare(b))
    plain = UNSIGNED_RELATIONS.get(relation, relation)
    number = integers.value
    return lambda a, b: floats.compare_integers(plain, number(kind, bits, a), number(kind, bits, b))


def combination(rest: tuple[str, ...]) -> Callable[[bool, bool], bool] | None:
    return next((COMBINE[m] for m in rest if m in COMBINE), None)


def _set(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    to, source = types
    compare, combine = comparison(rest, source), combination(rest)
    bits = kind_and_bits(to)[1]
    true = {"f32": 0x3F800000, "f16": 0x3C00}.get(to, mask(bits))
    if combine is None:
        return Pure(to, (source, source), lambda a, b: true if compare(a, b) else 0)
    return Pure(to, (source, source, "pred"), lambda a, b, c: true if combine(compare(a, b), bool(c)) else 0)


def _absolute_difference(kind: str, bits: int, a: int, b: int, c: int) -> int:
    return abs(_VALUE(kind, bits, a) - _VALUE(kind, bits, b)) + c


def _product24(arity: int) -> Builder:
    """The product of the low 24 bits: ``.lo`` is its bits 31 to 0, ``.hi`` its bits 47 to 16."""

    def build(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
        kind = types[0][0]

        def run(a: int, b: int, c: int = 0) -> int:
            product = integers.value(kind, 24, a) * integers.value(kind, 24, b)
            part = (product >> 16 if "hi" in rest else product) & mask(32)
            total = integers.value(kind, 32, part) + integers.value(kind, 32, c)
            return (integers.clamp(kind, 32, total) if "sat" in rest else total) & mask(32)

        return Pure(types[0], (types[0],) * arity, run)

    return build


def _dot(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    def run(a: int, b: int, c: int) -> int:
        pairs = [(a >> (8 * i), b >> (8 * i)) for i in range(4)]
        return (sum(_VALUE(types[0][0], 8, x) * _VALUE(types[1][0], 8, y) for x, y in pairs) + c) & mask(32)

    signed_result = "s32" if "s32" in types else "u32"
    return Pure(signed_result, (types[0], types[1], signed_result), run)


def _dot_halves(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    first = 16 if "hi" in rest else 0

    def run(a: int, b: int, c: int) -> int:
        pairs = [(a >> (16 * i), b >> (first + 8 * i)) for i in range(2)]
        return (sum(_VALUE(types[0][0], 16, x) * _VALUE(types[1][0], 8, y) for x, y in pairs) + c) & mask(32)

    return Pure("u32", ("u32", "u32", "u32"), run)


def _extend_field(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    def run(a: int, n: int) -> int:
        n = n & 31 if "wrap" in rest else min(n, 32)
        return _VALUE(types[0][0], n, a) & mask(32) if n else 0

    return Pure(types[0], (types[0], "u32"), run)


def _nth_set(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    """One position after the other, as the manual of ``fns`` has it."""

    def run(bits: int, base: int, offset: int) -> int:
        offset = _VALUE("s", 32, offset)
        positions = range(base, 32) if offset > 0 else range(base, -1, -1) if base < 32 else range(0)
        if offset == 0:
            positions = range(base, base + 1) if base < 32 else range(0)
        found = [p for p in positions if bits >> p & 1]
        wanted = max(abs(offset) - 1, 0)
        return found[wanted] if wanted < len(found) else mask(32)

    return Pure("b32", ("b32", "u32", "s32"), run)


def _bit_mask(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    def run(start: int, length: int) -> int:
        if "wrap" in rest:
            start, length = start & 31, length & 31
        return sum(1 << i for i in range(32) if start <= i < start + length)

    return Pure("b32", ("b32", "b32"), run)


def _property(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    f = FORMATS[int(types[0][1:])]
    tests: dict[str, Callable[[int], bool]] = {
        "finite": lambda a: f.magnitude(a) < f.infinity,
        "infinite": f.is_infinite,
        "number": lambda a: not f.is_nan(a),
        "notanumber": f.is_nan,
        "normal": lambda a: f.magnitude(a) < f.infinity and not f.is_denormal(a),
        "subnormal": f.is_denormal,
    }
    return Pure("pred", types, lambda a: int(tests[rest[0]](a)))


def _is_in_space(types: tuple[str, ...], rest: tuple[str, ...]) -> Pure:
    low, high = {"shared": (SHARED_WINDOW, LOCAL_WINDOW), "local": (LOCAL_WINDOW, LOCAL_WINDOW + 0x0100_0000)}.get(
        rest[0], (FIRST_GLOBAL, 1 << 64)
    )
    return Pure("pred", ("u64",), lambda a: int(low <= a < high))


_VALUE = integers.value
_BUILDERS: dict[str, Builder] = {
    "add": _sum(1),
    "sub": _sum(-1),
    "mul": _product(2),
    "mad": _product(3),
    "div": _integer(2, integers.quotient),
    "rem": _integer(2, integers.remainder),
    "min": _integer(2, lambda k, n, a, b: min(_VALUE(k, n, a), _VALUE(k, n, b))),
    "max": _integer(2, lambda k, n, a, b: max(_VALUE(k, n, a), _VALUE(k, n, b))),
    "mul24": _product24(2),
    "mad24": _product24(3),
    "sad": _integer(3, _absolute_difference),
    "dp4a": _dot,
    "dp2a": _dot_halves,
    "szext": _extend_field,
    "fns": _nth_set,
    "bmsk": _bit_mask,
    "testp": _property,
    "isspacep": _is_in_space,
    "neg": _integer(1, lambda k, n, a: -a),
    "abs": _integer(1, lambda k, n, a: abs(_VALUE(k, n, a))),
    "and": _logic(2, lambda a, b: a & b),
    "or": _logic(2, lambda a, b: a | b),
    "xor": _logic(2, lambda a, b: a ^ b),
    "not": _logic(1, lambda a: ~a),
    "cnot": _logic(1, lambda a: int(a == 0)),
    "shl": _shift(lambda k, n, a, s: integers.shift_left(n, a, s)),
    "shr": _shift(integers.shift_right),
    "shf": _funnel,
    "bfe": _field,
    "bfi": _insert,
    "bfind": _find,
    "popc": _to_u32(lambda k, n, a: integers.population(a)),
    "clz": _to_u32(lambda k, n, a: integers.leading_zeros(n, a)),
    "brev": _integer(1, lambda k, n, a: integers.reverse(n, a)),
    "prmt": _permute,
    "lop3": _logic3,
    "cvt": _convert,
    "selp": _select,
    "slct": _select_sign,
    "set": _set,
    "mov": _logic(1, lambda a: a),
    "fma": lambda types, rest: FLOAT["fma"](types[0], rest),
    "copysign": lambda types, rest: FLOAT["copysign"](types[0], rest),
    "rcp": lambda types, rest: FLOAT["rcp"](types[0], rest),
    "sqrt": lambda types, rest: FLOAT["sqrt"](types[0], rest),
    "rsqrt": lambda types, rest: FLOAT["rsqrt"](types[0], rest),
    "ex2": lambda types, rest: FLOAT["ex2"](types[0], rest),
    "lg2": lambda types, rest: FLOAT["lg2"](types[0], rest),
    "sin": lambda types, rest: FLOAT["sin"](types[0], rest),
    "cos": lambda types, rest: FLOAT["cos"](types[0], rest),
    "tanh": lambda types, rest: FLOAT["tanh"](types[0], rest),
}

__all__ = ["COMBINE", "Pure", "combination", "comparison", "is_type", "kind_and_bits", "lookup"]
