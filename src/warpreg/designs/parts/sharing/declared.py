"""What RegMutex makes of a kernel, with and without pairs of warps; the residency says which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Program, Room
from warpreg.designs.interface.checked import Checked
from warpreg.designs.parts.sharing.check import checked_division
from warpreg.designs.parts.sharing.choice import Options, base_of, code_of, division_to_check
from warpreg.designs.parts.sharing.columns import SharingHints, sharing_hints
from warpreg.designs.parts.sharing.corruptions import SectionCorruption, corruptions_of
from warpreg.designs.parts.sharing.explanation import explanation
from warpreg.ir.kernel import Kernel


def pairs_of(warps: int) -> int:
    """The pairs of a thread block of so many warps, a single last warp included."""
    return -(-warps // 2)


def extended_of(room: Room | None) -> int:
    """The registers of a section: the least that the SM shares, or of what a thread block shares the part of a pair."""
    if room is None:
        return 0
    return room.residency.pool or room.residency.shared // pairs_of(room.residency.group)


def rewrite(kernel: Kernel, parameters: Options, room: Room | None = None) -> Kernel:
    """The kernel with acquires, releases and moves."""
    return code_of(parameters, kernel, room, extended_of(room))


def hints(program: Program, parameters: Options, analysis: Analysis, room: Room | None = None) -> SharingHints:
    """Where sections are acquired, used and released."""
    return sharing_hints(analysis.kernel, program, base_of(program, room, extended_of(room)))


def checked(program: Program, parameters: Options, kernel: Kernel) -> Checked:
    """Verifies the code by execution; if the size follows the rule, that with the largest candidate."""
    return checked_division(kernel, division_to_check(parameters, kernel))


def corruptions(kernel: Kernel, parameters: Options, visits: NDArray[np.int64]) -> Sequence[SectionCorruption]:
    """Seeded errors in that code."""
    return corruptions_of(kernel, division_to_check(parameters, kernel), visits)


def explain(program: Program, parameters: Options, kernel: Kernel) -> Mapping[int, str]:
    """Per pc of the compiled code: acquires and releases, and where a section is held."""
    return explanation(kernel)
