"""Columns of the arrays of the designs with two technologies; few arrays keep what is used together together.

Per warp: ``registers`` [register, column] and ``warps`` [column].  Per SM: ``own`` [column].
"""

from __future__ import annotations

NONE = -1
VECTOR, OLD, PENDING, FLAGS = range(4)
"""Of a register of a warp: its vector or NONE; the superseded one or NONE; sources that have issued and are not read,
and a result that is not produced; what `warpreg.designs.parts.hybrid.table` notes."""
REGISTER_COLUMNS = 4
COUNTER, ACCESSES, BEGAN, REFILLED, LANES = range(5)
"""Of a warp: predicted stall cycles that are left; memory accesses under way; the cycle in which the last of them
began; the cycle from which on its next instruction may issue; lanes that were active so far, which all are at first."""
WARP_COLUMNS = 5
FIRST, NUMBER = 0, 2
"""Of an SM, for both kinds of vectors: the first place of the list of free ones, and its length."""
RESIDENT, MAX_RESIDENT, REPORTED, POWERED, SPARE, SUPERSEDED, USED = range(4, 11)
"""Of an SM: registers of the resident warps, the most so far, and the most that has been reported; CMOS vectors that
are on; vectors that may be superseded at a time, and those that are; the most CMOS vectors that were in use at a
time."""
OWN_COLUMNS = 11
