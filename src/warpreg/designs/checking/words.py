"""The words of the fault record: what is being called, what it may name, and what failed.

The first five are those of `piecewise_numba.fault_record`.
"""

from __future__ import annotations

CALLER, WARP, PC, SM = range(5, 9)
"""The call under way: which hook of which design (`caller`), and for whom, as far as the hook is told."""
FIRST_SOURCE, SOURCES, FIRST_RESULT, RESULTS = range(9, 13)
"""The operands that the hook may plan: the first, `NOT_PLANNED` where it plans none, and how many."""
OPERAND, TURNS, QUEUING, REGISTER, OTHER_WARP = range(13, 18)
"""The row of the operand whose plan is under way, steps of loops so far, the site of the last call that may have queued
something, and the register and warp of a move under way."""
BANKS, SLICES, ROWS, REGISTERS, WARPS, IS_SHORT, FEW = range(18, 25)
"""What the core has: banks, slices and rows of a bank, registers that a warp holds, warp slots; whether the kernel
names more registers than a warp holds; and up to how many operands of an instruction need nothing prepared.  The core
sets them."""
FIRST_WIDTH, WIDTHS, TABLES = 25, 26, 27
"""The results whose width the hook may ask for: the first, `NOT_PLANNED` where it may not, and how many;
and the tables of the design."""
MOST_OPERANDS = 1024
"""Of one instruction, sources and results each."""
PLANNED = 64
"""From here on a bit for each operand of the instruction that is planned."""
LEVELS = PLANNED + MOST_OPERANDS // 64
"""From here on of each operand the levels that it is planned for, a bit each."""
REGISTER_OF = LEVELS + MOST_OPERANDS
"""From here on of each operand its register, where IS_SHORT."""
UNDER_WAY, PLACES = 4096, 8192
"""From here on two words for a result that is produced later: its instruction, and a bit for each operand that is
planned.  Where two instructions have the same place, the later one is known."""
KEPT_BITS = 62

HOOK_BITS = 6
NOT_PLANNED = -1
NO_LIMIT = 1 << 62
MOST_TURNS = 1 << 24
"""Steps that the loops of one call of a hook may take."""


def caller(design: int, hook: int) -> int:
    """The word of a hook of a design."""
    return design << HOOK_BITS | hook
