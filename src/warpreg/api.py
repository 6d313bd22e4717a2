"""Warpreg from Python: compile a kernel, call it on NumPy arrays, compare register files on the run.

k = warpreg.compile("saxpy.cu")["saxpy"]
run = k[grid, block](2.0, x, y, n)
warpreg.compare(run, designs=["mrf", "rfc"])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpreg import gpu, simt
from warpreg.codegen import MACHINE, PLAIN
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs import comparison, traces
from warpreg.evaluation.runs import run as runs
from warpreg.evaluation.runs.call import Argument, ArgumentError, HostArrays, digest, with_parameters
from warpreg.evaluation.runs.choices import Grids, Refusal, attempted, grid
from warpreg.evaluation.runs.comparing import RunOptions
from warpreg.evaluation.runs.counting import Replayed, Timed
from warpreg.evaluation.runs.recording import needed_record
from warpreg.evaluation.runs.row import Failure, Row, Value
from warpreg.evaluation.runs.run import CompileChoice, Run
from warpreg.gpu import Machine
from warpreg.ir.cpp_names import short_name
from warpreg.ir.errors import WarpregError
from warpreg.ir.html_table import html_table
from warpreg.ir.module import Module, SourceKernels
from warpreg.ir.text_files import read_text
from warpreg.machine_code import files
from warpreg.ptx import parse
from warpreg.ptx.cuda.compile import CompiledCuda, compile_cuda, compile_file
from warpreg.ptx.cuda.options import CudaOptions, macros
from warpreg.sass.choice import Selected, trace_choice
from warpreg.sass.isa.opcodes import UnknownOpcodes
from warpreg.simt import SurfaceArgument, TextureArgument
from warpreg.timing.launch.estimate import Sample

if TYPE_CHECKING:
    import pandas

Extent = int | tuple[int, ...]

__all__ = [
    "ArgumentError",
    "BoundKernel",
    "LaunchableKernel",
    "Program",
    "Run",
    "compare",
    "compare_workloads",
    "compile",
    "read_trace",
    "run",
    "struct",
    "surface",
    "sweep",
    "texture",
    "write_trace",
]

struct = simt.Structure
texture = TextureArgument
surface = SurfaceArgument

DEFAULT_LIMITS = {"stack_bytes": simt.STACK_BYTES, "heap_bytes": simt.HEAP_BYTES}


@dataclass(frozen=True)
class Program:
    """A compiled source; ``program["name"]`` is one of its kernels, iteration gives their names.

    A kernel of CUDA C++ is found by its name in the source or by its mangled name.
    """

    module: Module
    choice: CompileChoice
    record: simt.Record

    def __repr__(self) -> str:
        return f"<Program of {', '.join(self)}>"

    def _repr_html_(self) -> str:
        """Its kernels and what they take, for notebooks."""
        rows = [
            (kernel.name, ", ".join(f"{one.type} {one.name}" for one in kernel.parameters))
            for kernel in self.module.kernels
        ]
        return html_table("program", ("kernel", "parameters"), rows)

    def __getitem__(self, name: str) -> LaunchableKernel:
        return LaunchableKernel(self, self.module.kernel_name(name))

    def __iter__(self) -> Iterator[str]:
        return (kernel.name for kernel in self.module.kernels)

    def __len__(self) -> int:
        return len(self.module.kernels)


@dataclass(frozen=True)
class LaunchableKernel:
    """A kernel without its launch configuration yet: ``kernel[grid, block]`` or ``kernel[grid, block, shared_bytes]``.

    ``grid`` and ``block`` are an integer or up to three; ``shared_bytes`` is the dynamic shared memory of a block.
    """

    program: Program
    name: str

    def __getitem__(self, configuration: int | tuple[Extent, ...]) -> BoundKernel:
        if isinstance(configuration, int) or len(configuration) not in (2, 3):
            raise ArgumentError(f"{self.name}: expected [grid, block] or [grid, block, shared_bytes]")
        grid, block, *rest = configuration
        shared_bytes = rest[0] if rest else 0
        if not isinstance(shared_bytes, int):
            raise ArgumentError(f"{self.name}: expected a number of shared bytes, found {shared_bytes}")
        return BoundKernel(self, grid, block, shared_bytes)


@dataclass(frozen=True)
class BoundKernel:
    """A kernel with its launch configuration; call it with NumPy arrays for pointers and numbers for scalars.

    `texture` and `surface` convert an array to an argument for a texture or surface object.
    """

    kernel: LaunchableKernel
    grid: Extent
    block: Extent
    shared_bytes: int = 0

    def __call__(
        self,
        *arguments: Argument,
        max_instructions: int | None = None,
        references: Mapping[str, TextureArgument | SurfaceArgument] | None = None,
        symbols: Mapping[str, Argument] | None = None,
        read: Sequence[str] = (),
        stack_bytes: int = simt.STACK_BYTES,
        heap_bytes: int = simt.HEAP_BYTES,
    ) -> Run:
        """Run to completion; arrays are copied in, and modified arrays are copied back in place.

        An array that is passed twice is one buffer.  A structure by value is a `struct`, a NumPy record, ``bytes`` or a
        ctypes structure.  ``symbols`` fills ``__constant__`` and ``__device__`` variables by name: with numbers,
        arrays (their contents; those of ``__device__`` variables are copied back), structures, or ``struct(array)`` for
        a pointer to an array.  ``read`` names ``__device__`` variables that the outputs of the run also contain.
        ``references`` binds the module's texture and surface references by name.  ``max_instructions`` ends a runaway
        kernel with an error.  ``stack_bytes`` is a thread's stack for recursion and ``alloca``, ``heap_bytes`` the size
        of the ``malloc`` heap.
        """
        program, name = self.kernel.program, self.kernel.name
        limits = {"stack_bytes": stack_bytes, "heap_bytes": heap_bytes}
        module, choice = with_parameters(program.module, name, arguments), program.choice.of(program.module)
        device = simt.Device(
            module, choice.options_for(module), program.record, stack_bytes=stack_bytes, heap_bytes=heap_bytes
        )
        bound, filled = references or {}, symbols or {}
        identity = {"arguments": digest((*arguments, *bound, *bound.values(), *filled, *filled.values()))}
        arrays = HostArrays(device, name)
        values = arrays.arguments(arguments)
        arrays.bind(bound)
        arrays.fill(filled)
        arrays.read(read)
        device.launch(
            name, self.grid, self.block, *values, shared_bytes=self.shared_bytes, max_instructions=max_instructions
        )
        outputs = arrays.copy_back()
        configuration = {"grid": _extent(self.grid), "block": _extent(self.block), "shared_bytes": self.shared_bytes}
        configuration |= {} if limits == DEFAULT_LIMITS else limits
        return Run(short_name(name), tuple(device.launches), outputs, configuration | identity | choice.as_dict())


def compile(
    source: str | Path,
    *,
    max_registers: int | None = None,
    schedule: bool = True,
    target: str = PLAIN.name,
    level: str = MACHINE,
    registers: int | None = None,
    banks: int = 0,
    address_bits: int = 64,
    sink: bool = True,
    rematerialize: bool = True,
    live_words: int | None = None,
    machine_code: str | None = None,
    record: simt.Record = runs.PATH,
    include: Sequence[str | Path] = (),
    define: Sequence[str] | Mapping[str, object] = (),
    arch: str | None = None,
    kernels: Sequence[str] = (),
) -> Program:
    """Compile a ``.cu`` or ``.ptx`` file, or the text of one (a string with line breaks), or read a file of machine
    code (``.cubin``, ``.fatbin``, ``.sass``).

    CUDA C++ needs the ``cuda`` extra.  ``max_registers`` bounds the 32-bit registers per thread; other values are
    spilled.  ``schedule`` enables the list scheduler; ``target`` (``sm_80``) adds the target's reserved registers to
    the demand; ``level="ptx"`` keeps the PTX instructions, without register allocation, ``level="allocated-ptx"`` with
    it; ``registers`` is the register demand per thread to compute occupancy with; ``banks`` spreads the operands of an
    instruction over this many register banks; ``address_bits=32`` computes addresses in single registers; ``sink``
    moves computations down to the blocks that read them, and ``rematerialize`` recomputes cheap values, where more than
    ``live_words`` words are live, by default those of ``max_registers``.  ``machine_code="sm_90"`` (or ``"sm_80"``)
    runs what ``ptxas`` of the ``cuda`` extra makes instead, which obeys ``max_registers`` only.
    Of a file of machine code it chooses the part for this architecture.

    Of CUDA C++, ``include`` are folders of headers, ``define`` macros (``["N=4"]`` or ``{"N": 4}``), ``arch`` is the
    architecture (``sm_90``; by default that of the machine code, or of an ``sm_`` target), ``kernels`` are templates to
    instantiate (``["fill<float>"]``).  Raises `PtxError`, `CudaCompileError`, `WarpregError`.
    """
    choice = CompileChoice(
        max_registers,
        schedule,
        target,
        level,
        registers,
        banks,
        address_bits=address_bits,
        sink=sink,
        rematerialize=rematerialize,
        live_words=live_words,
        include=tuple(map(str, (include,) if isinstance(include, str | Path) else include)),
        define=macros(define),
        arch=arch,
        machine_code=machine_code,
    )
    return Program(load_module(source, choice.cuda, kernels, machine_code), choice, record)


def load_module(
    source: str | Path,
    cuda: CudaOptions | None = None,
    kernels: Sequence[str] = (),
    machine_code: str | None = None,
) -> Module:
    """The module of a kernel file or of source text; ``kernels`` are templates to instantiate, ``machine_code`` the
    architecture to take from a file of machine code."""
    cuda = cuda or CudaOptions()
    if isinstance(source, str) and "\n" in source:
        if ".version" in source and ".target" in source:
            _expect_no_options("PTX", cuda)
            return parse(source)
        return _parsed(compile_cuda(source, "<source>.cu", cuda, kernels), "<ptx of source>")
    path = Path(source)
    if path.suffix not in (".cu", ".ptx", *files.SUFFIXES):
        expected = ", ".join((".cu", ".ptx", *files.SUFFIXES))
        raise WarpregError(f"{path}: expected one of {expected}, found suffix '{path.suffix}'")
    if path.suffix in files.SUFFIXES:
        _expect_no_options(str(path), cuda)
        return files.read(path, machine_code)
    if path.suffix == ".ptx":
        _expect_no_options(str(path), cuda)
        return parse(read_text(path, errors="replace"), str(path))
    return _parsed(compile_file(path, cuda, kernels), f"<ptx of {path}>")


def _parsed(compiled: CompiledCuda, name: str) -> Module:
    kernels = SourceKernels(compiled.instances, compiled.templates)
    return dataclasses.replace(parse(compiled.ptx, name), source=kernels)


def _expect_no_options(name: str, cuda: CudaOptions) -> None:
    if cuda.is_given:
        raise WarpregError(f"{name}: include, define and arch are for CUDA C++, which this is not")


def run(
    workload: str,
    *,
    size: str = "small",
    seed: int = 0,
    max_registers: int | None = None,
    schedule: bool = True,
    target: str = PLAIN.name,
    level: str = MACHINE,
    registers: int | None = None,
    banks: int = 0,
    address_bits: int = 64,
    sink: bool = True,
    rematerialize: bool = True,
    live_words: int | None = None,
    machine_code: str | None = None,
    cycles: bool = False,
    widths: bool = False,
    patterns: bool = False,
    record: simt.Record | None = None,
) -> Run:
    """Run a built-in workload, or one defined by a ``.py`` file, and check it against its NumPy reference.

    ``cycles`` records what ``compare(cycles=True)`` needs, ``widths`` and ``patterns`` what designs need that read
    those of values; ``record`` names the recordings one by one instead.  ``machine_code``: as in `compile`.
    """
    choice = CompileChoice(
        max_registers,
        schedule,
        target,
        level,
        registers,
        banks,
        address_bits=address_bits,
        sink=sink,
        rematerialize=rematerialize,
        live_words=live_words,
        machine_code=machine_code,
    )
    record = record or simt.Record(path=True, addresses=cycles, widths=widths, patterns=patterns)
    return runs.run_workload(runs.find_workload(workload), size, seed, choice, record)


def read_trace(
    path: str | Path,
    *,
    unknown_opcodes: UnknownOpcodes = "error",
    registers: int | None = None,
    binary_version: str | int | None = None,
    kernels: Selected | None = None,
    blocks: Selected | None = None,
    listing: str | Path | None = None,
) -> Run:
    """The run of a trace recorded on hardware: a ``kernelslist.g``, ``.traceg`` or ``.tracez`` file of Accel-Sim.

    ``unknown_opcodes="alu"`` treats opcodes that are in no table as integer arithmetic; ``registers`` is the register
    demand per thread to compute occupancy with, ``binary_version`` (70, ``"sm_70"``) that of the code, each in place of
    the header's.  ``kernels`` selects launches, numbered from 1 in the order of the list, or by the name of the kernel
    or file: ``"3-5"``, ``"1,4,7-"``, ``"gemm*"``, ``[1, 4]``.  ``blocks`` selects thread blocks of each launch,
    numbered from 0, x fastest: ``"0-99"``, ``range(100)``.  ``run.note`` says what differs from the whole trace.
    ``listing`` is a cubin of the same code, or its listing by ``nvdisasm -c -hex`` or ``cuobjdump -sass``: instructions
    get its control codes and reuse flags.  Raises `SassTraceError`, `MachineCodeError`.
    """
    reading = trace_choice(unknown_opcodes, binary_version, kernels, blocks, listing)
    return traces.recorded_run(str(path), reading, CompileChoice(registers=registers))


def write_trace(run: Run, folder: str | Path) -> Path:
    """Write a run, recorded with ``Record(path=True, addresses=True)``, as traces for Accel-Sim; returns the
    ``kernelslist.g``.  Raises `RunError` and `SassTraceError` for a run that lacks path or addresses."""
    return traces.export_run(run, Path(folder))


def compare(
    run: Run | Iterable[Run],
    designs: Sequence[str] = ("mrf", "rfc"),
    *,
    machine: str | Path = comparison.DEFAULT_MACHINE,
    technology: str | Path | None = None,
    parameters: Mapping[str, Mapping[str, Value | Sequence[Value]]] | None = None,
    cycles: bool = False,
    sample: Sample | None = None,
    cold: bool = False,
    threads: int | None = None,
    unchecked: bool = False,
) -> pandas.DataFrame:
    """One line per run and design: accesses by level, MRF accesses elided, energy normalized to the plain MRF.

    ``designs`` are names or paths of design files; ``parameters`` gives values by design, ``{"rfc": {"entries": 4}}``,
    or lists of values, with a line for each combination.  With ``cycles`` runs are timed, all
    or a ``sample`` of each: cycles, instructions a cycle, speed over the plain MRF; they must have been made with
    ``run(..., cycles=True)``.  ``cold``: the second-level cache is emptied before each launch.  ``threads`` step the
    SMs of a launch, by default one per processor; the results are the same.  With ``unchecked`` the hooks of design
    files run without checks.
    Counts are warp-registers, energies pJ, by default of the first technology that prices all designs, their own first.
    ``added_...`` columns are the hardware that a design adds, ``leakage_...`` columns need cycles, ``events`` and
    ``resources`` are the design's own.
    A design that fails on a run has a line with an ``error``; the other lines stand.  Raises the error of the first
    design if all fail, that of the plain MRF, `UnknownNameError`, `ArgumentError` for what is not a run.
    """
    import pandas

    described = gpu.load(machine)
    chosen, refused = _attempted(_grids(designs, parameters), described, unchecked)
    setting = comparison.Setting.load(described, technology, chosen)
    taken = _runs(run)
    how = Timed(sample, cold=cold, threads=threads) if cycles else Replayed()
    rows: list[Row | Failure] = []
    for one in taken:
        rows += comparison.attempts(comparison.DesignCounter(one, described, how), chosen, setting)
        rows += [bad.on(one.name) for bad in refused]
    if chosen and not any(isinstance(row, Row) for row in rows):
        for one in taken:
            list(comparison.compare(one, chosen, setting, how))  # raises it
    return pandas.DataFrame([row.as_dict() for row in rows])


def compare_workloads(
    names: Sequence[str],
    designs: Sequence[str] = ("mrf", "rfc"),
    *,
    vary: Sequence[str] = (),
    baseline: str = comparison.BASELINE,
    size: str = "small",
    seed: int = 0,
    machine: str = comparison.DEFAULT_MACHINE,
    technology: str | None = None,
    parameters: Mapping[str, Mapping[str, Value | Sequence[Value]]] | None = None,
    cycles: bool = False,
    sample: Sample | None = None,
    processes: int = 1,
    unchecked: bool = False,
) -> pandas.DataFrame:
    """As `compare`, for workloads by name, in several ``processes`` and under variations.

    ``vary`` repeats the comparison with another instruction order (``"order"``), width of addresses
    (``"address-bits"``) or machine (``"machine=gtx480"``); the column ``variation`` says which, empty for the
    comparison itself.  Results are normalized to ``baseline``.  Rows of designs and workloads of the package are kept,
    and found by the next comparison.  Raises VariationError for another variation, else as `compare`.
    """
    import pandas

    from warpreg.evaluation.sweep.variations import VariationStudy, against, variations

    described, grids = gpu.load(machine), _grids(designs, parameters)
    for name in names:
        runs.find_workload(name)
    chosen, _ = _attempted(grids, described, unchecked)
    priced = comparison.Setting.load(described, technology, chosen).technology.name
    record = needed_record((one.design.declaration for one in chosen), addresses=cycles)
    making = RunOptions(size, seed, CompileChoice(), record)
    how = Timed(sample) if cycles else Replayed()
    varied = variations(vary, machine, making.choice)
    found = VariationStudy(tuple(names), grids, priced, how, making, unchecked).compared(varied, processes)
    return pandas.DataFrame(
        [
            {"variation": one.name, **row.as_dict()}
            for one, rows in zip(varied, found, strict=True)
            for row in (rows if baseline == comparison.BASELINE else against(rows, baseline))
        ]
    )


def sweep(
    study: str | Path, *, executor: str = "processes", processes: int | None = None, unchecked: bool = False
) -> pandas.DataFrame:
    """One line per cell of a study file, in order; finished cells are found, the others are measured.

    ``executor`` and ``processes`` say where, as the options of ``warpreg sweep``.  A cell that fails has an ``error``.
    With ``[search]`` in the file, one line per trial, the best first.  Raises `SweepError`, `UnknownNameError`.
    """
    import pandas

    from warpreg.evaluation.sweep.study_file import read_study
    from warpreg.evaluation.sweep.sweep import batch_of, swept

    path = Path(study)
    read = read_study(path)
    if read.search is not None:
        from warpreg.evaluation.sweep.search import searched

        trials = searched(read, path.parent, executor, processes, unchecked=unchecked)
        return pandas.DataFrame([trial.as_dict() for trial in trials])
    return pandas.DataFrame(swept(batch_of(read, path.parent, unchecked=unchecked), (), executor, processes))


def _grids(designs: Sequence[str], parameters: Mapping[str, Mapping[str, Value | Sequence[Value]]] | None) -> Grids:
    """The values of each parameter that is given, by design."""
    return {design: _listed((parameters or {}).get(design, {})) for design in designs}


def _attempted(grids: Grids, machine: Machine, unchecked: bool) -> tuple[list[ConfiguredDesign], list[Refusal]]:
    """As `attempted`.  Raises the error of the first design if there is none left."""
    chosen, refused = attempted(grids, machine=machine, unchecked=unchecked)
    for name, values in grids.items() if not chosen else ():
        grid(name, values, machine=machine, unchecked=unchecked)
    return chosen, refused


def _listed(values: Mapping[str, Value | Sequence[Value]]) -> dict[str, Sequence[Value]]:
    """Each parameter with a list of values."""
    return {
        name: [value] if isinstance(value, (bool, int, float, str)) else list(value) for name, value in values.items()
    }


def _runs(given: object) -> list[Run]:
    """One run or several as a list."""
    runs: list[Run] = []
    for one in [given] if isinstance(given, (Run, str)) or not isinstance(given, Iterable) else given:
        if not isinstance(one, Run):
            remedy = f": warpreg.run({one!r}) runs a workload" if isinstance(one, str) else ""
            raise ArgumentError(f"compare expects runs, found {one!r}{remedy}")
        runs.append(one)
    return runs


def _extent(extent: Extent) -> list[int]:
    return [extent] if isinstance(extent, int) else list(extent)
