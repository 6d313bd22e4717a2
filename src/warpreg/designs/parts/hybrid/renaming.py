"""What all designs that rename registers of two technologies have in common: parameters, and the hints of a program."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Program, parameter
from warpreg.designs.parts.hybrid.parts import cycles_parameter, vectors_parameter
from warpreg.designs.parts.hybrid.prediction import SCOPES
from warpreg.designs.parts.renaming.hints import RenamingHints, renaming_hints


@dataclass(frozen=True)
class Renaming:
    """Sizes of the register file, and times."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    vectors: int = vectors_parameter()
    banks: int = parameter(
        1,
        unit="banks",
        low=1,
        high=256,
        machine="register_file.banks",
        source="the machine tfet, which has no conflicts of banks",
    )
    table_banks: int = parameter(
        16,
        unit="banks",
        low=1,
        high=256,
        source="assumed: of the renaming table, so that an instruction finds its registers in a cycle",
    )
    cycles: int = cycles_parameter()
    stage: int = parameter(
        1,
        unit="cycles",
        low=0,
        high=64,
        source="tfet §3.2: a stage after decode, which does not affect back-to-back latencies",
    )
    refill: int = parameter(
        6,
        unit="cycles",
        low=1,
        high=1000,
        machine="control_cycles",
        source="the latency of control instructions of the machine tfet",
    )
    release: bool = parameter(
        True, source="tfet §3.2: a register is released after its last read; off: when it is written again"
    )


@dataclass(frozen=True)
class Predicting(Renaming):
    """And the prediction of stalls."""

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


def hints(program: Program, parameters: Renaming, analysis: Analysis) -> RenamingHints:
    """Where registers are dead."""
    return renaming_hints(program, analysis, parameters.release)
