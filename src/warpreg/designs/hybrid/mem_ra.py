"""Memory contention-aware register allocation: warps that will stall anyway use slow registers (hybrid CMOS-TFET, §3).

The register file has 400 CMOS vectors and 112 TFET vectors, whose accesses take two cycles at 0.3 V.  A renaming stage
gives each destination a vector and releases it after the last read by all threads.  When a memory access of a warp ends
late, Equation 1 predicts that the next one will too; until as many cycles are absorbed, results of the warp other than
those of loads go to TFET vectors.  Where a list of free vectors is empty, the other one stands in; they cannot both be
(`warpreg.designs.parts.hybrid.vectors` proves it).  CMOS vectors beyond their share of the registers that warps may
claim are gated.

The instruction after a control instruction waits for the renaming stage; others do not (section 3.2).

Where the text is silent:
- a register whose old vector is still read, or holds lanes that the instruction does not write, keeps its vector if
  there is no room for two; else the lanes are read from the old vector and written with the others;
- a destination that finds no TFET vector takes a CMOS one, and the counter stays;
- a TFET vector that a load or a warp without predicted stall had to take also absorbs two cycles;
- registers that may be claimed are those of the most warps that were resident so far;
- sampling and overlapping accesses: `warpreg.designs.parts.hybrid.prediction`.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.designs.interface import Program, Residency
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.hybrid.hooks import (
    admit,
    block_start,
    collected,
    memory_issued,
    memory_returned,
    plan_reads,
    plan_write,
    produced,
    warp_end,
    warp_start,
)
from warpreg.designs.parts.hybrid.hybrid_declaration import declaration, divided, structures
from warpreg.designs.parts.hybrid.hybrid_declaration import predicting_hardware as hardware
from warpreg.designs.parts.hybrid.parts import (
    checked_residency,
    tfet_parameter,
)
from warpreg.designs.parts.hybrid.renaming import Predicting, hints
from warpreg.designs.parts.hybrid.state import State
from warpreg.gpu.machine import Machine

__all__ = [
    "admit", "block_start", "collected", "compile", "hardware", "hints", "memory_issued", "memory_returned",
    "plan_reads", "plan_write", "produced", "structures", "warp_end", "warp_start",
]  # fmt: skip

DESIGN = declaration("tfet §3.2, §3.3")


@dataclass(frozen=True)
class Parameters(Predicting):
    """And the division of the register file."""

    tfet: int = tfet_parameter()


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file.  Raises DesignError for a reference that is no power of two."""
    return checked_residency("mem-ra", parameters, program, machine, parameters.tfet)


def init(parameters: Parameters, program: Program) -> State:
    """An SM without warps."""
    return divided(program, parameters, parameters.tfet)
