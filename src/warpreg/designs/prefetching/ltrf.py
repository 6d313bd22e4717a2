"""Latency-tolerant register file: a cache whose content is prefetched by interval (Sadrosadati et al., ASPLOS 2018).

The compiler divides a kernel into register intervals: parts with one entry that access no more registers than a warp
has entries in the cache.  Where a warp enters an interval, a prefetch operation with a bit vector of its registers, the
working set, fetches them from the main register file.  The warp waits until they are there, while other active warps
run; then all its operands are in the cache.  So the main register file may be slow, and therefore large.

*Compiler* (`designs/parts/intervals`).  Pass 1 forms control-flow intervals from the entry on, as long as the registers
fit; a block whose own registers do not fit is cut.  Pass 2 merges intervals in the same way until nothing more fits.

*Cache*.  Each active warp has a partition of ``entries`` warp-registers.  Registers of both the old and the new working
set stay; those that leave are written back if they were written.  A warp that leaves the active set of its scheduler
writes its registers back, and fetches its working set again when it enters.  With ``liveness`` (LTRF+), values that
nothing reads any more are neither fetched nor written back.

*Time*.  Registers pass banks of the main register file like other accesses, and a path of ``per_cycle`` registers a
cycle and ``path_latency`` cycles.  A machine with a two-level scheduler, such as ``gtx980-two-level``, has an active
set.

Only the abstract of the paper was at hand, and what is known of its method; no number below is from its text.

Where the paper is silent, or could not be read:
- the numbers of all parameters;
- the bit vector belongs to the first instruction of the interval, so a prefetch takes no issue slot;
- a loop whose registers fit is one interval, and going round it prefetches nothing;
- lanes that go on in another interval after a divergent branch bring that working set back;
- a warp waits at an interval until registers that leave it are written back too;
- a result that comes when its register is not in the cache, as after a switch of warps, goes to the main register file;
- an instruction that names more registers than a partition has accesses the main register file;
- the cache serves all operands of an instruction at once, and a bank of the main register file an access a cycle,
  however long it takes;
- ``capacity`` gives a warp room as if the main register file were so many times as large;
- with ``cells`` of another technology, all registers are in that level of the main register file.

Limits: the bit vectors of warps, and the code that holds them, have no energy or area here.  Without a two-level
scheduler all resident warps have a partition.  The abstract prints 31% more performance and 46% less power of the
register file with an eight times larger one in other cells; machine, workloads and cells of these figures could not be
read, so no run is compared with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import ArraySpec, Declaration, Path, Program, Residency, Structure, parameter
from warpreg.designs.interface.checked import Checked
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.intervals.corruptions import IntervalCorruption, corruptions_of
from warpreg.designs.parts.intervals.expand import checked_intervals
from warpreg.designs.parts.intervals.formation import intervals_of
from warpreg.designs.parts.intervals.hints import IntervalHints, interval_hints, reasons
from warpreg.designs.parts.intervals.hooks import (
    EVENTS,
    activated,
    admit,
    plan_reads,
    produced,
    suspended,
    transferred,
)
from warpreg.designs.parts.intervals.state import State, empty_cache
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = ["activated", "admit", "plan_reads", "produced", "suspended", "transferred"]

LEVELS = ("MRF", "TFET", "RC")
DESIGN = Declaration(
    slot="levels", source="LTRF (ASPLOS 2018), abstract", levels=LEVELS, main=LEVELS[:2], order="warp", events=EVENTS
)
CELLS: Mapping[str, int] = {"sram": 0, "tfet": 1}
"""By kind of cells, the level of the main register file that has them."""


@dataclass(frozen=True)
class Parameters:
    """Cache, main register file, and options of the compiler."""

    entries: int = parameter(
        16,
        unit="registers per active warp",
        low=0,
        high=255,
        off=0,
        source="assumed: the text was not at hand; with 8 active warps, a cache of 16 KB",
    )
    partitions: int = parameter(
        8,
        unit="active warps",
        low=1,
        high=64,
        source="assumed: those of gebhart; storage and energy only, the machine schedules",
    )
    path_latency: int = parameter(
        8,
        unit="cycles",
        low=1,
        high=1000,
        source="assumed: a main register file of several cycles, and the way to the cache",
    )
    per_cycle: float = parameter(
        4.0,
        unit="registers per cycle",
        low=0.01,
        high=64,
        source="assumed: a quarter of the 16 banks of a register file; a register has the width of a bank",
    )
    path_per: str = parameter("SM", choices=("SM", "scheduler"), source="assumed: the cache is one of the SM")
    capacity: int = parameter(
        1,
        unit="times the machine's",
        low=1,
        high=64,
        off=1,
        source="LTRF (ASPLOS 2018), abstract: up to 8 times; 1 changes nothing else",
    )
    cells: str = parameter(
        "sram",
        choices=tuple(CELLS),
        off="sram",
        source="LTRF (ASPLOS 2018), abstract: denser and slower cells; tfet: those of this package",
    )
    vectors: int = parameter(
        512, unit="registers", low=32, high=65536, machine="warp_registers", source="the register file of the machine"
    )
    liveness: bool = parameter(
        False, source="assumed: LTRF+, by its name; dead values are neither fetched nor written back"
    )
    merges: bool = parameter(True, source="assumed: pass 2; off: the intervals of pass 1")


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Main register file in one kind of cells, and the cache."""
    registers = parameters.vectors * parameters.capacity
    is_tfet = parameters.cells == "tfet"
    return (
        Structure("MRF", registers=0 if is_tfet else registers),
        Structure("TFET", registers=registers if is_tfet else 0),
        cache(parameters.entries, parameters.partitions),
    )


