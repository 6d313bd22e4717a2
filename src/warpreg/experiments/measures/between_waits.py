"""How often a warp may have to wait for a long-latency result: where the two-level scheduler suspends it (ISCA 2011,
section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpreg.designs import program_table
from warpreg.experiments.runs.run import Run
from warpreg.experiments.studies.ratios import ratio


@dataclass(frozen=True, slots=True)
class InstructionsBetweenWaits:
    """The measure: warp-instructions over stretches, of which each warp has one more than it has waits."""

    def __call__(self, run: Run) -> float:
        instructions = stretches = 0.0
        for kernel in run.kernels:
            program, launches = program_table(kernel), run.launches_of(kernel)
            visits = np.stack([launch.block_visits for launch in launches]).sum(axis=0, dtype=np.float64)
            executed = np.repeat(visits, np.diff(program.first_pc))
            instructions += float(executed.sum())
            stretches += float(executed[np.asarray(program.suspends, bool)].sum())
            stretches += sum(launch.warps for launch in launches)
        return ratio(instructions, stretches)
