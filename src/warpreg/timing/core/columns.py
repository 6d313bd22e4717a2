"""Where things stand: the columns of the core's arrays, and the arrays themselves.

All are int64 unless said otherwise.  A *list* is chained through a NEXT column; NONE ends it.  A *set* is the bits of
one word.  A warp's *position* is its place among the warps of its scheduler: slot = position * schedulers + scheduler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NONE = -1
NEVER = 1 << 60
SET_SIZE = 64
PIPES = 9
INT, FP, SFU, DP, TENSOR, MEM, TEX, CTRL, UNIFORM = range(PIPES)

# machine: one number of the SM each
(SMS, SLOTS, SCHEDULERS, WIDTH, POLICY, IDEAL, STEPS, BANKS, SINGLE_PORTED, OPERAND_PORTS, BY_REGISTER, BY_SLOT,
 DISPATCH_CYCLES, QUEUE, SHARED_LATENCY, CONSTANT_LATENCY, ACTIVE_WARPS, SUSPEND, STALL_THRESHOLD,
 SWAP_CYCLES,
 BLOCKS, BLOCK_WARPS, GROUPS, COLLECTORS, UNITS, WHEEL, WORDS, EVERY_CYCLE, CTRL_LATENCY, FIRST_WARP,
 FIRST_SCHEDULER, TO_ACCOUNT, FIRST_GROUP, FIRST_COLLECTOR, FIRST_BANK, FIRST_BLOCK, FIRST_UNITS, FIRST_OP, FIRST_PCS,
 OP_READS, OP_WRITES, OWN_BANKS, IN_STEP, ROW) = range(44)  # fmt: skip
MACHINE = ROW + 1
STRUCTURE = (SLOTS, SCHEDULERS, WIDTH, POLICY, IDEAL, STEPS, SINGLE_PORTED, OPERAND_PORTS, BY_REGISTER, BY_SLOT,
             DISPATCH_CYCLES, SUSPEND, GROUPS, UNITS, WHEEL, WORDS, OWN_BANKS, ROW)  # fmt: skip
"""What a core is compiled for: the numbers that shape it, and that are the same in most runs.  The others, sizes and
latencies that studies vary, it reads.
"""
LRR, GTO, OLDEST, GREEDY = range(4)
STATIC, PENDING, STALL = range(3)

# code: one row for each pc; from NEED on the set of cells that it reads or writes, then the set of those that it writes
(PIPE, LATENCY, INITIATION, KIND, FLAGS, WAIT_CLASS, READS, READS_END, WRITES, WRITES_END,
 ALL_READS, ALL_READS_END, NEED) = range(13)  # fmt: skip
NO_ACCESS, LOAD, STORE, ATOMIC, TEXTURE = range(5)
BARRIER, FENCE, SUSPENDS, LONG, COPIES_ONE, COMMITS, AWAITS = 1, 2, 4, 8, 16, 32, 64
NUMBER_SHIFT, COUNT_SHIFT = 8, 12
"""FLAGS of a barrier with a count: its number in four bits, and above them how many warps it gathers.  Of a wait for
asynchronous copies: groups that may still be under way, in the same four bits.
"""
BARRIERS = 16

# warps
(HEAD, STOP, FETCHED, CAUSE, SINCE, PRESENT, OWN, TURN_ROW,
 BLOCK_END, FLIGHT, ACCESS, MASK, WANTED, ASKS_FROM, SUSPENDED, LAST_ISSUE,
 VISIT, VISIT_END, BLOCK, AGE, BANK_OFFSET, FIRST_OWN_BANK, SWAP_UNTIL, TOKEN,
 MEMORY_CYCLES, RECORDS, RECORDS_END, COPIES, COPIED, COPY_GROUPS, AWAITED, AT_WORK, COPIES_AT) = range(33)  # fmt: skip
COMMITS_KEPT = 4
BUSY = 40
"""Columns that are used together stand in one cache line of eight.

