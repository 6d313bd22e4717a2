"""Every register is looked up in a table before it is read, and a result updates its entry."""

from dataclasses import dataclass

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="mapping", source="assumed: a miniature")
RENAMING = 0


@dataclass(frozen=True)
class Parameters:
    """The shape of the table."""

    banks: int = w.parameter(1, low=1, high=8, source="assumed: a miniature")
    ports: int = w.parameter(1, low=1, high=8, source="assumed: a miniature")
    stages: int = w.parameter(1, low=0, high=8, source="assumed: a miniature")


def hardware(parameters: Parameters) -> tuple[w.Table, ...]:
    return (w.Table("renaming", 64, 14, parameters.banks, parameters.ports, parameters.stages),)


@w.hook
def plan_reads(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        w.lookup(plan, RENAMING, program.source[operand])
        w.read(plan, operand, w.MRF)


@w.hook
def plan_write(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in range(program.result_start[pc], program.result_start[pc + 1]):
        w.update(plan, RENAMING, program.result[operand])
        w.write(plan, operand, w.MRF)
