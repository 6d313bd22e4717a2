"""Register packing: several narrow values share a physical register (Wang and Zhang; thesis of 2021, section 2.2).

A physical warp-register has four slices of a byte a lane.  A result that all lanes hold in fewer bytes, sign-extended,
takes as many slices; a table by warp and register says where each value is, and a map which slices are free (sections
2.4.3, 2.6).  A value is placed at the first write of its register, in the first physical register with enough free
slices; physical registers go round the banks.  A value that outgrows its slices is placed anew and then gives up the
old ones; a narrower one stays and gives back slices.  Each source is one read.  Physical registers that hold nothing
are gated.

``virtualization`` also releases registers that are dead, see ``virtualization``.  With ``coalesce``
two sources of an instruction that lie in one physical register are one read: the first fit of Figures 2.4 and 2.13.
The table is looked up in the cycle that moves an instruction to a collector, so that only conflicts of its two ports
cost time (section 2.6); with ``renaming_stages`` 0 a conflict of one cycle costs none, with 2 every lookup costs one.

Where the text is silent:
- first fit begins at the first physical register of the SM (``search`` sm), so that values of different warps come to
  lie together; ``search`` warp: at as many physical registers as a warp has registers, those of its slot, and only
  where none of them has room at the first of the SM;
- the slices of a value are adjacent, because unpackers shift (section 2.6); ``adjacent`` off: any slices;
- each word of a 64-bit operand or of a vector is a value of its own, with its own width and place;
- a write under a guard or in divergent code sizes the whole register, with the old bytes of the lanes that it leaves
  alone; if such a value is placed anew, the old place is read for these lanes (``carry``), unless they are dead or all
  lanes are active;
- sources read where their register was when they issued.  A result that is ready before all earlier sources have been
  read gets another place, as long as there are more physical registers than resident warps can need; otherwise it is
  written in place, as in a plain register file;
- a source without a value (undefined in the program) is read like any other register;
- barriers, calls (which are expanded) and the end of a thread block change nothing; a warp that ends releases all its
  registers, so that a kernel leaves an empty register file;
- a register that an instruction names twice is looked up once, and its operands are not coalesced with each other;
- below ``regmutex``, whose warps have fewer registers than their kernel names, ``virtualization`` is needed: at a
  release the registers of the extended set are dead, so their values have given up their places.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.errors import DesignError
from warpreg.designs.interface import Declaration, Logic, Program, Residency, Room, Table, parameter
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.renaming.events import EVENTS, RESOURCES
from warpreg.designs.parts.renaming.hints import RenamingHints, renaming_hints
from warpreg.designs.parts.renaming.hooks import collected, plan_reads, produced, warp_end, warp_start
from warpreg.designs.parts.renaming.parts import (
    RenamedFile,
    added_hardware,
    carry_parameter,
    checked_residency,
    search_parameter,
    structures,
)
from warpreg.designs.parts.renaming.parts import row_banks as banks
from warpreg.designs.parts.renaming.state import State, renaming
from warpreg.gpu.machine import Machine

__all__ = ["banks", "collected", "compile", "plan_reads", "produced", "structures", "warp_end", "warp_start"]

DESIGN = Declaration(
    slot="mapping",
    source="corf §2.2, §2.4.3, §2.6",
    order="sm",
    events=EVENTS,
    resources=RESOURCES,
    widths=True,
    below=("regmutex", "regmutex-paired"),
)


@dataclass(frozen=True)
class Parameters(RenamedFile):
    """Size of the register file, and options."""

    virtualization: bool = parameter(False, source="corf §2.4.3: registers that are dead are released")
    coalesce: bool = parameter(False, source="corf §2.3: packing extended to read two sources at once, first fit kept")
    survey: bool = parameter(
        False,
        source="corf Figures 2.2, 2.4: count operands by bytes, and instructions whose sources fit together",
    )
    adjacent: bool = parameter(True, source="assumed: corf §2.6 shifts values down; off: any free slices")
    carry: bool = carry_parameter()
    search: str = search_parameter()


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("packing", parameters, program, machine)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> RenamingHints:
    """Where registers are dead."""
    return renaming_hints(program, analysis, parameters.virtualization)


def init(parameters: Parameters, program: Program, room: Room | None = None) -> State:
    """An empty register file.

    Raises DesignError if warps have fewer physical registers than their kernel names, and keep those that are dead.
    """
    if room is not None and room.residency.registers < program.register_count and not parameters.virtualization:
        raise DesignError(
            f"packing: a warp has {room.residency.registers} registers of its own and its kernel names "
            f"{program.register_count}, so dead ones have to be released: set virtualization=true"
        )
    return renaming(
        program,
        parameters.physical,
        parameters.banks,
        enabled=parameters.enabled,
        packs=True,
        frees=parameters.virtualization,
        coalesces=parameters.coalesce,
        surveys=parameters.survey,
        adjacent=parameters.adjacent,
        carries=parameters.carry,
        own_first=parameters.search == "warp",
    )


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming table, free map and logic."""
    return added_hardware(parameters, coalesces=parameters.coalesce)
