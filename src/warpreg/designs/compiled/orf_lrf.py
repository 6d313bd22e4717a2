"""Compiler-managed hierarchy: operand register file, last result file and MRF (Gebhart et al., MICRO 2011).

Each active warp has an ORF of ``entries`` registers and an LRF of one, or of one for each operand slot (``split``).
The SFU, memory and texture units do not reach the LRF (section 3.2).  The compiler splits the kernel into strands,
inside which no long-latency result is waited for, and fixes the level of every operand.  At the end of a strand all
values that are still needed are in the MRF; there are no tags and no write-backs (section 4.1).  Values get entries in
the order of the energy that they save for each slot that they occupy (section 4.2).  Ranges that do not fit are
shortened (section 4.3), and operands that are read again are kept (section 4.4).

Nothing depends on the path, so counts follow from block frequencies; the hooks report the same levels to cores that run
instruction by instruction.

Where the paper is silent:
- a strand also ends after a barrier, a fence and a call of the host, where lanes wait while other lanes of their warp
  may be descheduled, and where paths of different strands meet;
- an entry may be written by the instruction that reads it last, but not filled by it; the ORF accepts a fill and a
  result of the same instruction;
- a read operand is kept by the first unguarded read, for the reads that it dominates;
- parts of a value that an instruction names as one register use adjacent entries, and count with all of them;
- partial ranges are shortened when their turn comes (``partial``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warpreg import energy
from warpreg.analysis.strand_rules import LongLatencyRules
from warpreg.designs.interface import (
    Declaration,
    Program,
    Structure,
    parameter,
)
from warpreg.designs.interface.program import WAITS_FOR_ALL
from warpreg.designs.parts.placement.costs import level_costs
from warpreg.designs.parts.placement.encode import encode, reasons
from warpreg.designs.parts.placement.encoded import EVENTS, plan_reads, plan_write
from warpreg.designs.parts.placement.hierarchy import LRF, ORF, Options, Placement, place
from warpreg.designs.parts.placement.lrf import BANKS
from warpreg.ir.kernel import Kernel

__all__ = ["plan_reads", "plan_write"]

DESIGN = Declaration(
    slot="levels",
    source="orf-lrf §3, §4",
    levels=("MRF", "ORF", "LRF"),
    order="static",
    events=EVENTS,
)


@dataclass(frozen=True)
class Parameters:
    """Storage of a warp above the MRF, and options of the compiler."""

    entries: int = parameter(3, unit="ORF entries per thread", low=0, high=16, off=0, source="orf-lrf §6.4")
    lrf: str = parameter("split", choices=("none", "unified", "split"), off="none", source="orf-lrf §3.2, §6.3")
    partial: str = parameter(
        "immediate",
        choices=("none", "immediate", "after"),
        source="orf-lrf §4.3; when a range is shortened is open: as its turn comes, or after all full ranges",
    )
    operands: bool = parameter(True, source="orf-lrf §4.4")
    both: bool = parameter(False, source="orf-lrf §4.6: a value in LRF and ORF at once, found rarely profitable")
    threshold: float = parameter(
        0.0, unit="pJ per slot", source="assumed: the digits of Figure 7's threshold are lost; §4.2 keeps what saves"
    )
    technology: str = parameter("gebhart-40nm", source="orf-lrf §5.2: what the compiler takes accesses to cost")
    wires: bool = parameter(True, source="assumed: §4.2 does not say whether decisions count wires; results do (§6.4)")
    active_warps: int = parameter(8, unit="warps", low=1, high=64, source="orf-lrf §2.2")
    priced_entries: int = parameter(
        0, unit="entries per thread", low=0, high=16, source="orf-lrf §7: ORF energy as of so many entries; 0: its own"
    )
    lrf_mm: float = parameter(0.05, unit="mm", low=0, high=2, source="orf-lrf Table 4; §6.4 varies it")
    flush_when_descheduled: bool = parameter(True, source="orf-lrf §4.1; off: limit study of §7")
    flush_at_backward_branches: bool = parameter(True, source="orf-lrf §4.1; off: limit study of §7")
    flush_at_barriers: bool = parameter(
        True, source="assumed: warps leave the active set at barriers and fences, of which the paper does not speak"
    )
    lrf_for_all: bool = parameter(
        False, source="orf-lrf §3.2: SFU, MEM and TEX do not reach the LRF; on: the compiler takes them for ALUs"
    )
    ideal: str = parameter("none", choices=("none", "orf", "lrf"), source="orf-lrf §7: every access in one level")


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level; the LRF has a bank for each operand slot, each as large as the unified one."""
    lrf = BANKS[parameters.lrf] or parameters.ideal == "lrf"
    everywhere = parameters.ideal == "lrf" or parameters.lrf_for_all
    return (
        Structure("MRF"),
        Structure("ORF", entries=parameters.priced_entries or parameters.entries, warps=parameters.active_warps),
        Structure(
            "LRF",
            entries=1 if lrf else 0,
            warps=parameters.active_warps,
            private_mm=parameters.lrf_mm,
            shared_mm=parameters.lrf_mm if everywhere else None,
        ),
    )


def placement(program: Program, parameters: Parameters, kernel: Kernel) -> Placement:
    """The compiler's placement of each value, with reasons."""
    if parameters.lrf_for_all:
        program = program._replace(datapath=np.zeros_like(program.datapath))
    return place(kernel, program, options(parameters))


def options(parameters: Parameters) -> Options:
    """The parameters as compiler options.  Raises the errors of loading a technology."""
    technology = energy.load(parameters.technology)
    return Options(
        costs=level_costs(technology, structures(parameters), parameters.wires),
        rules=LongLatencyRules(
            descheduling=parameters.flush_when_descheduled,
            backward_branches=parameters.flush_at_backward_branches,
            barriers=parameters.flush_at_barriers,
        ),
        entries=parameters.entries,
        lrf=parameters.lrf,
        partial=parameters.partial,
        operands=parameters.operands,
        both=parameters.both,
        threshold=parameters.threshold,
    )


def compile(program: Program, parameters: Parameters, kernel: Kernel) -> Program:
    """Fill the hint columns; without storage, warps are suspended as with the plain register file."""
    if parameters.ideal != "none":
        return everything_in(program, ORF if parameters.ideal == "orf" else LRF)
    if parameters.entries == 0 and parameters.lrf == "none":
        return program
    return encode(program, kernel, placement(program, parameters, kernel), WAITS_FOR_ALL)


def everything_in(program: Program, level: int) -> Program:
    """Every operand in one level of unlimited size that no event flushes."""
    return program._replace(
        source_level=np.full_like(program.source_level, level),
        result_level=np.full_like(program.result_level, level),
        mrf_elided=np.ones_like(program.mrf_elided),
    )


def explain(program: Program, parameters: Parameters, kernel: Kernel) -> Mapping[int, str]:
    """Per pc, why a strand begins, and the decisions about values that are written or filled there."""
    return reasons(placement(program, parameters, kernel)) if parameters.ideal == "none" else {}
