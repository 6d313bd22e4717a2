"""Where the code of a kernel holds a section, in words."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.analysis.cfg import control_flow
from warpreg.designs.parts.sharing.instructions import ACQUIRE, NOTHING, action_of
from warpreg.ir.kernel import Kernel


def explanation(kernel: Kernel) -> Mapping[int, str]:
    """By pc of compiled code: acquires and releases, and the instructions that have a section."""
    told: dict[int, str] = {}
    successors = control_flow(kernel).successors
    held = {0: False}
    work = [0]
    while work:
        block = work.pop()
        state = held[block]
        for pc, instruction in enumerate(kernel.blocks[block].instructions, kernel.first_pcs()[block]):
            action = action_of(instruction)
            if action != NOTHING:
                state = action == ACQUIRE
                told[pc] = "acquires a section" if state else "releases the section"
            elif state:
                told[pc] = "has a section"
        for successor in successors[block]:
            if successor not in held:
                held[successor] = state
                work.append(successor)
    return told
