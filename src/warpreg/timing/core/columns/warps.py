"""Warps: the state of each warp slot.  Columns that are used together share a cache line of eight words.

The *position* of a warp is its index among the warps of its scheduler: slot = position * schedulers + scheduler.
"""

from __future__ import annotations

from warpreg.timing.core.columns.causes import Cause
from warpreg.timing.core.columns.typed import BlockRow, Column, OpRow, Pc, SchedulerRow, WarpRow

_Word = Column[WarpRow, int]

HEAD = Column[WarpRow, Pc](0)  # next instruction, NONE after the last
STOP = _Word(1)  # what it waits at: GOING or one of AT_...
FETCHED = _Word(2)  # first cycle in which its head may issue
CAUSE = Column[WarpRow, Cause](3)  # cause of its current cycles in the stall account
SINCE = _Word(4)  # first cycle that is not accounted yet
PRESENT = _Word(5)  # 0 if the slot holds no warp; HERE | WAITING, if a design was told so | level << REACH_SHIFT
OWN = _Word(6)  # set that contains only its position
TURN_ROW = Column[WarpRow, SchedulerRow](7)  # its scheduler
BLOCK_END = _Word(8)  # end of its current basic block
FLIGHT = _Word(9)  # instructions in flight
ACCESS = _Word(10)  # index in ``Core.slab`` of its next access record
MASK = _Word(11)  # mask of active lanes
WANTED = _Word(12)  # pipe of its head while it is ready
BANK_OFFSET = _Word(13)  # bank of its register 0 among those of its scheduler
FIRST_OWN_BANK = _Word(14)  # first bank of its scheduler
LAST_ISSUE = _Word(15)  # cycle of the last issue, -1 before the first
VISIT = _Word(16)  # index in ``Core.slab`` of its next visit of a basic block
VISIT_END = _Word(17)
BLOCK = Column[WarpRow, BlockRow](18)  # its thread block, NONE in an empty slot
AGE = _Word(19)  # number of warps that were placed in its SM before it
ASKS_FROM = _Word(20)  # first cycle in which `admit` may be called again
SUSPENDED = _Word(21)  # whether its head has already suspended it
SWAP_UNTIL = _Word(22)  # first cycle in which it may issue after its activation
TOKEN = _Word(23)  # token that it waits for, or number of a barrier with a count (NONE without)
MEMORY_CYCLES = _Word(24)  # cycles in which it waited for memory
RECORDS = _Word(25)  # index in ``Core.slab`` of its first access record
RECORDS_END = _Word(26)  # their end, including the widths behind them
COPIES = _Word(27)  # asynchronous copies issued
COPIED = _Word(28)  # asynchronous copies complete
COPY_GROUPS = _Word(29)  # groups of copies committed
AWAITED = _Word(30)  # copies that must be complete before it passes its fence (NONE: everything)
AT_WORK = _Word(31)  # cycle of its last issue or activation, used where stalls suspend warps
COPIES_AT = _Word(32)  # + group modulo COMMIT_SLOTS: copies issued at that commit
RESULTS = _Word(36)  # results of the instructions issued, for designs with widths
COLLECTING = _Word(37)  # instructions issued and not dispatched, if warps own collectors
LATCHED = Column[WarpRow, OpRow](38)  # list of those that are in no collector; undefined without one
LATCHED_END = Column[WarpRow, OpRow](39)
NUMBER = _Word(40)  # its slot, counted over all SMs: the index that hooks use
COUNTERS = _Word(41)  # + k: the k-th dependence counter, where control codes order instructions
HELD_FOR = Column[WarpRow, Cause](47)  # cause of the cycles before FETCHED
LINE = _Word(48)  # line of code that it asked for last, NONE before the first
ASKED = _Word(49)  # LAST_ISSUE when its head asked for a constant that was not there, NEVER before that
BUSY = _Word(50)  # BUSY_SETS sets of scoreboard cells, and the READING_SET

COMMIT_SLOTS = 4
BUSY_SETS = 6
"""Sets of cells in the scoreboard: all, those of wait classes 1 to 4, those with a long latency."""
LONG_SET = 5
READING_SET = 6
"""Cells of instructions in queues, where sources are in a scoreboard."""

HERE, WAITING, REACH_SHIFT = 1, 2, 2
"""PRESENT; its level is that of memory that the warp got its last result from, in a run that asks."""
GOING, AT_BARRIER, AT_FENCE, AT_TOKEN = range(4)
