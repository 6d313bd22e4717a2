"""The arrays of a memory system: one layout for all models.

Plain int64 arrays, because the functions of the models are compiled into the timing core and allocate nothing.  Times
are in cycles of the SM clock, or in *ticks* of 1 / TICKS cycle for bandwidths that do not divide a cycle.
"""

from __future__ import annotations

from typing import NamedTuple

from warpreg.gpu.memory import MODELS, SPREADS, WRITES
from warpreg.timing.core.typed import Array, Words
from warpreg.timing.memory.array_types import Halves, Records
from warpreg.timing.memory.memory_columns import (
    CacheLines,
    CacheSets,
    Channels,
    Counts,
    Days,
    DramBanks,
    Nodes,
    Parameters,
    Queues,
    Scalars,
    Slices,
    Sms,
)

TICKS = 256
DAYS, WEEK = 4096, 64
RING = 1024
"""Cycles for which is kept what slices have done ahead of others."""

FIXED, CACHED, CONTENTION = range(len(MODELS))
EVICT, THROUGH = range(len(WRITES))
CONSECUTIVE, FOLDED, RANDOM = range(len(SPREADS))


class Memory(NamedTuple):
    """A memory system of some SMs.

    Arrays are int64 but for those of cache lines, which are int32 because the caches of the host do not hold all lines.
    Threads that step the SMs together have the same arrays, but for the ``scalars``.
    """

    parameters: Words[Parameters]
    """What the machine has, constant during a run."""
    scalars: Words[Scalars]
    """State of the whole system; each thread has its own."""
    sms: Records[Sms]
    """By SM: its port, its first-level cache, what returns to it."""
    slices: Records[Slices]
    """By slice of the second-level cache."""
    channels: Records[Channels]
    """By DRAM channel."""
    banks: Records[DramBanks]
    """By bank of the DRAM channels."""
    lines1: Records[CacheLines]
    """Lines of the first-level caches."""
    sets1: Records[CacheSets]
    """Sets of the first-level caches."""
    buckets1: Halves
    """Hash tables of the lines of the first-level caches."""
    lines2: Records[CacheLines]
    """Lines of the slices."""
    sets2: Records[CacheSets]
    """Sets of the slices."""
    buckets2: Halves
    """Hash tables of the lines of the slices."""
    nodes: Records[Nodes]
    """Transactions and requests in flight."""
    events: Array
    """A heap of (time, node), for events after the days."""
    days: Records[Days]
    """A row for each of the next DAYS cycles: its events."""
    weeks: Array
    """The number of events in each WEEK of the days."""
    returns: Array
    """By SM: a heap of (time, ticket)."""
    queues: Records[Queues]
    """Queues of nodes: of slices, of the network, of DRAM banks."""
    sent: Array
    """By queue of an SM: the number of requests that it has sent there, in a cache line of the host of its own."""
    sets: Array
    """Sets of slices and of SMs (`warpreg.timing.memory.wide_sets`)."""
    full: Array
    """By cycle, the slices whose queues are full (`warpreg.timing.memory.full_queues`)."""
    late: Array
    """By cycle, what DRAM has transferred (`warpreg.timing.memory.late_bursts`)."""
    routers: Array
    """Of a mesh: when each of the five links is free (cycles times flits of a cycle), the number of packets, and
    PLACE.
    """
    counts: Records[Counts]
    """Counters, by SM."""
    outboxes: Array
    """Rows of (time, node), as many for each thread: requests that its SMs have sent, until the leader schedules them.
    """


ROUTER_FIELDS = 7
PLACE = 6
"""Column of ``routers``: of the node with the number of the row, SMs first, the router that it is at."""
