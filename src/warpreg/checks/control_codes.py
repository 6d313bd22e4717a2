"""The control codes of the vendor's machine code of workloads: which dependences they do not keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpreg.analysis.control_codes.check import UnsafeDependence, unsafe
from warpreg.evaluation.runs.run import find_workload
from warpreg.ir.kernel import Kernel
from warpreg.machine_code.assembler import MachineCode


@dataclass(frozen=True)
class CheckedCode:
    """A kernel of a workload in machine code, and what its control codes do not keep."""

    workload: str
    kernel: Kernel
    unsafe: tuple[UnsafeDependence, ...]

    def rows(self) -> Iterator[dict[str, str | int]]:
        """A row for each, with pcs and lines of the listing."""
        code = list(self.kernel.instructions())
        for one in self.unsafe:
            producer, consumer = code[one.producer], code[one.consumer]
            yield {
                "workload": self.workload,
                "kernel": self.kernel.name,
                "pc": one.consumer,
                "place": str(consumer.location or ""),
                "consumer": str(consumer),
                "hazard": f"{one.hazard} {one.cell}".rstrip(),
                "producer": str(producer),
                "producer's pc": one.producer,
                "given": one.given,
                "needed": "a wait" if one.needed is None else one.needed,
            }


def check_codes(name: str, architecture: str) -> Iterator[CheckedCode]:
    """Each kernel of a workload, checked.  Raises UnknownNameError, `VendorToolMissingError`, `VendorToolError`."""
    module, assembler = find_workload(name).module(), MachineCode.of(architecture)
    for function in module.kernels:
        kernel = assembler.kernel(module, function.name)
        yield CheckedCode(name, kernel, unsafe(kernel))
