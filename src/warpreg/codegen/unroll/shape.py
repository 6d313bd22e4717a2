"""Size and contents of a loop in machine instructions, as far as they determine its unroll factor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpreg.analysis.loops import Loop
from warpreg.codegen.machine.legality import is_constant
from warpreg.codegen.unroll.counters import Counter
from warpreg.codegen.unroll.factor import OVERHEAD, LoopShape
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, Immediate, Register

ROUNDED = frozenset({"rn", "rz", "rm", "rp"})
INDEXING = frozenset({"add", "sub", "mul", "mad", "shl", "cvt"})
FOLDED = INDEXING | {"fma", "neg", "shr", "and", "or", "xor", "min", "max"}
"""Opcodes that `ptxas` evaluates where their operands are known."""
WIDE = frozenset({"add", "sub", "and", "or", "xor", "lop3", "shl", "shr", "selp", "setp", "min", "max", "mov", "neg"})
FAST_SPACES = frozenset({"const", "param"})


def is_unrollable(code: Iterable[Instruction]) -> bool:
    """Whether no instruction prevents unrolling."""
    return not any(map(_prevents, code))


def meets_threads(code: Iterable[Instruction]) -> bool:
    """Whether the code has an atomic operation or a barrier, which threads could reach in different copies."""
    return any(i.traits.is_atomic or i.traits.is_barrier for i in code)


def stores_by_index(code: Iterable[Instruction]) -> bool:
    """Whether the code has slow loads and stores, and either computes with a register that advances by constant steps
    or stores under a condition: then its copies do not differ in the offsets of addresses alone, and a load that may
    read what a copy before it stores cannot move ahead."""
    code = list(code)
    if not any(_is_slow_load(i) for i in code):
        return False
    stores = [i for i in code if _is_store(i)]
    steps = {i.defined[0].name for i in code if _is_step(i)}
    return any(i.guard for i in stores) or (bool(stores) and any(_computes_with(i, steps) for i in code))


def _is_load(instruction: Instruction) -> bool:
    """Whether it loads elements of memory, of a texture or of a surface."""
    traits = instruction.traits
    return traits.loads or (traits.is_texture and traits.reads_memory and not traits.writes_memory)


def _is_store(instruction: Instruction) -> bool:
    return instruction.traits.stores and not instruction.traits.is_atomic


def _is_slow_load(instruction: Instruction) -> bool:
    return _is_load(instruction) and not set(instruction.modifiers) & (FAST_SPACES | {"shared"})


def _is_step(instruction: Instruction) -> bool:
    if instruction.opcode != "add" or instruction.guard:
        return False
    target, first, second = instruction.operands[:3]
    return target == first and isinstance(second, Immediate)


def _computes_with(instruction: Instruction, steps: set[str]) -> bool:
    """Whether it reads one of these registers, and is neither an access nor a comparison nor its step."""
    if _is_load(instruction) or _is_store(instruction) or not instruction.defined or _is_step(instruction):
        return False
    return not instruction.defined[0].is_predicate and any(r.name in steps for r in instruction.used)


def shape_of(
    machine: Kernel, loop: Loop, counter: Counter, saved_inside: int, known: frozenset[str] = frozenset()
) -> LoopShape:
    """The shape of a loop without inner loops; ``machine`` has machine instructions in the same blocks.

    ``saved_inside``: instructions per iteration that unrolling inner loops has saved; ``known``: further registers
    whose values in each iteration are known.
    """
    code = list(_code(machine, loop))
    exits = sum(s not in loop.blocks for b in loop.blocks for s in machine.blocks[b].successors)
    exits += sum(i.traits.is_exit for i in code)
    conditions = len({i.guard.register for i in code if i.guard and (_is_load(i) or _is_store(i))})
    body = max(1, sum(map(_size, code)) - OVERHEAD + conditions)
    return LoopShape(
        body=body,
        saved=OVERHEAD + _indices(code, counter, known) + saved_inside,
        executed=body + OVERHEAD + saved_inside,
        count=counter.tests,
        is_one_block=len(loop.blocks) == 1,
        tests_last=exits == 1 and loop.latches == (counter.block,),
        shared_loads=sum(_is_load(i) and "shared" in i.modifiers for i in code),
        slow_loads=sum(map(_is_slow_load, code)),
    )


def _size(instruction: Instruction) -> int:
    """Machine instructions: two for an integer instruction of 64 bits other than a multiply-add."""
    types = instruction.types
    wide = instruction.opcode in WIDE and types and types[-1].is_integer and types[-1].bits == 64
    return 2 if wide else 1


def _code(kernel: Kernel, loop: Loop) -> Iterator[Instruction]:
    for index in sorted(loop.blocks):
        yield from kernel.blocks[index].instructions


def _prevents(instruction: Instruction) -> bool:
    """Whether `ptxas` unrolls no loop with it: threads of a warp meet there, or it orders memory, or calls code."""
    traits = instruction.traits
    if traits.is_warp_wide or traits.reunites_lanes or traits.is_fence:
        return True
    if traits.is_call or traits.is_indirect or traits.is_service:
        return True
    if not traits.calls_subroutine or not instruction.types:
        return False
    kind = instruction.types[-1]
    return not ROUNDED.isdisjoint(instruction.modifiers) if kind.is_float else kind.bits == 64


def _indices(code: list[Instruction], counter: Counter, values: frozenset[str]) -> int:
    """Instructions that a known counter, and other registers of known ``values``, make constants or offsets of
    addresses.  A conversion between integers and numbers counts twice."""
    written = {r.name for i in code for r in i.defined}
    bases = {o.base.name for i in code for o in i.operands if isinstance(o, Address) and isinstance(o.base, Register)}
    known, count = {counter.register.name, *values}, 0
    for instruction in code:
        names = {r.name for r in instruction.used}
        if instruction.opcode not in FOLDED or instruction.guard or not names & known or not instruction.defined:
            continue
        result = instruction.defined[0].name
        free = all((isinstance(o, Register) and o.name in known) or is_constant(o) for o in instruction.sources)
        offset = instruction.opcode in INDEXING and result in bases and not (names - known) & written
        if result != counter.register.name and (free or offset):
            known.add(result)
            count += 2 if _is_slow_conversion(instruction) else 1
    return count


def _is_slow_conversion(instruction: Instruction) -> bool:
    types = instruction.types
    return instruction.opcode == "cvt" and len(types) == 2 and types[0].is_float != types[1].is_float
