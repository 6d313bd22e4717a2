"""Where lanes of a warp may have parted, as the convergence barriers of machine code show it."""

from __future__ import annotations

from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel


def parted_blocks(kernel: Kernel) -> frozenset[int]:
    """The blocks that a path enters between ``BSSY`` and ``BSYNC`` of a barrier: ``ptxas`` puts these around code that
    not all lanes need execute together.  Empty for code of this compiler."""
    if not kernel.machine_code:
        return frozenset()
    opened: dict[int, frozenset[int]] = {0: frozenset()}
    pending = [0]
    while pending:
        block = kernel.blocks[pending.pop()]
        now = set(opened[block.index])
        for instruction in block.instructions:
            if instruction.opcode == "BSSY":
                now.add(_barrier(instruction))
            elif instruction.opcode == "BSYNC":
                now.discard(_barrier(instruction))
        for successor in block.successors:
            if successor not in opened or not now <= opened[successor]:
                opened[successor] = opened.get(successor, frozenset()) | now
                pending.append(successor)
    return frozenset(block for block, barriers in opened.items() if barriers)


def _barrier(instruction: Instruction) -> int:
    return next(r.index for o in instruction.operands for r in registers_of(o) if r.is_convergence_barrier)
