"""Columns of the arrays of a memory system: each once, with its type, unit and meaning.

A class has the columns of one component, which has an array of its own, indexed by row.  An array accepts only the
columns of its component.  Units are those of `warpreg.timing.core.columns`; a ``tick`` is a part of a cycle.
"""

from __future__ import annotations

from typing import ClassVar, NewType, TypeAlias

from warpreg.timing.core.declaring import Columns, word
from warpreg.timing.core.prefetch import HOST_LINE
from warpreg.timing.core.typed import Column

Parameters = NewType("Parameters", int)
_Parameter: TypeAlias = Column[Parameters, int]


class parameters(Columns):
    """Parameters of the memory system, constant during a run."""

    MODEL: _Parameter = word("choice", "one of `warpreg.gpu.memory.MODELS`", folded=True)
    SMS: _Parameter = word("SMs", "SMs of the system")
    SEGMENT: _Parameter = word("sectors", "sectors that every load fetches besides its own; 0: none")
    LATENCY: _Parameter = word("cycles", "latency of the fixed model")
    TEXTURE_LATENCY: _Parameter = word("cycles", "latency of textures in the fixed model")
    SECTOR_TICKS: _Parameter = word("ticks", "ticks of a port per sector")
    OUTSTANDING: _Parameter = word("transactions", "transactions that an SM may have in flight")
    HAS_L1: _Parameter = word("flag", "whether there are first-level caches", folded=True)
    SETS1: _Parameter = word("sets", "sets of a first-level cache")
    WAYS1: _Parameter = word("lines", "lines of a set")
    L1_LATENCY: _Parameter = word("cycles", "latency of the first level")
    L1_SECTOR_TICKS: _Parameter = word("ticks", "ticks of a first-level cache per sector")
    MSHRS1: _Parameter = word("registers", "miss registers: lines in flight, or sectors with MISS_SECTORS")
    WRITE1: _Parameter = word("choice", "one of `warpreg.gpu.memory.WRITES`", folded=True)
    SKIP_GLOBAL: _Parameter = word("flag", "whether global loads bypass it", folded=True)
    SLICES: _Parameter = word("slices", "slices of the second level")
    SETS2: _Parameter = word("sets", "sets of a slice")
    WAYS2: _Parameter = word("lines", "lines of a set of a slice")
    L2_LATENCY: _Parameter = word(
        "cycles", "from the arrival of a request at its slice to its answer, or its way to DRAM"
    )
    L2_SECTOR_TICKS: _Parameter = word("ticks", "ticks of a slice per sector")
    MSHRS2: _Parameter = word("registers", "miss registers: lines in flight per slice")
    QUEUE2: _Parameter = word("requests", "requests in the queue of a slice, and replies in front of its ports")
    INTERLEAVE_SHIFT: _Parameter = word("log2", "log2 of the bytes between slices")
    NETWORK_LATENCY: _Parameter = word("cycles", "latency of the network; of a mesh, that of a link")
    BY_SECTOR: _Parameter = word("flag", "whether a packet holds one sector")
    QUEUE_NETWORK: _Parameter = word("packets", "packets in a queue of the network")
    MESH_WIDTH: _Parameter = word("routers", "routers per row")
    VIRTUAL_CHANNELS: _Parameter = word("channels", "queues at an input of the network", folded=True)
    CHANNELS: _Parameter = word("channels", "DRAM channels")
    DRAM_LATENCY: _Parameter = word("cycles", "latency of DRAM, without queues and bank timing")
    DRAM_SECTOR_TICKS: _Parameter = word("ticks", "ticks of a channel per sector")
    BANKS: _Parameter = word("banks", "banks per channel")
    ROW_SHIFT: _Parameter = word("log2", "log2 of the bytes of a DRAM row")
    QUEUE_DRAM: _Parameter = word("bursts", "bursts in a controller")
    T_RCD: _Parameter = word("ticks", "from the activation of a row to its first read or write")
    T_RP: _Parameter = word("ticks", "from precharge to activation")
    T_RAS: _Parameter = word("ticks", "from activation to precharge")
    T_CL: _Parameter = word("ticks", "from a read to its data")
    T_WL: _Parameter = word("ticks", "from a write to its data")
    T_WR: _Parameter = word("ticks", "from the data of a write to precharge")
    T_WTR: _Parameter = word("ticks", "from the data of a write to a read")
    T_RRD: _Parameter = word("ticks", "between activations of a channel")
    BUCKETS1: _Parameter = word("buckets", "buckets of the hash table of a first-level cache")
    BUCKETS2: _Parameter = word("buckets", "buckets of the hash table of a slice")
    BITS1: _Parameter = word("log2", "log2 of SETS1, -1 if not a power of two")
    BITS2: _Parameter = word("log2", "log2 of SETS2, -1 if not a power of two")
    SLICE_BITS: _Parameter = word("log2", "log2 of SLICES, -1 if not a power of two")
    IS_MESH: _Parameter = word("flag", "whether the network is a mesh", folded=True)
    ROUTERS: _Parameter = word("routers", "routers of the mesh")
    SLICE_QUEUES: _Parameter = word("queue", "first queue of requests in front of slices")
    REPLY_QUEUES: _Parameter = word("queue", "first queue of replies")
    BANK_QUEUES: _Parameter = word("queue", "first queue of DRAM")
    MESH_QUEUES: _Parameter = word("queue", "first queue of the routers")
    SPREAD: _Parameter = word("choice", "one of `warpreg.gpu.memory.SPREADS`", folded=True)
    MERGED2: _Parameter = word("requests", "requests that may wait for the same sector in a slice")
    FETCHED2: _Parameter = word("sectors", "aligned sectors that a slice reads from DRAM together", folded=True)
    BANKS1: _Parameter = word("banks", "banks of a first-level cache; 1: one transaction per cycle", folded=True)
    MISS_SECTORS: _Parameter = word(
        "flag", "whether a miss register of the first level holds a sector, not a line", folded=True
    )
    FLITS: _Parameter = word("flits", "flits of a packet without data, then of one with 1 to 4 sectors", count=5)
    FLITS_PER_CYCLE: _Parameter = word("flits", "flits per cycle of a link of a mesh")
    MERGED1: _Parameter = word("requests", "requests that may wait for the same sector in a first-level cache")
    CACHES_READ_ONLY: _Parameter = word(
        "flag", "whether loads through the read-only path are cached where global loads bypass it", folded=True
    )
    SET_WORDS: _Parameter = word("words", "words of a set of slices or SMs", folded=True)


