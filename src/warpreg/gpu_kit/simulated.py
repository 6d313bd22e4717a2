"""Microbenchmarks of the kit on a machine of the timing core, beside what a GPU measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import stats

from warpreg import simt
from warpreg.codegen import CompileOptions
from warpreg.gpu import Machine
from warpreg.gpu_kit.micro import INPUTS
from warpreg.gpu_kit.microbenchmarks import (
    LONG,
    MICROBENCHMARKS,
    OPERATIONS,
    RESULTS,
    SHORT,
    WARPS,
    Microbenchmark,
    Operation,
)
from warpreg.gpu_kit.register_banks import CASES, COPIES, Case, patched, register_bank_ptx
from warpreg.machine_code.assembler import MachineCode
from warpreg.machine_code.binary import module_of_cubin
from warpreg.machine_code.tools import assembled
from warpreg.timing import simulate

RECORD = simt.Record(path=True, addresses=True)
TURNS = (16, 32)
"""Turns of the loops: the difference leaves out the first ones, in which the code comes, also that behind the loop."""
CODE_TURNS = (4, 8)
MAX_CODE = 1 << 14
"""Instructions of straight code: what is longer comes from the second level of memory alike."""
SHARED_BYTES = 8192
"""Chains of shared memory follow addresses of its first bytes, whatever the assembler reserves."""
FIRST_WITH_ALL_RATES = 2
"""The version of the kit that measures rates from the first warp to the last: before, those of few warps count."""
FEW_WARPS = ("1", "2")


class Comparison(Protocol):
    """Cycles that a GPU measured, those of the machine, and the relative error."""

    @property
    def measured(self) -> float: ...
    @property
    def simulated(self) -> float: ...
    @property
    def error(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Of relative errors: their mean and 90th percentile; the rank correlation (Spearman) of cycles; how many."""

    mean: float
    percentile_90: float
    rank_correlation: float
    count: int

    @classmethod
    def of(cls, rows: Sequence[Comparison]) -> Accuracy:
        """Of at least two rows."""
        errors = np.array([row.error for row in rows])
        ranks = stats.spearmanr([row.measured for row in rows], [row.simulated for row in rows])
        return cls(float(errors.mean()), float(np.quantile(errors, 0.9)), float(ranks.statistic), len(rows))

    def __str__(self) -> str:
        return (
            f"{self.count} figures: mean error {self.mean:.1%}, 90th percentile {self.percentile_90:.1%}, rank "
            f"correlation {self.rank_correlation:.3f}"
        )


@dataclass(frozen=True, slots=True)
class ComparedCycles:
    """Cycles of a copy of ``what`` by a number of ``warps``, on the GPU and on the machine; ``error``: relative."""

    what: str
    warps: int
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        return abs(self.simulated - self.measured) / self.measured


def compare_cycles(
    measurements: dict[str, Any], machine: Machine, begun: Callable[[str], None] = lambda name: None
) -> Iterator[ComparedCycles]:
    """Chains, rates, straight code, register banks and barriers of a file of measurements, on ``machine``.

    Raises `VendorToolMissingError` without the ``cuda`` extra.
    """
    simulated = Simulator(machine, measurements["code"]["architecture"])
    for one in MICROBENCHMARKS:
        measured = measurements["micro"].get(one.name, {})
        if one.kind == "chain" and "cycles_per_copy" in measured:
            begun(one.name)
            yield ComparedCycles(one.name, 1, measured["cycles_per_copy"], simulated.copies(one, 1))
        if one.kind == "rate" and "cycles_per_warp_copy" in measured:
            begun(one.name)
            for warps in _warps(measurements):
                cycles = simulated.copies(one, warps) / warps
                yield ComparedCycles(one.name, warps, measured["cycles_per_warp_copy"][str(warps)], cycles)
        if one.kind == "code" and measured.get("instructions", MAX_CODE + 1) <= MAX_CODE:
            begun(one.name)
            for warps, cycles in measured["cycles_per_instruction"].items():
                yield ComparedCycles(one.name, int(warps), cycles, simulated.code(one, int(warps)))
    begun("banks")
    for case, measured in zip(CASES, measurements["banks"].get("cases", ()), strict=False):
        for warps, cycles in measured["cycles_per_ffma_of_a_warp"].items():
            yield ComparedCycles(f"FFMA, {case.name}", int(warps), cycles, simulated.bank(case, int(warps)))
    (barrier,) = (one for one in MICROBENCHMARKS if one.name == "chain-bar")
    begun("barrier")
    for warps, cycles in measurements["barrier"].get("cycles", {}).items():
        yield ComparedCycles("barrier", int(warps), cycles, simulated.copies(barrier, int(warps)))


def _warps(found: dict[str, Any]) -> Sequence[int]:
    """The numbers of warps whose rates a file holds."""
    return WARPS if found["version"] >= FIRST_WITH_ALL_RATES else tuple(map(int, FEW_WARPS))


class Simulator:
    """Runs microbenchmarks in the machine code of an architecture and times them on one SM of a machine.

    ``designs``: those of the GPU, whose sub-cores have a reuse cache.
    """

    def __init__(self, machine: Machine, architecture: str, designs: Sequence[str] = ("reuse",)) -> None:
        self.machine, self.architecture, self.designs = machine, architecture, designs
        self.assembler = MachineCode.of(architecture)

    def copies(self, one: Microbenchmark, warps: int) -> float:
        """Cycles of a copy of all ``warps`` together: the difference of the two lengths, after the first turns."""
        assert one.operation is not None
        device = simt.Device(one.ptx(), CompileOptions(assembler=self.assembler), RECORD)
        short, long = (self._turn(device, name, warps, TURNS, one.operation) for name in ("short", "long"))
        return (long - short) / (LONG - SHORT)

    def code(self, one: Microbenchmark, warps: int) -> float:
        """Cycles of an instruction of straight code of all warps together."""
        assert one.operation is not None
        device = simt.Device(one.ptx(), CompileOptions(assembler=self.assembler), RECORD)
        cycles = self._turn(device, "straight", warps, CODE_TURNS, one.operation)
        return cycles / int(one.name.rpartition("-")[2])

    def bank(self, case: Case, warps: int) -> float:
        """Cycles of a patched FFMA of all warps together."""
        binary = patched(assembled(register_bank_ptx(), self.architecture), case)
        device = simt.Device(module_of_cubin(binary, case.name), record=RECORD)
        return self._turn(device, "banks", warps, TURNS, OPERATIONS[0]) / COPIES

    def _turn(
        self, device: simt.Device, kernel: str, warps: int, turns: tuple[int, int], operation: Operation
    ) -> float:
        """Cycles of a turn of a loop, from launches with two numbers of ``turns``."""
        few, many = (self._cycles(device, kernel, warps, count, operation) for count in turns)
        return (many - few) / (turns[1] - turns[0])

    def _cycles(self, device: simt.Device, kernel: str, warps: int, turns: int, operation: Operation) -> int:
        """Cycles of a launch of one thread block on one SM."""
        out = device.zeros(RESULTS + 64 * 32 * max(WARPS), np.uint8)
        given = device.upload(np.frombuffer(INPUTS[operation.type].ljust(8, b"\0") * (32 * 256 // 8), np.uint8))
        launch = device.launch(kernel, 1, 32 * warps, out, given, turns, shared_bytes=SHARED_BYTES)
        return simulate([launch], self.machine, designs=self.designs, sms=1).cycles
