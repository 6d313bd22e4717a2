"""Figure 4.1 of the thesis: the share of a thread's allocated registers that are live, over the instructions it runs.

A register is live at an instruction if its value is read later (section 4.2).  `compiled_share` says so by instruction
of the code, as the compiler does, for all lanes of a warp.  `path_share` follows the path of one thread, whose later
reads are known; only guards are not, so a guarded write ends no value and a guarded read needs one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.accesses import accesses, bit_set
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.ir.kernel import Kernel
from warpreg.trace.path import RecordedPath, visits

Shares = NDArray[np.float64]


def compiled_share(kernel: Kernel, allocated: int) -> Shares:
    """By pc: registers that some lane of the warp may still read before the instruction, of ``allocated`` ones."""
    analysis = Analysis(kernel)
    live = analysis.live_before | analysis.waiting[analysis.block_of]
    return np.asarray(live.sum(axis=1) / allocated, np.float64)


def thread_path(trace: RecordedPath, kernel: Kernel, thread_block: int = 0, warp: int = 0, lane: int = 0) -> list[int]:
    """The pcs that a thread of a recorded launch executed, in order."""
    first = kernel.first_pcs()
    path: list[int] = []
    for visit in visits(trace.path_chunks()):
        if visit.thread_block > thread_block:
            break
        if (visit.thread_block, visit.warp) == (thread_block, warp) and visit.mask >> lane & 1:
            path += range(first[visit.block], first[visit.block + 1])
    return path


def path_share(kernel: Kernel, path: Sequence[int], allocated: int) -> Shares:
    """By position in the path of a thread: registers that it still reads, of ``allocated`` ones."""
    table = accesses(kernel)
    is_register = [name[0] == "R" for name in table.cells.names]
    reads = [bit_set(cell for cell in row if is_register[cell]) for row in table.read]
    writes = [bit_set(cell for cell in row if is_register[cell]) for row in table.written]
    counts = np.zeros(len(path), np.int64)
    live = 0
    for position in range(len(path) - 1, -1, -1):
        pc = path[position]
        if table.guards[pc] is None:
            live &= ~writes[pc]
        live |= reads[pc]
        counts[position] = live.bit_count()
    return counts / allocated
