"""The two instructions of RegMutex, and the instructions at which a warp may wait for another one.

Acquire and release are decoded like a barrier (thesis §4.3.2): they have no operands in registers, take an issue slot
of the control pipe, and the next instruction is fetched after them.  In code they are ``setmaxnreg.inc`` and
``setmaxnreg.dec``, which PTX has for the same purpose: the warp then has that many registers.  Those of a program have
a location, inserted ones have none.
"""

from __future__ import annotations

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.loops import loops
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Immediate
from warpreg.sass.isa import opcodes as sass
from warpreg.simt.kernel.polling import waits

NOTHING, ACQUIRE, RELEASE = range(3)


def acquire(registers: int) -> Instruction:
    """Wait for a section; then the warp has so many registers."""
    return Instruction("setmaxnreg", ("inc", "sync", "aligned", "u32"), (Immediate(registers),))


def release(registers: int) -> Instruction:
    """Give the section back; then the warp has so many registers."""
    return Instruction("setmaxnreg", ("dec", "sync", "aligned", "u32"), (Immediate(registers),))


def action_of(instruction: Instruction) -> int:
    """ACQUIRE or RELEASE for an inserted instruction, else NOTHING."""
    if instruction.opcode != "setmaxnreg" or instruction.location is not None:
        return NOTHING
    return ACQUIRE if "inc" in instruction.modifiers else RELEASE


@cached_analysis
def waiting_points(kernel: Kernel) -> frozenset[int]:
    """The pcs at which a warp may wait until another warp goes on.

    Barriers, also those in memory; loads that poll; and the atomics of locks, which are repeated until another warp has
    stored: ``exch``, and ``cas`` that compares with a constant, in a loop.  A ``cas`` with the value that was read
    before fails only if another warp has succeeded, so it waits for nobody.  In SASS, all of these atomics count that
    are repeated, and all repeated loads of the memory's newest value (``STRONG``).
    """
    forest, is_cooperative, pcs = loops(kernel), kernel.is_cooperative, set()
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        is_repeated = forest.depth(block.index) > 0
        for position, instruction in enumerate(block.instructions):
            may_wait = _is_barrier(instruction) or waits(instruction, is_cooperative)
            if may_wait or (is_repeated and _may_lock(instruction)):
                pcs.add(first + position)
    return frozenset(pcs)


def ends_block(block: Block) -> bool:
    """Whether nothing can be inserted behind the last instruction of a block: a branch, an exit, or a stop."""
    if not block.instructions:
        return False
    last = block.instructions[-1]
    return sass.find(last.opcode).flow != "" if sass.is_sass(last) else block.terminator is not None


def _is_barrier(instruction: Instruction) -> bool:
    if sass.is_sass(instruction):
        return sass.find(instruction.opcode).flow == "barrier"
    return instruction.traits.is_barrier and "warp" not in instruction.modifiers


def _may_lock(instruction: Instruction) -> bool:
    modifiers = instruction.modifiers
    if sass.is_sass(instruction):
        kind = sass.find(instruction.opcode).action
        return ("STRONG" in modifiers and kind == "load") or not {"CAS", "EXCH"}.isdisjoint(modifiers)
    if not instruction.traits.returns_old:
        return False
    compared = instruction.sources[1:2]
    is_constant = bool(compared) and isinstance(compared[0], Immediate)
    return "exch" in modifiers or ("cas" in modifiers and is_constant)
