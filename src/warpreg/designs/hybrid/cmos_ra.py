"""CMOS registers first: the hybrid register file of MEM_RA without prediction (hybrid CMOS-TFET, section 4.2).

A destination gets a CMOS vector as long as one is free, else a TFET vector, whose accesses take two cycles.  Renaming,
release, gating and their costs are those of ``mem-ra``: section 4.2 integrates the power gating technique, which is
that of section 3.3.  So a destination may get a TFET vector also where a kernel needs less than 12.5K registers.
``tfet=0`` is a CMOS register file with the renaming stage alone.

Where the text is silent: as in ``mem-ra``, apart from the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.designs.interface import Program, Residency
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.hybrid.hooks import (
    admit,
    block_start,
    collected,
    plan_reads,
    plan_write,
    produced,
    warp_end,
    warp_start,
)
from warpreg.designs.parts.hybrid.hybrid_declaration import declaration, divided, structures
from warpreg.designs.parts.hybrid.hybrid_declaration import renaming_hardware as hardware
from warpreg.designs.parts.hybrid.parts import (
    checked_residency,
    tfet_parameter,
)
from warpreg.designs.parts.hybrid.renaming import Renaming, hints
from warpreg.designs.parts.hybrid.state import State
from warpreg.gpu.machine import Machine

__all__ = [
    "admit", "block_start", "collected", "compile", "hardware", "hints", "plan_reads", "plan_write", "produced",
    "structures", "warp_end", "warp_start",
]  # fmt: skip

DESIGN = declaration("tfet §4.2")


@dataclass(frozen=True)
class Parameters(Renaming):
    """And the division of the register file."""

    tfet: int = tfet_parameter()


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("cmos-ra", parameters, program, machine, parameters.tfet)


def init(parameters: Parameters, program: Program) -> State:
    """An SM without warps."""
    return divided(program, parameters, parameters.tfet)
