"""Integer arithmetic: sums with carries, products, extremes, bit counts, shifts."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.operands import Operand
from tests.machine_code.reference.reading import M32, M64, signed
from tests.machine_code.reference.state import Lane
from tests.machine_code.reference.text import Instruction

Step = Callable[[Lane], None]
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b, "EQ": lambda a, b: a == b, "NE": lambda a, b: a != b,
}  # fmt: skip
COMBINATIONS: dict[str, Callable[[bool, bool], bool]] = {
    "AND": lambda a, b: a and b, "OR": lambda a, b: a or b, "XOR": lambda a, b: a != b,
}  # fmt: skip


def carries(i: Instruction) -> tuple[Operand, list[Operand], list[Operand]]:
    """The destination, the predicates that take carries, and the sources."""
    to, *rest = i.operands
    out = []
    while rest and rest[0].kind == "predicate":
        out.append(rest.pop(0))
    return to, out, rest


def add(i: Instruction) -> Step:
    """``IADD3``: the sum of three; two predicates take the carry's count in unary; ``.X`` adds two predicates."""
    if i.has("64"):
        return add_long(i)
    to, out, rest = carries(i)
    sources = [reading.addend(one) for one in rest if one.kind != "predicate"]
    come = [reading.predicate(one) for one in rest if one.kind == "predicate"]
    if i.has("X") and any(one.negated for one in rest):
        raise i.unknown("a negative operand of .X")
    write, keep = reading.set_word(to), [reading.set_predicate(one) for one in out]

    def step(lane: Lane) -> None:
        total = sum(read(lane) for read in sources) + sum(test(lane) for test in come)
        write(lane, total)
        for n, note in enumerate(keep):
            note(lane, total >> 32 > n)

    return step


def add_long(i: Instruction) -> Step:
    """``UIADD3.64``: the sum of three pairs."""
    write, sources = reading.set_words(i.operands[0], 2), [reading.long(one) for one in i.operands[1:]]
    return lambda lane: write(lane, sum(read(lane) for read in sources))


def multiply_add(i: Instruction) -> Step:
    """``IMAD``: the low word of a * b + c, whatever the name says of its use; ``.X`` adds a predicate."""
    to, out, rest = carries(i)
    if out:
        raise i.unknown()
    a, b, c = (reading.integer(one) for one in rest[:3])
    come = [reading.predicate(one) for one in rest[3:]]
    write = reading.set_word(to)
    return lambda lane: write(lane, a(lane) * b(lane) + c(lane) + sum(test(lane) for test in come))


def wide(i: Instruction) -> Step:
    """``IMAD.WIDE`` writes the 64 bits of a * b + c, ``IMAD.HI`` their upper word; c is a pair."""
    to, out, rest = carries(i)
    number = (lambda x: x) if i.has("U32") else signed
    a, b = (reading.integer(one) for one in rest[:2])
    c = reading.addend(rest[2], 64)
    come = [reading.predicate(one) for one in rest[3:]]
    keep = [reading.set_predicate(one) for one in out]
    high = i.has("HI")
    write = reading.set_word(to) if high else reading.set_words(to, 2)

    def step(lane: Lane) -> None:
        product = number(a(lane)) * number(b(lane)) & M64
        total = product + c(lane) + sum(test(lane) for test in come)
        write(lane, (total & M64) >> 32 if high else total)
        for note in keep:
            note(lane, total >> 64 > 0)

    return step


def imad(i: Instruction) -> Step:
    return wide(i) if i.has("WIDE", "HI") else multiply_add(i)


def shifted_add(i: Instruction) -> Step:
    """``LEA``: (a << n) + b; ``.HI`` takes the upper word of the pair of a and c, or of a extended (``.SX32``)."""
    to, out, rest = carries(i)
    come = [reading.predicate(one) for one in rest if one.kind == "predicate"]
    plain = [one for one in rest if one.kind != "predicate"]
    amount = plain.pop().number
    a, b = reading.integer(plain[0]), reading.addend(plain[1])
    c = reading.integer(plain[2]) if len(plain) > 2 else None
    extends, high = i.has("SX32"), i.has("HI")
    write, keep = reading.set_word(to), [reading.set_predicate(one) for one in out]

    def step(lane: Lane) -> None:
        value = signed(a(lane)) if extends else a(lane) | (c(lane) if c else 0) << 32
        moved = value << amount
        part = (moved >> 32 if high else moved) & M32
        total = part + b(lane) + sum(test(lane) for test in come)
        write(lane, total)
        for note in keep:
            note(lane, total >> 32 > 0)

    return step


