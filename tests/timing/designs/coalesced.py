"""Registers 2k and 2k + 1 share a physical one: two sources of an instruction that do are one access."""

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="mapping", events=("merged",), source="assumed: a miniature")
MERGED = 0


def banks(parameters: w.NoParameters) -> w.Banks:
    return w.Banks(slices=4, row_addresses=1)


@w.hook
def plan_reads(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    first = program.source_start[pc]
    for operand in range(first, program.source_start[pc + 1]):
        partner = -1
        for other in range(first, operand):
            if program.source[other] // 2 == program.source[operand] // 2 and partner < 0:
                partner = other
        w.read(plan, operand, w.MRF, merged=partner, slices=0b0011 << 2 * (program.source[operand] % 2))
        if partner >= 0:
            w.count(plan, MERGED)
