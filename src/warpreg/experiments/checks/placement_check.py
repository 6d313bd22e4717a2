"""Running kernels with their placement in effect: what is read must be where the compiler says, lane by lane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warpreg import simt
from warpreg.codegen import CompileOptions
from warpreg.designs import Design, Program, load, program_table
from warpreg.designs.placement.expand import expanded
from warpreg.experiments.runs.run import find_workload
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.simt.kernel.native_kernel import NativeKernel
from warpreg.workloads import Workload

Place = Callable[[Kernel], Program]
"""The placed program of a kernel."""


class PlacementError(WarpregError):
    """A placed kernel that computes something else than the plain one."""


class CheckingDevice(simt.Device):
    """A device on which every kernel runs as placed: levels above the MRF have storage of their own, and a launch
    raises TaintFault where an operand is read from a place that need not hold it."""

    def __init__(self, module: Module, place: Place, levels: tuple[str, ...], options: CompileOptions) -> None:
        super().__init__(module, options)
        self._place = place
        self._levels = levels
        self._placed: set[str] = set()

    def native(self, name: str) -> NativeKernel:
        """The kernel's native code, placed at first use."""
        if name not in self._placed:
            kernel = super().native(name).kernel
            changed = expanded(kernel, self._place(kernel), self._levels)
            self.install(changed.kernel, changed.taints)
            self._placed.add(name)
        return super().native(name)


@dataclass(frozen=True)
class Reference:
    """What a workload leaves in memory as it is."""

    workload: Workload
    size: str
    seed: int
    options: CompileOptions
    memory: dict[str, bytes]
    launches: tuple[simt.Launch, ...]

    @staticmethod
    def of(name: str, size: str, seed: int = 0, options: CompileOptions | None = None) -> Reference:
        """Run a workload plainly; its outputs are checked."""
        workload, options = find_workload(name), options or CompileOptions()
        problem = workload.problem(size, seed)
        device = simt.Device(workload.module(), options)
        outputs = problem.run(device)
        problem.check(outputs)
        return Reference(workload, size, seed, options, _bytes(outputs), tuple(device.launches))

    def check(self, place: Place, levels: tuple[str, ...]) -> None:
        """Run the workload as placed.

        Raises TaintFault at the first read that may be wrong, PlacementError where an output differs in any bit, and
        whatever else goes wrong in a run.
        """
        problem = self.workload.problem(self.size, self.seed)
        found = _bytes(problem.run(CheckingDevice(self.workload.module(), place, levels, self.options)))
        for name, expected in self.memory.items():
            if found[name] != expected:
                raise PlacementError(f"{self.workload.name}: output '{name}' differs from that of the plain kernel")


def placing(design: Design, **parameters: Any) -> Place:
    """How a design places kernels.  Raises the errors of wrong parameters."""
    values = design.configure(**parameters)
    return lambda kernel: design.compile(program_table(kernel), values, kernel)


def check_placement(name: str, size: str, design: str, seed: int = 0, **parameters: Any) -> Reference:
    """Check one workload under one design that places operands; the run that it was compared with."""
    chosen = load(design)
    reference = Reference.of(name, size, seed)
    reference.check(placing(chosen, **parameters), chosen.levels)
    return reference


def _bytes(outputs: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in outputs.items()}
