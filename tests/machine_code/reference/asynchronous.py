"""Mbarriers and bulk copies.

An mbarrier is a word of 64 bits that the code itself makes: from bit 1 on minus the arrivals of a phase, from bit 43 on
minus those that are still to come, in bit 63 the parity of the phase; the bytes that are to come stand between.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.accesses import address
from tests.machine_code.reference.integers import Step
from tests.machine_code.reference.operands import Operand
from tests.machine_code.reference.reading import M32, signed
from tests.machine_code.reference.state import Bytes, Lane
from tests.machine_code.reference.text import Instruction
from tests.reference import floats
from tests.reference.memory import ReferenceFault
from tests.reference.number import F32, F64

COUNT = 1 << 20
BYTES = 1 << 22


def change(shared: Bytes, at: int, arrivals: int = 0, dropped: int = 0, bytes_: int = 0) -> int:
    """Count at an mbarrier, and begin the next phase where nothing is to come; returns the word before."""
    word = shared.load(at, 8)
    members, coming = -(word >> 1) % COUNT - dropped, -(word >> 43) % COUNT - arrivals
    awaited, parity = signed((word >> 21) % BYTES, 22) + bytes_, word >> 63
    if coming < 0:
        raise ReferenceFault("more arrivals than an mbarrier awaits")
    if coming == 0 and awaited == 0:
        coming, parity = members, 1 - parity
    after = parity << 63 | (-coming % COUNT) << 43 | (awaited % BYTES) << 21 | (-members % COUNT) << 1
    shared.store(at, 8, after)
    return word


def synchronize(i: Instruction) -> Step:
    """``SYNCS``: write, count at, or ask an mbarrier."""
    action = i.modifiers[0]
    if action == "CCTL":
        return lambda lane: None
    to, place, given = i.operands
    where, kinds = address(i, place), {"EXCH": exchange, "PHASECHK": ask, "ARRIVE": arrive}
    return kinds[action](i, to, where, given)


def exchange(i: Instruction, to: Operand, where: reading.Read, given: Operand) -> Step:
    write, read = reading.set_words(to, 2), reading.words(given, 2)

    def step(lane: Lane) -> None:
        shared, at, word = lane.warp.block.shared, where(lane), read(lane)
        write(lane, shared.load(at, 8))
        shared.store(at, 8, word)

    return step


def ask(i: Instruction, to: Operand, where: reading.Read, given: Operand) -> Step:
    """Whether the phase of a parity, in the highest bit of a word, is over."""
    note, read = reading.set_predicate(to), reading.integer(given)

    def step(lane: Lane) -> None:
        is_over = lane.warp.block.shared.load(where(lane), 8) >> 63 != read(lane) >> 31
        note(lane, is_over)
        lane.warp.waits |= not is_over

    return step


def arrive(i: Instruction, to: Operand, where: reading.Read, given: Operand) -> Step:
    if i.has("TMASK"):
        raise i.unknown()
    write, read = reading.set_words(to, 2), reading.integer(given)

    def step(lane: Lane) -> None:
        number = read(lane)
        arrivals = 0 if i.has("A0T1", "A0TR", "A0TX") else number if i.has("ART0") else 1
        bytes_ = {"A0T1": 1, "A0TX": -number, "ART0": 0, "A1T0": 0}.get(i.modifiers[-1], number)
        dropped = arrivals if i.has("OPTOUT") else 0
        write(lane, change(lane.warp.block.shared, where(lane), arrivals, dropped, bytes_))

    return step


def copies_arrive(i: Instruction) -> Step:
    """``ARRIVES.LDGSTSBAR``: what a lane copied is there."""
    where, arrivals = address(i, i.operands[0]), int(i.has("ARVCNT"))

    def step(lane: Lane) -> None:
        change(lane.warp.block.shared, where(lane), arrivals, bytes_=arrivals - 1)

    return step


def _combine(i: Instruction) -> tuple[int, Callable[[int, int], int]]:
    """The bytes of an element, and what a reduction makes of two; in single precision, which is only for global memory,
    without subnormal numbers, as ``cp.reduce.async.bulk`` of PTX."""
    size = 8 if i.has("S64", "U64", "F64") else 4
    if i.has("F16", "BF16"):
        raise i.unknown()
    if i.has("F64"):
        return size, lambda a, b: floats.add(F64, a, b, "rn")
    if i.has("F32"):
        return size, lambda a, b: F32.flush(floats.add(F32, F32.flush(a), F32.flush(b), "rn"))
    number: Callable[[int], int] = (lambda x: signed(x, 8 * size)) if i.has("S32", "S64") else (lambda x: x)
    known: dict[str, Callable[[int, int], int]] = {
        "ADD": lambda a, b: a + b, "MIN": lambda a, b: min(a, b, key=number),
        "MAX": lambda a, b: max(a, b, key=number), "AND": lambda a, b: a & b, "OR": lambda a, b: a | b,
        "XOR": lambda a, b: a ^ b, "INC": lambda a, b: 0 if a >= b else a + 1,
        "DEC": lambda a, b: b if a == 0 or a > b else a - 1,
    }  # fmt: skip
    return size, next(known[m] for m in i.modifiers if m in known)


def copy(i: Instruction) -> Callable[[list[Lane]], None]:
    """``UBLKCP``, ``UBLKRED``: once for the warp; beside a destination in shared memory stands its mbarrier."""
    to, source, size = (one.terms[0] if one.kind == "address" else one for one in i.operands[:3])
    target, origin = i.modifiers[:2]
    places = reading.bits64(to), (reading.bits32 if origin == "S" else reading.bits64)(source), reading.bits32(size)
    step, combine = _combine(i) if i.opcode == "UBLKRED" else (1, lambda old, new: new)

    def run(lanes: list[Lane]) -> None:
        block = lanes[0].warp.block
        memories = {"S": block.shared, "G": block.launch.memory}
        there, here, units = (read(lanes[0]) for read in places)
        at, count = there & M32 if target == "S" else there, (units & 0xFFFF) * 16
        for n in range(0, count, step):
            old, new = memories[target].load(at + n, step), memories[origin].load(here + n, step)
            memories[target].store(at + n, step, combine(old, new))
        if target == "S":
            change(block.shared, there >> 32, bytes_=-count)

    return run


STEPS: dict[str, Callable[[Instruction], Step]] = {"SYNCS": synchronize, "ARRIVES": copies_arrive}
JOINT = {"UBLKCP": copy, "UBLKRED": copy}
