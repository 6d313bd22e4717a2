"""Source registers of executed instructions: the occupancy of a plain operand collector (Figure 3.8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpreg.designs import program_table
from warpreg.evaluation.runs.run import Run

MOST = 3
"""Entries of a plain collector."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The measure: shares of executed instructions with 0, 1, 2, and 3 or more source registers.

    A source of 64 bits is two registers, each of which takes an entry.
    """

    def __call__(self, run: Run) -> tuple[float, ...]:
        executed = np.zeros(MOST + 1)
        for kernel in run.kernels:
            program = program_table(kernel)
            visits = np.stack([launch.block_visits for launch in run.launches_of(kernel)]).sum(axis=0, dtype=np.float64)
            times = np.repeat(visits, np.diff(program.first_pc))
            sources = np.minimum(np.diff(program.source_start), MOST)
            executed += np.bincount(sources, weights=times, minlength=MOST + 1)
        return tuple((executed / max(1.0, executed.sum())).tolist())
