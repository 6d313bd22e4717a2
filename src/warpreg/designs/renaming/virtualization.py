"""Register virtualization: a physical register only from the first write to the last read (thesis of 2021, §2.4.3).

A table by warp and register names the physical register of each value that may still be read.  The compiler marks where
a register is dead; the hardware then frees its physical register, and a later write gets another one, the first that is
free (Jeon et al., MICRO 2015, as the thesis combines it with packing).  Physical registers that hold nothing are gated.

A register is dead, for all lanes of its warp,
- when the collector has read a source that the compiler marks as the last read on every path;
- at the start of a block, if a lane at the end of an earlier block still needed it and none needs it here: what only
  the other side of a branch reads, and what is read last in code that may be divergent;
- at once, if nothing reads a result; it is written all the same.

The marks cost no instructions here: the text speaks of almost no overhead (section 2.4.3).

Where the text is silent:
- lanes that wait on the other side of a branch keep a register alive for the whole warp;
- a write under a guard or in divergent code goes to the register's place.  If it has to move, the old place is read for
  the other lanes;
- wide operands, sources that are read late, undefined sources, barriers, calls and ends of warps and kernels as in
  ``packing``.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Declaration, Logic, Program, Residency, Table
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.renaming.events import EVENTS, RESOURCES
from warpreg.designs.parts.renaming.hints import RenamingHints, renaming_hints
from warpreg.designs.parts.renaming.hooks import collected, plan_reads, produced, warp_end, warp_start
from warpreg.designs.parts.renaming.parts import RenamedFile, added_hardware, checked_residency, structures
from warpreg.designs.parts.renaming.state import State, renaming
from warpreg.gpu.machine import Machine

__all__ = ["collected", "compile", "plan_reads", "produced", "structures", "warp_end", "warp_start"]

DESIGN = Declaration(slot="mapping", source="corf §2.4.3, §2.7", order="sm", events=EVENTS, resources=RESOURCES)


@dataclass(frozen=True)
class Parameters(RenamedFile):
    """Size of the register file."""


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("virtualization", parameters, program, machine)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> RenamingHints:
    """Where registers are dead."""
    return renaming_hints(program, analysis, frees=True)


def init(parameters: Parameters, program: Program) -> State:
    """An empty register file."""
    return renaming(program, parameters.physical, parameters.banks, enabled=parameters.enabled, packs=False, frees=True)


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming table, free map."""
    return added_hardware(parameters, coalesces=False)
