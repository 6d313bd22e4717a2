"""What is told when no warp can go on because all that are left wait for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.ir.kernel import Kernel
from warpreg.timing.errors import TimingError

TOLD = 4
"""Warps that a message names; there may be hundreds, and they mostly wait for the same."""


class NoProgressError(TimingError):
    """A design lets all warps wait; the message names warps, instructions, tokens and their owners."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A warp that waits: its index as hooks see it, thread block and index in it, next pc, token, and who holds that
    (-1: nobody, or the design does not say).
    """

    warp: int
    block: int
    index: int
    pc: int
    token: int
    owner: int


def no_progress(kernel: Kernel, design: str, cycle: int, waiting: Sequence[Waiting]) -> NoProgressError:
    """The error for a run that has come to a standstill in ``cycle``."""
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
