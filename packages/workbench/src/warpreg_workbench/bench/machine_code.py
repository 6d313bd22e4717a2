"""``warpreg bench spine --code``: the speed of machine code beside that of the PTX of the same kernels, on one core.

- functional: warp-instructions per second of the machine code with the path recorded; includes the launch and writing
  the path, but not compiling.
- PTX: the same of the code of Warpreg's compiler.  Both run in turns, in one process.
- rate ratio: warp-instructions per second of PTX / of machine code; time ratio: time of all launches of machine code /
  of PTX.  An instruction of one code does not do the work of one of the other (a load of 128 bits, an address that is
  part of a load), so both are given.  Each is the median of the ratios of all turns.
- lifted: instructions per second from the listings of all eight workloads to kernels (`listing.parse` and `lift`), with
  no operand read before; the median of five.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from piecewise_numba.collector_pause import collector_paused
from warpreg import ptx, simt
from warpreg.codegen import build_kernel
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, Run, find_workload, load_device
from warpreg.machine_code import cubin, listing, operands
from warpreg.machine_code.assembler import MachineCode
from warpreg.machine_code.code import Code
from warpreg.machine_code.lift import lift
from warpreg.workloads.workload import Problem
from warpreg_workbench.bench.host import host
from warpreg_workbench.bench.spine import MIN_INSTRUCTIONS, PATH, REPEATS, WORKLOADS

TURNS = 11
"""Runs of each code of a workload; a short run varies by several percent."""

Begin = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Speeds:
    """One workload: warp-instructions of both codes, and the seconds of each run of both, in turns."""

    workload: str
    warp_instructions: int
    ptx_warp_instructions: int
    seconds: tuple[float, ...]
    ptx_seconds: tuple[float, ...]

    @property
    def mwi_s(self) -> float:
        """M warp-instructions of machine code per second."""
        return self.warp_instructions / statistics.median(self.seconds) / 1e6

    @property
    def ptx_mwi_s(self) -> float:
        """M warp-instructions of Warpreg's code per second."""
        return self.ptx_warp_instructions / statistics.median(self.ptx_seconds) / 1e6

    @property
    def time_ratio(self) -> float:
        """Time of machine code / time of PTX."""
        return statistics.median(own / other for own, other in zip(self.seconds, self.ptx_seconds, strict=True))

    @property
    def rate_ratio(self) -> float:
        """Warp-instructions per second of PTX / of machine code."""
        return self.time_ratio * self.ptx_warp_instructions / self.warp_instructions

    def as_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "warp_instructions": self.warp_instructions,
            "counts": self.warp_instructions >= MIN_INSTRUCTIONS,
            "functional_mwi_s": self.mwi_s,
            "ptx_mwi_s": self.ptx_mwi_s,
            "rate_ratio": self.rate_ratio,
            "time_ratio": self.time_ratio,
        }


def machine_code(architecture: str, size: str = "small", begin: Begin = lambda what: None) -> dict[str, Any]:
    """All figures by name, then ``machine`` and a row per workload; ``begin`` is called with the next measurement.

    Raises `VendorToolMissingError` without the ``cuda`` extra.
    """
    assembler = MachineCode.of(architecture)
    speeds = []
    for name in WORKLOADS:
        begin(f"running {name}")
        speeds.append(workload_speeds(name, size, architecture))
    begin("lifting")
    lifting = lifted_instructions_s(assembler)
    return {
        "functional_mwi_s_geomean": geometric_mean(one.mwi_s for one in speeds),
        "functional_mwi_s_min": min(one.mwi_s for one in speeds),
        "ptx_mwi_s_geomean": geometric_mean(one.ptx_mwi_s for one in speeds),
        "rate_ratio_geomean": geometric_mean(one.rate_ratio for one in speeds),
        "rate_ratio_max": max(one.rate_ratio for one in speeds),
        "time_ratio_geomean": geometric_mean(one.time_ratio for one in speeds),
        "time_ratio_max": max(one.time_ratio for one in speeds),
        "lifted_instructions_s": lifting,
        "machine": host() | {"code": code_version(), "size": size, "ptxas": assembler.version, "target": architecture},
        "workloads": [one.as_dict() for one in speeds],
    }


def workload_speeds(name: str, size: str, architecture: str) -> Speeds:
    """Speeds of one workload, without the time to make inputs and compile kernels."""
    problem = find_workload(name).problem(size)
    codes = replace(AS_COMPILED, machine_code=architecture), AS_COMPILED
    for code in codes:
        problem.check(problem.run(load_device(problem.workload, code)))
    turns = [tuple(_launches(problem, code) for code in codes) for _ in range(TURNS)]
    seconds = [tuple(sum(launch.seconds for launch in one) for one in turn) for turn in turns]
    own, other = (Run(name, launches).warp_instructions for launches in turns[-1])
    return Speeds(name, own, other, tuple(one for one, _ in seconds), tuple(one for _, one in seconds))


def _launches(problem: Problem, code: CompileChoice) -> tuple[simt.Launch, ...]:
    device = load_device(problem.workload, code, PATH)
    problem.run(device)
    return tuple(device.launches)


def lifted_instructions_s(assembler: MachineCode) -> float:
    """Instructions of the workloads' kernels that are lifted per second."""
    texts = []
    for name in WORKLOADS:
        module = find_workload(name).module()
        binary, listed = assembler.files(ptx.write(module))
        declared = {function.name: build_kernel(module, function.name) for function in module.kernels}
        texts.append((cubin.read(binary), listed, declared))
    taken, count = [], 0
    for _ in range(REPEATS):
        operands.parse.cache_clear()
        begin = time.perf_counter()
        with collector_paused():
            for records, listed, declared in texts:
                functions = listing.parse(listed).functions
                for name, kernel in declared.items():
                    count += lift(Code(functions[name], assembler.architecture, records), kernel).instruction_count
        taken.append(time.perf_counter() - begin)
    return count / REPEATS / statistics.median(taken)
