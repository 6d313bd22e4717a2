"""The words of the fault record: what is being called, what it may name, and what failed.

The first five are those of `piecewise_numba.fault_record`.
"""

from __future__ import annotations

CALLER = 5
"""Which hook of which design is being called (`caller`)."""
WARP = 6
"""For which warp, as far as the hook is told."""
PC = 7
"""For which instruction."""
SM = 8
"""On which SM."""

FIRST_SOURCE = 9
"""The first source that the hook may plan, `NOT_PLANNED` where it plans none."""
SOURCES = 10
"""How many sources it may plan."""
FIRST_RESULT = 11
"""The first result that the hook may plan, `NOT_PLANNED` where it plans none."""
RESULTS = 12
"""How many results it may plan."""
FIRST_WIDTH = 25
"""The first result whose width the hook may ask for, `NOT_PLANNED` where it may not."""
WIDTHS = 26
"""How many widths it may ask for."""

OPERAND = 13
"""The row of the operand whose plan is under way."""
TURNS = 14
"""Steps of loops so far."""
QUEUING = 15
"""The site of the last call that may have queued something."""
REGISTER = 16
"""The register of a move under way."""
OTHER_WARP = 17
"""The warp of a move under way."""

BANKS = 18
"""Banks of the core, which sets this and what follows."""
SLICES = 19
"""Slices of a bank."""
ROWS = 20
"""Rows of a bank."""
REGISTERS = 21
"""Registers that a warp holds."""
WARPS = 22
"""Warp slots."""
IS_SHORT = 23
"""Whether the kernel names more registers than a warp holds."""
FEW = 24
"""Up to how many operands of an instruction need nothing prepared."""
TABLES = 27
"""Tables of the design."""
PATHS = 28
"""Paths of the design."""
WARP_OF_PLAN = 29
"""The warp of the call, -1 in a hook of an SM."""
SCHEDULER = 30
"""Of which scheduler."""
FIRST_WARP = 31
"""The first warp of that scheduler, `NOT_PLANNED` where the hook sees none."""
END_WARP = 32
"""Behind its last one."""
WARP_STEP = 33
"""From one to the next."""
SLOTS = 34
"""Warp slots of an SM, which the core sets."""
SM_OF_PLAN = 35
"""The SM of a call that may name a warp."""

MAX_OPERANDS = 1024
"""Of one instruction, sources and results each."""
PLANNED = 64
"""From here on a bit for each operand of the instruction that is planned."""
LEVELS = PLANNED + MAX_OPERANDS // 64
"""From here on of each operand the levels that it is planned for, a bit each."""
REGISTER_OF = LEVELS + MAX_OPERANDS
"""From here on of each operand its register, where IS_SHORT."""
UNDER_WAY = 4096
"""From here on two words for a result that is produced later: its instruction, and a bit for each operand that is
planned."""
PLACES = 8192
"""Places for such results.  Where two instructions have the same place, the later one is known."""
KEPT_BITS = 62

HOOK_BITS = 6
NOT_PLANNED = -1
NO_LIMIT = 1 << 62
MAX_TURNS = 1 << 24
"""Steps that the loops of one call of a hook may take."""


def caller(design: int, hook: int) -> int:
    """The word of a hook of a design."""
    return design << HOOK_BITS | hook