def shift(i: Instruction) -> Step:
    """``SHF`` of the pair (a, c): left or right, the upper word with ``.HI``; ``.W`` wraps the amount."""
    a, n, c = (reading.integer(one) for one in i.operands[1:4])
    kind = next(m for m in i.modifiers if m in ("U32", "S32", "U64", "S64"))
    bits = int(kind[1:])
    write, high, left, wraps = reading.set_word(i.operands[0]), i.has("HI"), i.has("L"), i.has("W")

    def step(lane: Lane) -> None:
        pair = a(lane) | c(lane) << 32
        if kind[0] == "S":
            pair = signed(pair, 64)
        amount = n(lane) % bits if wraps else min(n(lane), bits)
        moved = pair << amount if left else pair >> amount
        write(lane, moved >> 32 if high else moved)

    return step


def compare(i: Instruction) -> Step:
    """``ISETP``; ``.EX`` compares upper words, where equal ones leave the decision to that of the lower."""
    first, second, a_, b_, with_, *lower = i.operands
    number = (lambda x: x) if i.has("U32") else signed
    name = i.modifiers[0]
    relation, combine = RELATIONS[name], next(COMBINATIONS[m] for m in i.modifiers if m in COMBINATIONS)
    a, b, other = reading.integer(a_), reading.integer(b_), reading.predicate(with_)
    below = reading.predicate(lower[0]) if lower else None
    one, two = reading.set_predicate(first), reading.set_predicate(second)

    def step(lane: Lane) -> None:
        x, y = number(a(lane)), number(b(lane))
        holds = below(lane) if below and x == y else relation(x, y)
        rest = other(lane)
        one(lane, combine(holds, rest))
        two(lane, combine(not holds, rest))

    return step


def _least(i: Instruction) -> Callable[[Lane, list[int]], int]:
    """The least where the last operand holds, else the greatest."""
    test = reading.predicate(i.operands[-1])
    key = (lambda x: x) if i.has("U32") else signed
    return lambda lane, values: min(values, key=key) if test(lane) else max(values, key=key)


def extreme(i: Instruction) -> Step:
    """``IMNMX``, ``VIMNMX``, ``VIMNMX3``."""
    if i.has("U16x2", "S16x2"):
        return extreme_of_halves(i)
    relu = i.has("RELU")
    sources = [reading.integer(one) for one in i.operands[1:-1]]
    write, choose = reading.set_word(i.operands[0]), _least(i)

    def step(lane: Lane) -> None:
        found = choose(lane, [read(lane) for read in sources])
        write(lane, 0 if relu and found >> 31 else found)

    return step


def extreme_of_halves(i: Instruction) -> Step:
    a, b = (reading.integer(one) for one in i.operands[1:3])
    write, test, relu = reading.set_word(i.operands[0]), reading.predicate(i.operands[3]), i.has("RELU")
    kind = "S16" if i.has("S16x2") else "U16"

    def step(lane: Lane) -> None:
        choose, out = min if test(lane) else max, 0
        for n in (0, 1):
            found = choose(_field(a(lane), kind, n), _field(b(lane), kind, n))
            out |= ((max(found, 0) if relu else found) & 0xFFFF) << 16 * n
        write(lane, out)

    return step


def add_extreme(i: Instruction) -> Step:
    """``VIADDMNMX``: an extreme of a + b and c."""
    a, b, c = (reading.integer(one) for one in i.operands[1:4])
    write, choose = reading.set_word(i.operands[0]), _least(i)
    return lambda lane: write(lane, choose(lane, [a(lane) + b(lane) & M32, c(lane)]))


def magnitude(i: Instruction) -> Step:
    a, write = reading.integer(i.operands[1]), reading.set_word(i.operands[0])
    return lambda lane: write(lane, abs(signed(a(lane))))


def distance(i: Instruction) -> Step:
    """``VABSDIFF``: \\|a - b\\| + c."""
    a, b, c = (reading.integer(one) for one in i.operands[1:4])
    number = (lambda x: x) if i.has("U32") else signed
    write = reading.set_word(i.operands[0])
    return lambda lane: write(lane, abs(number(a(lane)) - number(b(lane))) + c(lane))


