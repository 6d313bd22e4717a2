"""What warps wait for before each static instruction, by the causes of the stall account."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.by_instruction import rows_of_code
from warpreg.evaluation.runs.run import Run
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.timing import CAUSES

NO_WAITS = ("issued", "drain", "empty")
"""Causes of cycles in which a slot does not wait to issue."""


def stalls_by_instruction(
    run: Run, kernel: Kernel, choice: ConfiguredDesign, machine: Machine, mode: Mode = "compiled"
) -> NDArray[np.int64]:
    """int64[instructions, causes]: cycles by the causes of `warpreg.timing.CAUSES`, over all warps and launches.

    A wait belongs to the next instruction that issues from the warp's slot.  What a design has added to the code counts
    with the next instruction that was there.  Raises what timing raises.
    """
    from warpreg.timing.launch.waits_by_instruction import waits_by_pc  # loads the recording core

    registers = run.options.get("registers")
    code, waited = waits_by_pc(run.launches_of(kernel), machine, designs=choice, registers=registers, mode=mode)
    result = np.zeros((kernel.instruction_count + 1, len(CAUSES)), np.int64)
    np.add.at(result, rows_of_code(kernel, code), waited)
    result[:, [CAUSES.index(cause) for cause in NO_WAITS]] = 0
    return result[:-1]
