"""Hint columns of the designs that share registers: actions, and accesses of sections."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import Program
from warpreg.designs.parts.sharing.instructions import action_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import Unit, classify


class SharingHints(NamedTuple):
    """By pc: ``action`` (ACQUIRE, RELEASE or NOTHING); ``reads``, sources in the section; ``writes``, 1 if a result is
    written there after the instruction has issued.
    """

    action: NDArray[np.uint8]
    reads: NDArray[np.int32]
    writes: NDArray[np.uint8]


def sharing_hints(kernel: Kernel, program: Program, base: int) -> SharingHints:
    """The columns of a compiled kernel with a base set of ``base`` registers."""
    pcs = range(program.unit.size)
    reads = [int((_row(program.source, program.source_start, pc) >= base).sum()) for pc in pcs]
    writes = [bool((_row(program.result, program.result_start, pc) >= base).any()) for pc in pcs]
    instructions = list(kernel.instructions())
    is_late = [classify(instruction)[0] is not Unit.CTRL for instruction in instructions]
    return SharingHints(
        np.array([action_of(instruction) for instruction in instructions], np.uint8),
        np.array(reads, np.int32),
        np.array([write and late for write, late in zip(writes, is_late, strict=True)], np.uint8),
    )


def _row(column: NDArray[np.uint16], starts: NDArray[np.int32], pc: int) -> NDArray[np.uint16]:
    return column[starts[pc] : starts[pc + 1]]
