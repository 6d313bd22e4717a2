"""Characteristics of a workload at one size: launches, instruction mix, registers, divergence and register use."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from warpreg.designs.interface.plan import READ
from warpreg.evaluation.runs.profile import register_profile
from warpreg.evaluation.runs.run import AS_COMPILED, Run, run_workload
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import classify
from warpreg.ir.opcodes.form import Unit
from warpreg.trace.lanes import lane_instructions
from warpreg.workloads import Workload
from warpreg.workloads.vendor import most_registers

LANES = 32
UNITS = tuple(unit.value for unit in Unit)


@dataclass(frozen=True, slots=True)
class Characteristics:
    """One row of the table of workloads."""

    workload: str
    size: str
    kernels: int
    launches: int
    threads: int
    warp_instructions: int
    mix: dict[str, float]
    """Shares of warp-instructions by unit."""
    registers: int
    """The largest demand of a kernel, ours."""
    registers_sm_75: int | None
    """That of ``ptxas``, if recorded."""
    registers_sm_80: int | None
    """That of ``ptxas``, if recorded."""
    shared_bytes: int
    simd_efficiency: float
    """Active lanes over 32 times the warp-instructions."""
    global_share: float
    """Share of warp-instructions that access global memory."""
    reads_per_value: float
    """In warp-registers."""
    read_once: float
    """Share of the values, in warp-registers."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def characterise(workload: Workload, size: str, seed: int = 0) -> Characteristics:
    """Run the workload once, check it, and compute its characteristics from the recorded path."""
    run = run_workload(workload, size, seed, AS_COMPILED)
    profile = register_profile(run)
    executed = run.warp_instructions
    by_unit, in_global_memory = _dynamic_mix(run)
    names = [kernel.name for kernel in run.kernels]
    return Characteristics(
        workload=workload.name,
        size=size,
        kernels=len(run.kernels),
        launches=len(run.launches),
        threads=sum(int(np.prod(launch.grid)) * int(np.prod(launch.block)) for launch in run.launches),
        warp_instructions=executed,
        mix={unit: _rounded(by_unit[unit] / executed) for unit in UNITS if by_unit[unit]},
        registers=max(kernel.register_demand for kernel in run.kernels),
        registers_sm_75=most_registers(workload.name, names, "sm_75"),
        registers_sm_80=most_registers(workload.name, names, "sm_80"),
        shared_bytes=max(kernel.shared_bytes for kernel in run.kernels),
        simd_efficiency=_rounded(_lane_instructions(run) / (LANES * executed)),
        global_share=_rounded(in_global_memory / executed),
        reads_per_value=_rounded(float(profile.operands[READ].sum()) / max(1, profile.values)),
        read_once=_rounded(profile.values_by_reads["1"] / max(1, profile.values)),
    )


def _rounded(share: float) -> float:
    return round(share, 4)


def _dynamic_mix(run: Run) -> tuple[Counter[str], int]:
    """Warp-instructions by unit, and those that access global memory."""
    by_unit: Counter[str] = Counter()
    in_global_memory = 0
    for launch in run.launches:
        for block, visits in zip(launch.kernel.blocks, launch.block_visits.tolist(), strict=True):
            for instruction in block.instructions if visits else ():
                by_unit[classify(instruction)[0].value] += visits
                in_global_memory += visits * ("global" in instruction.modifiers)
    return by_unit, in_global_memory


def _lane_instructions(run: Run) -> int:
    return sum(lane_instructions(run.path(kernel).path_chunks(), _block_lengths(kernel)) for kernel in run.kernels)


def _block_lengths(kernel: Kernel) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([len(block.instructions) for block in kernel.blocks], np.int64)
