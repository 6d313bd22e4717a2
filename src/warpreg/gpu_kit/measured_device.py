"""A device whose launches run on the GPU, machine code that was made before, and are timed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from warpreg import simt
from warpreg.checks.gpu.driver import GpuError
from warpreg.checks.gpu.launch_request import launch_request
from warpreg.checks.gpu.request import Request
from warpreg.codegen import build_kernel
from warpreg.gpu_kit.launch_clocks import Clocks
from warpreg.gpu_kit.measuring_driver import Function, MeasuringDriver, PreparedLaunch
from warpreg.ir.module import Module
from warpreg.simt.launch.arguments import Packer

REPEATS = 3


@dataclass(frozen=True, slots=True)
class LaunchTimes:
    """One launch: milliseconds between events, each the median of `REPEATS`."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int
    shared_bytes: int
    registers: int
    local_bytes: int
    cold_ms: float
    """After the second-level cache was emptied."""
    restored_ms: float
    """After global memory was written by a copy on the GPU, so that the cache holds what fits of it."""
    cold_least_ms: float
    """The least of those after the cache was emptied."""
    restored_least_ms: float
    """The least of those after the copy."""
    cold_cycles: float | None = None
    """Cycles after the second-level cache was emptied, by the clocks of the SMs; None where the kernel has none."""
    restored_cycles: float | None = None
    """The same after the copy."""
    cold_ns: float | None = None
    """As `cold_cycles`, in nanoseconds of the timer of the GPU."""


@dataclass
class Steps:
    """Launches that follow one another without work of the host in between, for `MeasuringDriver.sequence`."""

    memory: bytes = b""
    variables: list[Any] = field(default_factory=list)
    launches: list[PreparedLaunch] = field(default_factory=list)
    clocked_variables: list[Any] = field(default_factory=list)
    clocked: list[PreparedLaunch] = field(default_factory=list)
    left: bytes = b""
    is_whole: bool = True


