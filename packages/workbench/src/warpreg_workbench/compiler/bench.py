"""``warpreg bench compiler``: comparison with ``ptxas`` on every kernel of every workload, or of a folder of PTX.

- registers: 32-bit registers allocated per thread.  Ours: the demand of the kernel compiled for that target
  (`codegen.machine.targets`), of which ``used`` are named by its code.  Theirs: the count of ``ptxas -v``.  Predicates
  and uniform registers are counted separately.
- instructions: static.  Ours: those of the compiled kernel.  Theirs: SASS without the padding after the kernel's end.
  Subroutines that ``ptxas`` links in for unusual operands of divisions and roots are counted separately; in our code a
  guarded division represents their call.
- verified: kernels whose compiled version writes the same bits to global memory as the version with virtual registers,
  after every launch of the workload at size tiny, or the launch in the folder's ``launches.toml`` (see
  `warpreg_workbench.compiler.ptx_folder`); the workload's other kernels run with virtual registers.
- rolled: the same without loop unrolling on both sides (`vendor_compiler.rolled_loops`; a target that does not unroll).
- copies: loops of which both codes have equally many copies (`loop_copies`), as a share of all loops, and of those that
  one of the compilers unrolls.

A ratio is ``max(r, 1/r)`` of ours over theirs, so that errors in both directions do not cancel; the summaries cover all
kernels on both targets, and the 90th percentile is interpolated linearly.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from warpreg import codegen, simt, workloads
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.row import geometric_mean
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.machine_code.tools import ptxas_version
from warpreg.ptx import parse
from warpreg.workloads import Workload
from warpreg_workbench.compiler.evidence import Evidence
from warpreg_workbench.compiler.loop_copies import LoopCopies, loop_copies, our_counts, their_counts
from warpreg_workbench.compiler.ptx_folder import ptx_files, read_launches
from warpreg_workbench.compiler.vendor_compiler import MachineCode, assemble

TARGETS = ("sm_75", "sm_80")
SIZE = "tiny"
FIGURES = ("registers", "instructions")
ROLLED = "rolled_"

Begin = Callable[[str], None]


class Runnable(Protocol):
    """Launches kernels on a device: a workload's problem, or a launch of one kernel."""

    def run(self, device: simt.Device, /) -> object:
        """Upload, launch, download."""


@dataclass(frozen=True, slots=True)
class OurCode:
    """One kernel compiled here: ``registers`` is the demand, of which ``used`` are named by the code."""

    registers: int
    used: int
    uniform_registers: int
    predicates: int
    instructions: int

    @staticmethod
    def of(kernel: Kernel) -> OurCode:
        """The figures of a compiled kernel."""
        used = kernel.register_count
        uniform = kernel.uniform_count
        return OurCode(kernel.register_demand, used, uniform, kernel.predicate_count, kernel.instruction_count)


@dataclass(frozen=True, slots=True)
class CompilerComparison:
    """One kernel on one target, compiled by us and by ``ptxas``."""

    workload: str
    kernel: str
    target: str
    verified: bool
    """The outputs of our code are right."""
    ours: OurCode
    theirs: MachineCode
    ours_rolled: OurCode
    """Ours without unrolling."""
    rolled: MachineCode
    """Theirs without unrolling."""
    loops: tuple[LoopCopies, ...] = ()
    """Copies of loops, ours and theirs."""
    evidence: Evidence | None = None
    """Counts that explain a difference, if asked."""

    @property
    def ratios(self) -> dict[str, float]:
        """By figure, the ratio of both compilers, at least 1."""
        return {
            f"{which}{figure}": ratio(getattr(ours, figure), getattr(theirs, figure))
            for which, ours, theirs in (("", self.ours, self.theirs), (ROLLED, self.ours_rolled, self.rolled))
            for figure in FIGURES
        }

    @property
    def mechanisms(self) -> dict[str, str]:
        """By figure, the explanation of an outlier; empty if it is none."""
        if self.evidence is None:
            return dict.fromkeys(FIGURES, "")
        registers = self.ours.registers / max(1, self.theirs.registers)
        instructions = self.ours.instructions / max(1, self.theirs.instructions)
        return {
            "registers": self.evidence.of_registers(registers),
            "instructions": self.evidence.of_instructions(instructions),
        }

    def as_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "kernel": self.kernel,
            "target": self.target,
            "verified": self.verified,
            "ours": dataclasses.asdict(self.ours),
            "ptxas": self.theirs.as_dict(),
            "ours_rolled": dataclasses.asdict(self.ours_rolled),
            "ptxas_rolled": self.rolled.as_dict(),
            "loops": [dataclasses.asdict(loop) for loop in self.loops],
            "ratio": self.ratios,
            "mechanism": self.mechanisms,
        }


