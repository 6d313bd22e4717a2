"""CORF++: registers on opposite sides of a bank are read together, in whatever rows they are (thesis of 2021, §2.5).

As ``corf``, with three changes.  All registers of a warp are in one bank, so that any two sources of
an instruction are.  A bank is split by bytes: slice k holds byte k of all 32 lanes, in sub-banks of its own, and an
access names two rows, of which each slice reads one.  So two sources share an access if their slices do not meet (the
AND of their masks is 0); they take one port of the collector.  And instead of pairs the compiler gives each register a
side (section 2.5.1): a right-aligned value takes the least significant slices of the first physical register of its
bank where they are free, a left-aligned one the most significant; a register that is read with no other goes by first
fit (section 2.5.3, Figure 2.12).

``alignment`` says how the sides are found: by the heuristic on odd cycles, or by the integer program that it
approximates.  ``encoding`` says how the hardware learns of them: by metadata instructions with two bits for each
register, or by the number of the register (preset, sections 2.5.1 and 2.8): then the compiler renumbers registers, and
words of wide operands keep theirs.

Where the text is silent, beside what packing and corf state:
- the bank of a warp is its slot modulo the number of banks (``bank_stride``: so many neighbours share one); as the
  renaming table has a bank for each bank of the register file (section 2.6), a warp looks all its registers up in one,
  two in a cycle; ``warp_banks`` off: physical registers go round the banks as in the baseline (Figure 2.9), and two
  sources share an access only if they happen to be in one bank;
- if no physical register of the bank has the slices of that side free, a value goes by first fit in the bank, then in
  any bank, where its sources cannot be coalesced with those of its warp;
- first fit begins at the first physical register of the bank, which the warps of the bank share;
- a value of four bytes has no side; one that shrinks keeps the outermost of its slices, but a left-aligned one keeps
  all of them if other lanes keep their bytes there;
- two unpackers deliver two registers: each source shares a read with the first earlier one in operand order that fits
  and shares none yet.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Banks, Logic, Program, Residency, Table, parameter
from warpreg.designs.parts.affinity.alignment import alignments
from warpreg.designs.parts.affinity.graph import Edge
from warpreg.designs.parts.affinity.metadata import alignment_instructions, with_metadata
from warpreg.designs.parts.affinity.optimal_alignments import best_alignments
from warpreg.designs.parts.affinity.preset import adjacent_words, numbering, renumbered, side_of
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.renaming.coalescing import Coalescing, declaration, estimated
from warpreg.designs.parts.renaming.hints import RenamingHints, renaming_hints
from warpreg.designs.parts.renaming.hooks import collected, plan_reads, produced, warp_end, warp_start
from warpreg.designs.parts.renaming.parts import (
    added_hardware,
    carry_parameter,
    checked_residency,
    logic_parameter,
    sliced_banks,
    structures,
    survey_parameter,
)
from warpreg.designs.parts.renaming.state import TO_ITS_SIDE, State, renaming
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = ["collected", "compile", "plan_reads", "produced", "structures", "warp_end", "warp_start"]

DESIGN = declaration("corf §2.5, §2.6")


@dataclass(frozen=True)
class Parameters(Coalescing):
    """Size of the register file, and options of the compiler and the allocation."""

    alignment: str = parameter(
        "heuristic", choices=("heuristic", "optimum"), source="corf §2.5.1: a heuristic, as the optimum is NP-hard"
    )
    encoding: str = parameter(
        "metadata",
        choices=("metadata", "preset", "free"),
        source="corf §2.5.1, §2.8: metadata, or odd and even registers; free: as metadata, but without instructions",
    )
    warp_banks: bool = parameter(True, source="corf §2.5.2, Figure 2.9: all registers of a warp in one bank")
    bank_stride: int = parameter(
        1,
        unit="warps",
        low=1,
        high=64,
        source="assumed: neighbouring slots in different banks; more: so many in the same one, as in the pathological"
        " case of corf §2.5.2",
    )
    adjacent: bool = parameter(True, source="assumed: corf §2.6 shifts values down; off: any free slices")
    carry: bool = carry_parameter()
    logic: str = logic_parameter()
    survey: bool = survey_parameter("corf Figures 2.4, 2.13: count what instructions could coalesce")


def sides(parameters: Parameters, analysis: Analysis) -> dict[int, int]:
    """The side of each register that is read with another one."""
    graph = estimated(parameters, analysis)
    if parameters.encoding == "preset":
        return {register: side_of(register) for edge in graph for register in edge}
    return dict(_aligned(tuple(sorted(graph.items())), parameters.alignment))


@functools.lru_cache(maxsize=256)
def _aligned(graph: tuple[tuple[Edge, float], ...], alignment: str) -> tuple[tuple[int, int], ...]:
    """The same graph is coloured once: a kernel is compiled for each of its launches."""
    found = best_alignments(dict(graph)).sides if alignment == "optimum" else alignments(dict(graph))
    return tuple(found.items())


def rewrite(kernel: Kernel, parameters: Parameters, analysis: Analysis) -> Kernel:
    """The kernel with its metadata instructions, or with its registers renumbered."""
    if not parameters.enabled or parameters.encoding == "free":
        return kernel
    if parameters.encoding == "metadata":
        return with_metadata(kernel, alignment_instructions(kernel.register_count))
    graph = estimated(parameters, analysis)
    return renumbered(kernel, numbering(graph, adjacent_words(kernel), kernel.register_count))


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("corf-pp", parameters, program, machine)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> RenamingHints:
    """Where registers are dead, and the side of each."""
    return renaming_hints(program, analysis, parameters.virtualization, sides=sides(parameters, analysis))


def init(parameters: Parameters, program: Program) -> State:
    """An empty register file."""
    return renaming(
        program,
        parameters.physical,
        parameters.banks,
        enabled=parameters.enabled,
        packs=True,
        frees=parameters.virtualization,
        coalesces=True,
        dual=True,
        adjacent=parameters.adjacent,
        carries=parameters.carry,
        surveys=parameters.survey,
        warp_banks=parameters.warp_banks,
        bank_stride=parameters.bank_stride,
        policy=TO_ITS_SIDE,
    )


def banks(parameters: Parameters) -> Banks | None:
    """Banks with slices and two row addresses."""
    return sliced_banks(row_addresses=2) if parameters.enabled else None


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming table, free map and logic."""
    return added_hardware(parameters, coalesces=True, logic=parameters.logic)
