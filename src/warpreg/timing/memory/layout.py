"""Where things stand in the arrays of a memory system: one layout for all models.

Plain int64 arrays, because the models' functions are compiled into the timing core and allocate nothing.  Times are in
cycles of the SMs, or in *ticks* of 1 / TICKS cycle where bandwidths do not divide a cycle.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.int64]
Halves: TypeAlias = NDArray[np.int32]
"""Of what there is so much that the host's caches do not hold it."""

NEVER = 1 << 60
NONE = -1
TICKS = 256
DAYS, WEEK = 4096, 64

LOAD, STORE, ATOMIC, TEXTURE = 1, 2, 3, 4
"""Kinds of transactions; the first three are those of `warpreg.timing.core.access_record`."""

FIXED, CACHED, CONTENTION = range(3)
MODELS = ("fixed", "cached", "contention")
EVICT, THROUGH = range(2)
WRITES = ("evict", "through")
CONSECUTIVE, FOLDED, RANDOM = range(3)
SPREADS = ("consecutive", "folded", "random")


class Memory(NamedTuple):
    """A memory system of some SMs.

    ``parameters`` and ``scalars``: numbers by the positions below. ``sms`` a row for each SM, ``slices`` for each slice
    of the second-level cache, ``channels`` for each DRAM channel, ``banks`` for each of its banks.  ``lines1`` and
    ``lines2`` the lines of the caches, ``sets1`` and ``sets2`` their sets, ``buckets1`` and
    ``buckets2`` where looking a line up begins.  ``nodes``: transactions and requests under way.  ``events`` a heap of
    (time, node), for those that have no place in ``days``, a row for each of the next DAYS cycles; ``weeks`` how
    many events each WEEK of them has.  ``returns`` a heap for each SM of (time, ticket).  ``queues`` lists of nodes,
    ``routers`` those of a mesh.  ``counts`` by SM.
    """

    parameters: Array
    scalars: Array
    sms: Array
    slices: Array
    channels: Array
    banks: Array
    lines1: Halves
    sets1: Array
    buckets1: Halves
    lines2: Halves
    sets2: Array
    buckets2: Halves
    nodes: Array
    events: Array
    days: Array
    weeks: Array
    returns: Array
    queues: Array
    routers: Array
    counts: Array


(
    MODEL, SMS, SEGMENT, LATENCY, TEXTURE_LATENCY, SECTOR_TICKS, OUTSTANDING,
    HAS_L1, SETS1, WAYS1, L1_LATENCY, L1_SECTOR_TICKS, MSHRS1, WRITE1, SKIP_GLOBAL,
    SLICES, SETS2, WAYS2, L2_LATENCY, L2_SECTOR_TICKS, MSHRS2, QUEUE2, INTERLEAVE_SHIFT,
    NETWORK_LATENCY, FLIT_BYTES, BY_SECTOR, QUEUE_NETWORK, MESH_WIDTH, VIRTUAL_CHANNELS,
    CHANNELS, DRAM_LATENCY, DRAM_SECTOR_TICKS, BANKS, ROW_SHIFT, QUEUE_DRAM,
    T_RCD, T_RP, T_RAS, T_CL, T_WL, T_WR, T_WTR, T_RRD, BUCKETS1, BUCKETS2, BITS1, BITS2, SLICE_BITS,
    IS_MESH, ROUTERS, SLICE_QUEUES, REPLY_QUEUES, BANK_QUEUES, MESH_QUEUES, SPREAD, MERGED2,
    PARAMETERS,
) = range(57)  # fmt: skip
STRUCTURE = MODEL, HAS_L1, WRITE1, SKIP_GLOBAL, SPREAD, IS_MESH
"""What a core is compiled for."""

(
    EVENTS, IN_DAYS, BEGIN, FREE_NODE, FRESH_NODE, SEQUENCE, STEPPED, QUEUED, ASKED, EVICTED, EVICTED_LINE, PLACE,
    WOKEN_ANY, DRAM_AT, SCALARS,
) = range(15)  # fmt: skip
"""Length of the heap of events, how many events have a day, and a cycle before which none is or will be; first of the
nodes that were given back, NONE without, and the first that nobody has taken yet; how many times anything was put into
a heap; the cycle in which queues were stepped last, and how many requests are in queues; what the last look-up in the
second level left: sectors to ask of DRAM, dirty sectors that it threw out and their line, and the place of its own;
whether any SM is woken; the cycle in which a DRAM controller may have something to do."""

