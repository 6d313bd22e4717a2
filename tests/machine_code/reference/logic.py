"""Moves, selections, bitwise functions, permutations, and predicates as words."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.integers import COMBINATIONS, Step
from tests.machine_code.reference.operands import Operand
from tests.machine_code.reference.state import Lane
from tests.machine_code.reference.text import Instruction

BITS = 7
"""Predicates of a thread that a word holds."""


def table(index: int, *bits: int) -> int:
    """The truth table of three bits, as ``lop3`` numbers it: the first is the most significant."""
    a, b, c = bits
    return index >> (4 * a + 2 * b + c) & 1


def move(i: Instruction) -> Step:
    a, write = reading.integer(i.operands[1]), reading.set_word(i.operands[0])
    return lambda lane: write(lane, a(lane))


def bitwise(i: Instruction) -> Step:
    """``LOP3.LUT``; a predicate tells whether a bit is set, or the last operand holds (and, with ``.PAND``)."""
    operands = list(i.operands)
    note = reading.set_predicate(operands.pop(0)) if operands[0].kind == "predicate" else None
    write = reading.set_word(operands[0])
    a, b, c = (reading.integer(one) for one in operands[1:4])
    index, other = operands[4].number, reading.predicate(operands[5])
    combine = COMBINATIONS["AND" if i.has("PAND") else "OR"]

    def step(lane: Lane) -> None:
        x, y, z = a(lane), b(lane), c(lane)
        value = 0
        for n in range(8):
            if index >> n & 1:
                value |= (x if n & 4 else ~x) & (y if n & 2 else ~y) & (z if n & 1 else ~z)
        value &= reading.M32
        holds = combine(value != 0, other(lane))
        write(lane, value)
        if note:
            note(lane, holds)

    return step


def of_predicates(i: Instruction) -> Step:
    """``PLOP3.LUT``: two functions of three predicates."""
    one, two = (reading.set_predicate(o) for o in i.operands[:2])
    tests = [reading.predicate(o) for o in i.operands[2:5]]
    first, second = (o.number for o in i.operands[5:7])

    def step(lane: Lane) -> None:
        bits = [int(test(lane)) for test in tests]
        one(lane, bool(table(first, *bits)))
        two(lane, bool(table(second, *bits)))

    return step


def select(i: Instruction) -> Step:
    """``SEL``."""
    a, b = (reading.integer(o) for o in i.operands[1:3])
    test, write = reading.predicate(i.operands[3]), reading.set_word(i.operands[0])
    return lambda lane: write(lane, a(lane) if test(lane) else b(lane))


def permute(i: Instruction) -> Step:
    """``PRMT`` a, selector, c: as ``prmt`` of PTX."""
    a, s, c = (reading.integer(o) for o in i.operands[1:4])
    mode = i.modifiers[0] if i.modifiers else ""
    write = reading.set_word(i.operands[0])

    def step(lane: Lane) -> None:
        data = (a(lane) | c(lane) << 32).to_bytes(8, "little")
        write(lane, int.from_bytes(bytes(_chosen(data, s(lane), mode)), "little"))

    return step


def _chosen(data: bytes, selector: int, mode: str) -> list[int]:
    n = selector & 3
    if mode == "F4E":
        return [data[(n + k) % 8] for k in range(4)]
    if mode == "B4E":
        return [data[(n - k) % 8] for k in range(4)]
    if mode == "RC8":
        return [data[n]] * 4
    if mode == "ECL":
        return [data[max(k, n)] for k in range(4)]
    if mode == "ECR":
        return [data[min(k, n)] for k in range(4)]
    if mode == "RC16":
        return [data[2 * (n & 1) + k % 2] for k in range(4)]
    fields = [selector >> 4 * k & 15 for k in range(4)]
    return [255 * (data[f & 7] >> 7) if f & 8 else data[f] for f in fields]


def predicates(lane: Lane, operand: Operand) -> list[bool]:
    """Those that ``PR`` or ``UPR`` stands for."""
    return lane.up if operand.text == "UPR" else lane.p


def pack(i: Instruction) -> Step:
    """``P2R``, ``UP2UR``: the predicates of a mask as bits of a byte, the others from a word."""
    to, of, a_, m = i.operands
    a, mask, write = reading.integer(a_), m.number, reading.set_word(to)
    at = next((8 * n for n in range(4) if i.has(f"B{n}")), 0)

    def step(lane: Lane) -> None:
        bits = sum(predicates(lane, of)[n] << n for n in range(BITS))
        write(lane, a(lane) & ~(mask << at) | (bits & mask) << at)

    return step


def unpack(i: Instruction) -> Step:
    """``R2P``, ``UR2UP``: the predicates of a mask, or all, from the bits of a word or of a byte."""
    of, a_, *masks = i.operands
    a, mask = reading.integer(a_), masks[0].number if masks else -1
    at = 8 * int((a_.parts or ("B0",))[0][1:])

    def step(lane: Lane) -> None:
        word = a(lane) >> at
        for n in range(BITS):
            if mask >> n & 1:
                predicates(lane, of)[n] = bool(word >> n & 1)

    return step


STEPS: dict[str, Callable[[Instruction], Step]] = {
    "MOV": move, "UMOV": move, "LOP3": bitwise, "ULOP3": bitwise, "PLOP3": of_predicates, "UPLOP3": of_predicates,
    "SEL": select, "USEL": select, "PRMT": permute, "UPRMT": permute, "P2R": pack, "R2P": unpack,
    "UP2UR": pack, "UR2UP": unpack,
}  # fmt: skip