def compiler(begin: Begin = lambda what: None, folder: Path | None = None, address_bits: int = 64) -> dict[str, Any]:
    """The summaries by name, the two compilers' versions, and a row for each kernel on each target.

    ``begin`` is called with each workload.

    With ``folder``, its PTX files replace the workloads.  Raises `VendorToolMissingError` without the ``cuda`` extra,
    `LaunchFileError` for a folder without PTX files.
    """
    version = ptxas_version()
    compared: list[CompilerComparison] = []
    for name in workloads.names() if folder is None else ():
        begin(f"compiling {name}")
        compared += compare_workload(workloads.find(name), address_bits)
    for path in ptx_files(folder) if folder else ():
        begin(f"compiling {path.stem}")
        compared += compare_file(path, address_bits)
    return {
        **summary(compared),
        "address_bits": address_bits,
        "compilers": {"warpreg": code_version(), "ptxas": version},
        "kernels": [one.as_dict() for one in compared],
    }


def summary(compared: Iterable[CompilerComparison]) -> dict[str, float | int]:
    """The figures over all kernels and targets; a kernel counts as verified if it is verified on every target."""
    compared = list(compared)
    wrong = {(one.workload, one.kernel) for one in compared if not one.verified}
    figures: dict[str, float | int] = {}
    for name in (f"{which}{figure}" for which in ("", ROLLED) for figure in FIGURES):
        ratios = [one.ratios[name] for one in compared]
        figures |= {f"{name}_ratio_geomean": geometric_mean(ratios), f"{name}_ratio_p90": percentile_90(ratios)}
    copies = [loop for one in compared for loop in one.loops]
    figures["copies_equal_share"] = _equal_share(copies)
    figures["copies_equal_share_unrolled"] = _equal_share(loop for loop in copies if loop.is_unrolled)
    return figures | {
        "verified_kernels": len({(one.workload, one.kernel) for one in compared} - wrong),
    }


def _equal_share(loops: Iterable[LoopCopies]) -> float:
    """The share of loops with equally many copies on both sides; 1 without loops."""
    equal = [loop.ours == loop.theirs for loop in loops]
    return sum(equal) / len(equal) if equal else 1.0


def ratio(ours: int, theirs: int) -> float:
    """``max(r, 1/r)`` of two counts; 0 counts as 1."""
    low, high = sorted((ours, theirs))
    return max(high, 1) / max(low, 1)


def percentile_90(values: Iterable[float]) -> float:
    """The 90th percentile, interpolated linearly between the two nearest ranks."""
    return float(np.percentile(list(values), 90))


def compare_workload(workload: Workload, address_bits: int = 64) -> list[CompilerComparison]:
    """Every kernel of the workload on every target, in the order of its PTX."""
    path = workload.ptx_path
    module = parse(path.read_text(encoding="utf-8"), path.name)
    return _compare(workload.name, path, module, [workload.problem(SIZE)], address_bits)


def compare_file(path: Path, address_bits: int = 64) -> list[CompilerComparison]:
    """Every kernel of a PTX file, verified if the folder's launches include it."""
    launches = read_launches(path.parent)
    module = parse(path.read_text(encoding="utf-8"), path.name)
    problems = [launches[f.name] for f in module.kernels if f.name in launches]
    return _compare(path.stem, path, module, problems, address_bits)


def _compare(
    name: str, path: Path, module: Module, problems: Sequence[Runnable], address_bits: int
) -> list[CompilerComparison]:
    rows: list[CompilerComparison] = []
    for target in TARGETS:
        theirs = assemble(path, target)
        rolled = assemble(path, target, unroll=False)
        options = codegen.CompileOptions(target=codegen.target(target), address_bits=address_bits)
        apart = dataclasses.replace(options, target=dataclasses.replace(options.target, unrolls=False))
        compiled = {f.name: codegen.translate(module, f.name, options) for f in module.kernels}
        same = {kernel for problem in problems for kernel in verified(module, problem, compiled.values())}
        for kernel, code in compiled.items():
            machine, plain = theirs[kernel], rolled[kernel]
            alone = codegen.translate(module, kernel, apart)
            virtual = codegen.build_kernel(module, kernel, predicate=True)
            copies = loop_copies(
                virtual, (our_counts(code), our_counts(alone)), (their_counts(machine), their_counts(plain))
            )
            rows.append(
                CompilerComparison(
                    name, kernel, target, kernel in same, OurCode.of(code), machine, OurCode.of(alone), plain,
                    tuple(copies), Evidence.of(code, machine, plain),
                )
            )  # fmt: skip
    order = [f.name for f in module.kernels]
    return sorted(rows, key=lambda row: order.index(row.kernel))


class DigestedDevice(simt.Device):
    """A device that runs virtual registers and keeps a digest of all global memory after every launch."""

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
    """Names of compiled kernels that the problem launches and whose results equal the virtual kernels' bit for bit."""
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
