"""CMOS registers first: the hybrid register file of MEM_RA without prediction (hybrid CMOS-TFET, section 4.2).

A destination gets a CMOS vector as long as one is free, else a TFET vector, whose accesses take two cycles.  Renaming,
release, gating and their costs are those of ``mem-ra``: section 4.2 integrates the power gating technique, which is
that of section 3.3.  So a destination may get a TFET vector also where a kernel needs less than 12.5K registers.
``tfet=0`` is a CMOS register file with the renaming stage alone.

Where the text is silent: as in ``mem-ra``, apart from the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.designs.interface import Declaration, Logic, Program, Residency, Structure, Table
from warpreg.designs.parts.hybrid.events import EVENTS, RESOURCES
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
from warpreg.designs.parts.hybrid.parts import (
    LEVELS,
    checked_residency,
    renaming_stage,
    storage,
    tfet_parameter,
)
from warpreg.designs.parts.hybrid.renaming import Renaming, compile, hints
from warpreg.designs.parts.hybrid.state import State, hybrid
from warpreg.designs.parts.hybrid.vectors import SCALED
from warpreg.gpu.machine import Machine

__all__ = [
    "admit",
    "block_start",
    "collected",
    "compile",
    "hints",
    "plan_reads",
    "plan_write",
    "produced",
    "warp_end",
    "warp_start",
]

DESIGN = Declaration(
    slot="mapping", source="tfet §4.2", order="sm", levels=LEVELS, main=LEVELS, events=EVENTS, resources=RESOURCES
)


@dataclass(frozen=True)
class Parameters(Renaming):
    """And the division of the register file."""

    tfet: int = tfet_parameter()


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("cmos-ra", parameters, program, machine, parameters.tfet)


def init(parameters: Parameters, program: Program) -> State:
    """An SM without warps."""
    tfet = min(parameters.tfet, parameters.vectors)
    return hybrid(program, parameters, tfet=tfet, gating=SCALED)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """CMOS and TFET vectors, gated."""
    tfet = min(parameters.tfet, parameters.vectors)
    return storage(parameters.vectors - tfet, tfet, enabled=parameters.enabled)


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming stage."""
    if not parameters.enabled:
        return ()
    return renaming_stage(parameters.vectors, parameters.table_banks)
