"""Arithmetic on pairs of 16-bit numbers."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.integers import COMBINATIONS, Step
from tests.machine_code.reference.numbers import related
from tests.machine_code.reference.operands import Operand
from tests.machine_code.reference.state import Lane
from tests.machine_code.reference.text import Instruction
from tests.reference import floats
from tests.reference.number import BF16, F16, F32, F64, Format, from_float, mask

Pair = Callable[[Lane], tuple[int, int]]
"""Low and high half."""


def format_of(i: Instruction) -> Format:
    return BF16 if i.has("BF16_V2") else F16


def sources(i: Instruction, operands: list[Operand]) -> list[Pair]:
    """The pairs; an immediate is two numbers, the upper first."""
    f, found, rest = format_of(i), [], list(operands)
    while rest:
        one = rest.pop(0)
        if one.kind == "number":
            found.append(_immediate(f, one, rest.pop(0)))
        else:
            found.append(_pair(f, one))
    return found


def _immediate(f: Format, high: Operand, low: Operand) -> Pair:
    if any("NAN" in o.text for o in (high, low)):
        return lambda lane: (high.number & mask(16), high.number >> 16)
    a, b = (floats.resized(F64, f, from_float(float(o.text), 64), "rn") for o in (low, high))
    return lambda lane: (a, b)


def _pair(f: Format, one: Operand) -> Pair:
    word = reading.bits32(one)
    sign, clear = (f.sign_bit if one.negated else 0), (~f.sign_bit if one.absolute else -1)
    low, high = {"H0_H0": (0, 0), "H1_H1": (16, 16)}.get(one.parts[0] if one.parts else "", (0, 16))

    def read(lane: Lane) -> tuple[int, int]:
        value = word(lane)
        a, b = ((value >> at & mask(16) & clear) ^ sign for at in (low, high))
        return a, b

    return read


def _arithmetic(i: Instruction, function: Callable[..., int]) -> Step:
    f, pairs, write = format_of(i), sources(i, list(i.operands[1:])), reading.set_word(i.operands[0])
    limits = tuple(m.lower() for m in i.modifiers if m in ("FTZ", "SAT", "RELU"))

    def step(lane: Lane) -> None:
        given = [pair(lane) for pair in pairs]
        out = 0
        for n in (0, 1):
            values = [f.flush(pair[n]) if "ftz" in limits else pair[n] for pair in given]
            out |= floats.limited(f, function(f, *values, "rn"), limits) << 16 * n
        write(lane, out)

    return step


def add(i: Instruction) -> Step:
    """``HADD2``; with ``.F32`` the low half in single precision."""
    if not i.has("F32"):
        return _arithmetic(i, floats.add)
    f, (a, b), write = format_of(i), sources(i, list(i.operands[1:])), reading.set_word(i.operands[0])

    def step(lane: Lane) -> None:
        x, y = (floats.resized(f, F32, pair(lane)[0], "rn") for pair in (a, b))
        write(lane, floats.add(F32, x, y, "rn"))

    return step


def multiply(i: Instruction) -> Step:
    return _arithmetic(i, floats.multiply)


def fused(i: Instruction) -> Step:
    return _arithmetic(i, floats.fused)


def extreme(i: Instruction) -> Step:
    """``HMNMX2``."""
    f, (a, b), write = format_of(i), sources(i, list(i.operands[1:3])), reading.set_word(i.operands[0])
    test, xors, flushes = reading.predicate(i.operands[3]), i.has("XORSIGN"), i.has("FTZ")

    def step(lane: Lane) -> None:
        out = 0
        for n, (x, y) in enumerate(zip(a(lane), b(lane), strict=True)):
            x, y = (f.flush(x), f.flush(y)) if flushes else (x, y)
            sign = (x ^ y) & f.sign_bit if xors else 0
            if xors:
                x, y = f.magnitude(x), f.magnitude(y)
            found = (floats.least if test(lane) else floats.greatest)(f, x, y, i.has("NAN"))
            out |= (found | sign if not f.is_nan(found) else found) << 16 * n
        write(lane, out)

    return step


def compare(i: Instruction) -> Step:
    """``HSETP2``: a predicate for each half."""
    one, two = (reading.set_predicate(o) for o in i.operands[:2])
    (a, b), other = sources(i, list(i.operands[2:-1])), reading.predicate(i.operands[-1])
    relation, combine = related(format_of(i), i), next(COMBINATIONS[m] for m in i.modifiers if m in COMBINATIONS)

    def step(lane: Lane) -> None:
        x, y, rest = a(lane), b(lane), other(lane)
        one(lane, combine(relation(x[0], y[0]), rest))
        two(lane, combine(relation(x[1], y[1]), rest))

    return step


def compare_to_pair(i: Instruction) -> Step:
    """``HSET2``: all ones, or with ``.BF`` one, in each half."""
    f, (a, b), other = format_of(i), sources(i, list(i.operands[1:-1])), reading.predicate(i.operands[-1])
    relation, combine = related(f, i), next(COMBINATIONS[m] for m in i.modifiers if m in COMBINATIONS)
    write, true = reading.set_word(i.operands[0]), from_one(f) if i.has("BF") else mask(16)

    def step(lane: Lane) -> None:
        rest = other(lane)
        halves = zip(a(lane), b(lane), strict=True)
        write(lane, sum(true << 16 * n for n, pair in enumerate(halves) if combine(relation(*pair), rest)))

    return step


def from_one(f: Format) -> int:
    return floats.resized(F64, f, from_float(1.0, 64), "rn")


STEPS: dict[str, Callable[[Instruction], Step]] = {
    "HADD2": add, "HMUL2": multiply, "HFMA2": fused, "HMNMX2": extreme, "HSETP2": compare, "HSET2": compare_to_pair,
}  # fmt: skip
