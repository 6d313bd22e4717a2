"""Error message of a run in which all remaining warps wait for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.ir.kernel import Kernel
from warpreg.timing.errors import TimingError

TOLD = 4
"""Warps that a message names; there may be hundreds, and most wait for the same token."""


class NoProgressError(TimingError):
    """A design makes all warps wait; the message names warps, instructions, tokens and their owners."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting warp: its index as hooks see it, its thread block and index in it, next pc, token, and the owner of the
    token (-1: none, or not stated by the design).
    """

    warp: int
    block: int
    index: int
    pc: int
    token: int
    owner: int


def no_progress(kernel: Kernel, design: str, cycle: int, waiting: Sequence[Waiting]) -> NoProgressError:
    """The error of a run that cannot continue in ``cycle``."""
    instructions = list(kernel.instructions())
    told = []
    for one in waiting[:TOLD]:
        instruction = instructions[one.pc]
        place = f" ({instruction.location})" if instruction.location is not None else ""
        holder = f"which warp {one.owner} holds" if one.owner >= 0 else "which nobody holds"
        told.append(
            f"warp {one.warp} (warp {one.index} of thread block {one.block}) waits at '{instruction}'{place} for token"
            f" {one.token}, {holder}"
        )
    more = f"; and {len(waiting) - TOLD} more" if len(waiting) > TOLD else ""
    return NoProgressError(
        f"kernel {kernel.name}, design {design}: no warp can go on after cycle {cycle}: {'; '.join(told)}{more}"
    )