class MeasuredDevice(simt.Device):
    """As `simt.Device`, but kernels run on the GPU only.  ``times`` has one entry per launch.  ``clocked`` is the same
    code with clocks in its kernels, if there is such a code.
    """

    def __init__(
        self, driver: MeasuringDriver, module: Module, cubin: bytes, repeats: int = REPEATS, clocked: bytes = b""
    ) -> None:
        super().__init__(module, memory_base=driver.base)
        self.driver, self.cubin, self.clocked, self.repeats = driver, cubin, clocked, repeats
        self.times: list[LaunchTimes] = []
        self.hidden: set[str] = set()
        self.steps = Steps()
        self._packers: dict[str, Packer] = {}

    def launch(
        self,
        kernel: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *arguments: Any,
        shared_bytes: int = 0,
        max_instructions: int | None = None,
    ) -> Any:
        """Run a kernel on the GPU; memory is then what it left.  Raises GpuError."""
        name = self.module.kernel_name(kernel)
        if name not in self._packers:
            self._packers[name] = Packer(build_kernel(self.module, name))
        if self.textures.references:
            raise GpuError("texture references are not measured")
        request = launch_request(self, self._packers[name], grid, block, arguments, shared_bytes)
        function = self.driver.function(self.cubin, name)
        self.driver.write_memory(request.memory)
        variables, hidden = self.driver.variables(function.module, request.variables)
        self.hidden.update(hidden)
        objects = [self.driver.made(one) for one in request.objects]
        handles = {d.argument: made[1] for d, made in zip(request.objects, objects, strict=True)}
        launch, clocked = PreparedLaunch(self.driver, function, request, handles), self._clocked(request, name, handles)
        self._follow(request, launch, variables, clocked)
        self._measure(request, function, handles, variables, clocked)
        for one, (texels, handle) in zip(request.objects, objects, strict=True):
            if one.is_surface:
                self.driver.take_back(one, texels)
            self.driver.destroy(one, texels, handle)
        self.driver.copy_variables(variables, back=True)
        left = self.driver.read_memory(len(request.memory))
        self.memory.bytes_at(self.memory.base, len(left))[:] = np.frombuffer(left, np.uint8)
        self.steps.left = hashlib.sha256(left).digest()
        return None

    def _clocked(self, request: Request, name: str, handles: dict[int, int]) -> tuple[PreparedLaunch, list[Any]] | None:
        """The launch of the kernel with clocks, and its variables."""
        if not self.clocked:
            return None
        function = self.driver.function(self.clocked, name)
        found, _ = self.driver.variables(function.module, request.variables)
        return PreparedLaunch(self.driver, function, request, handles), found

    def _by_clocks(self, request: Request, launch: PreparedLaunch, variables: list[Any], empties: bool) -> list[Clocks]:
        """What the clocks say of each of some runs from the same memory."""
        runs = []
        for _ in range(self.repeats):
            self.driver.restore(len(request.memory))
            self.driver.copy_variables(variables, back=False)
            if empties:
                self.driver.flush()
            runs.append(self.driver.clocked(launch))
        return runs

    def _measure(
        self,
        request: Request,
        function: Function,
        handles: dict[int, int],
        variables: list[Any],
        clocked: tuple[PreparedLaunch, list[Any]] | None,
    ) -> None:
        """Time the launch; the last run leaves the state that counts."""
        by_clocks = [self._by_clocks(request, *clocked, empties) for empties in (True, False)] if clocked else []
        cold: list[float] = []
        restored: list[float] = []
        for times, empties in ((cold, True), (restored, False)):
            for _ in range(self.repeats):
                self.driver.restore(len(request.memory))
                self.driver.copy_variables(variables, back=False)
                if empties:
                    self.driver.flush()
                times.append(self.driver.timed(function, request, handles))
        self.times.append(
            LaunchTimes(
                request.kernel, request.grid, request.block, request.shared_bytes, function.shared_bytes,
                function.registers, function.local_bytes, median(cold), median(restored), min(cold), min(restored),
                *(median(run.cycles for run in runs) for runs in by_clocks),
                *(median(run.nanoseconds for run in runs) for runs in by_clocks[:1]),
            )
        )  # fmt: skip

    def _follow(
        self,
        request: Request,
        launch: PreparedLaunch,
        variables: list[Any],
        clocked: tuple[PreparedLaunch, list[Any]] | None,
    ) -> None:
        """Note the launch for the sequence, if the host changed nothing since the one before."""
        steps = self.steps
        if not self.times:
            steps.memory = request.memory
        elif hashlib.sha256(request.memory).digest() != steps.left or len(request.memory) != len(steps.memory):
            steps.is_whole = False
        if request.objects:
            steps.is_whole = False
        if steps.is_whole:
            steps.variables += [one for one in variables if one not in steps.variables]
            steps.launches.append(launch)
            if clocked:
                steps.clocked.append(clocked[0])
                steps.clocked_variables += [one for one in clocked[1] if one not in steps.clocked_variables]

    def sequence(self) -> list[dict[str, float]]:
        """Milliseconds of each launch where all follow one another: median and least of `REPEATS`; cycles by clocks,
        where only these are read in between.  None if the host works in between, or textures are made."""
        steps, runs, cycles = self.steps, [], []
        if not steps.is_whole or not steps.launches:
            return []
        for _ in range(self.repeats):
            self._begin_sequence(steps.variables)
            runs.append(self.driver.sequence(steps.launches))
        for _ in range(self.repeats if steps.clocked else 0):
            self._begin_sequence(steps.clocked_variables)
            cycles.append([self.driver.clocked(one).cycles for one in steps.clocked])
        found = [{"ms": median(one), "least_ms": min(one)} for one in zip(*runs, strict=True)]
        for row, one in zip(found, zip(*cycles, strict=True), strict=bool(cycles)):
            row["cycles"] = median(one)
        return found

    def _begin_sequence(self, variables: list[Any]) -> None:
        self.driver.write_memory(self.steps.memory)
        self.driver.copy_variables(variables, back=False)
        self.driver.flush()
