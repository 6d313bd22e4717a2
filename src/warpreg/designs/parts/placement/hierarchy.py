"""The placement of a whole kernel in LRF, ORF and MRF, strand by strand (section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.analysis.dominators import dominators
from warpreg.analysis.strands import Strand, StrandRules, Strands, strands
from warpreg.designs.interface.program import Program
from warpreg.designs.parts.placement.allocate import Allocation, Allocator, Entries, Outcome, Partial, Rejection
from warpreg.designs.parts.placement.candidates import MRF, Candidate, operands, results
from warpreg.designs.parts.placement.copies import LrfCopy, copies
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.instances import KernelView, accesses_of
from warpreg.designs.parts.placement.lrf import Lrf, allocate_lrf
from warpreg.ir.kernel import Kernel

ORF, LRF = 1, 2


@dataclass(frozen=True)
class Options:
    """Options of the compiler.  ``entries`` of the ORF per warp; ``costs`` by level (MRF, ORF, LRF); ``threshold`` in
    pJ per slot; ``operands``: place operands that are read again; ``both``: a value may be in LRF and ORF at once;
    ``slots_weigh``: exponent of the ORF slots in the order of candidates (`Allocator`)."""

    costs: tuple[LevelCost, ...]
    rules: StrandRules
    entries: int
    lrf: Lrf = "split"
    partial: Partial = "immediate"
    operands: bool = True
    both: bool = False
    threshold: float = 0.0
    slots_weigh: float = 1.0


@dataclass(frozen=True)
class Placement:
    """The decisions; ``copied`` are values in the LRF and the ORF at once."""

    strands: Strands
    placed: tuple[Allocation, ...]
    refused: tuple[Rejection, ...]
    copied: tuple[LrfCopy, ...] = ()


def place(kernel: Kernel, program: Program, options: Options) -> Placement:
    """Place the values of a kernel; linear in its strands."""
    whole = strands_of(kernel, program, options)
    view = KernelView(kernel, program)
    outcome, copied = Outcome(), list[LrfCopy]()
    for strand in whole.strands:
        one, above = allocate(candidates(view, strand, options), options)
        outcome.placed += one.placed
        outcome.refused += one.refused
        copied += above
    return Placement(whole, tuple(outcome.placed), tuple(outcome.refused), tuple(copied))


def strands_of(kernel: Kernel, program: Program, options: Options) -> Strands:
    """The strands of a kernel by the options' rules."""
    return strands(kernel, options.rules, [bool(x) for x in program.long_latency])


def candidates(view: KernelView, strand: Strand, options: Options) -> list[Candidate]:
    """All values that a strand could hold above the MRF, results first."""
    found = accesses_of(view, strand)
    kept = list(results(found))
    if options.operands:
        kept += operands(found, view.blocks, dominators(view.kernel))
    return kept


def allocate(all_: Sequence[Candidate], options: Options) -> tuple[Outcome, list[LrfCopy]]:
    """Allocate the LRF, then the ORF for the remaining candidates, shortened where necessary."""
    lower = Allocator(
        ORF, options.costs[ORF], options.costs[MRF], options.threshold, options.partial, options.slots_weigh
    )
    upper = Allocator(LRF, options.costs[LRF], options.costs[MRF], options.threshold, "none")
    in_lrf = allocate_lrf(all_, options.lrf, upper)
    done = {id(placed.candidate) for placed in in_lrf.placed}
    in_orf = lower.allocate([c for c in all_ if id(c) not in done], Entries(options.entries))
    above: list[LrfCopy] = []
    if options.both:
        above = copies(in_orf.placed, in_lrf.placed, options.costs[LRF], options.costs[ORF], options.lrf)
    return Outcome(in_lrf.placed + in_orf.placed, in_orf.refused), above
