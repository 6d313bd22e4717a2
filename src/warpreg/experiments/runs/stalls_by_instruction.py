"""What warps wait for before each static instruction, by the causes of the stall account."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.experiments.runs.by_instruction import rows_of_code
from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.run import Run
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.jit.options import Mode
from warpreg.timing import CAUSES
from warpreg.timing.tracing.rows import Kind

NO_WAITS = ("issued", "drain", "empty")
"""Causes of cycles in which a slot does not wait to issue."""


def stalls_by_instruction(
    run: Run, kernel: Kernel, choice: Choice, machine: Machine, mode: Mode = "compiled"
) -> NDArray[np.int64]:
    """int64[instructions, causes]: cycles by the causes of `warpreg.timing.CAUSES`, over all warps and launches.

    A wait belongs to the next instruction that issues from the warp's slot.  What a design has added to the code counts
    with the next instruction that was there.  Raises TimingError for a launch with too many events.
    """
    from warpreg.timing.launch.tracing import trace  # loads the recording core

    registers = run.options.get("registers")
    found = trace(run.launches_of(kernel), machine, designs=choice.chosen, registers=registers, mode=mode)
    code = found.launches[0].kernel
    result = np.zeros((kernel.instruction_count + 1, len(CAUSES)), np.int64)
    np.add.at(result, rows_of_code(kernel, code), by_pc(found.events, code.instruction_count))
    return result[:-1]


def by_pc(events: NDArray[Any], instructions: int) -> NDArray[np.int64]:
    """int64[instructions, causes] of recorded events (`warpreg.timing.tracing.rows.EVENT`)."""
    result = np.zeros((instructions, len(CAUSES)), np.int64)
    waits = [number for number, cause in enumerate(CAUSES) if cause not in NO_WAITS]
    issues = events[events["kind"] == Kind.ISSUE]
    issues = issues[np.lexsort((issues["cycle"], issues["slot"], issues["sm"]))]
    spans = events[(events["kind"] == Kind.STATE) & np.isin(events["unit"], waits)]
    end = int(events["cycle"].max(initial=0)) + 1
    slots = int(events["slot"].max(initial=0)) + 1
    slot_of, slot_of_span = (one["sm"].astype(np.int64) * slots + one["slot"] for one in (issues, spans))
    next_issue = np.searchsorted(slot_of * end + issues["cycle"], slot_of_span * end + spans["cycle"])
    known = next_issue < len(issues)
    known[known] = slot_of[next_issue[known]] == slot_of_span[known]
    pcs = issues["pc"][next_issue[known]]
    np.add.at(result, (pcs, spans["unit"][known]), spans["cycles"][known])
    return result
