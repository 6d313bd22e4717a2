"""A run: a workload or a kernel executed on the device, with its launches, outputs and identity."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg import codegen, gpu, simt, workloads
from warpreg.codegen import CompileOptions
from warpreg.designs.interface.declaration import Declaration
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.provenance import NOTE, kernel_digest
from warpreg.evaluation.runs.residency import Residency, residency
from warpreg.gpu import Machine
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.html_table import html_table
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.machine_code.assembler import MachineCode
from warpreg.ptx.cuda.options import CudaOptions
from warpreg.replay import DistinctWarps, distinct_warps
from warpreg.sass.listing import Copy
from warpreg.trace import Trace
from warpreg.workloads import Workload

Array = NDArray[Any]
PATH = simt.Record(path=True)


class RunError(WarpregError):
    """A run that lacks a required recording or property."""


@dataclass(frozen=True, slots=True)
class JoinedPath:
    """Several paths of one kernel, concatenated: a path may contain any number of thread blocks."""

    traces: tuple[Trace, ...]

    def path_chunks(self) -> Iterator[NDArray[np.uint32]]:
        """The chunks of all paths."""
        for trace in self.traces:
            yield from trace.path_chunks()

    def width_chunks(self) -> Iterator[NDArray[np.uint8]]:
        """The widths of all paths."""
        for trace in self.traces:
            yield from trace.width_chunks()


@dataclass(frozen=True)
class Run:
    """Launches in order, with their traces; ``options`` make the run repeatable (size, seed, arguments), one of them
    may be a `NOTE`.

    ``checked`` maps each checked output to the tolerance of its comparison with the reference.  ``copies`` from the
    host are known of recorded traces only.
    """

    name: str
    launches: tuple[simt.Launch, ...]
    outputs: Mapping[str, Array] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    checked: Mapping[str, str] = field(default_factory=dict)
    copies: tuple[Copy, ...] = ()
    _distinct: dict[tuple[Kernel, bool, bool], DistinctWarps] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __repr__(self) -> str:
        size = f", size {self.options['size']}" if "size" in self.options else ""
        launches = f"{len(self.launches)} launch{'es' if len(self.launches) != 1 else ''}"
        kernels = ", ".join(kernel.name for kernel in self.kernels)
        note = f"; {self.note}" if self.note else ""
        amount = f"{self.warp_instructions:,} warp-instructions"
        return f"<Run of {self.name}{size}: {launches} of {kernels}, {amount}{note}>"

    def _repr_html_(self) -> str:
        """A table of kernels, for notebooks."""
        heads = ("kernel", "launches", "registers", "instructions", "warp-instructions")
        rows = [(kernel, self.launches_of(kernel)) for kernel in self.kernels]
        return html_table(
            self.name,
            heads,
            [
                (
                    kernel.name,
                    len(launches),
                    kernel.register_demand,
                    kernel.instruction_count,
                    sum(int(launch.warp_instructions) for launch in launches),
                )
                for kernel, launches in rows
            ],
        )

    @property
    def note(self) -> str:
        """What part of a trace the run is, and what took the place of the trace's header; empty for a whole run."""
        return str(self.options.get(NOTE, ""))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The compiled kernels, each once, in the order of their first launch."""
        return tuple(dict.fromkeys(launch.kernel for launch in self.launches))

    @property
    def warp_instructions(self) -> int:
        return sum(int(launch.warp_instructions) for launch in self.launches)

    @property
    def seconds(self) -> float:
        """Time in launches, recording included, but for what a second thread writes after them (`Launch.seconds`)."""
        return sum(launch.seconds for launch in self.launches)

    @cached_property
    def digest(self) -> str:
        """Content hash of the compiled kernels."""
        return kernel_digest(self.kernels)

    def residencies(self, machine: Machine, chosen: ConfiguredDesign | None = None) -> tuple[Residency, ...]:
        """The residency of each kernel at its first launch under a design (default: the plain register file), with the
        registers of the run's options, if any.  Raises DesignError for a design that the machine cannot have.
        """
        registers = self.options.get("registers")
        return tuple(residency(self.launches_of(kernel)[0], machine, registers, chosen) for kernel in self.kernels)

    def launches_of(self, kernel: Kernel) -> tuple[simt.Launch, ...]:
        """The launches of a kernel, in order."""
        return tuple(launch for launch in self.launches if launch.kernel is kernel)

    def path(self, kernel: Kernel) -> JoinedPath:
        """The recorded paths of all launches of a kernel.  Raises RunError if one was not recorded."""
        launches = self.launches_of(kernel)
        traces = tuple(launch.trace for launch in launches if launch.trace is not None)
        if len(traces) < len(launches):
            raise RunError(f"{self.name}: the run has no recorded path; record one with Record(path=True)")
        return JoinedPath(traces)

    def distinct_path(self, kernel: Kernel, design: Declaration | None = None) -> DistinctWarps:
        """The distinct paths of the warps of a kernel over all its launches, for counts that depend on single warps;
        for a ``design`` that reads widths or patterns of values, warps that differ in these are distinct.  Raises
        RunError like `path`, TraceError for a run without them.
        """
        values, patterns = (design.reads_values, design.patterns) if design else (False, False)
        key = kernel, values, patterns
        if key not in self._distinct:
            self._distinct[key] = distinct_warps(
                self.path(kernel).traces, len(kernel.blocks), widths_of=kernel if values else None, patterns=patterns
            )
        return self._distinct[key]


RANGES = {
    "max_registers": (8, 255),
    "registers": (1, 255),
    "banks": (0, 32),
    "rotate": (0, 255),
    "live_words": (0, 255),
}
"""The least and the largest value of compile options."""
ADDRESS_BITS = (32, 64)
OF_PTXAS = frozenset({"machine_code", "max_registers", "registers", "include", "define", "arch"})
"""Compile options that also have an effect on machine code."""
OF_BINARIES = frozenset({"machine_code", "registers"})
"""Those that have an effect on files of machine code."""


@dataclass(frozen=True, slots=True)
class CompileChoice:
    """The compiler options of a user, with the names of the command line; the others are as in `CompileOptions`."""

    max_registers: int | None = None
    schedule: bool = True
    target: str = codegen.PLAIN.name
    level: str = codegen.MACHINE
    registers: int | None = None
    """Register demand per thread for the computation of occupancy, regardless of the compiled kernel."""
    banks: int = 0
    latencies: str | None = None
    """The machine that instructions are scheduled for, by name or path."""
    address_bits: int = 64
    rotate: int = 0
    sink: bool = True
    rematerialize: bool = True
    live_words: int | None = None
    include: tuple[str, ...] = ()
    """As in `CudaOptions`, for CUDA C++."""
    define: tuple[str, ...] = ()
    """As in `CudaOptions`."""
    arch: str | None = None
    """As in `CudaOptions`."""
    machine_code: str | None = None
    """Run the code of ``ptxas`` for this architecture instead; of this compiler's options, it obeys ``max_registers``
    only.
    """

    @property
    def cuda(self) -> CudaOptions:
        """How CUDA C++ is compiled.  Raises CudaOptionError."""
        return CudaOptions(self.include, self.define, self.arch, self.machine_code or self.target)

    def options(self) -> CompileOptions:
        """The compiler's options.

        Raises UnknownNameError for a target, level or machine, MachineError, and RunError for a value out of range.
        """
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise RunError(f"{name}: expected {low} to {high}, found {value}")
        if self.address_bits not in ADDRESS_BITS:
            raise RunError(f"address_bits: expected 32 or 64, found {self.address_bits}")
        if self.level not in codegen.LEVELS:
            raise UnknownNameError("level", self.level, codegen.LEVELS)
        if self.machine_code:
            return self._vendor_options()
        return CompileOptions(
            max_registers=self.max_registers,
            schedule=self.schedule,
            target=codegen.target(self.target),
            level=self.level,
            banks=self.banks,
            cycles=codegen.Cycles.of(gpu.load(self.latencies)) if self.latencies else None,
            address_bits=self.address_bits,
            rotate=self.rotate,
            sink=self.sink,
            rematerialize=self.rematerialize,
            live_words=self.live_words,
        )

    def of(self, module: Module) -> CompileChoice:
        """The choice for a module: one of machine code says its architecture."""
        return dataclasses.replace(self, machine_code=module.code.architecture) if module.code else self

    def options_for(self, module: Module) -> CompileOptions:
        """The compiler's options for a module.

        Raises like `options`, and RunError for an option of a compiler with a module that is machine code already.
        """
        if module.code is None:
            return self.options()
        for one in dataclasses.fields(self):
            if one.name not in OF_BINARIES and getattr(self, one.name) != one.default:
                raise RunError(f"{one.name}: an option of a compiler; {module.file} is machine code already")
        if self.machine_code not in (None, module.code.architecture):
            found = module.code.architecture
            raise RunError(f"machine_code: {module.file} is code for {found}, not for {self.machine_code}")
        return CompileOptions()

    def _vendor_options(self) -> CompileOptions:
        """The options with which ``ptxas`` makes the code.  Raises RunError for an option of this compiler."""
        assert self.machine_code is not None
        for one in dataclasses.fields(self):
            if one.name not in OF_PTXAS and getattr(self, one.name) != one.default:
                raise RunError(
                    f"{one.name}: an option of Warpreg's compiler; the code is ptxas's ({self.machine_code})"
                )
        return CompileOptions(assembler=MachineCode.of(self.machine_code, self.max_registers))

    def as_dict(self) -> dict[str, Any]:
        """The options as values of JSON, equal to those that are read back."""
        given = dataclasses.asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    @classmethod
    def of_run(cls, options: Mapping[str, Any]) -> CompileChoice:
        """The choice among the options of a run, what `as_dict` has put there; others are not the compiler's."""
        named = {one.name: options[one.name] for one in dataclasses.fields(cls) if one.name in options}
        given: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in named.items()}
        return cls(**given)


