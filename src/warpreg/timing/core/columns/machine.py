"""The machine: one number of the SM each, which a run does not change."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, Machine, OpRow

_Word = Column[Machine, int]

SMS = _Word(0)
SLOTS = _Word(1)  # warp slots of an SM
SCHEDULERS = _Word(2)
WIDTH = _Word(3)  # instructions that a scheduler issues in a cycle
POLICY = _Word(4)  # one of `warpreg.gpu.scheduling.PRIORITIES`
IDEAL = _Word(5)  # whether the operand path is ideal
STEPS = _Word(6)  # times a cycle that banks are read
BANKS = _Word(7)
SINGLE_PORTED = _Word(8)  # whether a bank has one access in a step, read or write
OPERAND_PORTS = _Word(9)  # operands that a collector takes in a cycle; 0: any number
BY_REGISTER = _Word(10)  # whether the register picks the bank
BY_SLOT = _Word(11)  # whether the warp slot does
DISPATCH_CYCLES = _Word(12)
QUEUE = _Word(13)  # instructions that the load-store queue holds
SHARED_LATENCY = _Word(14)
CONSTANT_LATENCY = _Word(15)
ACTIVE_WARPS = _Word(16)  # size of a scheduler's active set; 0: it has none
SUSPEND = _Word(17)  # one of `warpreg.gpu.scheduling.SUSPENDS`
STALL_THRESHOLD = _Word(18)
SWAP_CYCLES = _Word(19)
BLOCKS = _Word(20)  # thread blocks that fit an SM
BLOCK_WARPS = _Word(21)  # warps of a thread block
GROUPS = _Word(22)  # groups of collectors of an SM
COLLECTORS = _Word(23)
UNITS = _Word(24)  # rows of function units of an SM
WHEEL = _Word(25)  # buckets of an SM's timing wheel
WORDS = _Word(26)  # words of a set of scoreboard cells
EVERY_CYCLE = _Word(27)  # whether no cycle is skipped
CTRL_LATENCY = _Word(28)
FIRST_WARP = _Word(29)  # this and the other FIRST_...: index of the first such row in ``Core.table``
FIRST_SCHEDULER = _Word(30)
TO_ACCOUNT = _Word(31)  # words from a scheduler's row to that of its stall account
FIRST_GROUP = _Word(32)
FIRST_COLLECTOR = _Word(33)
FIRST_BANK = _Word(34)
FIRST_BLOCK = _Word(35)
FIRST_UNITS = _Word(36)
FIRST_OP = _Word(37)
FIRST_PCS = _Word(38)  # row of ``Core.lists`` of the first basic block
OP_READS = Column[Machine, Column[OpRow, int]](39)  # column of an operation's first operand word
OP_WRITES = Column[Machine, Column[OpRow, int]](40)  # column of its first result word
OWN_BANKS = _Word(41)  # banks that the warps of one scheduler use
IN_STEP = _Word(42)  # whether SMs are stepped cycle by cycle, because their order may matter
ROW = _Word(43)  # words of a row
COUNT = 44

STRUCTURE = tuple(map(int, (
    SLOTS, SCHEDULERS, WIDTH, POLICY, IDEAL, STEPS, SINGLE_PORTED, OPERAND_PORTS, BY_REGISTER, BY_SLOT, DISPATCH_CYCLES,
    SUSPEND, GROUPS, UNITS, WHEEL, WORDS, OWN_BANKS, ROW,
)))  # fmt: skip
"""What a core is compiled for: the numbers that shape it, and that are the same in most runs.  The others, sizes and
latencies that studies vary, it reads.
"""
