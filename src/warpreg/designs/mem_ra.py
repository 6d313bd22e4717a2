"""Memory contention-aware register allocation: warps that will stall anyway use slow registers (hybrid CMOS-TFET, §3).

The register file has 400 CMOS vectors and 112 TFET vectors, whose accesses take two cycles at 0.3 V.  A renaming stage
gives each destination a vector and releases it after the last read by all threads.  When a memory access of a warp ends
late, Equation 1 predicts that the next one will too; until as many cycles are absorbed, results of the warp other than
those of loads go to TFET vectors.  Where a list of free vectors is empty, the other one stands in; they cannot both be
(`warpreg.designs.hybrid.vectors` proves it).  CMOS vectors beyond their share of the registers that warps may claim are
gated.

The instruction after a control instruction waits for the renaming stage; others do not (section 3.2).

Where the text is silent:
- a register whose old vector is still read, or holds lanes that the instruction does not write, keeps its vector if
  there is no room for two; else the lanes are read from the old vector and written with the others;
- a destination that finds no TFET vector takes a CMOS one, and the counter stays;
- a TFET vector that a load or a warp without predicted stall had to take also absorbs two cycles;
- registers that may be claimed are those of the most warps that were resident so far;
- sampling and overlapping accesses: `warpreg.designs.hybrid.prediction`.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.errors import DesignError
from warpreg.designs.hints.partial_results import partial_flags
from warpreg.designs.hybrid.events import EVENTS, RESOURCES
from warpreg.designs.hybrid.hooks import (
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
from warpreg.designs.hybrid.parts import (
    LEVELS,
    banks_parameter,
    checked_residency,
    cycles_parameter,
    gate_parameter,
    prediction_unit,
    refill_parameter,
    release_parameter,
    renaming_stage,
    stage_parameter,
    storage,
    tfet_parameter,
    vectors_parameter,
)
from warpreg.designs.hybrid.prediction import SCOPES
from warpreg.designs.hybrid.state import State, hybrid
from warpreg.designs.hybrid.vectors import SCALED
from warpreg.designs.interface import Declaration, Logic, Program, Residency, Structure, Table, parameter
from warpreg.designs.renaming.hints import RenamingHints, renaming_hints
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = [
    "admit", "block_start", "collected", "memory_issued", "memory_returned", "plan_reads", "plan_write", "produced",
    "warp_end", "warp_start",
]  # fmt: skip

DESIGN = Declaration(
    slot="mapping", source="tfet §3.2, §3.3", order="sm", levels=LEVELS, main=LEVELS, events=EVENTS, resources=RESOURCES
)


@dataclass(frozen=True)
class Parameters:
    """Sizes of the register file, times, and the prediction."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    vectors: int = vectors_parameter()
    tfet: int = tfet_parameter()
    banks: int = banks_parameter()
    cycles: int = cycles_parameter()
    stage: int = stage_parameter()
    refill: int = refill_parameter()
    release: bool = release_parameter()
    gate_free: bool = gate_parameter()
    threshold: int = parameter(
        10, unit="cycles", low=0, high=2047, source="tfet §3.2: an access under perfect memory, thr_acc"
    )
    reference: int = parameter(
        128,
        unit="cycles",
        low=1,
        high=2048,
        source="tfet §3.3: ref_acc, a power of two so that the division is a shift",
    )
    period: int = parameter(
        1024,
        unit="cycles",
        low=1,
        high=1 << 20,
        source="assumed: latencies are sampled periodically (§3.2), period unknown",
    )
    scope: str = parameter("SM", choices=SCOPES, source="assumed: §3.2 does not say whose latency is sampled")


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file.  Raises DesignError for a reference that is no power of two."""
    if parameters.reference & parameters.reference - 1:
        raise DesignError(f"mem-ra: reference expects a power of two (a shift divides), found {parameters.reference}")
    return checked_residency("mem-ra", parameters, program, machine, parameters.tfet)


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
        gating=SCALED,
        cycles=parameters.cycles,
        stage=parameters.stage,
        refill=parameters.refill,
        frees=parameters.release,
        gates_free=parameters.gate_free,
        predicts=parameters.enabled,
        threshold=parameters.threshold,
        shift=parameters.reference.bit_length() - 1,
        period=parameters.period,
        scope=SCOPES.index(parameters.scope),
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """CMOS and TFET vectors, gated."""
    tfet = min(parameters.tfet, parameters.vectors)
    return storage(parameters.vectors - tfet, tfet, enabled=parameters.enabled)


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming stage, counters and prediction."""
    if not parameters.enabled:
        return ()
    return (*renaming_stage(parameters.vectors, parameters.banks), prediction_unit())
