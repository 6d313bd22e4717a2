"""Warps: the state of each warp slot.  Columns that are used together stand in one cache line of eight.

A warp's *position* is its index among the warps of its scheduler: slot = position * schedulers + scheduler.
"""

from __future__ import annotations

from warpreg.timing.core.columns.causes import Cause
from warpreg.timing.core.columns.typed import BlockRow, Column, Pc, SchedulerRow, WarpRow

_Word = Column[WarpRow, int]

HEAD = Column[WarpRow, Pc](0)  # the next instruction, NONE after the last
STOP = _Word(1)  # what it waits at: GOING or one of AT_...
FETCHED = _Word(2)  # the cycle from which its head may issue
CAUSE = Column[WarpRow, Cause](3)  # where its cycles go in the stall account
SINCE = _Word(4)  # the first cycle that is not yet accounted
PRESENT = _Word(5)  # whether the slot holds a warp
OWN = _Word(6)  # the set of its position alone
TURN_ROW = Column[WarpRow, SchedulerRow](7)  # its scheduler
BLOCK_END = _Word(8)  # end of the basic block that it is in
FLIGHT = _Word(9)  # instructions under way
ACCESS = _Word(10)  # where in ``Core.slab`` its next access record begins
MASK = _Word(11)  # active lanes
WANTED = _Word(12)  # the pipe of its head while it is ready
ASKS_FROM = _Word(13)  # the cycle from which it may ask for admission again
SUSPENDED = _Word(14)  # whether its head has already suspended it
LAST_ISSUE = _Word(15)  # cycle, -1 before the first
VISIT = _Word(16)  # where in ``Core.slab`` its next visit of a basic block is
VISIT_END = _Word(17)
BLOCK = Column[WarpRow, BlockRow](18)  # its thread block, NONE in an empty slot
AGE = _Word(19)  # how many warps its SM took before it
BANK_OFFSET = _Word(20)  # bank of its register 0 among those of its scheduler
FIRST_OWN_BANK = _Word(21)  # the first bank of its scheduler
SWAP_UNTIL = _Word(22)  # the cycle from which it may issue after its activation
TOKEN = _Word(23)  # the token that it waits for, or the number of a barrier with a count (NONE without)
MEMORY_CYCLES = _Word(24)  # cycles that it waited for memory
RECORDS = _Word(25)  # where in ``Core.slab`` its access records begin
RECORDS_END = _Word(26)
COPIES = _Word(27)  # asynchronous copies issued
COPIED = _Word(28)  # and complete
COPY_GROUPS = _Word(29)  # groups of them committed
AWAITED = _Word(30)  # copies that must be complete to go on from its fence (NONE: everything)
AT_WORK = _Word(31)  # cycle of its last issue or activation, where a stall suspends warps
COPIES_AT = _Word(32)  # + group modulo COMMIT_SLOTS: copies issued at that commit
BUSY = _Word(40)  # sets of scoreboard cells, BUSY_SETS of them

COMMIT_SLOTS = 4
BUSY_SETS = 7
"""All cells in the scoreboard, those of any wait class but 0, those of classes 1 to 4, those with a long latency."""
SLOW_SET, LONG_SET = 1, 6

GOING, AT_BARRIER, AT_FENCE, AT_TOKEN = range(4)
