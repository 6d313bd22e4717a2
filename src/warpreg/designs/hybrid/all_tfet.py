"""A register file of TFET registers only: low energy, and two cycles for each access (hybrid CMOS-TFET, section 4.2).

Registers are where those of the plain register file are; there is no renaming.  Nothing is gated, because TFET
registers leak almost nothing.

Where the text is silent: reads and writes both take ``cycles``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from warpreg.designs.interface import (
    MRF,
    Declaration,
    Plan,
    Program,
    Residency,
    Structure,
    hook,
    parameter,
    read,
    result_operands,
    source_operands,
    write,
)
from warpreg.designs.parts.hybrid.parts import LEVELS, checked_residency, cycles_parameter, vectors_parameter
from warpreg.gpu.machine import Machine

DESIGN = Declaration(slot="mapping", source="tfet §4.2", order="static", levels=LEVELS, main=LEVELS)
TFET = 1


@dataclass(frozen=True)
class Parameters:
    """Time of an access."""

    enabled: bool = parameter(True, off=False, source="assumed: off, the plain register file")
    vectors: int = vectors_parameter()
    cycles: int = cycles_parameter()


class State(NamedTuple):
    """The level of all registers, and the cycles of an access."""

    level: int
    cycles: int


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency("all-tfet", parameters, program, machine)


def init(parameters: Parameters, program: Program) -> State:
    """One level holds everything."""
    return State(TFET, parameters.cycles) if parameters.enabled else State(MRF, 1)


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """TFET registers in place of the others."""
    tfet = parameters.vectors if parameters.enabled else 0
    return Structure("MRF", registers=parameters.vectors - tfet), Structure("TFET", registers=tfet)


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in source_operands(program, pc):
        read(plan, operand, state.level, cycles=state.cycles)


@hook
def plan_write(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    for operand in result_operands(program, pc):
        write(plan, operand, state.level, cycles=state.cycles)
