"""The register file cache that the study of bypassing compares with: organised like the register file (bow §3.5.1).

As ``rfc`` with static liveness, but the cache has banks of its own, as many as the register file, each with one access
a cycle.  A source that hits takes a bank of the cache and the port of its collector, like one from the register file,
so only conflicts in the banks of the register file become fewer.  Registers are in the cache's banks as in those of the
register file.  The chapter prints no more; assumed: the read of a value that is evicted takes no bank of the cache.
"""

from dataclasses import dataclass

from warpreg.designs.caches import rfc
from warpreg.designs.caches.rfc import State
from warpreg.designs.errors import DesignError
from warpreg.designs.interface import (
    Banks,
    Declaration,
    Plan,
    Program,
    Structure,
    hook,
    parameter,
    result_operands,
    source_operands,
)
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.storage.warp_cache import EVENTS, flush, read_operand, write_entry
from warpreg.gpu.machine import Machine

BANKS = 32
__all__ = ["compile"]

DESIGN = Declaration(slot="levels", levels=("MRF", "RFC"), events=EVENTS, source="bow §3.5.1, §3.6")


@dataclass(frozen=True)
class Parameters:
    """The cache of a warp."""

    entries: int = parameter(6, unit="entries per thread", low=1, high=16, source="bow §3.5.1")


def init(parameters: Parameters, program: Program) -> State:
    """An empty cache for each warp."""
    return rfc.init(rfc.Parameters(entries=parameters.entries, static_liveness=True), program)


def banks(parameters: Parameters, machine: Machine | None = None) -> Banks:
    """The banks of the cache.  Raises DesignError for a register file with another number of banks."""
    if machine is not None and machine.register_file.banks != BANKS:
        raise DesignError(f"banked_cache: expected a register file of {BANKS} banks (bow §3.2), found "
                          f"{machine.register_file.banks} in {machine.name}")  # fmt: skip
    return Banks(slices=1, row_addresses=1, shares_port=False, added=BANKS)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level."""
    return Structure("MRF"), Structure("RFC", entries=parameters.entries)


def bank_of(program: Program, warp: int, register: int) -> int:
    """The bank of the cache that holds a register."""
    return BANKS + (register + warp % program.slots) % BANKS


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in source_operands(program, pc):
        bank = bank_of(program, warp, program.source[operand])
        read_operand(state, program, warp, operand, plan, bank)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        bank = bank_of(program, warp, program.result[operand])
        write_entry(state, program, warp, pc, operand, plan, bank)


@hook
def suspended(state: State, program: Program, warp: int, plan: Plan) -> None:
    flush(state, warp, plan)
