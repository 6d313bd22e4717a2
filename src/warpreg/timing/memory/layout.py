"""The arrays of a memory system: one layout for all models.

Plain int64 arrays, because the functions of the models are compiled into the timing core and allocate nothing.  Times
are in cycles of the SM clock, or in *ticks* of 1 / TICKS cycle for bandwidths that do not divide a cycle.
"""

from __future__ import annotations

from typing import NamedTuple

from warpreg.gpu.memory import MODELS, SPREADS, WRITES
from warpreg.timing.core.columns.typed import Array, Words
from warpreg.timing.memory.columns.cache_lines import CacheLines
from warpreg.timing.memory.columns.cache_sets import CacheSets
from warpreg.timing.memory.columns.channels import Channels
from warpreg.timing.memory.columns.counts import Counts
from warpreg.timing.memory.columns.days import Days
from warpreg.timing.memory.columns.dram_banks import DramBanks
from warpreg.timing.memory.columns.nodes import Nodes
from warpreg.timing.memory.columns.parameters import STRUCTURE, Parameters
from warpreg.timing.memory.columns.queues import Queues
from warpreg.timing.memory.columns.scalars import Scalars
from warpreg.timing.memory.columns.slices import Slices
from warpreg.timing.memory.columns.sms import Sms
from warpreg.timing.memory.columns.typed import Halves, Records

__all__ = ["STRUCTURE", "Memory"]

TICKS = 256
DAYS, WEEK = 4096, 64

FIXED, CACHED, CONTENTION = range(len(MODELS))
EVICT, THROUGH = range(len(WRITES))
CONSECUTIVE, FOLDED, RANDOM = range(len(SPREADS))


class Memory(NamedTuple):
    """A memory system of some SMs.

    ``lines1``, ``lines2``, ``buckets1`` and ``buckets2`` (hash tables of lines) are int32, because the caches of the
    host do not hold all lines.  ``days`` has a row for each of the next DAYS cycles; ``weeks`` is the number of events
    in each WEEK of them; ``events`` is a heap of (time, node) for later ones.  ``returns`` is a heap of (time, ticket)
    per SM. ``routers`` of a mesh: when each of the five links is free (cycles times flits of a
    cycle), the number of packets, and PLACE.

    Threads that step the SMs together have the same arrays, but for the ``scalars``.  ``outboxes`` are
    rows of (time, node), as many for each thread: requests that its SMs have sent, until the leader schedules them.
    """

    parameters: Words[Parameters]
    scalars: Words[Scalars]
    sms: Records[Sms]
    slices: Records[Slices]
    channels: Records[Channels]
    banks: Records[DramBanks]
    lines1: Records[CacheLines]
    sets1: Records[CacheSets]
    buckets1: Halves
    lines2: Records[CacheLines]
    sets2: Records[CacheSets]
    buckets2: Halves
    nodes: Records[Nodes]
    events: Array
    days: Records[Days]
    weeks: Array
    returns: Array
    queues: Records[Queues]
    routers: Array
    counts: Records[Counts]
    outboxes: Array


ROUTER_FIELDS = 7
PLACE = 6
"""Column of ``routers``: of the node with the number of the row, SMs first, the router that it is at."""
