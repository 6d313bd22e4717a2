"""Hooks of designs that hint columns describe completely: each operand's level, fills, copies, strands and waits.

Event 0 counts strand starts, event 1 points where a warp is descheduled.
"""

from __future__ import annotations

from warpreg.designs.interface import MRF, Plan, Program, count, extra, hook, nowhere, read, write
from warpreg.designs.interface.plan import WRITE

STRANDS, WAITS = 0, 1
EVENTS = ("strands", "waits")


@hook
def plan_reads(state: int, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Reads from the encoded levels, and fills."""
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        read(plan, operand, program.source_level[operand])
        if program.fill_level[operand] != MRF:
            extra(plan, program.fill_level[operand], WRITE, program.source[operand])
    if program.strand_start[pc] != 0:
        count(plan, STRANDS)
    if program.suspends[pc] != 0:
        count(plan, WAITS)


@hook
def plan_write(state: int, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Results to the encoded levels, to the MRF unless elided, and copies."""
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        if program.mrf_elided[operand] == 0:
            write(plan, operand, MRF)
        if program.result_level[operand] != MRF:
            write(plan, operand, program.result_level[operand])
        if program.copy_level[operand] != MRF:
            write(plan, operand, program.copy_level[operand])
        if program.mrf_elided[operand] and program.result_level[operand] == program.copy_level[operand] == MRF:
            nowhere(plan, operand)
