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
from warpreg.designs.interface import Banks, Declaration, Logic, Program, Residency, Structure, Table, parameter
from warpreg.designs.parts.affinity.frequencies import frequencies_parameter, kernel_graph, unknown_trips_parameter
from warpreg.designs.parts.affinity.graph import Edge
from warpreg.designs.parts.affinity.metadata import pair_instructions, with_metadata
from warpreg.designs.parts.affinity.pairs import buddies, exclusive_pairs
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.renaming.events import EVENTS, RESOURCES
from warpreg.designs.parts.renaming.hints import RenamingHints, renaming_hints
from warpreg.designs.parts.renaming.hooks import collected, plan_reads, produced, warp_end, warp_start
from warpreg.designs.parts.renaming.parts import (
    added_hardware,
    banks_parameter,
    carry_parameter,
    checked_residency,
    logic_parameter,
    physical_parameter,
    register_file,
    search_parameter,
    sliced_banks,
    stages_parameter,
    survey_parameter,
    table_parameter,
)
from warpreg.designs.parts.renaming.state import BESIDE_BUDDY, State, renaming
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = ["collected", "plan_reads", "produced", "warp_end", "warp_start"]

DESIGN = Declaration(
    slot="mapping",
    source="corf §2.4, §2.6",
    order="sm",
    events=EVENTS,
    resources=RESOURCES,
    widths=True,
    profile=True,
)


@dataclass(frozen=True)
class Parameters:
    """Size of the register file, and options of the compiler and the allocation."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    physical: int = physical_parameter()
    banks: int = banks_parameter()
    table_entries: int = table_parameter()
    renaming_stages: int = stages_parameter()
    virtualization: bool = parameter(True, source="corf §2.4.3, Table 2.1: registers that are dead are released")
    frequencies: str = frequencies_parameter()
    unknown_trips: float = unknown_trips_parameter()
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
    return exclusive_pairs(kernel_graph(analysis, parameters.frequencies, parameters.unknown_trips))


def rewrite(kernel: Kernel, parameters: Parameters, analysis: Analysis) -> Kernel:
    """The kernel with its metadata instructions."""
    if not parameters.enabled or parameters.encoding == "free":
        return kernel
    return with_metadata(kernel, pair_instructions(len(pairs(parameters, analysis)), kernel.register_count))


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("corf", parameters.physical, parameters.banks, program, machine)


def compile(program: Program, parameters: Parameters, kernel: Kernel) -> Program:
    """Which writes may leave old bytes."""
    return program._replace(result_partial=partial_flags(kernel))


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


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """The register file, gated."""
    return register_file(parameters.enabled)


def banks(parameters: Parameters) -> Banks | None:
    """Banks with slices and one row address."""
    return sliced_banks(row_addresses=1) if parameters.enabled else None


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming table, free map and logic."""
    if not parameters.enabled:
        return ()
    size = parameters.physical, parameters.banks, parameters.table_entries
    return added_hardware(*size, parameters.renaming_stages, coalesces=True, logic=parameters.logic)


def explain(program: Program, parameters: Parameters, kernel: Kernel, analysis: Analysis) -> dict[int, str]:
    """The buddy of each result, with static frequencies."""
    graph = kernel_graph(analysis, "static", parameters.unknown_trips)
    chosen = buddies(exclusive_pairs(graph), program.register_count)
    found: dict[int, str] = {}
    for pc in range(program.unit.size):
        results = program.result[program.result_start[pc] : program.result_start[pc + 1]]
        text = [f"R{register} goes beside R{chosen[register]}" for register in results if chosen[register] >= 0]
        if text:
            found[pc] = ", ".join(text)
    return found
