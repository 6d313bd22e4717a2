"""Which values are read again before something happens: hints for caches that look ahead in the code.

Backward may-analyses over the threads' control flow.  Lanes that wait on the other side of a branch are not looked at,
so a hint can be wrong in divergent code; what relies on it stays correct, because a value always has a home.
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
    """Per source and per result: after the instruction nothing reads the value before the warp may next suspend.

    ISCA 2011, section 5.3.  The warp suspends before it reads the operands of an instruction that ``suspends``.
    """
    reads, kills = operand_bits(program)
    after = reads_after(kernel, reads, kills, program.suspends)
    sources, results = [], []
    for pc, needed in enumerate(after):
        sources += [not (needed & ~kills[pc]) >> register & 1 for register in _sources(program, pc)]
        results += [not needed >> register & 1 for register in _results(program, pc)]
    return np.array(sources, np.uint8), np.array(results, np.uint8)


def shared_reader_flags(program: Program, kernel: Kernel) -> Flags:
    """Per result: the shared datapath may read the value before it is surely overwritten."""
    reads, kills = operand_bits(program)
    shared = [bits if datapath == SHARED else 0 for bits, datapath in zip(reads, program.datapath, strict=True)]
    after = reads_after(kernel, shared, kills, np.zeros_like(program.suspends))
    flags = [after[pc] >> register & 1 for pc in range(len(after)) for register in _results(program, pc)]
    return np.array(flags, np.uint8)


def brief_flags(program: Program) -> Flags:
    """Per result: the next instruction of its block reads the value, for the last time."""
    flags = []
    ends = set(program.first_pc.tolist())
    for pc in range(program.guarded.size):
        dying = set() if pc + 1 in ends else _dying(program, pc + 1)
        flags += [register in dying for register in _results(program, pc)]
    return np.array(flags, np.uint8)


def backward_flags(kernel: Kernel) -> Flags:
    """Per pc, whether it ends a block from which control may go back, to the block itself or one before."""
    flags = np.zeros(kernel.first_pcs()[-1], np.uint8)
    for block, end in zip(kernel.blocks, kernel.first_pcs()[1:], strict=True):
        if block.instructions and any(successor <= block.index for successor in block.successors):
            flags[end - 1] = 1
    return flags


def reads_after(kernel: Kernel, reads: Sequence[int], kills: Sequence[int], stops: Flags) -> list[int]:
    """Per pc, the registers that may be read after it, as bit sets.

    ``reads`` are those that instructions read, ``kills`` those whose value they end; looking ahead ends before an
    instruction that ``stops``.
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
    """Per pc, the registers that it reads and those that it surely overwrites, as bit sets."""
    pcs = range(program.guarded.size)
    reads = [_bits(_sources(program, pc)) for pc in pcs]
    kills = [0 if program.guarded[pc] else _bits(_results(program, pc)) for pc in pcs]
    return reads, kills


def _sources(program: Program, pc: int) -> list[int]:
    registers: list[int] = program.source[program.source_start[pc] : program.source_start[pc + 1]].tolist()
    return registers


def _dying(program: Program, pc: int) -> set[int]:
    """Registers whose value an instruction reads for the last time."""
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
