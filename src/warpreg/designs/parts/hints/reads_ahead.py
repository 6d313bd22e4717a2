"""Which values are read again before a given event: hints for cache replacement and allocation.

Backward may-analyses over the threads' control flow.  They ignore inactive lanes of a divergent branch, so a hint can
be wrong there.  A wrong hint costs accesses, not correctness: the MRF or a cache always holds the value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cfg import control_flow
from warpreg.designs.interface.plan import SHARED
from warpreg.designs.interface.program import Program
from warpreg.ir.kernel import Kernel

Flags = NDArray[np.uint8]


def idle_flags(program: Program, kernel: Kernel) -> tuple[Flags, Flags]:
    """Per source and per result: no later instruction reads the value before the warp may next suspend.

    ISCA 2011, section 5.3.  The warp suspends before it reads the operands of an instruction with ``suspends`` set.
    """
    reads, kills = operand_bits(program)
    after = reads_after(kernel, reads, kills, program.suspends)
    sources, results = [], []
    for pc, needed in enumerate(after):
        sources += [not (needed & ~kills[pc]) >> register & 1 for register in _sources(program, pc)]
        results += [not needed >> register & 1 for register in _results(program, pc)]
    return np.array(sources, np.uint8), np.array(results, np.uint8)


def shared_reader_flags(program: Program, kernel: Kernel) -> Flags:
    """Per result: the shared datapath may read the value before it is overwritten on all paths."""
    reads, kills = operand_bits(program)
    shared = [bits if datapath == SHARED else 0 for bits, datapath in zip(reads, program.datapath, strict=True)]
    after = reads_after(kernel, shared, kills, np.zeros_like(program.suspends))
    flags = [after[pc] >> register & 1 for pc in range(len(after)) for register in _results(program, pc)]
    return np.array(flags, np.uint8)


def brief_flags(program: Program) -> Flags:
    """Per result: the next instruction of the same block is the value's last read."""
    flags = []
    ends = set(program.first_pc.tolist())
    for pc in range(program.guarded.size):
        dying = set() if pc + 1 in ends else _dying(program, pc + 1)
        flags += [register in dying for register in _results(program, pc)]
    return np.array(flags, np.uint8)


def backward_flags(kernel: Kernel) -> Flags:
    """Per pc, whether it ends a block with a backward branch (to the block itself or an earlier one)."""
    flags = np.zeros(kernel.first_pcs()[-1], np.uint8)
    for block, end in zip(kernel.blocks, kernel.first_pcs()[1:], strict=True):
        if block.instructions and any(successor <= block.index for successor in block.successors):
            flags[end - 1] = 1
    return flags


def reads_after(kernel: Kernel, reads: Sequence[int], kills: Sequence[int], stops: Flags) -> list[int]:
    """Per pc, the registers that may be read after it, as bit sets.

    ``reads`` and ``kills`` are the registers that each instruction reads and overwrites; the search stops before an
    instruction with ``stops`` set.
    """
    first = kernel.first_pcs()
    flow = control_flow(kernel)
    at_start = [0] * len(kernel.blocks)
    after = [0] * first[-1]
    waiting = set(range(len(kernel.blocks)))
    while waiting:
        block = waiting.pop()
        needed = 0
        for successor in flow.successors[block]:
            needed |= at_start[successor]
        for pc in reversed(range(first[block], first[block + 1])):
            after[pc] = needed
            needed = 0 if stops[pc] else needed & ~kills[pc] | reads[pc]
        if needed != at_start[block]:
            at_start[block] = needed
            waiting.update(flow.predecessors[block])
    return after


def operand_bits(program: Program) -> tuple[list[int], list[int]]:
    """Per pc, the registers that it reads and those that it overwrites in all lanes, as bit sets."""
    pcs = range(program.guarded.size)
    reads = [_bits(_sources(program, pc)) for pc in pcs]
    kills = [0 if program.guarded[pc] else _bits(_results(program, pc)) for pc in pcs]
    return reads, kills


def _sources(program: Program, pc: int) -> list[int]:
    registers: list[int] = program.source[program.source_start[pc] : program.source_start[pc + 1]].tolist()
    return registers


def _dying(program: Program, pc: int) -> set[int]:
    """Registers whose last read is this instruction."""
    first, end = program.source_start[pc], program.source_start[pc + 1]
    dying: set[int] = set(program.source[first:end][program.last_read[first:end] != 0].tolist())
    return dying


def _results(program: Program, pc: int) -> list[int]:
    registers: list[int] = program.result[program.result_start[pc] : program.result_start[pc + 1]].tolist()
    return registers


def _bits(registers: Sequence[int]) -> int:
    bits = 0
    for register in registers:
        bits |= 1 << register
    return bits
