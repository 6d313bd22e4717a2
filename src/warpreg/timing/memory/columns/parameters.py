"""Parameters of the memory system, constant during a run."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Parameters = NewType("Parameters", int)
_Word = Column[Parameters, int]

MODEL = _Word(0)  # one of `warpreg.gpu.memory.MODELS`
SMS = _Word(1)
SEGMENT = _Word(2)  # sectors that every load fetches besides its own; 0: none
LATENCY = _Word(3)  # latency of the fixed model
TEXTURE_LATENCY = _Word(4)
SECTOR_TICKS = _Word(5)  # ticks of a port per sector
OUTSTANDING = _Word(6)  # transactions that an SM may have in flight
HAS_L1 = _Word(7)
SETS1 = _Word(8)  # sets of a first-level cache
WAYS1 = _Word(9)
L1_LATENCY = _Word(10)
L1_SECTOR_TICKS = _Word(11)
MSHRS1 = _Word(12)  # miss registers: lines in flight, or sectors with MISS_SECTORS
WRITE1 = _Word(13)  # one of `warpreg.gpu.memory.WRITES`
SKIP_GLOBAL = _Word(14)  # whether global loads bypass it
SLICES = _Word(15)  # slices of the second level
SETS2 = _Word(16)  # sets of a slice
WAYS2 = _Word(17)
L2_LATENCY = _Word(18)
L2_SECTOR_TICKS = _Word(19)
MSHRS2 = _Word(20)  # miss registers: lines in flight per slice
QUEUE2 = _Word(21)  # requests in the queue of a slice, and replies in front of its ports
INTERLEAVE_SHIFT = _Word(22)  # log2 of the bytes between slices
NETWORK_LATENCY = _Word(23)  # latency of the network; of a mesh, that of a link
BY_SECTOR = _Word(24)  # whether a packet holds one sector
QUEUE_NETWORK = _Word(25)  # packets in a queue of the network
MESH_WIDTH = _Word(26)  # routers per row
VIRTUAL_CHANNELS = _Word(27)
CHANNELS = _Word(28)  # DRAM channels
DRAM_LATENCY = _Word(29)
DRAM_SECTOR_TICKS = _Word(30)
BANKS = _Word(31)  # banks per channel
ROW_SHIFT = _Word(32)  # log2 of the bytes of a DRAM row
QUEUE_DRAM = _Word(33)  # bursts in a controller
T_RCD = _Word(34)  # in ticks, like those that follow
T_RP = _Word(35)
T_RAS = _Word(36)
T_CL = _Word(37)
T_WL = _Word(38)
T_WR = _Word(39)
T_WTR = _Word(40)
T_RRD = _Word(41)
BUCKETS1 = _Word(42)  # buckets of the hash table of a first-level cache
BUCKETS2 = _Word(43)
BITS1 = _Word(44)  # log2 of SETS1, -1 if not a power of two
BITS2 = _Word(45)
SLICE_BITS = _Word(46)  # log2 of SLICES, -1 if not a power of two
IS_MESH = _Word(47)
ROUTERS = _Word(48)
SLICE_QUEUES = _Word(49)  # first queue of requests in front of slices
REPLY_QUEUES = _Word(50)
BANK_QUEUES = _Word(51)
MESH_QUEUES = _Word(52)
SPREAD = _Word(53)  # one of `warpreg.gpu.memory.SPREADS`
MERGED2 = _Word(54)  # requests that may wait for the same sector in a slice
BANKS1 = _Word(55)  # banks of a first-level cache; 1: one transaction per cycle
MISS_SECTORS = _Word(56)  # whether a miss register of the first level holds a sector, not a line
FLITS = _Word(57)  # flits of a packet without data, then of one with 1 to 4 sectors
FLITS_PER_CYCLE = _Word(62)  # of a link of a mesh
MERGED1 = _Word(63)  # requests that may wait for the same sector in a first-level cache
CACHES_READ_ONLY = _Word(64)  # whether loads through the read-only path are cached where global loads bypass it
COUNT = 65

STRUCTURE = tuple(map(int, (
    MODEL, HAS_L1, WRITE1, SKIP_GLOBAL, CACHES_READ_ONLY, SPREAD, IS_MESH, BANKS1, MISS_SECTORS, VIRTUAL_CHANNELS,
)))  # fmt: skip
"""Columns that are folded into the compiled core as constants."""
