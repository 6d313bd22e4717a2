"""The machine: parameters of the SM, constant during a run."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import (
    BankRow,
    BlockRow,
    CollectorRow,
    Column,
    GroupRow,
    LineRow,
    Machine,
    OpRow,
    SchedulerRow,
    UnitsRow,
    WarpRow,
)

_Word = Column[Machine, int]

SMS = _Word(0)
SLOTS = _Word(1)  # warp slots per SM
SCHEDULERS = _Word(2)
WIDTH = _Word(3)  # instructions that a scheduler issues per cycle
POLICY = _Word(4)  # one of `warpreg.gpu.scheduling.PRIORITIES`
IDEAL = _Word(5)  # whether the operand path is ideal
STEPS = _Word(6)  # steps per cycle in which banks are accessed
BANKS = _Word(7)
SINGLE_PORTED = _Word(8)  # whether a bank has one access per step, read or write
OPERAND_PORTS = _Word(9)  # operands that a collector accepts per cycle; 0: unlimited
BY_REGISTER = _Word(10)  # whether the register number selects the bank
BY_SLOT = _Word(11)  # whether the warp slot selects the bank
DISPATCH_CYCLES = _Word(12)
QUEUE = _Word(13)  # entries of the load-store queue
SHARED_LATENCY = _Word(14)
CONSTANT_LATENCY = _Word(15)
ACTIVE_WARPS = _Word(16)  # size of the active set of a scheduler; 0: no active set
SUSPEND = _Word(17)  # one of `warpreg.gpu.scheduling.SUSPENDS`
STALL_THRESHOLD = _Word(18)
SWAP_CYCLES = _Word(19)
BLOCKS = _Word(20)  # thread blocks that fit an SM
BLOCK_WARPS = _Word(21)  # warps per thread block
GROUPS = _Word(22)  # groups of collectors per SM
COLLECTORS = _Word(23)
UNITS = _Word(24)  # rows of function units per SM
WHEEL = _Word(25)  # buckets of the timing wheel of an SM
WORDS = _Word(26)  # words of a set of scoreboard cells
EVERY_CYCLE = _Word(27)  # whether no cycle is skipped
CTRL_LATENCY = _Word(28)  # cycles until a branch is resolved, with the stages that a design adds
FIRST_WARP = Column[Machine, WarpRow](29)  # FIRST_...: first row of a component in ``Core.rows``
FIRST_SCHEDULER = Column[Machine, SchedulerRow](30)
WIDEST = _Word(31)  # words of the longest row
FIRST_GROUP = Column[Machine, GroupRow](32)
FIRST_COLLECTOR = Column[Machine, CollectorRow](33)
FIRST_BANK = Column[Machine, BankRow](34)
FIRST_BLOCK = Column[Machine, BlockRow](35)
FIRST_UNITS = Column[Machine, UnitsRow](36)
FIRST_OP = Column[Machine, OpRow](37)
FIRST_PCS = _Word(38)  # row in ``Core.lists`` of the first basic block
OP_READS = Column[Machine, Column[OpRow, int]](39)  # column of an operation's first operand word
OP_WRITES = Column[Machine, Column[OpRow, int]](40)  # column of its first result word
OWN_BANKS = _Word(41)  # banks that the warps of one scheduler use
IN_STEP = _Word(42)  # whether SMs are stepped cycle by cycle, because their order may matter
WARP_ROW = _Word(43)  # ..._ROW: words per row of a component
OP_RESULT = Column[Machine, Column[OpRow, int]](44)  # column of the number of earlier results of the warp
OP_ADDRESSES = Column[Machine, Column[OpRow, int]](45)  # column of the bank address of its first source
COLLECTOR_LINKS = Column[Machine, Column[CollectorRow, int]](46)  # column of a collector's first link of requests
SCHEDULER_ROW = _Word(47)
GROUP_ROW = _Word(48)
COLLECTOR_ROW = _Word(49)
BANK_ROW = _Word(50)
BLOCK_ROW = _Word(51)
UNITS_ROW = _Word(52)
OP_ROW = _Word(53)
WHOLE_INSTRUCTIONS = _Word(54)  # whether an access of a bank serves all words of an instruction that it has
READ_CYCLES = _Word(55)  # cycles of the read window
READ_PORTS = _Word(56)  # read ports of a bank, with a read window
INTERVAL = _Word(57)  # cycles until the load-store unit takes the next instruction; 0: it takes any number
BARRIER_INTERVAL = _Word(58)  # cycles that an arrival occupies the barrier unit
BARRIER_LATENCY = _Word(59)  # cycles from its last arrival until warps may issue
CODE_LINES = _Word(60)  # lines of the kernel's code, with instruction caches
LINE_SHIFT = _Word(61)  # an instruction with number n is in line n >> LINE_SHIFT
L0_SETS = _Word(62)
L0_WAYS = _Word(63)
L1_SETS = _Word(64)
L1_WAYS = _Word(65)
L1_CODE_LATENCY = _Word(66)
L2_CODE_LATENCY = _Word(67)
STREAM_LINES = _Word(68)
BUFFER = _Word(69)  # instructions in the buffer of a warp
CONSTANT_LINES = _Word(70)  # lines of constants that the kernel names, with constant caches
FIRST_CONSTANT = Column[Machine, LineRow](71)  # first row of their caches
L0_CONSTANT_SETS = _Word(72)
L0_CONSTANT_WAYS = _Word(73)
L1_CONSTANT_SETS = _Word(74)
L1_CONSTANT_WAYS = _Word(75)
L1_CONSTANT_LATENCY = _Word(76)
L2_CONSTANT_LATENCY = _Word(77)
CONSTANT_PATIENCE = _Word(78)  # cycles for which a scheduler waits for a constant before it goes to another warp
COUNT = 79

STRUCTURE = tuple(map(int, (
    SLOTS, SCHEDULERS, WIDTH, POLICY, IDEAL, STEPS, SINGLE_PORTED, OPERAND_PORTS, BY_REGISTER, BY_SLOT, DISPATCH_CYCLES,
    SUSPEND, GROUPS, UNITS, WHEEL, WORDS, OWN_BANKS, WARP_ROW, SCHEDULER_ROW, GROUP_ROW, COLLECTOR_ROW, BANK_ROW,
    BLOCK_ROW, UNITS_ROW, OP_ROW, WHOLE_INSTRUCTIONS, READ_CYCLES, READ_PORTS, INTERVAL,
)))  # fmt: skip
"""Columns that are folded into the compiled core as constants: they determine its structure and are equal in most runs.
The other columns, sizes and latencies that studies vary, are read at run time.
"""
