"""CMOS registers first: the hybrid register file of MEM_RA without prediction (hybrid CMOS-TFET, section 4.2).

A destination gets a CMOS vector as long as one is free, else a TFET vector, whose accesses take two cycles.  Renaming,
release and their costs are those of ``mem-ra``.  CMOS vectors that the resident warps cannot claim are gated: section
4.2 finds no loss where a kernel needs less than 12.5K registers, so that the demand is not scaled down here.
``tfet=0`` is a CMOS register file with the renaming stage alone.

Where the text is silent: as in ``mem-ra``, apart from the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.hints.partial_results import partial_flags
from warpreg.designs.hybrid.events import EVENTS, RESOURCES
from warpreg.designs.hybrid.hooks import (
    admit,
    block_start,
    collected,
    plan_reads,
    plan_write,
    produced,
    warp_end,
    warp_start,
)
from warpreg.designs.hybrid.parts import (
    LEVELS,
    banks_parameter,
    checked_residency,
    cycles_parameter,
    gate_parameter,
    refill_parameter,
    release_parameter,
    renaming_stage,
    stage_parameter,
    storage,
    tfet_parameter,
    vectors_parameter,
)
from warpreg.designs.hybrid.state import State, hybrid
from warpreg.designs.hybrid.vectors import BY_DEMAND
from warpreg.designs.interface import Declaration, Logic, Program, Residency, Structure, Table, parameter
from warpreg.designs.renaming.hints import RenamingHints, renaming_hints
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = [
    "admit", "block_start", "collected", "plan_reads", "plan_write", "produced", "warp_end", "warp_start",
]  # fmt: skip

DESIGN = Declaration(
    slot="mapping", source="tfet §4.2", order="sm", levels=LEVELS, main=LEVELS, events=EVENTS, resources=RESOURCES
)


@dataclass(frozen=True)
class Parameters:
    """Sizes of the register file, and times."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    vectors: int = vectors_parameter()
    tfet: int = tfet_parameter()
    banks: int = banks_parameter()
    cycles: int = cycles_parameter()
    stage: int = stage_parameter()
    refill: int = refill_parameter()
    release: bool = release_parameter()
    gate_free: bool = gate_parameter()


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("cmos-ra", parameters, program, machine, parameters.tfet)


def compile(program: Program, parameters: Parameters, kernel: Kernel) -> Program:
    """Which writes may leave old lanes."""
    return program._replace(result_partial=partial_flags(kernel))


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> RenamingHints:
    """Where registers are dead."""
    return renaming_hints(program, analysis, parameters.release)


def init(parameters: Parameters, program: Program) -> State:
    """An SM without warps."""
    return hybrid(
        program,
        enabled=parameters.enabled,
        banks=parameters.banks,
        vectors=parameters.vectors,
        tfet=min(parameters.tfet, parameters.vectors),
        gating=BY_DEMAND,
        cycles=parameters.cycles,
        stage=parameters.stage,
        refill=parameters.refill,
        frees=parameters.release,
        gates_free=parameters.gate_free,
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """CMOS and TFET vectors, gated."""
    tfet = min(parameters.tfet, parameters.vectors)
    return storage(parameters.vectors - tfet, tfet, enabled=parameters.enabled)


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming stage."""
    if not parameters.enabled:
        return ()
    return renaming_stage(parameters.vectors, parameters.banks)
