"""Columns of the core's rows: each once, with its type, unit and meaning.

A class has the columns of one component.  The type checker rejects a column used with a row of another component.  In
compiled code, a column is a plain number.  A unit says how to read a word: a ``cycle`` is a time, ``cycles`` are a
duration, a ``set`` is the bits of a word, a ``row`` or a ``pc`` names a row.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from warpreg.gpu.pipes import PIPES
from warpreg.ir.control_code import COUNTERS as DEPENDENCE_COUNTERS
from warpreg.timing.core.counters import UNITS
from warpreg.timing.core.declaring import Columns, word
from warpreg.timing.core.typed import (
    AccountRow,
    BankRow,
    BlockRow,
    Clock,
    CollectorRow,
    Column,
    GroupRow,
    LineRow,
    Machine,
    OpRow,
    Pc,
    SchedulerRow,
    SmRow,
    TeamRow,
    UnitsRow,
    WarpRow,
)


def counter(name: str) -> Any:
    """A counter of `warpreg.timing.core.counters`, where its meaning is."""
    return word(UNITS[name], f"`Counters.{name}`")


_Machine: TypeAlias = Column[Machine, int]


class machine(Columns):
    """The machine: parameters of the SM, constant during a run."""

    SMS: _Machine = word("SMs", "SMs that are simulated")
    SLOTS: _Machine = word("warp slots", "warp slots per SM", folded=True)
    SCHEDULERS: _Machine = word("schedulers", "schedulers of an SM", folded=True)
    WIDTH: _Machine = word("instructions", "instructions that a scheduler issues per cycle", folded=True)
    POLICY: _Machine = word("choice", "one of `warpreg.gpu.scheduling.PRIORITIES`", folded=True)
    IDEAL: _Machine = word("flag", "whether the operand path is ideal", folded=True)
    STEPS: _Machine = word("steps", "steps per cycle in which banks are accessed", folded=True)
    BANKS: _Machine = word("banks", "banks of an SM")
    SINGLE_PORTED: _Machine = word("flag", "whether a bank has one access per step, read or write", folded=True)
    OPERAND_PORTS: _Machine = word("operands", "operands that a collector accepts per cycle; 0: unlimited", folded=True)
    BY_REGISTER: _Machine = word("flag", "whether the register number selects the bank", folded=True)
    BY_SLOT: _Machine = word("flag", "whether the warp slot selects the bank", folded=True)
    DISPATCH_CYCLES: _Machine = word("cycles", "cycles beyond a pipe's latency, from dispatch to result", folded=True)
    QUEUE: _Machine = word("entries", "entries of the load-store queue")
    SHARED_LATENCY: _Machine = word("cycles", "latency of shared memory")
    CONSTANT_LATENCY: _Machine = word("cycles", "latency of constant memory")
    ACTIVE_WARPS: _Machine = word("warps", "size of the active set of a scheduler; 0: no active set")
    SUSPEND: _Machine = word("choice", "one of `warpreg.gpu.scheduling.SUSPENDS`", folded=True)
    STALL_THRESHOLD: _Machine = word("cycles", "cycles without an issue after which a stall suspends a warp")
    SWAP_CYCLES: _Machine = word("cycles", "cycles until an activated warp may issue")
    BLOCKS: _Machine = word("thread blocks", "thread blocks that fit an SM")
    BLOCK_WARPS: _Machine = word("warps", "warps per thread block")
    GROUPS: _Machine = word("groups", "groups of collectors per SM", folded=True)
    COLLECTORS: _Machine = word("collectors", "collectors of an SM")
    UNITS: _Machine = word("rows", "rows of function units per SM", folded=True)
    WHEEL: _Machine = word("buckets", "buckets of the timing wheel of an SM", folded=True)
    WORDS: _Machine = word("words", "words of a set of scoreboard cells", folded=True)
    EVERY_CYCLE: _Machine = word("flag", "whether no cycle is skipped")
    CTRL_LATENCY: _Machine = word("cycles", "cycles until a branch is resolved, with the stages that a design adds")
    FIRST_WARP: Column[Machine, WarpRow] = word("row", "first warp in ``Core.rows``")
    FIRST_SCHEDULER: Column[Machine, SchedulerRow] = word("row", "first scheduler")
    WIDEST: _Machine = word("words", "words of the longest row")
    FIRST_GROUP: Column[Machine, GroupRow] = word("row", "first group of collectors")
    FIRST_COLLECTOR: Column[Machine, CollectorRow] = word("row", "first collector")
    FIRST_BANK: Column[Machine, BankRow] = word("row", "first bank")
    FIRST_BLOCK: Column[Machine, BlockRow] = word("row", "first resident thread block")
    FIRST_UNITS: Column[Machine, UnitsRow] = word("row", "first units of a pipe")
    FIRST_OP: Column[Machine, OpRow] = word("row", "first operation")
    FIRST_PCS: _Machine = word("row", "row in ``Core.lists`` of the first basic block")
    OP_READS: Column[Machine, Column[OpRow, int]] = word("column", "column of an operation's first operand word")
    OP_WRITES: Column[Machine, Column[OpRow, int]] = word("column", "column of its first result word")
    OWN_BANKS: _Machine = word("banks", "banks that the warps of one scheduler use", folded=True)
    IN_STEP: _Machine = word("flag", "whether SMs are stepped cycle by cycle, because their order may matter")
    WARP_ROW: _Machine = word("words", "words of the row of a warp", folded=True)
    OP_RESULT: Column[Machine, Column[OpRow, int]] = word(
        "column", "column of the number of earlier results of the warp"
    )
    OP_ADDRESSES: Column[Machine, Column[OpRow, int]] = word("column", "column of the bank address of its first source")
    COLLECTOR_LINKS: Column[Machine, Column[CollectorRow, int]] = word(
        "column", "column of a collector's first link of requests"
    )
    SCHEDULER_ROW: _Machine = word("words", "words of the row of a scheduler, with its stall account", folded=True)
    GROUP_ROW: _Machine = word("words", "words of the row of a group", folded=True)
    COLLECTOR_ROW: _Machine = word("words", "words of the row of a collector", folded=True)
    BANK_ROW: _Machine = word("words", "words of the row of a bank", folded=True)
    BLOCK_ROW: _Machine = word("words", "words of the row of a thread block", folded=True)
    UNITS_ROW: _Machine = word("words", "words of the row of units", folded=True)
    OP_ROW: _Machine = word("words", "words of the row of an operation", folded=True)
    WHOLE_INSTRUCTIONS: _Machine = word(
        "flag", "whether an access of a bank serves all words of an instruction that it has", folded=True
    )
    READ_CYCLES: _Machine = word("cycles", "cycles of the read window", folded=True)
    READ_PORTS: _Machine = word("ports", "read ports of a bank, with a read window", folded=True)
    INTERVAL: _Machine = word(
        "cycles", "cycles until the load-store unit takes the next instruction; 0: it takes any number", folded=True
    )
    BARRIER_INTERVAL: _Machine = word("cycles", "cycles that an arrival occupies the barrier unit")
    BARRIER_LATENCY: _Machine = word("cycles", "cycles from its last arrival until warps may issue")
    CODE_LINES: _Machine = word("lines", "lines of the kernel's code, with instruction caches")
    LINE_SHIFT: _Machine = word("bits", "an instruction with number n is in line n >> LINE_SHIFT")
    L0_SETS: _Machine = word("sets", "sets of a scheduler's instruction cache")
    L0_WAYS: _Machine = word("lines", "lines of each")
    L1_SETS: _Machine = word("sets", "sets of the instruction cache of an SM")
    L1_WAYS: _Machine = word("lines", "lines of each")
    L1_CODE_LATENCY: _Machine = word("cycles", "cycles until a line of code comes from it")
    L2_CODE_LATENCY: _Machine = word("cycles", "cycles until it has a line that it lacks")
    STREAM_LINES: _Machine = word("lines", "lines of a stream buffer")
    BUFFER: _Machine = word("instructions", "instructions in the buffer of a warp; 0: no instruction caches")
    JUMP: _Machine = word("cycles", "cycles from a taken branch to what follows it, with instruction caches")
    CONSTANT_LINES: _Machine = word("lines", "lines of constants that the kernel names, with constant caches")
    FIRST_CONSTANT: Column[Machine, LineRow] = word("row", "first row of their caches")
    L0_CONSTANT_SETS: _Machine = word("sets", "sets of each constant cache of a scheduler")
    L0_CONSTANT_WAYS: _Machine = word("lines", "lines of each")
    L1_CONSTANT_SETS: _Machine = word("sets", "sets of the constant cache of an SM")
    L1_CONSTANT_WAYS: _Machine = word("lines", "lines of each")
    L1_CONSTANT_LATENCY: _Machine = word("cycles", "cycles until a constant comes from it")
    L2_CONSTANT_LATENCY: _Machine = word("cycles", "cycles until it has a line that it lacks")
    CONSTANT_PATIENCE: _Machine = word("cycles", "cycles for which a scheduler waits for a constant, at most")


_Clock: TypeAlias = Column[Clock, int]


class clock(Columns):
    """The clock: state of the whole run; if several threads step its SMs, each has a clock of its own."""

    UNTIL: _Clock = word("cycle", "SMs may be stepped up to this cycle, exclusive")
    NEXT_BLOCK: _Clock = word(
        "thread block", "thread block that is dispatched next; a later one may be if other threads dispatch too"
    )
    LOADED_BLOCKS: _Clock = word("thread blocks", "thread blocks before the first one that is not loaded")
    FIRST_LOADED: _Clock = word("thread block", "thread block of the first entry at STARTS")
    TOTAL_BLOCKS: _Clock = word("thread blocks", "thread blocks of the run")
    ENDED_BLOCKS: _Clock = word("thread blocks", "thread blocks that have left")
    FREE_OP: Column[Clock, OpRow] = word("row", "list of released operations")
    FREE_OPS: _Clock = word("operations", "free operations, released or never used")
    LAST_PROGRESS: _Clock = word("cycle", "last cycle in which an instruction issued")
    MIN_OPS: _Clock = word("operations", "operations that one step of an SM may allocate")
    STEPS_TAKEN: _Clock = word("steps", "steps of SMs")
    STARTS: _Clock = word("index", "index in ``Core.slab`` of the starts of paths and records of each loaded warp")
    OVERFLOW: _Clock = word(
        "code", "what hooks did wrong: 1, more than the buffers hold; -1 - load: that load is not held"
    )
    LAST_LEFT: _Clock = word("cycle", "last cycle in which a thread block left")
    FIRST_COUNTER: _Clock = word("column", "first counter; from here on, words are summed over threads", count=0)
    WARP_INSTRUCTIONS: _Clock = counter("warp_instructions")
    BANK_CONFLICTS: _Clock = counter("bank_conflicts")
    WRITE_CONFLICTS: _Clock = counter("write_conflicts")
    COLLECTED: _Clock = counter("collected")
    COLLECT_CYCLES: _Clock = counter("collect_cycles")
    COLLECTED_MEMORY: _Clock = counter("collected_memory")
    COLLECT_CYCLES_MEMORY: _Clock = counter("collect_cycles_memory")
    LATCH_CYCLES: _Clock = counter("latch_cycles")
    TRANSACTIONS: _Clock = counter("transactions")
    MEMORY_LOADS: _Clock = counter("memory_loads")
    MEMORY_LOAD_CYCLES: _Clock = counter("memory_load_cycles")
    SHARED_READS: _Clock = counter("shared_reads")
    SHARED_ACROSS: _Clock = counter("shared_across")
    DESIGN_READS_SM: _Clock = counter("design_reads_sm")
    DESIGN_READS_L2: _Clock = counter("design_reads_l2")
    DESIGN_READS_DRAM: _Clock = counter("design_reads_dram")
    DESIGN_WRITES_SM: _Clock = counter("design_writes_sm")
    DESIGN_WRITES_L2: _Clock = counter("design_writes_l2")
    DESIGN_WRITES_DRAM: _Clock = counter("design_writes_dram")
    DESIGN_READ_CYCLES: _Clock = counter("design_read_cycles")
    AFTER_COUNTERS: _Clock = word("column", "end of the counters of `warpreg.timing.core.counters`", count=0)
    DISPATCHED: _Clock = word("instructions", "+ pipe: instructions dispatched", count=len(PIPES))
    WAITED: _Clock = word("cycles", "+ level of memory: cycles in which warps waited for it, if a run asks", count=3)
    AFTER_SUMS: _Clock = word("column", "end of what is summed", count=0)
    MEMBER: _Clock = word("thread", "number of its thread; 0 is the leader")
    MEMBERS: _Clock = word("threads", "threads")
    MEETINGS: _Clock = word("meetings", "meetings of the threads since they were started")
    REST: _Clock = word("turn", "first turn of its other SMs; NONE while no thread waits for turns")
    REFUSED: _Clock = word("times", "times that ``admit`` has refused since REFUSED_SINCE")
    REFUSED_SINCE: _Clock = word("cycle", "last cycle in which an instruction had issued before it did")
    FRESH_OP: Column[Clock, OpRow] = word("row", "first operation that was never used")


_Sm: TypeAlias = Column[SmRow, int]


class sms(Columns):
    """SMs: the first rows of ``Core.table``."""

    HELD_LISTS = 16
    """A power of two; a load is in the list of its number modulo this one."""

    DUE: _Sm = word("cycle", "next cycle in which it must be stepped, apart from returns of memory")
    SEQ: _Sm = word("instructions", "instructions issued")
    AGES: _Sm = word("warps", "warps placed")
    RESIDENT: _Sm = word("thread blocks", "resident thread blocks")
    FREE_SLOTS: _Sm = word("set", "free warp slots")
    REQUEST_BANKS: _Sm = word("set", "banks with a request")
    WRITE_BANKS: _Sm = word("set", "banks with a write in their queue")
    READY_COLLECTORS: _Sm = word(
        "set", "collectors whose operands are all granted; if warps own collectors, their slots"
    )
    QUEUE_HEAD: Column[SmRow, OpRow] = word("row", "head of the load-store queue")
    QUEUE_TAIL: Column[SmRow, OpRow] = word("row", "end of the load-store queue")
    QUEUED: _Sm = word("instructions", "instructions in it")
    QUEUE_AT: _Sm = word("cycle", "cycle in which its head acts next")
    RETRY_AT: _Sm = word("cycle", "first cycle in which a unit may accept what was refused in phase 3")
    STEPPED: _Sm = word("cycle", "last cycle in which it was stepped")
    CHECK_BARRIER: _Sm = word("set", "thread blocks with a barrier that may be complete")
    BLOCK_ENDED: _Sm = word("set", "thread blocks that ended in this cycle")
    GROUPS_LATCHED: _Sm = word("set", "groups of collectors with an instruction in a latch")
    FREE_BLOCKS: _Sm = word("set", "free rows of thread blocks")
    WRITTEN_BANKS: _Sm = word("set", "banks that served a write in this cycle")
    TRIED: _Sm = word("set", "collectors that were ready at the last dispatch")
    ENDED_WARPS: _Sm = word("set", "slots of warps that ended in this cycle")
    EXTRA_FIRST: Column[SmRow, OpRow] = word("row", "list of extra accesses that hooks requested in this phase")
    EXTRA_LAST: Column[SmRow, OpRow] = word("row", "end of that list")
    EXTRA_BANKS: _Sm = word("set", "banks with such an access that is counted: ASKED of the bank")
    UNITS_ASKED: _Sm = word("set", "units for which a collector is ready")
    TAKES_BLOCK_AT: _Sm = word(
        "cycle", "cycle at whose end it receives a thread block if it is its turn, NONE without room"
    )
    FIRST_BANK: Column[SmRow, BankRow] = word("row", "its first bank")
    FIRST_COLLECTOR: Column[SmRow, CollectorRow] = word("row", "its first collector")
    FIRST_BLOCK: Column[SmRow, BlockRow] = word("row", "its first resident thread block")
    LAST_DISPATCH: _Sm = word("slot", "slot whose collector dispatched last, if warps own collectors")
    SHARED_AT: _Sm = word("instructions", "instructions issued when SMs were last shared among threads")
    UNITS_FREE_AT: _Sm = word("cycle", "from this cycle on each pipe has a free unit; with an ideal operand path")
    LONG_WRITES: _Sm = word("set", "banks whose last write took more than a cycle and may not be over")
    ACCEPTS_FROM: _Sm = word(
        "cycle", "first cycle in which its load-store unit takes an instruction, where it has an interval"
    )
    BARRIER_FREE: _Sm = word("cycle", "first cycle in which its barrier unit takes an arrival")
    LINES_USED: _Sm = word("uses", "uses of lines in its caches for instructions and constants")
    TRAFFIC_FIRST: Column[SmRow, OpRow] = word("row", "list of registers that hooks send to memory or fetch")
    TRAFFIC_LAST: Column[SmRow, OpRow] = word("row", "end of that list")
    TRAFFIC_AT: _Sm = word("cycle", "cycle in which the first of them may be sent; NEVER: not before memory answers")
    HELD: Column[SmRow, OpRow] = word(
        "row", "HELD_LISTS lists of loads that wait without memory for a hook to complete them", count=HELD_LISTS
    )
    RIPE: _Sm = word("set", "non-empty buckets of the timing wheel, in as many words as needed", count=0)


Cause: TypeAlias = Column[AccountRow, int]


class causes(Columns):
    """The stall account: one row per scheduler, one column per cause."""

    NAMES: ClassVar[list[str]]
    """Names by column, in the order of docs/reference/timing.md; each cycle of each warp slot has exactly one cause."""
    WAITS: ClassVar[tuple[Cause, ...]]
    """Causes by wait class, from the fastest to the slowest class."""

    ISSUED: Cause = word("slot-cycles", "its warp issued")
    NOT_SELECTED: Cause = word("slot-cycles", "it could issue, and its scheduler selected another warp")
    FETCH: Cause = word("slot-cycles", "its next instruction is not fetched yet")
    ALU: Cause = word("slot-cycles", "it needs a result of an ALU")
    SFU: Cause = word("slot-cycles", "it needs a result of a special function unit")
    DP: Cause = word("slot-cycles", "it needs a result in double precision")
    SHARED: Cause = word("slot-cycles", "it needs a result of memory inside the SM")
    MEMORY: Cause = word("slot-cycles", "it needs a result of memory")
    OPERANDS: Cause = word("slot-cycles", "its pipe has no room while operands are read")
    UNIT: Cause = word("slot-cycles", "its pipe has no room while units are busy")
    MEMORY_QUEUE: Cause = word("slot-cycles", "its pipe has no room while the load-store queue is full")
    BARRIER: Cause = word("slot-cycles", "it waits at a barrier")
    FENCE: Cause = word("slot-cycles", "it waits at a fence")
    TOKEN: Cause = word("slot-cycles", "a design refused it")
    INACTIVE: Cause = word("slot-cycles", "it is not in the active set")
    SWAP: Cause = word("slot-cycles", "it is being activated")
    DRAIN: Cause = word("slot-cycles", "it has issued everything")
    EMPTY: Cause = word("slot-cycles", "the slot holds no warp")
    OTHER: Cause = word("slot-cycles", "none of these")
    READY: Cause = word("", "a warp that could issue but for structural hazards; accounted per scheduler", count=0)


causes.NAMES = [name.lower().replace("_", " ") for name in causes.DECLARED if name != "READY"]
causes.WAITS = (causes.ALU, causes.SFU, causes.DP, causes.SHARED, causes.MEMORY)


_Warp: TypeAlias = Column[WarpRow, int]


class warps(Columns):
    """Warps: the state of each warp slot.  Columns that are used together share a cache line of eight words.

    The *position* of a warp is its index among the warps of its scheduler: slot = position * schedulers + scheduler.
    """

    COMMIT_SLOTS = 4
    BUSY_SETS = 6
    """Sets of cells in the scoreboard: all, those of wait classes 1 to 4, those with a long latency."""
    LONG_SET = 5
    READING_SET = 6
    """Cells of instructions in queues, where sources are in a scoreboard."""
    HERE, WAITING, REACH_SHIFT = 1, 2, 2
    """PRESENT; its level is that of memory that the warp got its last result from, in a run that asks."""
    GOING, AT_BARRIER, AT_FENCE, AT_TOKEN = range(4)
    STAYS = -2
    """TOKEN of a warp that waits for a token without leaving the active set: STAYS - token."""

    HEAD: Column[WarpRow, Pc] = word("pc", "next instruction, NONE after the last")
    STOP: _Warp = word("choice", "what it waits at: GOING or one of AT_...")
    FETCHED: _Warp = word("cycle", "first cycle in which its head may issue")
    CAUSE: Column[WarpRow, Cause] = word("cause", "cause of its current cycles in the stall account")
    SINCE: _Warp = word("cycle", "first cycle that is not accounted yet")
    PRESENT: _Warp = word(
        "flags", "0 if the slot holds no warp; HERE | WAITING, if a design was told so | level << REACH_SHIFT"
    )
    OWN: _Warp = word("set", "set that contains only its position")
    TURN_ROW: Column[WarpRow, SchedulerRow] = word("row", "its scheduler")
    BLOCK_END: _Warp = word("pc", "end of its current basic block")
    FLIGHT: _Warp = word("instructions", "instructions in flight")
    ACCESS: _Warp = word("index", "index in ``Core.slab`` of its next access record")
    MASK: _Warp = word("lanes", "mask of active lanes")
    WANTED: _Warp = word("pipe", "pipe of its head while it is ready")
    BANK_OFFSET: _Warp = word("bank", "bank of its register 0 among those of its scheduler")
    FIRST_OWN_BANK: _Warp = word("bank", "first bank of its scheduler")
    LAST_ISSUE: _Warp = word("cycle", "cycle of the last issue, -1 before the first")
    VISIT: _Warp = word("index", "index in ``Core.slab`` of its next visit of a basic block")
    VISIT_END: _Warp = word("index", "end of these visits")
    BLOCK: Column[WarpRow, BlockRow] = word("row", "its thread block, NONE in an empty slot")
    AGE: _Warp = word("warps", "number of warps that were placed in its SM before it")
    ASKS_FROM: _Warp = word("cycle", "first cycle in which `admit` may be called again")
    SUSPENDED: _Warp = word("flag", "whether its head has already suspended it")
    SWAP_UNTIL: _Warp = word("cycle", "first cycle in which it may issue after its activation")
    TOKEN: _Warp = word("token", "token that it waits for, or number of a barrier with a count (NONE without)")
    MEMORY_CYCLES: _Warp = word("cycles", "cycles in which it waited for memory")
    RECORDS: _Warp = word("index", "index in ``Core.slab`` of its first access record")
    RECORDS_END: _Warp = word("index", "their end, including the widths behind them")
    COPIES: _Warp = word("copies", "asynchronous copies issued")
    COPIED: _Warp = word("copies", "asynchronous copies complete")
    COPY_GROUPS: _Warp = word("groups", "groups of copies committed")
    AWAITED: _Warp = word("copies", "copies that must be complete before it passes its fence (NONE: everything)")
    AT_WORK: _Warp = word("cycle", "cycle of its last issue or activation, used where stalls suspend warps")
    COPIES_AT: _Warp = word("copies", "+ group modulo COMMIT_SLOTS: copies issued at that commit", count=COMMIT_SLOTS)
    RESULTS: _Warp = word("results", "results of the instructions issued, for designs with widths")
    COLLECTING: _Warp = word("instructions", "instructions issued and not dispatched, if warps own collectors")
    LATCHED: Column[WarpRow, OpRow] = word("row", "list of those that are in no collector; undefined without one")
    LATCHED_END: Column[WarpRow, OpRow] = word("row", "end of that list")
    NUMBER: _Warp = word("warp", "its slot, counted over all SMs: the index that hooks use")
    HELD_FOR: Column[WarpRow, Cause] = word("cause", "cause of the cycles before FETCHED")
    LINE: _Warp = word("line", "line of code that it asked for last, NONE before the first")
    ASKED: _Warp = word("cycle", "LAST_ISSUE when its head asked for a constant that was not there; NEVER before that")
    AWAY: _Warp = word("transactions", "registers that hooks have sent to memory or fetched and that are not back")
    COUNTERS: _Warp = word(
        "instructions",
        "+ k: the k-th dependence counter, where control codes order instructions",
        count=DEPENDENCE_COUNTERS,
    )
    BUSY: _Warp = word("set", "BUSY_SETS sets of scoreboard cells, and the READING_SET", count=0)


_Scheduler: TypeAlias = Column[SchedulerRow, int]


class schedulers(Columns):
    """Schedulers: sets of warp positions, and the units and collectors that their instructions use."""

    READY: _Scheduler = word("set", "warps that could issue but for structural hazards")
    FULL: _Scheduler = word("set", "pipes whose latch is full")
    DIRTY: _Scheduler = word("set", "warps whose state may have changed")
    ACTIVE: _Scheduler = word("set", "active set")
    ELIGIBLE: _Scheduler = word("set", "pending warps that may be activated")
    LAST: _Scheduler = word("position", "position of the warp that issued last")
    LAST_ACTIVE: _Scheduler = word("position", "position of the warp that was activated last")
    WANTED_PIPES: _Scheduler = word("set", "pipes of the heads of ready warps")
    WANTS: _Scheduler = word("set", "+ pipe: ready warps whose head uses it", count=len(PIPES))
    UNITS_FOR: Column[SchedulerRow, UnitsRow] = word(
        "row", "+ pipe: units that execute its instructions", count=len(PIPES)
    )
    GROUP_FOR: Column[SchedulerRow, GroupRow] = word("row", "+ pipe: collectors of its instructions", count=len(PIPES))
    COLLECTOR_FULL: _Scheduler = word("set", "warps whose collector is full, if warps own collectors")
    ALLOCATED: _Scheduler = word("cycle", "with a read window: cycle in which the last instruction allocated its reads")
    ISSUES_FROM: _Scheduler = word("cycle", "with a read window: first cycle in which the stage after issue is free")
    STREAM_BEGIN: _Scheduler = word("line", "first line of code in its stream buffer")
    STREAM_END: _Scheduler = word("line", "the line behind the last one")
    ACCOUNT = 40
    """First word of its stall account, which begins a cache line of the host."""


_Group: TypeAlias = Column[GroupRow, int]


class groups(Columns):
    """Groups of collectors, each fed by the latches of some pipes."""

    FREE: _Group = word("set", "set of free collectors; if warps own collectors, of slots with a free one")
    LATCHED: Column[GroupRow, OpRow] = word("row", "list of instructions in the latches")
    LATCHED_END: Column[GroupRow, OpRow] = word("row", "end of that list")
    IN_PORTS: _Group = word("instructions", "instructions that enter per step, at most")
    ALL: _Group = word("set", "set of all its collectors")
    EARLIEST: _Group = word("collector", "collector that was allocated first, NONE if unknown")
    OWN: _Group = word("set", "set that contains only its index in its SM")
    WAITING: _Group = word("set", "slots with a latched instruction, if warps own collectors")


_Collector: TypeAlias = Column[CollectorRow, int]


class collectors(Columns):
    """Operand collectors."""

    HELD: Column[CollectorRow, OpRow] = word("row", "the instruction that it holds, NONE if it is free")
    MISSING: _Collector = word("words", "words that are not granted yet")
    READY_AT: _Collector = word(
        "cycle", "cycle in which all granted words are present; if that has passed, any earlier one"
    )
    TAKEN_AT: _Collector = word("cycle", "last cycle in which it accepted operands")
    TAKEN: _Collector = word("operands", "number of operands accepted in that cycle")
    WORD_COUNT: _Collector = word("words", "source words of its instruction")
    GROUP: Column[CollectorRow, GroupRow] = word("row", "its group")
    UNITS: Column[CollectorRow, UnitsRow] = word("row", "units of the instruction that it holds")
    IN_USE: _Collector = word(
        "set", "this word and the next two in the first collector of a slot: which of them hold an instruction"
    )
    READY: _Collector = word("set", "which of those have all operands")
    TO_TRY: _Collector = word("set", "which of those are still to be tried in this step")
    WORD: _Collector = word(
        "operand word", "+ k: operand word of the k-th source until it is granted, then NONE", count=0
    )


_Bank: TypeAlias = Column[BankRow, int]


class banks(Columns):
    """Banks of the register file.  A write is a word made by `warpreg.timing.core.operand_word.write_of`."""

    REQUESTS: _Bank = word("set", "set of collectors that wait for a read")
    WRITES_HEAD: _Bank = word("write", "first write of the queue, NONE if empty")
    WRITES_TAIL: _Bank = word("write", "last write of the queue")
    FIRST_REQUEST: _Bank = word(
        "request", "queue of reads if warps own collectors; see `warpreg.timing.sm.bank_queues`"
    )
    LAST_REQUEST: _Bank = word("request", "end of that queue")
    WRITES_FROM: _Bank = word("cycle", "first cycle in which it may serve its next write")
    ASKED: _Bank = word("accesses", "extra accesses that hooks requested in this phase, where they are counted")
    AHEAD: _Bank = word("accesses", "extra accesses before the first write of the queue, where they are counted")
    ROWS: _Bank = word("rows", "rows that its access of this step names; see `warpreg.timing.sm.shared_access`")
    RESERVED: _Bank = word("reads", "with a read window: reads in each cycle from RESERVED_FROM on, two bits for each")
    RESERVED_FROM: _Bank = word("cycle", "first cycle of RESERVED")
    NAMED: _Bank = word("address", "+ k: address of the k-th of them, with all slices that are accessed there", count=0)


_Block: TypeAlias = Column[BlockRow, int]


class blocks(Columns):
    """Resident thread blocks."""

    INDEX: _Block = word("index", "index in the grid")
    WARPS_LEFT: _Block = word("warps", "warps that have not ended")
    HEADS_LEFT: _Block = word("warps", "warps that have instructions left to issue")
    WAITING: _Block = word("warps", "warps at a barrier")
    COMPLETE: _Block = word("set", "set of barriers with a count that are to be released")
    OWN: _Block = word("set", "set that contains only its index in its SM")
    ARRIVED_BY: _Block = word("cycle", "cycle in which its last arrival has passed the barrier unit")
    ARRIVED: _Block = word("warps", "+ number: warps that have issued or arrived at a barrier with a count", count=0)


_Units: TypeAlias = Column[UnitsRow, int]


class function_units(Columns):
    """Function units that execute the instructions of a pipe."""

    FREE_AT: _Units = word("cycle", "first cycle in which one of them is free")
    FIRST: _Units = word("index", "index of the first one in ``Core.units``")
    SIZE: _Units = word("units", "number of units")
    FEEDS_QUEUE: _Units = word("flag", "whether instructions continue to the load-store queue")
    COLLECTED_FOR: _Units = word("set", "set of collectors that could dispatch to them")
    OWN: _Units = word("set", "set that contains only its index in its SM")


_Op: TypeAlias = Column[OpRow, int]


class ops(Columns):
    """Operations: instructions in flight, and other entries of the timing wheel."""

    WARP: Column[OpRow, WarpRow] = word("row", "its warp")
    PC: Column[OpRow, Pc] = word("pc", "its instruction, or what it is: TIMER and those after it")
    NEXT: Column[OpRow, OpRow] = word("row", "next operation in its current list")
    DUE: _Op = word("cycle", "cycle in which it is due")
    LEFT: _Op = word("results", "results that are not written yet")
    STAGE: _Op = word("choice", "same word of an entry TRANSFER: AT_SOURCE, ON_PATH or AT_TARGET", at="LEFT")
    RECORD: _Op = word("index", "index in ``Core.slab`` of its access record, NONE if it has none")
    PATH: _Op = word("path", "same word of an entry TRANSFER or FETCH: its path", at="RECORD")
    LATE: Column[OpRow, OpRow] = word("row", "same word of an entry LEAVES or PRESENT: its instruction", at="RECORD")
    MASK: _Op = word("lanes", "mask of active lanes")
    REGISTER: _Op = word("register", "same word of an entry TRANSFER, SPILL or FETCH: its register", at="MASK")
    SEQUENCE: _Op = word("order", "order of issue in its SM")
    WARP_AGE: _Op = word("warps", "same word of an entry TRANSFER: AGE of its warp", at="SEQUENCE")
    TICKETS: _Op = word("transactions", "outstanding transactions")
    POSTPONED: _Op = word(
        "flag", "the same word after its last transaction: NONE while its results are postponed", at="TICKETS"
    )
    TO_SEND: _Op = word("transactions", "transactions still to send, or conflict cycles")
    PLACE: _Op = word("place", "the same word before dispatch, with a read window: its place in a queue", at="TO_SEND")
    UNITS: Column[OpRow, UnitsRow] = word("row", "units that execute it")
    ISSUED: _Op = word("cycle", "cycle of issue")
    ENTERED: _Op = word("cycle", "cycle in which it entered its collector")
    REACHED: _Op = word(
        "level",
        "the same word after dispatch: level of memory that its transactions reached, in a run that asks",
        at="ENTERED",
    )
    CURSOR: _Op = word("index", "index in ``Core.slab`` of its next transaction; see also LEAVES, EXTRA and PRESENT")
    SENT_AT: _Op = word("cycle", "cycle in which it entered the load-store queue")
    ALONE: _Op = word(
        "flag",
        "the same word before dispatch, where a design asks: whether no source comes with another one",
        at="SENT_AT",
    )
    READY_AT: _Op = word("cycle", "cycle in which its operands are present")
    ENTERS_FROM: _Op = word(
        "cycle", "the same word before dispatch: cycle from which it may enter a collector", at="READY_AT"
    )
    LINK: _Op = word("write", "+ k: write after its k-th result in the queue of a bank", count=0)
    AT_SOURCE, ON_PATH, AT_TARGET = range(3)
    TIMER, LEAVES, EXTRA, PRESENT, ASKS, TRANSFER = Pc(-2), Pc(-3), Pc(-4), Pc(-5), Pc(-6), Pc(-7)
    SPILL, FETCH = Pc(-8), Pc(-9)
    """PC of entries that are not instructions: wake a warp; remove a cell (result CURSOR of LATE) from the scoreboard;
    access bank CURSOR, with nothing waiting for it; source CURSOR of LATE is present; a refused warp asks again; a
    register is transferred, in its source or target through bank CURSOR; a REGISTER is sent to memory, or fetched, with
    the transaction CURSOR.
    """


_Code: TypeAlias = Column[Pc, int]


class code(Columns):
    """Instructions: one row per pc.

    The set of cells that an instruction reads or writes begins at NEED; the set of those that it writes follows.
    """

    PIPE: _Code = word("choice", "one of `warpreg.gpu.pipes.PIPES`")
    LATENCY: _Code = word("cycles", "cycles from dispatch to its results")
    INITIATION: _Code = word("cycles", "cycles until a unit accepts the next instruction")
    KIND: _Code = word("choice", "memory operation, see `warpreg.timing.core.access_record`")
    FLAGS: _Code = word("flags", "BARRIER and those after it, and the numbers of a barrier or of a wait for copies")
    WAIT_CLASS: _Code = word("wait class", "wait class of its results (index of `causes.WAITS`), with LONG_BIT")
    READS: _Code = word("row", "first row in ``Core.lists`` of its sources, each register once")
    READS_END: _Code = word("row", "their end")
    WRITES: _Code = word("row", "first row of its results")
    WRITES_END: _Code = word("row", "their end")
    ALL_READS: _Code = word("row", "first row of all source operands")
    ALL_READS_END: _Code = word("row", "their end")
    LEAD: _Code = word(
        "cycles", "with a read window, of variable latency: cycles from issue to dispatch, at least; otherwise 0"
    )
    CONTROL: _Code = word("control code", "control code, see STALL_BITS to LIMIT_SHIFT; 0 without one")
    LOCAL_LATENCY: _Code = word(
        "cycles", "cycles from its last conflict cycle to its results, if they are not the machine's"
    )
    CONSTANT: _Code = word("line", "1 + the line of the constant that it reads, with constant caches; 0 for none")
    NEED: _Code = word("set", "cells that it reads or writes; those that it writes follow", count=0)
    BARRIER, FENCE, SUSPENDS, LONG, COPIES_ONE, COMMITS, AWAITS, WAITS_FOR_ALL = 1, 2, 4, 8, 16, 32, 64, 128
    NUMBER_SHIFT, COUNT_SHIFT = 8, 12
    """FLAGS of a barrier with a count: its number in four bits, and above them the number of warps.  FLAGS of a wait
    for asynchronous copies: groups that may remain in flight, in the same four bits.
    """
    BARRIERS = 16

    STALL_BITS = 63
    """CONTROL: cycles from issue to the next issue of the warp, at least."""
    WRITE_SHIFT, READ_SHIFT, LIMIT_SHIFT, ALLOWED_SHIFT = 6, 9, 12, 15
    """CONTROL: the counter of its results, that of its sources, that of which it allows a number, in three bits each,
    as the number of the counter plus 1 (0: none); then the number that it allows.
    """

    CLASS_BITS = 7
    LONG_BIT = 8
    """WAIT_CLASS: mask of the class, and flag of a long latency."""


_Team: TypeAlias = Column[TeamRow, int]


class team(Columns):
    """The team: words through which the threads that step the SMs of one run agree.

    Row 0 is common to all; row 1 + member belongs to one thread, which alone writes it, but for the SMs that the leader
    gives it; the last row only says where the SMs end.  Words that others wait for are in cache lines of the host of
    their own.
    """

    COMMON = TeamRow(0)

    UNTIL: _Team = word("cycle", "common: SMs may be stepped up to this cycle, exclusive")
    NEXT_BLOCK: _Team = word("thread block", "common: thread block that is dispatched next")
    WINDOW: _Team = word("cycles", "common: cycles that SMs are stepped at a time, at most")
    PLACED: _Team = word("thread block", "common: NEXT_BLOCK at the last meeting")
    MEETINGS: _Team = word("meetings", "common: meetings that are over", at=16)
    STOP: _Team = word("flag", "common: whether a member has left, so that all must", at=32)
    ENDED: _Team = word("thread blocks", "of a member: thread blocks that ended", at=4)
    PROGRESS: _Team = word("cycle", "last cycle in which an instruction issued")
    SOONEST: _Team = word("cycle", "the earliest cycle in which one of its SMs must be stepped")
    ISSUED: _Team = word("instructions", "instructions issued")
    FIRST_SM: Column[TeamRow, SmRow] = word("row", "first of its SMs, which end with the first one of the next member")
    NEXT_FIRST_SM: Column[TeamRow, SmRow] = word("row", "the same when SMs are shared again")
    ROOM: _Team = word("SMs", "SMs for whose transactions it has room")
    SHARED_AT: _Team = word("instructions", "instructions issued when SMs were last shared, set by the leader")
    STEPPING: _Team = word("processor cycles", "of the leader: time in which it has stepped SMs since they were shared")
    AHEAD: _Team = word("processor cycles", "of the leader: time that `work_ahead` took since then")
    ARRIVED: _Team = word("meetings", "meetings that it has reached", at=17)
    BOUND: _Team = word(
        "turn", "turn before which its SMs take no more thread blocks (`warpreg.timing.sm.team`)", at=33
    )
    AWAITS: _Team = word("turn", "turn that it waits for, NEVER if it does not wait", at=48)
    COUNT = 64


_Line: TypeAlias = Column[LineRow, int]


class code_lines(Columns):
    """Lines of code and constants in the caches of an SM: a row for each line that the kernel names, in each cache."""

    THERE_FROM: _Line = word("cycle", "first cycle in which the cache has the line; 0 if it neither has nor expects it")
    USED: _Line = word("uses", "when it was used last, in uses of the SM's caches")
    STREAMED: _Line = word("cycle", "first cycle in which the stream buffer has it, if it is there")
    COUNT = 4
    """Words of a row, a power of two."""