Scalars = NewType("Scalars", int)
_Scalar: TypeAlias = Column[Scalars, int]


class scalars(Columns):
    """State of the whole memory system; of the threads that step its SMs, each has scalars of its own."""

    EVENTS: _Scalar = word("events", "length of the heap of events")
    IN_DAYS: _Scalar = word("events", "events in days")
    BEGIN: _Scalar = word("cycle", "no event is or will be before this cycle")
    FREE_NODE: _Scalar = word("node", "first of the released nodes, NONE if there are none")
    FRESH_NODE: _Scalar = word("node", "first node that was never used")
    SEQUENCE: _Scalar = word("order", "sequence number of heap entries and numbered nodes")
    STEPPED: _Scalar = word("cycle", "with contention: last cycle in which slices were stepped")
    QUEUED: _Scalar = word("requests", "requests in queues")
    ASKED: _Scalar = word("sectors", "result of the last look-up in the second level: sectors to read from DRAM")
    EVICTED: _Scalar = word("sectors", "dirty sectors that it evicted")
    EVICTED_LINE: _Scalar = word("line", "their line")
    FOUND: _Scalar = word("line", "line that it found or allocated")
    WOKEN_ANY: _Scalar = word("flag", "whether any SM is woken")
    DRAM_AT: _Scalar = word("cycle", "cycle in which a DRAM controller may have work")
    MEMBER: _Scalar = word(
        "thread", "number of the thread that has these scalars, among those that step the SMs together"
    )
    MEMBERS: _Scalar = word("threads", "threads that step the SMs")
    OUTBOX: _Scalar = word(
        "row", "first row of its outbox; the first word of that row is the number of rows in use after it"
    )
    OUTBOX_ROWS: _Scalar = word("rows", "rows of an outbox")
    SPENT: _Scalar = word(
        "processor cycles", "processor cycles spent in functions of the memory model, in a run that measures them"
    )
    CALLS: _Scalar = word("calls", "calls of those functions")
    NEXT_ANSWER: _Scalar = word("cycle", "with contention: the first unblocked SM, or answer that no SM knows; NEVER")
    LEAVING: _Scalar = word("requests", "with contention: requests that pass their first levels")
    CARRIED: _Scalar = word("cycle", "with contention: last cycle of the network of requests")
    KNOWN: _Scalar = word("cycle", "with contention: all answers before this cycle are known")
    CARRY_TO: _Scalar = word("cycle", "with contention: cycle up to which `work_ahead` steps the requests")
    NODES_OF_SMS: _Scalar = word("node", "node after those for transactions of the SMs of this thread")