AS_COMPILED = CompileChoice()
"""The compiler's defaults."""


def find_workload(name: str) -> Workload:
    """A built-in workload by name, or the one defined by a ``.py`` file or described by a ``.toml`` file."""
    if name.endswith(".toml"):
        from warpreg.workloads.description import load_description  # imported only here: takes a tenth of a second

        return load_description(name)
    return workloads.load(name) if name.endswith(".py") else workloads.find(name)


def load_device(
    workload: Workload,
    choice: CompileChoice,
    record: simt.Record = PATH,
    max_instructions: int | None = None,
    module: Module | None = None,
) -> simt.Device:
    """A device with the workload's PTX, or another ``module`` in its place."""
    limit = {} if max_instructions is None else {"max_instructions": max_instructions}
    module = module or workload.module(choice.cuda)
    return simt.Device(module, choice.options_for(module), record, **limit)


def run_workload(
    workload: Workload,
    size: str = "tiny",
    seed: int = 0,
    choice: CompileChoice = AS_COMPILED,
    record: simt.Record = PATH,
    max_instructions: int | None = None,
    module: Module | None = None,
) -> Run:
    """Run a workload and check its outputs against the NumPy reference; raises CheckError if they differ.

    ``module``: other code for its kernels.
    """
    problem = workload.problem(size, seed)
    device = load_device(workload, choice, record, max_instructions, module)
    outputs = problem.run(device)
    problem.check(outputs)
    options = {"size": size, "seed": seed, **choice.of(device.module).as_dict()}
    checked = {name: str(workload.tolerance_of(name)) for name in problem.expected}
    return Run(workload.name, tuple(device.launches), outputs, options, checked)