def cache(entries: int, partitions: int) -> Structure:
    """The partitions of active warps: eight banks of 128 bits side by side, as far from the lanes as an RFC."""
    lines = max(1, entries * partitions)
    bank = ArraySpec("sram", words=lines, word_bits=128, read_ports=1, write_ports=1, banks=8)
    return Structure("RC", entries=entries, warps=partitions, array=bank, private_mm=0.2, shared_mm=0.4, yields=True)


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file; of a larger one, a warp takes a smaller part."""
    plain = unshared(machine, program.register_count)
    return Residency(-(-plain.registers // parameters.capacity))


def paths(parameters: Parameters) -> tuple[Path, ...]:
    """From the main register file to the cache, and back."""
    main = LEVELS[CELLS[parameters.cells]]
    fetch = Path(main, "RC", parameters.per_cycle, parameters.path_latency, parameters.path_per)
    return fetch, replace(fetch, source="RC", target=main)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> IntervalHints:
    """The interval of each instruction, its working set, and what is live."""
    return interval_hints(program, analysis, intervals_of(analysis.kernel, parameters.entries, parameters.merges))


def init(parameters: Parameters, program: Program) -> State:
    """Nothing is in the cache."""
    return empty_cache(program, CELLS[parameters.cells], parameters.liveness)


def explain(program: Program, parameters: Parameters, kernel: Kernel) -> Mapping[int, str]:
    """Where intervals begin, and their working sets."""
    return reasons(intervals_of(kernel, parameters.entries, parameters.merges))


def checked(program: Program, parameters: Parameters, kernel: Kernel) -> Checked:
    """The kernel with a register for each register in the cache, and moves at the edges of intervals."""
    return checked_intervals(kernel, intervals_of(kernel, parameters.entries, parameters.merges), parameters.liveness)


def corruptions(kernel: Kernel, parameters: Parameters, visits: NDArray[np.int64]) -> Sequence[IntervalCorruption]:
    """A register that is not fetched, or not written back."""
    return corruptions_of(kernel, intervals_of(kernel, parameters.entries, parameters.merges), visits)