def count(i: Instruction) -> Step:
    a, write = reading.integer(i.operands[1]), reading.set_word(i.operands[0])
    return lambda lane: write(lane, a(lane).bit_count())


def leading(i: Instruction) -> Step:
    """``FLO``: the place of the highest one, or of the highest bit unlike the sign; ``.SH``: its distance from 31."""
    a, write = reading.integer(i.operands[1]), reading.set_word(i.operands[0])
    is_signed, distance_ = not i.has("U32"), i.has("SH")

    def step(lane: Lane) -> None:
        value = a(lane)
        if is_signed and value >> 31:
            value = ~value & M32
        place = value.bit_length() - 1
        write(lane, 31 - place if distance_ and place >= 0 else place)

    return step


def reverse(i: Instruction) -> Step:
    a, write = reading.integer(i.operands[1]), reading.set_word(i.operands[0])
    return lambda lane: write(lane, int(f"{a(lane):032b}"[::-1], 2))


def mask(i: Instruction) -> Step:
    """``BMSK``: ones from bit a on, b of them; ``.W`` takes both modulo 32."""
    a, b = (reading.integer(one) for one in i.operands[1:3])
    write, wraps = reading.set_word(i.operands[0]), i.has("W")

    def step(lane: Lane) -> None:
        start, length = (x & 31 if wraps else min(x, 32) for x in (a(lane), b(lane)))
        write(lane, (1 << length) - 1 << start)

    return step


def extend(i: Instruction) -> Step:
    """``SGXT``: the low b bits of a, extended by their sign or by zeros; ``.W`` takes b modulo 32."""
    a, b = (reading.integer(one) for one in i.operands[1:3])
    write, wraps, is_signed = reading.set_word(i.operands[0]), i.has("W"), not i.has("U32")

    def step(lane: Lane) -> None:
        bits = b(lane) & 31 if wraps else min(b(lane), 32)
        value = a(lane) & (1 << bits) - 1
        write(lane, signed(value, bits) if is_signed and bits else value)

    return step


def dot(i: Instruction) -> Step:
    """``IDP.4A`` and ``IDP.2A``: products of the parts of a and b, and c."""
    a, b, c = (reading.integer(one) for one in i.operands[1:4])
    write = reading.set_word(i.operands[0])
    kinds = [m for m in i.modifiers if m in ("U8", "S8", "U16", "S16")]
    count_, first = (4, 0) if i.has("4A") else (2, 2 if i.has("HI") else 0)

    def step(lane: Lane) -> None:
        total = c(lane)
        for n in range(count_):
            total += _field(a(lane), kinds[0], n) * _field(b(lane), kinds[1], first + n)
        write(lane, total)

    return step


def _field(word: int, kind: str, n: int) -> int:
    bits = int(kind[1:])
    value = word >> bits * n & (1 << bits) - 1
    return signed(value, bits) if kind[0] == "S" else value


def plain_add(i: Instruction) -> Step:
    """``VIADD``."""
    a, b = (reading.integer(one) for one in i.operands[1:3])
    write = reading.set_word(i.operands[0])
    return lambda lane: write(lane, a(lane) + b(lane))


def narrow(i: Instruction) -> Step:
    """``I2I.S16.S32.SAT``: a word limited to a narrower type."""
    to, source = (m for m in i.modifiers if m[:1] in "US" and m[1:].isdigit())
    a, write = reading.integer(i.operands[1]), reading.set_word(i.operands[0])
    bits = int(to[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if to[0] == "S" else (0, (1 << bits) - 1)
    number = signed if source[0] == "S" else (lambda x: x)
    return lambda lane: write(lane, min(max(number(a(lane)), low), high))


STEPS: dict[str, Callable[[Instruction], Step]] = {
    "IADD3": add, "UIADD3": add, "IMAD": imad, "UIMAD": imad, "LEA": shifted_add, "ULEA": shifted_add,
    "SHF": shift, "USHF": shift, "ISETP": compare, "UISETP": compare, "IMNMX": extreme, "VIMNMX": extreme,
    "VIMNMX3": extreme, "VIADDMNMX": add_extreme, "IABS": magnitude, "VABSDIFF": distance, "POPC": count,
    "UPOPC": count, "FLO": leading, "UFLO": leading, "BREV": reverse, "UBREV": reverse, "BMSK": mask, "UBMSK": mask,
    "SGXT": extend, "USGXT": extend, "IDP": dot, "VIADD": plain_add, "I2I": narrow,
}  # fmt: skip
