"""What a design decides about each instruction before the kernel runs: its hint columns, in words."""

from __future__ import annotations

import numpy as np

from warpreg import designs
from warpreg.designs.plan import SHARED
from warpreg.ir.kernel import Kernel


def placement_notes(kernel: Kernel, design_name: str) -> dict[int, str]:
    """By pc: datapath, waits for long-latency results, last reads, and the levels that the design's compile step chose.

    A design in hardware chooses no levels: which level serves an operand then depends on the path.
    """
    design = designs.load(design_name)
    program = design.compile(designs.program_table(kernel), design.configure())
    placed = bool(np.any(program.source_level)) or bool(np.any(program.result_level))
    notes: dict[int, str] = {}
    for pc in range(kernel.instruction_count):
        sources = range(int(program.source_start[pc]), int(program.source_start[pc + 1]))
        results = range(int(program.result_start[pc]), int(program.result_start[pc + 1]))
        words = ["shared datapath"] if program.datapath[pc] == SHARED else []
        words += ["may wait for memory"] if program.suspends[pc] else []
        dying = [f"R{program.source[i]}" for i in sources if program.last_read[i]]
        words += [f"last read of {', '.join(dict.fromkeys(dying))}"] if dying else []
        if placed:
            words += [f"R{program.source[i]} from {design.levels[program.source_level[i]]}" for i in sources]
            words += [f"R{program.result[i]} to {design.levels[program.result_level[i]]}" for i in results]
        words += ["strand ends"] if program.strand_end[pc] else []
        if words:
            notes[pc] = ", ".join(words)
    return notes
