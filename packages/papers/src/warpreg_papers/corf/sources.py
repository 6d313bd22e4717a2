"""Measures of the code alone: source registers of instructions, and the growth of the code by metadata instructions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import Program, load, program_table
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.studies.ratios import ratio


@dataclass(frozen=True, slots=True)
class Sources:
    """Warp-instructions of a run and the registers that they read; ``multiple``: those that read two or more."""

    instructions: float = 0.0
    reads: float = 0.0
    multiple: float = 0.0
    reads_of_multiple: float = 0.0


@dataclass(frozen=True, slots=True)
class SourceRegisters:
    """The measure (thesis of 2021, section 2.3), over all launches of the run.

    A register is 32 bits of a lane.  One that an instruction names twice counts once towards "two or more", and is read
    twice.
    """

    def __call__(self, run: Run) -> Sources:
        total = np.zeros(4)
        for kernel in run.kernels:
            program = program_table(kernel)
            visits = np.stack([launch.block_visits for launch in run.launches_of(kernel)]).sum(axis=0, dtype=np.float64)
            issued = np.repeat(visits, np.diff(program.first_pc))
            reads, several = np.diff(program.source_start), distinct_sources(program) >= 2
            total += [issued.sum(), issued @ reads, issued @ several, issued @ (reads * several)]
        return Sources(*map(float, total))


def distinct_sources(program: Program) -> NDArray[np.int64]:
    """By pc: how many different registers the instruction reads."""
    ends = zip(program.source_start[:-1], program.source_start[1:], strict=True)
    return np.array([len(set(program.source[first:end].tolist())) for first, end in ends], np.int64)


@dataclass(frozen=True, slots=True)
class CodeGrowth:
    """The measure: instructions that a design inserts, of those of the kernels, all of one size (section 2.8)."""

    variant: Variant

    def __call__(self, run: Run) -> float:
        design = load(self.variant.design)
        parameters = design.configure(**dict(self.variant.values))
        before = sum(kernel.instruction_count for kernel in run.kernels)
        after = sum(design.rewrite(kernel, parameters).instruction_count for kernel in run.kernels)
        return ratio(after - before, before)
