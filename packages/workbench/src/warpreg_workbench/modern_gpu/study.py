"""Every design on a sub-core without collectors, alone and over its reuse cache, as cells of a sweep.

A case is what designs are compared on: a machine, the code of ``ptxas`` or that of this compiler, and a technology.
The sweep keeps each cell, so a study goes on where it stopped, and a change measures again only what it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warpreg import designs, energy, gpu, simt, workloads
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.residency import Launch
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.loading.fetch import with_collectors
from warpreg.energy import EnergyError
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.hardware import check_prices
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice
from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.cells import Cell, RunSpec
from warpreg.evaluation.sweep.sweep import swept
from warpreg.ir.errors import UnknownNameError
from warpreg_workbench.modern_gpu.all_warps import with_all_warps

REUSE, PLAIN = "reuse", "mrf"
OVER = f"+{REUSE}"
"""What makes a design one over the reuse cache."""
TECHNOLOGIES = ("common-40nm", "bow", "rc-rsp-28nm", "corf")
"""The first prices every design, with numbers of several papers; the others are those of one paper each."""
WORKLOADS = (
    "backprop", "bfs", "cfd", "histogram", "hotspot", "lud", "mandelbrot", "matrix-mul", "nw", "reduction",
)  # fmt: skip
ANY_KERNEL = "vector-add"


@dataclass(frozen=True, slots=True)
class Side:
    """A machine and the code that runs on it; designs stand over the reuse cache where the machine has one.

    ``size``: that of the workloads; None is that of the study.
    """

    name: str
    machine: str
    machine_code: str | None
    has_reuse: bool
    size: str | None = None

    @property
    def choice(self) -> CompileChoice:
        return CompileChoice(machine_code=self.machine_code) if self.machine_code else AS_COMPILED


WINDOW = Side("h100, ptxas", "h100", "sm_90", has_reuse=True)
OWN_CODE = Side("h100, own code", "h100", None, has_reuse=True)
COLLECTORS = Side("v100, ptxas", "v100", "sm_90", has_reuse=False)
LARGER = Side("h100, ptxas, small", "h100", "sm_90", has_reuse=True, size="small")
SIDES = (WINDOW, OWN_CODE, COLLECTORS, LARGER)
"""The machine, code and size that the study is about, then one change at a time."""


@dataclass(frozen=True, slots=True)
class DesignMeasurement:
    """The row of a sweep for ``design`` (without the reuse cache under it) on a side; ``over``: with it."""

    side: str
    design: str
    over: bool
    row: dict[str, Any]


def names() -> list[str]:
    """The designs of the package but the reuse cache; one that needs another stands beside it."""
    own = [name for name in designs.names() if name != REUSE]
    return ["+".join([*designs.load(name).declaration.uses, name]) for name in own]


def refusal(design: str, machine: str) -> str:
    """Why a design cannot work on a machine; empty if it can."""
    described, chosen = gpu.load(machine), designs.load(design)
    kernel = simt.Device(workloads.find(ANY_KERNEL).module()).kernel
    (code,) = (kernel(one.name) for one in workloads.find(ANY_KERNEL).module().functions if one.is_kernel)
    parameters = chosen.configure(**chosen.of_machine(described))
    try:
        with_collectors(described, chosen.collectors(parameters, described))
        chosen.room(parameters, designs.program_table(code), described, Launch(256), code)
    except DesignError as error:
        return str(error)
    return ""


def priced(design: str, machine: str) -> list[str]:
    """The technologies that have a price for all levels, tables and logic of a design."""
    described = gpu.load(machine)
    choice = ConfiguredDesign.load(design, machine=described)
    return [name for name in TECHNOLOGIES if _prices(name, choice, described)]


def _prices(technology: str, choice: ConfiguredDesign, machine: gpu.Machine) -> bool:
    try:
        check_prices([choice], machine, energy.load(technology))
    except (EnergyError, UnknownNameError):
        return False
    return True


def cells(chosen: Sequence[str], named: Sequence[str], size: str, sides: Sequence[Side]) -> Iterator[tuple[Side, Cell]]:
    """All cells; the technology changes fastest, so that each design is timed once on each run and machine."""
    works = {side: [one for one in chosen if not refusal(one, side.machine)] for side in sides}
    for side in sides:
        stacks = [f"{one}{OVER}" for one in works[side] if side.has_reuse and one != PLAIN]
        every = [PLAIN, REUSE, *(one for one in works[side] if one != PLAIN), *stacks]
        prices = {design: priced(design, side.machine) for design in every}
        for name in named:
            made = RunSpec(name, side.size or size, 0, side.choice)
            for design in every:
                for technology in prices[design]:
                    yield side, Cell(made, side.machine, technology, Timed(), design)


def measured(
    pairs: Sequence[tuple[Side, Cell]], workers: int | None, done: Callable[[int], None] = lambda cells: None
) -> list[DesignMeasurement]:
    """The rows of all cells, with entries for all warps.  ``done`` is called with the number of cells that have been
    finished since.
    """
    rows = swept(Batch.of([cell for _, cell in pairs]), workers=workers, done=done, found=done)
    return [
        DesignMeasurement(
            side.name,
            cell.design.removesuffix(OVER),
            cell.design.endswith(OVER),
            with_all_warps(row, cell.design, cell.machine, cell.technology),
        )
        for (side, cell), row in zip(pairs, rows, strict=True)
    ]