OWN is the set of its position alone, TURN_ROW the row of its scheduler; its register 0 is in bank BANK_OFFSET of
those that its scheduler uses, the first of which is FIRST_OWN_BANK.  COPIES and COPIED are asynchronous copies issued
and complete, COPY_GROUPS groups of them committed, AWAITED the copies that must be complete for the warp to go on from
its fence (NONE: everything); COPIES_AT + group modulo COMMITS_KEPT is how many had been issued at that commit.
"""
BUSY_SETS = 7
"""From BUSY on: the set of cells in the scoreboard, those of any wait class but 0, those of classes 1 to 4, those with
a long latency.
"""
SLOW_SET, LONG_SET = 1, 6
GOING, AT_BARRIER, AT_FENCE, AT_TOKEN = range(4)
"""STOP: what a warp waits at.  TOKEN: which token, or the number of a barrier with a count (NONE without)."""

# causes of the stall account
(ISSUED, NOT_SELECTED, FETCH, ALU, SFU_WAIT, DP_WAIT, SHARED, MEMORY, OPERANDS, UNIT, MEMORY_QUEUE, BARRIER_WAIT,
 FENCE_WAIT, TOKEN_WAIT, INACTIVE, SWAP, DRAIN, EMPTY, OTHER) = range(19)  # fmt: skip
CAUSES = 19
READY = CAUSES
"""The CAUSE of a warp that could issue but for structure; its cycles are accounted scheduler by scheduler."""
CLASS_BITS = 7
LONG_BIT = 8
WAITS = (ALU, SFU_WAIT, DP_WAIT, SHARED, MEMORY)
"""Causes by wait class, from the fastest to the slowest."""

# schedulers
(READY_WARPS, FULL, DIRTY, ACTIVE, ELIGIBLE, LAST, LAST_ACTIVE, WANTED_PIPES, WANTS) = range(9)
UNITS_FOR = WANTS + PIPES
GROUP_FOR = UNITS_FOR + PIPES
SCHEDULER = GROUP_FOR + PIPES
"""WANTS + pipe: the ready warps whose head goes to that pipe; WANTED_PIPES: where there are any.  UNITS_FOR + pipe and
GROUP_FOR + pipe: the rows of the units and of the collectors that its instructions of that pipe use."""

# units that the instructions of a pipe go to
(FREE_AT, FIRST_UNIT, UNIT_COUNT, FEEDS_QUEUE, COLLECTED_FOR, OWN_UNITS) = range(6)
"""COLLECTED_FOR: the collectors that could be dispatched to them.  OWN_UNITS, and OWN_GROUP and OWN_BLOCK below: the
set of its index in its SM alone.
"""

# groups of collectors
(FREE_COLLECTORS, LATCHED, LATCHED_END, IN_PORTS, ALL_COLLECTORS, EARLIEST, OWN_GROUP) = range(7)
GROUP = 7
"""EARLIEST: the collector that was taken first, NONE where that is not known."""

# collectors; WORD + k is the bank of the k-th word until it is granted, then NONE
(HELD, MISSING, READY_AT, TAKEN_AT, TAKEN, WORD_COUNT, OF_GROUP, FOR_UNITS, WORD) = range(9)
"""FOR_UNITS: the row of the units that the instruction it holds goes to; OF_GROUP: that of its group."""

# banks
(REQUESTS, WRITES_HEAD, WRITES_TAIL, EXTRA_READS) = range(4)
BANK = 4

# instructions under way
(OP_WARP, OP_PC, OP_NEXT, OP_DUE, OP_LEFT, OP_RECORD, OP_MASK, OP_SEQUENCE,
 OP_TICKETS, OP_TO_SEND, OP_UNITS, OP_ISSUED, OP_ENTERED, OP_PLACE, OP_SENT_AT, OP_READY,
 OP_LINK) = range(17)  # fmt: skip
TIMER, LEAVES, EXTRA = -2, -3, -4
"""OP_PC of entries that wake a warp, let a cell (result OP_PLACE of OP_RECORD) leave the scoreboard, or are an access
of bank OP_PLACE that nobody waits for."""
SAYS_BANK = 255
ALSO_ELSEWHERE = 256
CYCLE_SHIFT = 8
RESULT_SHIFT = 9
"""What is known of an operand, see `calls.source_word` and `calls.result_word`."""
WORD_BITS = 6
WORD_MASK = 63
"""A word to write is ``op << WORD_BITS | k``, the k-th result of it; OP_LINK + k is the next in its bank."""

# SMs
(DUE, SEQ, AGES, RESIDENT, FREE_SLOTS, REQUEST_BANKS, WRITE_BANKS, READY_COLLECTORS, QUEUE_HEAD, QUEUE_TAIL, QUEUED,
 QUEUE_AT, RETRY_AT, STEPPED, CHECK_BARRIER, BLOCK_ENDED, GROUPS_LATCHED, FREE_BLOCKS, WRITTEN_BANKS,
 TRIED, ENDED_WARPS, EXTRA_FIRST, EXTRA_LAST, UNITS_ASKED, PLACES_AT, BANKS_AT, COLLECTORS_AT, BLOCKS_AT,
 RIPE) = range(29)  # fmt: skip
"""UNITS_ASKED: the units that collectors could be dispatched to.  PLACES_AT: the cycle at whose end the SM takes a
thread block once it is its turn, NONE if it has no room.  BANKS_AT, COLLECTORS_AT, BLOCKS_AT: the first of its rows of
these.  From RIPE on: which buckets of the wheel hold something.
"""

# thread blocks that are resident
(BLOCK_INDEX, WARPS_LEFT, HEADS_LEFT, WAITING, COMPLETE, OWN_BLOCK, ARRIVED) = range(7)
RESIDENT_BLOCK = ARRIVED + BARRIERS
"""ARRIVED + number: warps that have come to a barrier with a count; COMPLETE: the set of those to be released."""

# clock: numbers of the whole run
(UNTIL, NEXT_BLOCK, LOADED_BLOCKS, FIRST_LOADED, TOTAL_BLOCKS, ENDED_BLOCKS, FREE_OP, FREE_OPS,
 LAST_PROGRESS, LEAST_OPS, STEPS_TAKEN, STARTS, OVERFLOW, INSTRUCTIONS, BANK_WAITS,
 WRITE_WAITS, COLLECTED, COLLECT_CYCLES, COLLECTED_MEMORY, COLLECT_CYCLES_MEMORY, TRANSACTIONS,
 MEMORY_LOADS, MEMORY_LOAD_CYCLES, LAST_LEFT, PLACING, FRESH_OP, DISPATCHED) = range(27)  # fmt: skip
"""UNTIL: SMs may be stepped up to this cycle.  LAST_LEFT: the last one in which a thread block left.  PLACING: how many
SMs wait for their turn to take one.  FREE_OP: the first of the entries that were given back, NONE without; FRESH_OP:
the first that nobody has taken yet; FREE_OPS: how many there are of both; LEAST_OPS: what a step of an SM may take.
"""
CLOCK = DISPATCHED + PIPES

MACHINE_DISTANCE, CLOCK_DISTANCE = 96, 48
FRONT = MACHINE_DISTANCE
"""The machine and the clock lie so many words in front of the rows."""

# what run returns
DONE, NEEDS_BLOCKS, NEEDS_ROOM, STUCK, OVERFLOWED = range(5)

Array = NDArray[np.int64]


class Core(NamedTuple):
    """Everything that the core reads and changes.

    ``table`` has a row for each thing that changes: first the SMs, then from machine[FIRST_...] on warps, schedulers,
    their stall accounts, groups of collectors, collectors, banks, resident thread blocks, units of a pipe, and
    instructions under way.  ``rows`` is the same, and a row of it begins at each word: a thing is known by its *place*,
    the number of words in front of its row, so ``rows[place, column]`` takes no multiplication.

    ``code``, and ``lists`` with (register, operand row, bank) of sources, (cell, operand row, bank) of results and
    (first pc, end, 0) of basic blocks, where the bank is that of slot 0 among those of its scheduler; ``slab``: visits,
    memory records, and where those of each warp begin; ``wheel``: first and last of what is due; ``units``: when each
    function unit is free; ``sequences``: when what each collector holds has issued.
    """

    machine: Array
    code: Array
    lists: Array
    slab: Array
    table: Array
    rows: Array
    wheel: Array
    units: Array
    sequences: Array
    clock: Array


IN_FRONT = tuple(
    (Core._fields.index(name), Core._fields.index("rows"), distance)
    for name, distance in (("machine", MACHINE_DISTANCE), ("clock", CLOCK_DISTANCE), ("table", 0))
)
"""As `warpreg.jit.bare_arrays.bare` takes it."""
