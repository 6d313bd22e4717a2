"""MEM_RA with as many CMOS registers as it uses: the ideal size for each kernel (hybrid CMOS-TFET, section 4.2).

The register file has as many vectors of either technology as the plain one, so that a destination always gets the kind
that MEM_RA wants.  CMOS vectors are paid for as many as were in use at a time so far, the rest of the register file is
TFET.  A file with exactly that many CMOS vectors would behave alike; it only comes to be known while the kernel runs.
Everything else is as in ``mem-ra``, also where the text is silent.

Limits: an ideal, not an organisation that could be built.
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
    prediction_unit,
    refill_parameter,
    release_parameter,
    renaming_stage,
    stage_parameter,
    storage,
    vectors_parameter,
)
from warpreg.designs.hybrid.prediction import SCOPES
from warpreg.designs.hybrid.state import State, hybrid
from warpreg.designs.hybrid.vectors import UNLIMITED
from warpreg.designs.interface import Declaration, Logic, Program, Residency, Structure, Table, parameter
from warpreg.designs.renaming.hints import RenamingHints, renaming_hints
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = [
    "admit", "block_start", "collected", "memory_issued", "memory_returned", "plan_reads", "plan_write", "produced",
    "warp_end", "warp_start",
]  # fmt: skip

DESIGN = Declaration(
    slot="mapping", source="tfet §4.2", order="sm", levels=LEVELS, main=LEVELS, events=EVENTS, resources=RESOURCES
)


@dataclass(frozen=True)
class Parameters:
    """Sizes of the register file, times, and the prediction."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    vectors: int = vectors_parameter()
    banks: int = banks_parameter()
    cycles: int = cycles_parameter()
    stage: int = stage_parameter()
    refill: int = refill_parameter()
    release: bool = release_parameter()
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
        raise DesignError(
            f"ideal-mem-ra: reference expects a power of two (a shift divides), found {parameters.reference}"
        )
    return checked_residency("ideal-mem-ra", parameters, program, machine, 0)


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
        tfet=parameters.vectors,
        gating=UNLIMITED,
        cycles=parameters.cycles,
        stage=parameters.stage,
        refill=parameters.refill,
        frees=parameters.release,
        predicts=parameters.enabled,
        threshold=parameters.threshold,
        shift=parameters.reference.bit_length() - 1,
        period=parameters.period,
        scope=SCOPES.index(parameters.scope),
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """CMOS vectors as many as are used, and TFET vectors."""
    vectors = parameters.vectors
    return storage(vectors, vectors, shared=vectors, enabled=parameters.enabled)


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming stage, counters and prediction."""
    if not parameters.enabled:
        return ()
    return (*renaming_stage(parameters.vectors, parameters.banks), prediction_unit())