Sms = NewType("Sms", int)
_Sm: TypeAlias = Column[Sms, int]


class sms(Columns):
    """SMs in the memory system."""

    RETURNS: _Sm = word("tickets", "length of its heap of returns")
    FREE_AT: _Sm = word("ticks", "when its first-level cache, or its port, is free")
    INJECT_AT: _Sm = word("cycle", "when its port to the network is free")
    EJECT_AT: _Sm = word("cycle", "when its port from the network is free")
    BLOCKED: _Sm = word("node", "transaction that the cache could not accept, or NONE")
    MISSES: _Sm = word("registers", "miss registers in use: lines in flight, or sectors")
    UNDER_WAY: _Sm = word("transactions", "transactions in flight")
    WOKEN: _Sm = word("flag", "whether the transaction that blocks it may proceed")
    CHOSEN_BY: _Sm = word("queue", "queue of the reply that it accepts in this cycle, or NONE")
    GIVEN_BACK: _Sm = word("tickets", "tickets pushed to its heap")
    FIRST_ANSWER: _Sm = word("node", "first of the answers on their way to it that it knows, NONE if there are none")
    LAST_ANSWER: _Sm = word("node", "last of them")
    UNBLOCKED_AT: _Sm = word(
        "cycle", "when a transaction that waited has proceeded, until the SM is stepped; else NEVER"
    )
    BANKS_TAKEN: _Sm = word("set", "banks of its first-level cache that a look-up of TAKEN_AT uses")
    TAKEN_AT: _Sm = word("cycle", "cycle of the last look-up, NONE before the first")
    RETURN_AT: _Sm = word("cycle", "when the first ticket returns; NEVER if none does")
    LEVEL: _Sm = word("level", "level of memory that has answered its last ticket, in a run that asks")
    FIRST_COMING: _Sm = word("node", "with contention: first of the answers that it does not know yet, or NONE")
    LAST_COMING: _Sm = word("node", "last of them")
    COUNT = 24
    """A multiple of a cache line of the host."""


Slices = NewType("Slices", int)
_Slice: TypeAlias = Column[Slices, int]


class slices(Columns):
    """Slices of the second-level cache."""

    FREE_AT: _Slice = word("ticks", "when it is free")
    REPLY_AT: _Slice = word("cycle", "when its port to the reply network is free")
    TAKE_AT: _Slice = word("cycle", "when its port from the request network is free")
    MISSES: _Slice = word("lines", "lines in flight")
    CHOSEN: _Slice = word("queue", "queue of the request that it accepts in this cycle, or NONE")
    CHANNEL: _Slice = word("channel", "its DRAM channel")


Channels = NewType("Channels", int)
_Channel: TypeAlias = Column[Channels, int]


class channels(Columns):
    """DRAM channels."""

    FREE_AT: _Channel = word("ticks", "when the data bus is free")
    BURSTS: _Channel = word("bursts", "bursts received")
    ACTIVATE_AT: _Channel = word("ticks", "first tick in which a row may be activated")
    READ_AT: _Channel = word("ticks", "first tick in which data may be read")
    STEP_AT: _Channel = word("ticks", "first tick in which the controller may have work")


DramBanks = NewType("DramBanks", int)
_DramBank: TypeAlias = Column[DramBanks, int]


class dram_banks(Columns):
    """Banks of the DRAM channels."""

    OPEN_ROW: _DramBank = word("DRAM row", "open row, or NONE")
    COLUMN_AT: _DramBank = word("ticks", "first tick in which it may be read or written")
    PRECHARGE_AT: _DramBank = word("ticks", "first tick in which it may be precharged")


CacheLines = NewType("CacheLines", int)
_Line: TypeAlias = Column[CacheLines, int]


class cache_lines(Columns):
    """Lines of the caches; int32."""

    TAG: _Line = word("line", "lower bits of the line number")
    BITS: _Line = word(
        "flags", "sectors valid | pending << PENDING_SHIFT | dirty << DIRTY_SHIFT | nodes in CHAIN << CHAINED_SHIFT"
    )
    CHAIN: _Line = word("node", "first of the nodes that wait for it")
    HASH_NEXT: _Line = word("line", "next line in its bucket, plus one")
    OLDER: _Line = word("line", "next older line of its set")
    NEWER: _Line = word("line", "next newer line of its set")
    SET: _Line = word("set", "its set")
    TAG_ABOVE: _Line = word("line", "upper bits of the line number")
    VALID, PENDING, DIRTY = 15, 15 << 4, 15 << 8
    PENDING_SHIFT, DIRTY_SHIFT, CHAINED_SHIFT = 4, 8, 12


