"""RegLess with a shadow: counts sources that are read while their value is in memory, packed, or on its way."""

from __future__ import annotations

from warpreg.designs import interface as w
from warpreg.designs.parts.staging import hooks as own
from warpreg.designs.parts.staging.hooks import admit, buffered, issued, plan_write, transferred, warp_end, written_back
from warpreg.designs.parts.staging.lines import EVENTS
from warpreg.designs.parts.staging.state import COMING, WHERE, State
from warpreg.designs.staging.regless import Parameters, hints, init, structures

__all__ = [
    "Parameters", "State", "admit", "buffered", "hints", "init", "issued", "plan_write", "structures", "transferred",
    "warp_end", "written_back",
]  # fmt: skip

DESIGN = w.Declaration(
    slot=("mapping", "levels"), levels=("MRF", "OSU"), main=("MRF", "OSU"), order="sm", events=(*EVENTS, "wrong reads"),
    patterns=True, source="assumed: a test",
)  # fmt: skip
WRONG = len(EVENTS)


@w.hook
def plan_reads(state: State, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        if state.registers[warp, program.source[operand], WHERE] >= COMING:
            w.count(plan, WRONG)
    own.plan_reads(state, program, warp, pc, plan)
