"""Coalescing operand register file: registers that are read together share a physical register (thesis of 2021, §2.4).

CORF builds on ``packing``.  The compiler estimates how often two registers are sources of the same
instruction and selects exclusive pairs (section 2.4.2, Figure 2.5).  The first register of a pair to get a value goes
to an empty physical register, whose other slices wait for its buddy; the buddy goes there if it fits, and by first fit
if it does not.  All other registers go by first fit.  If two sources of an instruction are in the same physical
register, one bank access reads both, and they take one port of the collector, which has two unpackers.  Registers that
are dead are released, as in ``virtualization`` (``virtualization`` off: never).

Pairs reach the hardware in metadata instructions at the start of the kernel, four in each.  They are fetched and issue;
results count what a design adds to the code, so that instructions per cycle can leave them out (section 2.7).

Where the text is silent, beside what packing states:
- only the buddy may use the slices beside a waiting register (``reserve`` off: first fit may too).  They wait until the
  buddy has a place, there or elsewhere, or until the register moves or dies; a buddy that gets a new value later goes
  beside the register again if it fits;
- first fit begins where ``search`` says, as in packing, and so does the search for an empty physical register, of
  which the text takes any; without one the first of a pair goes by first fit;
- a value that grows is placed like a new one, beside its buddy if that has a place;
- two unpackers deliver two registers.  Of three sources in one physical register the first two in operand order share a
  read;
- the words of 64-bit operands and of vectors are registers of their own and can be paired, also with each other;
- under divergence all lanes count for widths (section 2.6), and pairs are those of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Logic, Program, Residency, Table, parameter
from warpreg.designs.parts.affinity.frequencies import kernel_graph
from warpreg.designs.parts.affinity.graph import Edge
from warpreg.designs.parts.affinity.metadata import pair_instructions, with_metadata
from warpreg.designs.parts.affinity.pairs import buddies, exclusive_pairs
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.renaming.coalescing import Coalescing, declaration, estimated
from warpreg.designs.parts.renaming.hints import RenamingHints, renaming_hints
from warpreg.designs.parts.renaming.hooks import collected, plan_reads, produced, warp_end, warp_start
from warpreg.designs.parts.renaming.parts import (
    added_hardware,
    carry_parameter,
    checked_residency,
    logic_parameter,
    search_parameter,
    structures,
    survey_parameter,
)
from warpreg.designs.parts.renaming.parts import row_banks as banks
from warpreg.designs.parts.renaming.state import BESIDE_BUDDY, State, renaming
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = ["banks", "collected", "compile", "plan_reads", "produced", "structures", "warp_end", "warp_start"]

DESIGN = declaration("corf §2.4, §2.6")


@dataclass(frozen=True)
class Parameters(Coalescing):
    """Size of the register file, and options of the compiler and the allocation."""

    encoding: str = parameter(
        "metadata",
        choices=("metadata", "free"),
        source="corf §2.4.2; free: no instructions, so that schedules of other designs fit",
    )
    reserve: bool = parameter(True, source="corf §2.4.3: remaining slices are reserved for the buddy")
    adjacent: bool = parameter(True, source="assumed: corf §2.6 shifts values down; off: any free slices")
    carry: bool = carry_parameter()
    search: str = search_parameter()
    logic: str = logic_parameter()
    survey: bool = survey_parameter("corf Figures 2.4, 2.13: count what instructions could coalesce")


def pairs(parameters: Parameters, analysis: Analysis) -> list[Edge]:
    """The exclusive pairs of a kernel."""
    return exclusive_pairs(estimated(parameters, analysis))


def rewrite(kernel: Kernel, parameters: Parameters, analysis: Analysis) -> Kernel:
    """The kernel with its metadata instructions."""
    if not parameters.enabled or parameters.encoding == "free":
        return kernel
    return with_metadata(kernel, pair_instructions(len(pairs(parameters, analysis)), kernel.register_count))


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("corf", parameters, program, machine)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> RenamingHints:
    """Where registers are dead, and the other register of each pair."""
    chosen = buddies(pairs(parameters, analysis), program.register_count)
    return renaming_hints(program, analysis, parameters.virtualization, buddies=chosen)


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
        adjacent=parameters.adjacent,
        carries=parameters.carry,
        own_first=parameters.search == "warp",
        surveys=parameters.survey,
        reserves=parameters.reserve,
        policy=BESIDE_BUDDY,
    )


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming table, free map and logic."""
    return added_hardware(parameters, coalesces=True, logic=parameters.logic)


def explain(program: Program, parameters: Parameters, kernel: Kernel, analysis: Analysis) -> dict[int, str]:
    """The buddy of each result, with static frequencies."""
    graph = kernel_graph(analysis, "static", parameters.unknown_trips)
    chosen = buddies(exclusive_pairs(graph), program.register_count)
    explanations: dict[int, str] = {}
    for pc in range(program.unit.size):
        results = program.result[program.result_start[pc] : program.result_start[pc + 1]]
        text = [f"R{register} goes beside R{chosen[register]}" for register in results if chosen[register] >= 0]
        if text:
            explanations[pc] = ", ".join(text)
    return explanations