CacheSets = NewType("CacheSets", int)
_Set: TypeAlias = Column[CacheSets, int]


class cache_sets(Columns):
    """Sets of the caches."""

    OLDEST: _Set = word("line", "oldest line")
    NEWEST: _Set = word("line", "newest line")
    USED: _Set = word("lines", "number of its lines that were ever used")
    COUNT = 4
    """A multiple or a fraction of a cache line of the host."""


Nodes = NewType("Nodes", int)
_Node: TypeAlias = Column[Nodes, int]


class nodes(Columns):
    """Nodes: transactions and requests in flight."""

    TICKET: _Node = word("ticket", "what returns to its SM")
    SM: _Node = word("SM", "SM that sent it")
    KIND: _Node = word("choice", "memory operation, see `warpreg.timing.core.access_record`")
    LINE: _Node = word("line", "line of the transaction")
    SECTORS: _Node = word("set", "its sectors")
    NEED: _Node = word("set", "sectors that it waits for")
    NEXT: _Node = word("node", "next node in a chain, a queue or the free list")
    STAGE: _Node = word("choice", "kind of its event: ARRIVE or one of those after it")
    FILLS: _Node = word("line", "cache line that it fills on return, or NONE")
    ORDER: _Node = word("order", "order in which it entered a controller or the network")
    ROW: _Node = word("DRAM row", "DRAM row of a burst")
    FREE_FROM: _Node = word("cycle", "first cycle in which a packet may move or an answer is available")
    KEY: _Node = word("key", "sort key of its event")
    ASKED_BY: _Node = word("node", "transaction that a request was made for, or NONE")
    LEVEL: _Node = word("level", "level of memory that answers, in a run that asks")
    SLICE: _Node = word("slice", "slice of its line, of a request that has left its first level and of a read of DRAM")
    COUNT = 16
    """A multiple or a fraction of a cache line of the host."""
    ARRIVE, FILLED, REPLY = range(3)
    """Events: a request reaches its slice; DRAM has read its sectors; the slice answers."""


Days = NewType("Days", int)
_Day: TypeAlias = Column[Days, int]


class days(Columns):
    """Days: the events of one cycle, as nodes; stored as node plus one, 0 for none."""

    FIRST_OF_DAY: _Day = word("node", "first of the nodes scheduled by the memory system")
    LAST_OF_DAY: _Day = word("node", "last of them, undefined without a first one")
    FIRST_OF_SMS: _Day = word("node", "first of the nodes scheduled by SMs")
    LAST_OF_SMS: _Day = word("node", "last of them")


Queues = NewType("Queues", int)
_Queue: TypeAlias = Column[Queues, int]


class queues(Columns):
    """Queues of nodes, linked by NEXT."""

    HEAD: _Queue = word("node", "first node")
    TAIL: _Queue = word("node", "last node")
    LENGTH: _Queue = word("nodes", "number of nodes")
    GONE: _Queue = word("nodes", "of requests of an SM: nodes that have left it")


Counts = NewType("Counts", int)
_Count: TypeAlias = Column[Counts, int]


class counts(Columns):
    """Counters, by SM."""

    NAMES: ClassVar[list[str]]
    """Names of the counters, by column."""

    L1_HITS: _Count = word("transactions", "transactions that hit in the first-level cache (loads only)")
    L1_MISSES: _Count = word("transactions", "transactions that miss in it")
    L2_HITS: _Count = word("requests", "requests that hit in the second level")
    L2_MISSES: _Count = word("requests", "requests that miss in it")
    DRAM_READS: _Count = word("sectors", "sectors transferred from DRAM")
    DRAM_WRITES: _Count = word("sectors", "sectors transferred to DRAM")
    DRAM_BURSTS: _Count = word("bursts", "bursts of the channels")
    ROWS_OPENED: _Count = word("rows", "rows opened for bursts")
    SENT: _Count = word("transactions", "transactions sent")
    RETURNED: _Count = word("transactions", "transactions answered")
    BLOCKS: _Count = word("transactions", "transactions that had to wait in front of the first-level cache")
    PORT_TICKS: _Count = word("ticks", "ticks in which the ports of the fixed model were busy")
    COUNT = 2 * HOST_LINE
    """Whole cache lines of the host."""


counts.NAMES = [name.lower() for name in counts.DECLARED]
