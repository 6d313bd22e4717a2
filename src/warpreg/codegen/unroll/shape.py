"""Size and contents of a loop in machine instructions, as far as they determine its unroll factor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpreg.analysis.loops import Loop
from warpreg.codegen.machine.legality import is_constant
from warpreg.codegen.unroll.counters import Counter
from warpreg.codegen.unroll.factor import OVERHEAD, LoopShape
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import EXITS, SERVICES, Kernel
from warpreg.ir.operands import Address, Register

CONVERGENT = frozenset({"shfl", "vote", "match", "redux", "activemask", "elect", "barrier", "membar", "fence"})
"""Opcodes that synchronize threads of a warp or order memory; `ptxas` unrolls no loop with one."""
MEETING = frozenset({"atom", "red", "bar"})
CALLS = frozenset({"call", "brx"}) | SERVICES
SUBROUTINES = frozenset({"div", "rem", "rcp", "sqrt"})
ROUNDED = frozenset({"rn", "rz", "rm", "rp"})
INDEXING = frozenset({"add", "sub", "mul", "mad", "shl", "cvt"})
WIDE = frozenset({"add", "sub", "and", "or", "xor", "lop3", "shl", "shr", "selp", "setp", "min", "max", "mov", "neg"})
LOADS = frozenset({"ld", "ldu", "tex", "tld4", "suld"})
FAST_SPACES = frozenset({"const", "param"})


def is_unrollable(code: Iterable[Instruction]) -> bool:
    """Whether no instruction prevents unrolling."""
    return not any(map(_prevents, code))


def meets_threads(code: Iterable[Instruction]) -> bool:
    """Whether the code has an atomic operation or a barrier, which threads could reach in different copies."""
    return any(i.opcode in MEETING for i in code)


def shape_of(machine: Kernel, loop: Loop, counter: Counter, saved_inside: int) -> LoopShape:
    """The shape of a loop without inner loops; ``machine`` has machine instructions in the same blocks.

    ``saved_inside``: instructions per iteration that unrolling inner loops has saved.
    """
    code = list(_code(machine, loop))
    exits = sum(s not in loop.blocks for b in loop.blocks for s in machine.blocks[b].successors)
    exits += sum(i.opcode in EXITS for i in code)
    body = max(1, sum(map(_size, code)) - OVERHEAD)
    spaces = [set(i.modifiers) for i in code if i.opcode in LOADS]
    return LoopShape(
        body=body,
        saved=OVERHEAD + _indices(code, counter) + saved_inside,
        executed=body + OVERHEAD + saved_inside,
        count=counter.tests,
        is_one_block=len(loop.blocks) == 1,
        tests_last=exits == 1 and loop.latches == (counter.block,),
        shared_loads=sum("shared" in space for space in spaces),
        slow_loads=sum(not space & (FAST_SPACES | {"shared"}) for space in spaces),
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
    opcode, modifiers = instruction.opcode, set(instruction.modifiers)
    if opcode in CONVERGENT | CALLS or (opcode == "bar" and "warp" in modifiers):
        return True
    if opcode not in SUBROUTINES or not instruction.types:
        return False
    kind = instruction.types[-1]
    return bool(modifiers & ROUNDED) if kind.is_float else kind.bits == 64


def _indices(code: list[Instruction], counter: Counter) -> int:
    """Instructions that a known counter makes constants or offsets of addresses."""
    written = {r.name for i in code for r in i.defined}
    bases = {o.base.name for i in code for o in i.operands if isinstance(o, Address) and isinstance(o.base, Register)}
    known, count = {counter.register.name}, 0
    for instruction in code:
        names = {r.name for r in instruction.used}
        if instruction.opcode not in INDEXING or instruction.guard or not names & known or not instruction.defined:
            continue
        result = instruction.defined[0].name
        free = all((isinstance(o, Register) and o.name in known) or is_constant(o) for o in instruction.sources)
        offset = result in bases and not (names - known) & written
        if result != counter.register.name and (free or offset):
            known.add(result)
            count += 1
    return count
