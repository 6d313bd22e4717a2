"""``warpreg bench placement``: processor seconds to compile placements, over the whole suite.

Measures a design's compile step including its analyses; kernels are compiled, and program tables made, before.  One
run of each, on one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg import codegen, designs, workloads
from warpreg.evaluation.runs.provenance import code_version
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module

DESIGNS = ("orf-lrf", "rsp")

Begin = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PlacementTime:
    """One workload: seconds by design."""

    workload: str
    kernels: int
    instructions: int
    seconds: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload, "kernels": self.kernels, "instructions": self.instructions, **self.seconds,
        }  # fmt: skip


def placements(names: Sequence[str] = (), begin: Begin = lambda what: None) -> dict[str, Any]:
    """The sums over the workloads (default: all), and a row for each; ``begin`` is called with the next one."""
    rows = []
    for name in names or workloads.names():
        begin(f"placing {name}")
        rows.append(placement_time(name, workloads.find(name).module()))
    return {
        "placement_s": {design: sum(row.seconds[design] for row in rows) for design in DESIGNS},
        "kernels": sum(row.kernels for row in rows),
        "code": code_version(),
        "workloads": [row.as_dict() for row in rows],
    }


def placement_time(name: str, module: Module) -> PlacementTime:
    """The time for the kernels of a workload's module."""
    kernels = [codegen.translate(module, function.name) for function in module.kernels]
    seconds = {design: sum(_seconds(kernel, design) for kernel in kernels) for design in DESIGNS}
    return PlacementTime(name, len(kernels), sum(kernel.instruction_count for kernel in kernels), seconds)


def _seconds(kernel: Kernel, name: str) -> float:
    """Processor seconds for one kernel, with its cached analyses cleared."""
    kernel.analyses.clear()
    design = designs.load(name)
    values, program = design.configure(), designs.program_table(kernel)
    begin = time.process_time()
    design.compile(program, values, kernel)
    return time.process_time() - begin
