"""Marks each exit of a loop by an instruction, where a design could release what the loop has held.

The instruction has no operands; it is fetched and issued.  Lanes that leave a loop at different times pass the same
exit, so the code stands on the edge and not in the block behind it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate

DESIGN = w.Declaration(slot="mapping", order="static", events=("exits",), source="assumed: an example")
EXITS = 0
MARK = Instruction("pmevent", (), (Immediate(0),))


class Hints(NamedTuple):
    """By pc: whether it is a mark."""

    marks: NDArray[np.bool_]


def rewrite(kernel: Kernel, parameters: w.NoParameters, analysis: w.Analysis) -> Kernel:
    """The kernel with a mark on each edge that leaves a loop."""
    exits = {
        (block, successor)
        for loop in analysis.loops.loops
        for block in loop.blocks
        for successor in analysis.successors[block]
        if successor not in loop.blocks
    }
    return w.on_edges(kernel, {edge: [MARK] for edge in exits})


def hints(program: w.Program, parameters: w.NoParameters, analysis: w.Analysis) -> Hints:
    """The marks."""
    return Hints(np.array([instruction == MARK for instruction in analysis.kernel.instructions()], np.bool_))


@w.hook
def issued(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    if program.hints.marks[pc]:
        w.count(plan, EXITS)
