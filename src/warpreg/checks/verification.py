"""Every workload against its reference, in parallel processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass

from warpreg.checks.placement_check import check_placement, places_operands
from warpreg.codegen import CompileOptions
from warpreg.evaluation.runs.run import find_workload
from warpreg.evaluation.runs.worker_process import WorkerPool
from warpreg.ir.errors import WarpregError
from warpreg.simt import Device, Launch

VIRTUAL = "virtual"
COMPILED = "compiled"
FEW_REGISTERS = (16, 24, 32)
"""Register bounds of the thorough check, with many, some and few spills."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one workload: ``failure`` is the message of the first version that failed, or empty; ``unchecked``
    says why there was nothing to check, or is empty.
    """

    workload: str
    kernels: int
    warp_instructions: int
    seconds: float
    failure: str = ""
    unchecked: str = ""

    @property
    def passed(self) -> bool:
        return not self.failure and not self.unchecked


def versions(thorough: bool) -> dict[str, CompileOptions | None]:
    """The compile options to check: the defaults; ``thorough`` adds virtual registers and bounds on registers."""
    usual: dict[str, CompileOptions | None] = {COMPILED: CompileOptions()}
    if not thorough:
        return usual
    bounded = {f"{bound} registers": CompileOptions(max_registers=bound) for bound in FEW_REGISTERS}
    return usual | {VIRTUAL: None} | bounded


def verify_placed(name: str, size: str, seed: int, design: str) -> Verdict:
    """Run one workload with a design's placement on the checking executor, and compare its memory with a plain run."""
    began = time.perf_counter()
    failure = unchecked = ""
    launches: Sequence[Launch] = ()
    try:
        launches = check_placement(name, size, design, seed).launches
        if not places_operands(design, dict.fromkeys(launch.kernel for launch in launches)):
            unchecked = f"{design} places no operand of it at compile time; 'warpreg check {design}' checks its hooks"
    except (WarpregError, MemoryError) as error:
        failure = f"{design}: {str(error) or 'out of memory'}"
    kernels = {launch.kernel.name for launch in launches}
    instructions = sum(int(launch.warp_instructions) for launch in launches)
    return Verdict(name, len(kernels), instructions, time.perf_counter() - began, failure, unchecked)


def verify(name: str, size: str, seed: int = 0, thorough: bool = False) -> Verdict:
    """Run one workload in every version and check its outputs; errors are returned in the verdict."""
    began = time.perf_counter()
    kernels: set[str] = set()
    instructions = 0
    failure = ""
    for version, options in versions(thorough).items():
        try:
            workload = find_workload(name)
            problem = workload.problem(size, seed)
            device = Device(workload.module(), options)
            problem.check(problem.run(device))
        except (WarpregError, MemoryError) as error:
            failure = f"{version}: {str(error) or 'out of memory'}"
            break
        kernels |= {launch.kernel.name for launch in device.launches}
        instructions += sum(int(launch.warp_instructions) for launch in device.launches)
    return Verdict(name, len(kernels), instructions, time.perf_counter() - began, failure)


def verify_all(
    names: Sequence[str],
    size: str,
    seed: int = 0,
    thorough: bool = False,
    processes: int | None = None,
    begun: Callable[[str], None] = lambda name: None,
    design: str | None = None,
) -> Iterator[Verdict]:
    """Verdicts of the workloads ``names`` in order of completion; ``processes`` defaults to the number of processors.

    With a ``design`` they run with its placement instead.
    """
    with WorkerPool(processes or os.cpu_count()) as pool:
        if design is None:
            waiting = [pool.submit(verify, name, size, seed, thorough) for name in names]
        else:
            waiting = [pool.submit(verify_placed, name, size, seed, design) for name in names]
        for done in as_completed(waiting):
            verdict = done.result()
            begun(verdict.workload)
            yield verdict
