"""Loads, stores and atomics in global, shared, local, generic and constant memory."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.integers import Step
from tests.machine_code.reference.operands import Operand
from tests.machine_code.reference.reading import M32, M64, Read, signed
from tests.machine_code.reference.state import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES, Bytes, Lane
from tests.machine_code.reference.text import Instruction
from tests.reference import floats
from tests.reference.number import F32, F64

SIZES = {"8": 1, "U8": 1, "S8": 1, "16": 2, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
Memory = Callable[[Lane, int], tuple[Bytes, int]]
"""The memory of an address, and the address in it."""


def size_of(i: Instruction) -> tuple[int, bool]:
    """Bytes of a load or store, and whether a narrow one is extended by its sign."""
    name = next((m for m in i.modifiers if m in SIZES), "32")
    return SIZES[name], name in ("S8", "S16")


def address(i: Instruction, one: Operand) -> Read:
    """The sum of registers and offset: of pairs with ``.E``, else of words, which a scale multiplies."""
    terms = [_term(register, i.has("E")) for register in one.terms]
    limit = M64 if i.has("E") else M32
    return lambda lane: sum((term(lane) for term in terms), one.offset) & limit


def _term(one: Operand, is_wide: bool) -> Read:
    if is_wide:
        return reading.bits32(one) if "U32" in one.parts else reading.bits64(one)
    scale = next((int(p[1:]) for p in one.parts if p[0] == "X"), 1)
    read = reading.bits32(one)
    return lambda lane: read(lane) * scale


def generic(lane: Lane, at: int) -> tuple[Bytes, int]:
    """Windows of the address space lead to shared and local memory."""
    if 0 <= at - SHARED_WINDOW < WINDOW_BYTES:
        return lane.warp.block.shared, at - SHARED_WINDOW
    if 0 <= at - LOCAL_WINDOW < WINDOW_BYTES:
        return lane.local, at - LOCAL_WINDOW
    return lane.warp.block.launch.memory, at


def memory_of(i: Instruction) -> Memory:
    if i.opcode in ("LDS", "STS", "ATOMS"):
        return lambda lane, at: (lane.warp.block.shared, at)
    if i.opcode in ("LDL", "STL"):
        return lambda lane, at: (lane.local, at)
    return generic


def load(i: Instruction) -> Step:
    to, *rest = i.operands
    (place,) = (o for o in rest if o.kind == "address")
    if len(rest) > 1:
        raise i.unknown()
    size, extends = size_of(i)
    where, memory = address(i, place), memory_of(i)
    write = reading.set_words(to, max(size // 4, 1))

    def step(lane: Lane) -> None:
        space, at = memory(lane, where(lane))
        value = space.load(at, size)
        write(lane, signed(value, 8 * size) & M32 if extends else value)

    return step


def store(i: Instruction) -> Step:
    place, source = i.operands
    size, _ = size_of(i)
    where, memory, read = address(i, place), memory_of(i), reading.words(source, max(size // 4, 1))

    def step(lane: Lane) -> None:
        space, at = memory(lane, where(lane))
        space.store(at, size, read(lane))

    return step


def load_constant(i: Instruction) -> Step:
    to, source = i.operands
    size, extends = size_of(i)
    read, write = reading.constant(source, size), reading.set_words(to, max(size // 4, 1))

    def step(lane: Lane) -> None:
        value = read(lane)
        write(lane, signed(value, 8 * size) & M32 if extends else value)

    return step


def _float_add(i: Instruction) -> Callable[[int, int], int]:
    f = F64 if i.has("F64") else F32
    flush = f.flush if i.has("FTZ") else lambda a: a
    return lambda old, a: flush(floats.add(f, flush(old), flush(a), "rn"))


def operation(i: Instruction, size: int) -> Callable[[int, int], int]:
    """What an atomic leaves of the old value and its operand."""
    number: Callable[[int], int] = (lambda x: signed(x, 8 * size)) if i.has("S32", "S64") else (lambda x: x)
    if i.has("ADD") and i.has("F32", "F64"):
        return _float_add(i)
    if i.has("F16x2", "F16", "BF16", "BF16x2", "F32", "F64"):
        raise i.unknown()
    known: dict[str, Callable[[int, int], int]] = {
        "ADD": lambda old, a: old + a, "MIN": lambda old, a: min(old, a, key=number),
        "MAX": lambda old, a: max(old, a, key=number), "AND": lambda old, a: old & a, "OR": lambda old, a: old | a,
        "XOR": lambda old, a: old ^ a, "EXCH": lambda old, a: a,
        "INC": lambda old, a: 0 if old >= a else old + 1,
        "DEC": lambda old, a: a if old == 0 or old > a else old - 1,
    }  # fmt: skip
    return next(known[m] for m in i.modifiers if m in known)


def atomic_size(i: Instruction) -> int:
    return 16 if i.has("128") else 8 if i.has("64", "S64", "F64") else 4


def atomic(i: Instruction) -> Step:
    """``ATOM``, ``ATOMG``, ``ATOMS`` give the old value; ``RED`` and ``REDG`` nothing."""
    operands = list(i.operands)
    done = reading.set_predicate(operands.pop(0)) if operands[0].kind == "predicate" else None
    to = None if operands[0].kind == "address" else operands.pop(0)
    size = atomic_size(i)
    where, memory = address(i, operands.pop(0)), memory_of(i)
    values = [reading.words(one, size // 4) for one in operands]
    write = reading.set_words(to, size // 4) if to else None
    if i.has("POPC"):
        if to and not to.is_zero_register():
            raise i.unknown("the result")
        change: Callable[..., int] = lambda old: old + 1  # noqa: E731
    elif i.has("CAS", "CAST"):
        change = lambda old, expected, new: new if old == expected else old  # noqa: E731
    else:
        change = operation(i, size)

    def step(lane: Lane) -> None:
        space, at = memory(lane, where(lane))
        given = [read(lane) for read in values]
        old = space.load(at, size)
        space.store(at, size, change(old, *given))
        if write:
            write(lane, int(old == given[0]) if i.has("CAST") else old)
        if done:
            done(lane, True)

    return step


def space_test(i: Instruction) -> Step:
    """``QSPC``: whether a generic address lies in a space."""
    note, where = reading.set_predicate(i.operands[0]), address(i, i.operands[-1])

    def step(lane: Lane) -> None:
        space, _ = generic(lane, where(lane))
        name = {"shared": "S", "local": "L"}.get(space.name, "G")
        note(lane, i.has(name))

    return step


def copy_to_shared(i: Instruction) -> Step:
    """``LDGSTS``: a copy from global to shared memory; where a predicate fails, zeros."""
    to, source, *rest = i.operands
    size, _ = size_of(i)
    test = reading.predicate(rest[0]) if rest else None
    target = Operand("address", to.text, terms=to.terms, offset=to.offset)
    shared = [_term(register, False) for register in target.terms]
    where = address(i, source)
    if i.has("ZFILL") and not test:
        raise i.unknown()

    def step(lane: Lane) -> None:
        at = sum((term(lane) for term in shared), target.offset) & M32
        value = lane.warp.block.launch.memory.load(where(lane), size) if not test or test(lane) else 0
        lane.warp.block.shared.store(at, size, value)

    return step


STEPS: dict[str, Callable[[Instruction], Step]] = {
    **dict.fromkeys(("LD", "LDG", "LDS", "LDL"), load), **dict.fromkeys(("ST", "STG", "STS", "STL"), store),
    **dict.fromkeys(("LDC", "ULDC"), load_constant), **dict.fromkeys(("ATOM", "ATOMG", "ATOMS", "RED", "REDG"), atomic),
    "QSPC": space_test, "LDGSTS": copy_to_shared,
}  # fmt: skip
