"""``warpreg bench compiler``: the compiler against ``ptxas``, on every kernel of every workload, or of a folder of PTX.

- registers: 32-bit registers a thread; here those of the allocation, there what ``ptxas -v`` reports, which is what a
  thread is allocated, the minimum of the calling convention included.  Predicates and uniform registers stand apart.
- instructions: static, here those of the compiled kernel, there SASS without the padding after the kernel's end.
- verified: kernels that leave the same bits in global memory compiled as with virtual registers, after every launch of
  the workload at size tiny, or the launch in the folder's ``launches.toml`` (see `experiments.ptx_folder`); the
  workload's other kernels run with virtual registers.

A ratio is ``max(r, 1/r)`` of ours over theirs, so that errors in both directions do not cancel; the summaries take all
kernels on both targets, and the 90th percentile interpolates linearly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from warpreg import codegen, simt, workloads
from warpreg.experiments.provenance import code_version
from warpreg.experiments.ptx_folder import ptx_files, read_launches
from warpreg.experiments.result import geometric_mean
from warpreg.experiments.vendor_compiler import MachineCode, assemble, ptxas_version
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.ptx import parse
from warpreg.workloads import Workload

TARGETS = ("sm_75", "sm_80")
SIZE = "tiny"

Begin = Callable[[str], None]


class Runnable(Protocol):
    """What launches kernels on a device: a workload's problem, or a launch of one kernel."""

    def run(self, device: simt.Device, /) -> object:
        """Upload, launch, download."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One kernel as compiled here and, by target, by ``ptxas``."""

    workload: str
    kernel: str
    verified: bool
    registers: int
    predicates: int
    instructions: int
    theirs: dict[str, MachineCode]

    def register_ratios(self) -> list[float]:
        """One for each target."""
        return [ratio(self.registers, code.registers) for code in self.theirs.values()]

    def instruction_ratios(self) -> list[float]:
        """One for each target."""
        return [ratio(self.instructions, code.instructions) for code in self.theirs.values()]

    def as_dict(self) -> dict[str, Any]:
        ours = {"registers": self.registers, "predicates": self.predicates, "instructions": self.instructions}
        return {
            "workload": self.workload,
            "kernel": self.kernel,
            "verified": self.verified,
            "ours": ours,
            **{target: code.as_dict() for target, code in self.theirs.items()},
        }


def compiler(begin: Begin = lambda what: None, folder: Path | None = None) -> dict[str, Any]:
    """The summaries by name, the two compilers' versions, and a row for each kernel; ``begin`` is told each workload.

    With ``folder``, its PTX files stand for the workloads.  Raises `VendorToolMissingError` without the ``cuda``
    extra, `LaunchFileError` for a folder without PTX files.
    """
    version = ptxas_version()
    compared: list[Compared] = []
    for name in workloads.names() if folder is None else ():
        begin(f"compiling {name}")
        compared += compare_workload(workloads.find(name))
    for path in ptx_files(folder) if folder else ():
        begin(f"compiling {path.stem}")
        compared += compare_file(path)
    return {
        **summary(compared),
        "compilers": {"warpreg": code_version(), "ptxas": version},
        "kernels": [one.as_dict() for one in compared],
    }


def summary(compared: Iterable[Compared]) -> dict[str, float | int]:
    """The figures over all kernels and targets."""
    compared = list(compared)
    registers = [one for kernel in compared for one in kernel.register_ratios()]
    instructions = [one for kernel in compared for one in kernel.instruction_ratios()]
    return {
        "registers_ratio_geomean": geometric_mean(registers),
        "registers_ratio_p90": percentile_90(registers),
        "instructions_ratio_geomean": geometric_mean(instructions),
        "instructions_ratio_p90": percentile_90(instructions),
        "verified_kernels": sum(kernel.verified for kernel in compared),
    }


def ratio(ours: int, theirs: int) -> float:
    """``max(r, 1/r)`` of two counts; 0 counts as 1."""
    low, high = sorted((ours, theirs))
    return max(high, 1) / max(low, 1)


def percentile_90(values: Iterable[float]) -> float:
    """The 90th percentile, interpolated linearly between the two nearest ranks."""
    return float(np.percentile(list(values), 90))


def compare_workload(workload: Workload) -> list[Compared]:
    """Every kernel of the workload, in the order of its PTX."""
    path = workload.ptx_path
    module = parse(path.read_text(encoding="utf-8"), path.name)
    return _compare(workload.name, path, module, [workload.problem(SIZE)])


def compare_file(path: Path) -> list[Compared]:
    """Every kernel of a PTX file, checked where the folder's launches have it."""
    launches = read_launches(path.parent)
    module = parse(path.read_text(encoding="utf-8"), path.name)
    return _compare(path.stem, path, module, [launches[f.name] for f in module.kernels if f.name in launches])


def _compare(name: str, path: Path, module: Module, problems: Iterable[Runnable]) -> list[Compared]:
    theirs = {target: assemble(path, target) for target in TARGETS}
    compiled = {f.name: codegen.compile(codegen.build(module, f.name)) for f in module.kernels}
    same = {kernel for problem in problems for kernel in verified(module, problem, compiled.values())}
    return [
        Compared(
            workload=name,
            kernel=one,
            verified=one in same,
            registers=kernel.register_count,
            predicates=kernel.predicate_count,
            instructions=kernel.instruction_count,
            theirs={target: theirs[target][one] for target in TARGETS},
        )
        for one, kernel in compiled.items()
    ]


class DigestedDevice(simt.Device):
    """A device without a compiler that keeps a digest of all global memory after every launch."""

    def __init__(self, module: Module) -> None:
        super().__init__(module, options=None)
        self.digests: list[str] = []

    def launch(self, *arguments: Any, **named: Any) -> simt.Launch:
        """As `Device.launch`."""
        done = super().launch(*arguments, **named)
        digest = hashlib.sha256()
        for buffer in self.memory.buffers:
            digest.update(self.memory.bytes_at(buffer.address, buffer.bytes).tobytes())
        self.digests.append(digest.hexdigest())
        return done


def verified(module: Module, problem: Runnable, compiled: Iterable[Kernel]) -> frozenset[str]:
    """The names of the compiled kernels that the problem launches and that compute the virtual kernels' bits."""
    virtual = DigestedDevice(module)
    problem.run(virtual)
    launched = {launch.kernel.name for launch in virtual.launches}
    return frozenset(k.name for k in compiled if k.name in launched and _digests(module, problem, k) == virtual.digests)


def _digests(module: Module, problem: Runnable, kernel: Kernel) -> list[str]:
    """The digests with this version of one kernel, up to a launch that fails."""
    device = DigestedDevice(module)
    device.install(kernel)
    try:
        problem.run(device)
    except simt.ExecutionError:
        return device.digests
    return device.digests
