"""Instructions at which a warp may wait for others, beside barriers."""

from __future__ import annotations

from warpreg.ir.instruction import Instruction

POLLING = frozenset({"volatile", "relaxed", "mmio"})
"""Loads that may poll for a value that another thread block writes; with ``acquire``, any thread."""
PRIVATE = frozenset({"shared", "shared::cta", "shared::cluster", "local", "param", "const"})


def polls(instruction: Instruction, cooperative: bool) -> bool:
    """Whether a warp may wait for another warp with this load, so that its turn should end; in a ``cooperative`` kernel
    also for a warp of another thread block.  In machine code, ``.STRONG`` is what remains of the order of a load.
    """
    if not instruction.traits.loads:
        return False
    if instruction.traits.space:
        return "STRONG" in instruction.modifiers
    across = not POLLING.isdisjoint(instruction.modifiers) and PRIVATE.isdisjoint(instruction.modifiers)
    return "acquire" in instruction.modifiers or (cooperative and across)


def waits(instruction: Instruction, cooperative: bool) -> bool:
    """Whether a warp may wait for others at an instruction that is not a barrier of a thread block."""
    is_wait = instruction.traits.awaits_phase
    return is_wait or polls(instruction, cooperative)
