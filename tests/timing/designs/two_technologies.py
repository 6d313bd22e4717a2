"""A main register file in two technologies: even registers in the MRF, odd ones in slow cells of the same banks.

A read or write of a slow cell takes two cycles (CMOS-TFET paper, section 3.2).
"""

from warpreg.designs import interface as w

DESIGN = w.Declaration(
    slot="mapping", order="static", levels=("MRF", "SLOW"), main=("MRF", "SLOW"), source="assumed: a miniature"
)
SLOW = 1


@w.hook
def plan_reads(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        slow = program.source[operand] % 2
        w.read(plan, operand, SLOW if slow else w.MRF, cycles=1 + slow)


@w.hook
def plan_write(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        slow = program.result[operand] % 2
        w.write(plan, operand, SLOW if slow else w.MRF, cycles=1 + slow)
