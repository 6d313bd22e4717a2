"""Operand energy of each instruction, given hint columns, in pJ per execution by a warp."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.program import Program
from warpreg.designs.parts.placement.costs import LevelCost

Column = NDArray[np.uint8]
MRF = 0


def operand_energy(program: Program, costs: Sequence[LevelCost]) -> NDArray[np.float64]:
    """Operand energy by pc in pJ, float64[instructions]; ``costs`` by level."""
    reads = np.array([cost.read for cost in costs])
    writes = np.array([cost.write for cost in costs])
    of_source = _datapath(program.datapath, program.source_start)
    of_result = _datapath(program.datapath, program.result_start)
    source = reads[program.source_level, of_source]
    source = source + _above(writes, program.fill_level, of_source)
    result = _above(writes, program.result_level, of_result) + _above(writes, program.copy_level, of_result)
    result = result + np.where(program.mrf_elided, 0.0, writes[MRF, of_result])
    return _by_pc(source, program.source_start) + _by_pc(result, program.result_start)


def _datapath(datapath: Column, start: NDArray[np.int32]) -> Column:
    """The datapath of each row's instruction."""
    return np.repeat(datapath, np.diff(start))


def _above(writes: NDArray[np.float64], level: Column, datapath: Column) -> NDArray[np.float64]:
    """Energy of a write in a level above the MRF; 0 where ``level`` is MRF, which means no write."""
    return np.where(level == MRF, 0.0, writes[level, datapath])


def _by_pc(rows: NDArray[np.float64], start: NDArray[np.int32]) -> NDArray[np.float64]:
    sums = np.concatenate(([0.0], np.cumsum(rows)))
    return sums[start[1:]] - sums[start[:-1]]
