"""Live registers along the path of a sample thread, of those that it allocates (Figure 4.1).

The thread is lane 0 of the first warp of a kernel's largest launch.  Liveness is that of §4.3.1: registers that lanes
on the other side of a branch may need count.  Instructions are grouped into equal parts of the path, each with its
mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.experiments.papers.regmutex.codes import PRINTED, Code, with_code
from warpreg.experiments.papers.regmutex.kernels import LIVE, TABLE
from warpreg.experiments.runs.run import Run
from warpreg.simt import Launch
from warpreg.trace.path import visits

PARTS = 100
LANE = 1


@dataclass(frozen=True, slots=True)
class LiveRegisters:
    """The measure: by part of the path, the share of live registers; None for a kernel that the figure lacks."""

    code: Code = PRINTED

    def __call__(self, run: Run) -> tuple[float, ...] | None:
        if run.name not in LIVE:
            return None
        own = with_code(run, self.code)
        kernel = next(one for one in own.kernels if one.name == TABLE[run.name].kernel)
        launch = max(own.launches_of(kernel), key=lambda one: int(one.warp_instructions))
        analysis = Analysis(kernel)
        live = analysis.live_before | analysis.waiting[analysis.block_of]
        first = kernel.first_pcs()
        counts = live.sum(axis=1) / kernel.register_demand
        return tuple(parts(np.concatenate([counts[first[b] : first[b + 1]] for b in path_of(launch)])))


def path_of(launch: Launch) -> Iterator[int]:
    """The basic blocks that lane 0 of the first warp executes."""
    assert launch.trace is not None
    begun = None
    for visit in visits(launch.trace.path_chunks()):
        begun = visit.thread_block if begun is None else begun
        if visit.thread_block != begun:
            return
        if visit.warp == 0 and visit.mask & LANE:
            yield visit.block


def parts(values: NDArray[np.float64]) -> list[float]:
    """Means of `PARTS` equal parts; of fewer values, the values."""
    return [float(part.mean()) for part in np.array_split(values, min(PARTS, values.size))]