(
    RETURNS, FREE_AT, INJECT_AT, EJECT_AT, BLOCKED, MISSES, UNDER_WAY, WOKEN, CHOSEN_BY, GIVEN_BACK, FIRST_ANSWER,
    LAST_ANSWER,
) = range(12)  # fmt: skip
SM_FIELDS = 16
"""Of an SM: length of its heap of returns; when its first-level cache, its port into the network and its port out of it
are free (ticks, cycles, cycles); the transaction that the cache could not take, or NONE; lines that it waits for;
transactions under way; whether what blocks it may be gone; the queue whose first packet it takes
next; how many tickets were put into its heap; first and last of the answers on their way to it (NONE: none)."""

SLICE_FREE, REPLY_AT, TAKE_AT, MISSES2, CHOSEN, SLICE_FIELDS = range(6)
"""Of a slice: when it is free (ticks); when its port into the reply network and that out of the request network are
(cycles); lines that it waits for; the queue whose first packet it takes next."""

CHANNEL_FREE, BURSTS, ACTIVATE_AT, READ_AT, STEP_AT, CHANNEL_FIELDS = range(6)
"""Of a DRAM channel: when its data bus is free (ticks); bursts that it has been given; ticks from which a row may be
activated and data read; ticks from which there may be something to do."""

OPEN_ROW, COLUMN_AT, PRECHARGE_AT, BANK_FIELDS = range(4)
"""Of a bank: its open row or NONE; ticks from which it may be read or written, and precharged."""

HEAD, TAIL, LENGTH, EXPECTED, QUEUE_FIELDS = range(5)
"""Of a queue: first and last of its nodes, which are linked, how many they are, and how many are on their way to it."""

ROUTER_FIELDS = 6
"""Of a router of a mesh: when its five links are free (cycles), and how many packets are in it."""

TAG, BITS, CHAIN, HASH_NEXT, OLDER, NEWER, SET, TAG_ABOVE = range(8)
LINE_FIELDS = 8
"""Of a cache line: the lower bits of its number; sectors valid | pending << 4 | dirty << 8; first of the nodes that
wait for it; next line in its bucket; neighbours by age in its set; its set; the bits of its number above."""

OLDEST, NEWEST, USED = range(3)
SET_FIELDS = 4
"""Of a set: its oldest and newest line, and how many of its places have ever been used."""

VALID, PENDING, DIRTY = 15, 15 << 4, 15 << 8
PENDING_SHIFT, DIRTY_SHIFT = 4, 8

TICKET, SM, KIND, LINE, SECTORS, NEED, NEXT, STAGE, FILLS, ORDER, ROW, FREE_FROM, KEY, ASKED_BY = range(14)
NODE_FIELDS = 16
"""Of a node: the ticket, whose it is, what it asks; the sectors that it waits for; next in a chain or free list; what
its event does; the cache line that it fills when it comes back, or NONE; its place in the order in which it
entered a controller or the network; the row of a burst; the cycle from which a packet may move, or in which
an answer is there; what its event is sorted by; the transaction that a request was made for, or NONE."""

FIRST_OF_DAY, LAST_OF_DAY, FIRST_OF_SMS, LAST_OF_SMS, DAY_FIELDS = range(5)
"""Of a cycle: first and last of the nodes whose events the memory system has planned, and of those of SMs; one more
than the node, 0 for none.  The last means nothing where there is no first."""

ARRIVE, FILLED, REPLY, DELIVER, LEAVE = range(5)
"""Stages of a request: it reaches its slice; DRAM has its sectors; the slice answers; its SM has the answer; it leaves
its SM."""

(
    L1_HITS, L1_MISSES, L2_HITS, L2_MISSES, DRAM_READS, DRAM_WRITES, BURSTS_MOVED, ROWS_OPENED, SENT, RETURNED, BLOCKS,
    PORT_TICKS, COUNTS,
) = range(13)  # fmt: skip
COUNTERS = (
    "l1_hits", "l1_misses", "l2_hits", "l2_misses", "dram_reads", "dram_writes", "dram_bursts", "rows_opened", "sent",
    "returned", "blocks", "port_ticks",
)  # fmt: skip
"""Transactions that the first-level cache had or not (loads only); requests that the second had or not; sectors moved
from and to DRAM; bursts of DRAM and rows opened for them; transactions sent and returned; times a transaction had to
wait in front of the first-level cache; time that the ports of the fixed model were busy."""
