"""Time launches of a kernel and sum what warps wait for by instruction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.counting.capacity import RecordedLaunch
from warpreg.designs import Design
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.timing.core.columns import causes
from warpreg.timing.errors import TimingError
from warpreg.timing.launch.simulate import timed
from warpreg.timing.memory.between_launches import SecondLevelState
from warpreg.timing.tracing.wait_recorder import WaitRecorder


def waits_by_pc(
    launches: Sequence[RecordedLaunch],
    machine: Machine,
    *,
    designs: Sequence[Design | str] | ConfiguredDesign = (),
    registers: int | None = None,
    mode: Mode = "compiled",
) -> tuple[Kernel, NDArray[np.int64]]:
    """The code that ran, and int64[instructions, causes]: the cycles of each cause that ended with the issue of the
    instruction, over all warps and launches, which must be of one kernel.

    The other parameters, and what is raised, are those of `warpreg.timing.simulate`.
    """
    if not launches:
        raise TimingError("nothing to time: no launch")
    chosen, between = ConfiguredDesign.of(designs, {}), SecondLevelState()
    sums: list[NDArray[np.int64]] = []
    for launch in launches:
        recorder = WaitRecorder()
        run = timed(launch, machine, chosen, registers, mode=mode, between=between, recorder=recorder)
        sums.append(recorder.waits(run.engine.kernel.instruction_count))
    return run.engine.kernel, np.sum(sums, axis=0).reshape(-1, causes.COUNT)
