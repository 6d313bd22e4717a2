"""Live registers along the path of a sample thread, of those that it allocates (Figure 4.1).

A register is live if its value is used later (§4.2).  The figure shows this twice: as the compiler knows it (§4.3.1),
where registers that lanes on the other side of a branch may need count, and for the thread alone, whose later reads are
known.  The thread is the one that executes the most instructions in the first thread blocks of a kernel's largest
launch.  Instructions are grouped into equal parts of the path, each with its mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.accesses import accesses, bit_set
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.evaluation.runs.run import Run
from warpreg.ir.kernel import Kernel
from warpreg.simt import Launch
from warpreg.trace.path import Visit, visits
from warpreg_papers.regmutex.codes import PRINTED, Code, with_code
from warpreg_papers.regmutex.kernels import LIVE, TABLE

PARTS = 100
THREAD_BLOCKS = 4
LANES = 32
COMPILER, THREAD = "any lane of the warp may read it", "the thread reads it"
Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LiveRegisters:
    """The measure: by kind of liveness and part of the path, the share of live registers; None for a kernel that the
    figure lacks.
    """

    code: Code = PRINTED

    def __call__(self, run: Run) -> Mapping[str, Sequence[float]] | None:
        if run.name not in LIVE:
            return None
        own = with_code(run, self.code)
        kernel = next(one for one in own.kernels if one.name == TABLE[run.name].kernel)
        launch = max(own.launches_of(kernel), key=lambda one: int(one.warp_instructions))
        path = path_of(launch, kernel)
        return {
            COMPILER: parts(compiled_share(kernel, kernel.register_demand)[path]),
            THREAD: parts(path_share(kernel, path, kernel.register_demand)),
        }


def compiled_share(kernel: Kernel, allocated: int) -> Shares:
    """By pc: registers that some lane of the warp may still read before the instruction, of ``allocated`` ones."""
    analysis = Analysis(kernel)
    live = analysis.live_before | analysis.waiting[analysis.block_of]
    return np.asarray(live.sum(axis=1) / allocated, np.float64)


def path_share(kernel: Kernel, path: Sequence[int], allocated: int) -> Shares:
    """By position in the path of a thread: registers that it still reads, of ``allocated`` ones.

    Its guards are not recorded, so a guarded write ends no value and a guarded read needs one.
    """
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


def path_of(launch: Launch, kernel: Kernel) -> list[int]:
    """The pcs that the sample thread executes, in order."""
    assert launch.trace is not None
    return longest_path(visits(launch.trace.path_chunks()), kernel)


def longest_path(path: Iterable[Visit], kernel: Kernel) -> list[int]:
    """The pcs of the first thread that executes the most of all in `THREAD_BLOCKS` thread blocks."""
    first = kernel.first_pcs()
    taken: dict[tuple[int, int], list[Visit]] = defaultdict(list)
    seen: set[int] = set()
    for visit in path:
        seen.add(visit.thread_block)
        if len(seen) > THREAD_BLOCKS:
            break
        taken[visit.thread_block, visit.warp].append(visit)
    longest: list[int] = []
    for own in taken.values():
        masks = np.array([visit.mask for visit in own], np.uint64)
        sizes = np.array([first[visit.block + 1] - first[visit.block] for visit in own])
        executed = [int(sizes[(masks >> np.uint64(lane) & np.uint64(1)) > 0].sum()) for lane in range(LANES)]
        lane = int(np.argmax(executed))
        if executed[lane] > len(longest):
            blocks = [visit.block for visit in own if visit.mask >> lane & 1]
            longest = [pc for block in blocks for pc in range(first[block], first[block + 1])]
    return longest


def parts(values: NDArray[np.float64]) -> list[float]:
    """Means of `PARTS` equal parts; of fewer values, the values."""
    return [float(part.mean()) for part in np.array_split(values, min(PARTS, values.size))]
