"""Workloads on the executor and on the GPU, launch by launch."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass

from warpreg.checks.gpu.paired_device import LaunchComparison, PairedDevice
from warpreg.checks.gpu.process import Gpu
from warpreg.evaluation.runs.run import find_workload
from warpreg.evaluation.runs.worker_process import WorkerPool
from warpreg.ir.errors import WarpregError

MAX_PROCESSES = 8
"""By default; each takes memory of the GPU."""


@dataclass(frozen=True, slots=True)
class KernelComparison:
    """All launches of a kernel."""

    kernel: str
    launches: int
    """Launches of the kernel."""
    compared: int
    """Launches that were compared."""
    elements: int
    """Compared elements."""
    differing: int
    """Elements that differ."""
    unoptimized: int
    """Elements that differ if the driver's compiler does not optimize."""
    absolute: float
    """The largest difference."""
    relative: float
    """The largest difference relative to the value."""
    gpu_registers: int
    """Per thread, of NVIDIA's compiler."""
    registers: int
    """Per thread, ours."""
    first: str
    """The first difference or error found."""


@dataclass(frozen=True, slots=True)
class GpuVerdict:
    """A workload on the GPU: its kernels, and in ``failure`` what is wrong with the outputs of the GPU, or why there
    are none.
    """

    workload: str
    gpu: str
    seconds: float
    kernels: tuple[KernelComparison, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""


def compare_workload(name: str, size: str, seed: int, gpu: Gpu) -> GpuVerdict:
    """Run a workload on both; its outputs are those of the GPU, which are checked against the reference.

    Errors are returned in the verdict.
    """
    began, failure, comparisons = time.perf_counter(), "", []
    try:
        workload = find_workload(name)
        problem = workload.problem(size, seed)
        device = PairedDevice(gpu, workload.ptx_text(), keeps_gpu=True)
        comparisons = device.comparisons
        problem.check(problem.run(device))
    except (WarpregError, MemoryError) as error:
        failure = str(error) or "out of memory"
    unrun = next((one for one in comparisons if one.error), None)
    if unrun is not None:
        failure = f"kernel '{unrun.kernel}': {unrun.error}" + (f"; then: {failure}" if failure else "")
    kernels = tuple(of_kernel(kernel, comparisons) for kernel in dict.fromkeys(one.kernel for one in comparisons))
    notes = tuple(sorted({note for one in comparisons for note in one.notes}))
    return GpuVerdict(name, gpu.name, time.perf_counter() - began, kernels, notes, failure)


def of_kernel(kernel: str, comparisons: Sequence[LaunchComparison]) -> KernelComparison:
    """The comparisons of one kernel in one row."""
    own = [one for one in comparisons if one.kernel == kernel]
    differences = [difference for one in own for difference in one.differences if difference.differing]
    errors = [one.error for one in own if one.error]
    return KernelComparison(
        kernel,
        len(own),
        sum(not one.error for one in own),
        sum(one.elements for one in own),
        sum(one.differing for one in own),
        sum(one.unoptimized for one in own),
        max(one.absolute for one in own),
        max(one.relative for one in own),
        max(one.registers for one in own),
        own[0].demand,
        next(iter([*errors, *(difference.first for difference in differences)]), ""),
    )


def compare_all(
    names: Sequence[str],
    size: str,
    seed: int = 0,
    processes: int | None = None,
    begun: Callable[[str], None] = lambda name: None,
) -> Iterator[GpuVerdict]:
    """Verdicts of the workloads in order of completion.  Raises GpuError without a GPU."""
    Gpu().close()
    workers = processes or min(MAX_PROCESSES, os.cpu_count() or 1)
    with WorkerPool(workers) as pool:
        waiting = [pool.submit(_compare, name, size, seed) for name in names]
        for done in as_completed(waiting):
            verdict = done.result()
            begun(verdict.workload)
            yield verdict


def _compare(name: str, size: str, seed: int) -> GpuVerdict:
    return compare_workload(name, size, seed, _own_gpu())


@functools.cache
def _own_gpu() -> Gpu:
    """The GPU of this process."""
    return Gpu()
