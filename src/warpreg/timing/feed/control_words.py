"""Control codes of instructions as words of the kernel table (docs/reference/timing.md, "Control codes")."""

from __future__ import annotations

from warpreg.ir.control_code import COUNTERS
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Special
from warpreg.timing.core.columns import code

UNSTALLED_YIELD = 45
"""Cycles of a stall count of 0 with the yield flag (Huerta et al., MICRO 2025, section 4)."""


def control_word(instruction: Instruction, copies: frozenset[int], latency: int) -> tuple[int, set[int]]:
    """The CONTROL word of an instruction, and the counters that must be 0 before it issues.

    ``copies``: the counters of asynchronous copies, for which groups are awaited instead.  ``latency``: that of its
    pipe, for which one without a control code stalls its warp if it has results.
    """
    control = instruction.control
    if control is None:
        return max(1, latency if instruction.results else 1), set()
    stall = max(control.stall, 2 if control.yields else 1)
    if control.stall == 0 and control.yields:
        stall = UNSTALLED_YIELD
    waits = {counter for counter in range(COUNTERS) if control.waits >> counter & 1}
    counter, allowed, others = _limit(instruction)
    if instruction.traits.commits_copies:
        return stall, waits - copies
    write, read = (0 if one is None else one + 1 for one in (control.write, control.read))
    word = stall | write << code.WRITE_SHIFT | read << code.READ_SHIFT
    if counter is not None and counter not in copies:
        word |= counter + 1 << code.LIMIT_SHIFT | allowed << code.ALLOWED_SHIFT
    return word, (waits | others) - copies


def counters_of_copies(kernel: Kernel) -> frozenset[int]:
    """The counters that LDGDEPBAR gives to groups of asynchronous copies."""
    ends = (one.control for one in kernel.instructions() if one.traits.commits_copies)
    return frozenset(control.write for control in ends if control is not None and control.write is not None)


def awaited_copies(instruction: Instruction, kernel_copies: frozenset[int]) -> int | None:
    """Groups of copies that may remain in flight behind a DEPBAR.LE; None if it waits for no copies."""
    counter, allowed, _ = _limit(instruction)
    return allowed if counter is not None and counter in kernel_copies else None


def _limit(instruction: Instruction) -> tuple[int | None, int, set[int]]:
    """The counter of a DEPBAR.LE, the number that it allows, and the counters that must be 0 besides."""
    if not instruction.traits.awaits_counter:
        return None, 0, set()
    counter, allowed, others = instruction.sources[:3]
    assert isinstance(counter, Special)
    mask = others.value if isinstance(others, Immediate) else 0
    limit = allowed.value if isinstance(allowed, Immediate) else 0
    return int(counter.name.removeprefix("SB")), limit, {one for one in range(COUNTERS) if mask >> one & 1}
