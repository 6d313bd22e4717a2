"""Where a kernel holds a section, in words."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.sharing.instructions import ACQUIRE, RELEASE, action_of
from warpreg.designs.sharing.states import need_of
from warpreg.ir.kernel import Kernel

WORDS = {ACQUIRE: "acquires a section", RELEASE: "releases the section"}


def explanation(kernel: Kernel) -> Mapping[int, str]:
    """Per pc, the registers that the warp needs there; acquires and releases."""
    need = need_of(Analysis(kernel))
    return {
        pc: WORDS.get(action_of(instruction), f"{need.at(pc)} registers live")
        for pc, instruction in enumerate(kernel.instructions())
    }
