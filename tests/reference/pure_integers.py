"""Integer, bit-field and logic instructions by opcode, around the arithmetic of `integers`."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import integers
from tests.reference.instruction import COMBINE, Builder, Pure, kind_and_bits
from tests.reference.memory import FIRST_GLOBAL, LOCAL_WINDOW, SHARED_WINDOW
from tests.reference.number import mask


def _integer(arity: int, function: Callable[..., int]) -> Builder:
    """``function(kind, bits, *patterns)``, masked to the type; ``.relu`` makes a negative number 0."""

    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        kind, bits = kind_and_bits(types[0])
        if "relu" in rest:
            return Pure(types[0], (types[0],) * arity, lambda *p: max(0, function(kind, bits, *p)))
        return Pure(types[0], (types[0],) * arity, lambda *p: function(kind, bits, *p) & mask(bits))

    return build


def _sum(sign: int) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        kind, bits = kind_and_bits(types[0])

        def run(a: int, b: int) -> int:
            total = integers.value(kind, bits, a) + sign * integers.value(kind, bits, b)
            return (integers.clamp(kind, bits, total) if "sat" in rest else total) & mask(bits)

        return Pure(types[0], (types[0],) * 2, run)

    return build


def _product(arity: int) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
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
    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        bits = kind_and_bits(types[0])[1]
        return Pure(types[0], (types[0],) * arity, lambda *p: function(*p) & mask(bits))

    return build


def _to_u32(function: Callable[[str, int, int], int]) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        kind, bits = kind_and_bits(types[0])
        return Pure("u32", types[:1], lambda a: function(kind, bits, a))

    return build


def _shift(function: Callable[[str, int, int, int], int]) -> Builder:
    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        kind, bits = kind_and_bits(types[0])
        return Pure(types[0], (types[0], "u32"), lambda a, n: function(kind, bits, a, n) & mask(bits))

    return build


def _field(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    kind, bits = kind_and_bits(types[0])
    return Pure(types[0], (types[0], "u32", "u32"), lambda a, p, n: integers.extract(kind, bits, a, p, n))


def _insert(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    bits = kind_and_bits(types[0])[1]
    sources = (types[0], types[0], "u32", "u32")
    return Pure(types[0], sources, lambda a, b, p, n: integers.insert(bits, a, b, p, n))


def _find(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    kind, bits = kind_and_bits(types[0])
    return Pure("u32", types[:1], lambda a: integers.find(kind, bits, "shiftamt" in rest, a))


def _funnel(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    sources = ("b32", "b32", "u32")
    return Pure("b32", sources, lambda a, b, n: integers.funnel(rest[0], "clamp" in rest, a, b, n) & mask(32))


def _permute(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    mode = rest[0] if rest else ""
    return Pure("b32", ("b32",) * 3, lambda a, b, c: integers.permute(mode, a, b, c))


def _logic3(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    """With ``.or`` or ``.and``, a predicate beside the result: whether it is not 0, combined with the last operand."""
    if not rest:
        return Pure("b32", ("b32",) * 4, lambda a, b, c, table: integers.logic3(table, a, b, c))

    def run(a: int, b: int, c: int, table: int, q: int) -> tuple[int, int]:
        out = integers.logic3(table, a, b, c)
        return out, COMBINE[rest[0]](out != 0, bool(q))

    return Pure("b32", (*("b32",) * 4, "pred"), run, second="pred")


def _absolute_difference(kind: str, bits: int, a: int, b: int, c: int) -> int:
    return abs(integers.value(kind, bits, a) - integers.value(kind, bits, b)) + c


def _product24(arity: int) -> Builder:
    """The product of the low 24 bits: ``.lo`` is its bits 31 to 0, ``.hi`` its bits 47 to 16."""

    def build(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
        kind = types[0][0]

        def run(a: int, b: int, c: int = 0) -> int:
            product = integers.value(kind, 24, a) * integers.value(kind, 24, b)
            part = (product >> 16 if "hi" in rest else product) & mask(32)
            total = integers.value(kind, 32, part) + integers.value(kind, 32, c)
            return (integers.clamp(kind, 32, total) if "sat" in rest else total) & mask(32)

        return Pure(types[0], (types[0],) * arity, run)

    return build


def _dot(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    def run(a: int, b: int, c: int) -> int:
        pairs = [(a >> (8 * i), b >> (8 * i)) for i in range(4)]
        return (
            sum(integers.value(types[0][0], 8, x) * integers.value(types[1][0], 8, y) for x, y in pairs) + c
        ) & mask(32)

    signed_result = "s32" if "s32" in types else "u32"
    return Pure(signed_result, (types[0], types[1], signed_result), run)


def _dot_halves(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    first = 16 if "hi" in rest else 0

    def run(a: int, b: int, c: int) -> int:
        pairs = [(a >> (16 * i), b >> (first + 8 * i)) for i in range(2)]
        return (
            sum(integers.value(types[0][0], 16, x) * integers.value(types[1][0], 8, y) for x, y in pairs) + c
        ) & mask(32)

    return Pure("u32", ("u32", "u32", "u32"), run)


def _extend_field(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    def run(a: int, n: int) -> int:
        n = n & 31 if "wrap" in rest else min(n, 32)
        return integers.value(types[0][0], n, a) & mask(32) if n else 0

    return Pure(types[0], (types[0], "u32"), run)


def _nth_set(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    """One position after the other, as the manual of ``fns`` has it."""

    def run(bits: int, base: int, offset: int) -> int:
        offset = integers.value("s", 32, offset)
        positions = range(base, 32) if offset > 0 else range(base, -1, -1) if base < 32 else range(0)
        if offset == 0:
            positions = range(base, base + 1) if base < 32 else range(0)
        found = [p for p in positions if bits >> p & 1]
        wanted = max(abs(offset) - 1, 0)
        return found[wanted] if wanted < len(found) else mask(32)

    return Pure("b32", ("b32", "u32", "s32"), run)


def _bit_mask(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    def run(start: int, length: int) -> int:
        if "wrap" in rest:
            start, length = start & 31, length & 31
        return sum(1 << i for i in range(32) if start <= i < start + length)

    return Pure("b32", ("b32", "b32"), run)


def _is_in_space(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    """Constants and parameters lie among the global addresses."""
    windows = {"shared": (SHARED_WINDOW, LOCAL_WINDOW), "local": (LOCAL_WINDOW, LOCAL_WINDOW + 0x0100_0000)}
    low, high = windows.get(rest[0].split("::")[0], (FIRST_GLOBAL, 1 << 64))
    return Pure("pred", ("u64",), lambda a: int(low <= a < high))


def _to_or_from_generic(types: tuple[str, ...], rest: tuple[str, ...], count: int) -> Pure:
    space = rest[-1].split("::")[0]
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
    shift = -window if "to" in rest else window
    return Pure(types[0], types, lambda a: (a + shift) & mask(kind_and_bits(types[0])[1]))


BUILDERS: dict[str, Builder] = {
    "add": _sum(1),
    "sub": _sum(-1),
    "mul": _product(2),
    "mad": _product(3),
    "div": _integer(2, integers.quotient),
    "rem": _integer(2, integers.remainder),
    "min": _integer(2, lambda k, n, a, b: min(integers.value(k, n, a), integers.value(k, n, b))),
    "max": _integer(2, lambda k, n, a, b: max(integers.value(k, n, a), integers.value(k, n, b))),
    "mul24": _product24(2),
    "mad24": _product24(3),
    "sad": _integer(3, _absolute_difference),
    "dp4a": _dot,
    "dp2a": _dot_halves,
    "szext": _extend_field,
    "fns": _nth_set,
    "bmsk": _bit_mask,
    "isspacep": _is_in_space,
    "cvta": _to_or_from_generic,
    "mapa": lambda types, rest, count: Pure(types[0], (types[0], "u32"), lambda a, block: a),
    "getctarank": lambda types, rest, count: Pure("u32", types, lambda a: 0),
    "neg": _integer(1, lambda k, n, a: -a),
    "abs": _integer(1, lambda k, n, a: abs(integers.value(k, n, a))),
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
    "mov": _logic(1, lambda a: a),
}
