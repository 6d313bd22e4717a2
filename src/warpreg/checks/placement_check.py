"""Execution of placed kernels, with a check per lane that each operand is in the place that it is read from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpreg import simt
from warpreg.codegen import CompileOptions
from warpreg.designs import Design, Program, load, program_table
from warpreg.designs.interface.checked import Checked
from warpreg.evaluation.runs.run import find_workload
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.simt.kernel.native_kernel import NativeKernel
from warpreg.workloads import Workload

Place = Callable[[Kernel], Program]
"""The placed program of a kernel."""

Check = Callable[[Kernel, Program], Checked]
"""What verifies a placed program of a kernel."""


class PlacementError(WarpregError):
    """A placed kernel whose output differs from that of the plain one."""


class CheckingDevice(simt.Device):
    """A device on which every kernel runs as placed: levels above the MRF have separate storage, or the values in them
    are tracked, and a launch raises TaintFault if an operand is read from a place that may not hold it."""

    def __init__(self, module: Module, place: Place, check: Check, options: CompileOptions) -> None:
        super().__init__(module, options)
        self._place = place
        self._check = check
        self._placed: set[str] = set()

    def native(self, name: str) -> NativeKernel:
        """The kernel's native code, placed at first use."""
        if name not in self._placed:
            kernel = super().native(name).kernel
            changed = self._check(kernel, self._place(kernel))
            self.install(changed.kernel, changed.taints)
            self._placed.add(name)
        return super().native(name)


@dataclass(frozen=True)
class Reference:
    """A workload and its outputs without placement."""

    workload: Workload
    size: str
    seed: int
    options: CompileOptions
    memory: dict[str, bytes]
    launches: tuple[simt.Launch, ...]

    @staticmethod
    def of(name: str, size: str, seed: int = 0, options: CompileOptions | None = None) -> Reference:
        """Run a workload without placement, and check its outputs."""
        workload, options = find_workload(name), options or CompileOptions()
        problem = workload.problem(size, seed)
        device = simt.Device(workload.module(), options)
        outputs = problem.run(device)
        problem.check(outputs)
        return Reference(workload, size, seed, options, _bytes(outputs), tuple(device.launches))

    def check(self, place: Place, check: Check) -> None:
        """Run the workload as placed.

        Raises TaintFault at the first read that may be wrong, PlacementError if an output differs in any bit, and other
        errors of a run.
        """
        problem = self.workload.problem(self.size, self.seed)
        found = _bytes(problem.run(CheckingDevice(self.workload.module(), place, check, self.options)))
        for name, expected in self.memory.items():
            if found[name] != expected:
                raise PlacementError(f"{self.workload.name}: output '{name}' differs from that of the plain kernel")


def placing(design: Design, **parameters: Any) -> Place:
    """The placement function of a design.  Raises the errors of wrong parameters."""
    values = design.configure(**parameters)

    def place(kernel: Kernel) -> Program:
        code = _code(design, values, kernel)
        return design.compile(program_table(code), values, code)

    return place


def checking(design: Design, **parameters: Any) -> Check:
    """What verifies programs that a design has placed.  Raises the errors of wrong parameters."""
    values = design.configure(**parameters)
    return lambda kernel, program: design.checked(program, values, _code(design, values, kernel))


def _code(design: Design, values: Any, kernel: Kernel) -> Kernel:
    """What a design without a function ``checked`` runs: the rewritten kernel."""
    return kernel if hasattr(design.module, "checked") else design.rewrite(kernel, values)


def check_placement(name: str, size: str, design: str, seed: int = 0, **parameters: Any) -> Reference:
    """Check one workload under one design that places operands; returns the reference run."""
    chosen = load(design, checked=False)
    reference = Reference.of(name, size, seed)
    reference.check(placing(chosen, **parameters), checking(chosen, **parameters))
    return reference


def places_operands(design: str, kernels: Iterable[Kernel]) -> bool:
    """Whether a design decides anything before the run that the checking executor executes."""
    chosen = load(design, checked=False)
    values = chosen.configure()
    if hasattr(chosen.module, "checked"):
        return True
    return any(
        chosen.rewrite(one, values) is not one
        or _differs(chosen.compile(program_table(one), values, one), program_table(one))
        for one in kernels
    )


def _differs(placed: Program, plain: Program) -> bool:
    names = ("source_level", "fill_level", "result_level", "copy_level", "mrf_elided")
    return any(not np.array_equal(getattr(placed, name), getattr(plain, name)) for name in names)


def _bytes(outputs: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in outputs.items()}
