"""The arrays of a memory system: one layout for all models.

Plain int64 arrays, because the models' functions are compiled into the timing core and allocate nothing.  Times are in
cycles of the SMs, or in *ticks* of 1 / TICKS cycle where bandwidths do not divide a cycle.
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

    ``lines1`` and ``lines2`` are int32: of those there are so many that the host's caches do not hold them.
    ``buckets1`` and ``buckets2`` (int32): where looking a line up begins.  ``events`` a heap of (time, node), for those
    that have no row in ``days``, one for each of the next DAYS cycles; ``weeks`` how many events each WEEK of them has.
    ``returns`` a heap for each SM of (time, ticket).  ``routers`` of a mesh: when each of the five links is free
    (cycles), and how many packets are in it.
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


ROUTER_FIELDS = 6
