"""Dynamic strand length: instructions that a warp runs in a strand before another begins (CASES 2018, Figure 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.first_dependence import FirstDependenceRules
from warpreg.analysis.strands import Strands, strands
from warpreg.designs import program_table
from warpreg.evaluation.runs.run import Run


@dataclass(frozen=True, slots=True)
class StrandLength:
    """The measure with that paper's strands: warp-instructions per started strand; 0 if nothing ran."""

    def __call__(self, run: Run) -> float:
        instructions = begun = 0.0
        for kernel in run.kernels:
            long_latency = [bool(one) for one in program_table(kernel).long_latency]
            found = strands(kernel, FirstDependenceRules(), long_latency)
            visits = np.stack([launch.block_visits for launch in run.launches_of(kernel)]).sum(axis=0, dtype=np.float64)
            ran, entered = dynamic(found, visits)
            instructions += ran
            begun += entered
        return instructions / begun if begun else 0.0


def dynamic(strands: Strands, visits: NDArray[np.float64]) -> tuple[float, float]:
    """Instructions run in strands, and strands started, given ``visits[b]`` visits of block b by warps.

    A strand has one entry, to which control does not return from inside it.
    """
    instructions = sum(
        len(segment.pcs) * float(visits[segment.block]) for strand in strands.strands for segment in strand.segments
    )
    return instructions, sum(float(visits[strand.segments[0].block]) for strand in strands.strands if strand.pcs)
