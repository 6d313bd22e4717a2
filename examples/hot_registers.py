"""The registers that the code accesses most live in an operand register file; loops say how often that is."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="levels", levels=("MRF", "ORF"), order="static", source="assumed: an example")


@dataclass(frozen=True)
class Parameters:
    entries: int = w.parameter(4, unit="registers per thread", low=0, high=64, off=0, source="assumed: an example")
    trips: float = w.parameter(8.0, low=1, high=1e6, source="assumed: of a loop without a constant trip count")


class Hints(NamedTuple):
    source: NDArray[np.uint8]  # [source operand] its level
    result: NDArray[np.uint8]  # [result operand] its level


def hints(program: w.Program, parameters: Parameters, analysis: w.Analysis) -> Hints:
    weight = analysis.static_frequencies(parameters.trips)[analysis.block_of]
    accesses = np.zeros(program.register_count)
    np.add.at(accesses, program.source, np.repeat(weight, np.diff(program.source_start)))
    np.add.at(accesses, program.result, np.repeat(weight, np.diff(program.result_start)))
    hot = np.argsort(-accesses, kind="stable")[: parameters.entries]
    return Hints(np.isin(program.source, hot).astype(np.uint8), np.isin(program.result, hot).astype(np.uint8))


def structures(parameters: Parameters) -> tuple[w.Structure, ...]:
    return w.Structure("MRF"), w.Structure("ORF", entries=parameters.entries)


@w.hook
def plan_reads(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.source_operands(program, pc):
        w.read(plan, operand, program.hints.source[operand])


@w.hook
def plan_write(state: int, program: w.Program, warp: int, pc: int, plan: w.Plan) -> None:
    for operand in w.result_operands(program, pc):
        w.write(plan, operand, program.hints.result[operand])
