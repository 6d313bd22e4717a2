"""SMs: the first rows of ``Core.table``."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import BankRow, BlockRow, CollectorRow, Column, OpRow, SmRow

_Word = Column[SmRow, int]

HELD_LISTS = 16
"""A power of two; a load is in the list of its number modulo this one."""

DUE = _Word(0)  # next cycle in which it must be stepped, apart from returns of memory
SEQ = _Word(1)  # instructions issued
AGES = _Word(2)  # warps placed
RESIDENT = _Word(3)  # resident thread blocks
FREE_SLOTS = _Word(4)  # set of free warp slots
REQUEST_BANKS = _Word(5)  # banks with a request
WRITE_BANKS = _Word(6)  # banks with a write in their queue
READY_COLLECTORS = _Word(7)  # collectors whose operands are all granted; if warps own collectors, their slots
QUEUE_HEAD = Column[SmRow, OpRow](8)  # head of the load-store queue
QUEUE_TAIL = Column[SmRow, OpRow](9)
QUEUED = _Word(10)  # instructions in it
QUEUE_AT = _Word(11)  # cycle in which its head acts next
RETRY_AT = _Word(12)  # first cycle in which a unit may accept what was refused in phase 3
STEPPED = _Word(13)  # last cycle in which it was stepped
CHECK_BARRIER = _Word(14)  # thread blocks with a barrier that may be complete
BLOCK_ENDED = _Word(15)  # thread blocks that ended in this cycle
GROUPS_LATCHED = _Word(16)  # groups of collectors with an instruction in a latch
FREE_BLOCKS = _Word(17)  # free rows of thread blocks
WRITTEN_BANKS = _Word(18)  # banks that served a write in this cycle
TRIED = _Word(19)  # collectors that were ready at the last dispatch
ENDED_WARPS = _Word(20)  # slots of warps that ended in this cycle
EXTRA_FIRST = Column[SmRow, OpRow](21)  # list of extra accesses that hooks requested in this phase
EXTRA_LAST = Column[SmRow, OpRow](22)
UNITS_ASKED = _Word(23)  # units for which a collector is ready
TAKES_BLOCK_AT = _Word(24)  # cycle at whose end it receives a thread block if it is its turn, NONE without room
FIRST_BANK = Column[SmRow, BankRow](25)
FIRST_COLLECTOR = Column[SmRow, CollectorRow](26)
FIRST_BLOCK = Column[SmRow, BlockRow](27)
LAST_DISPATCH = _Word(28)  # slot whose collector dispatched last, if warps own collectors
SHARED_AT = _Word(29)  # instructions issued when SMs were last shared among threads
UNITS_FREE_AT = _Word(30)  # from this cycle on each pipe has a free unit; with an ideal operand path
LONG_WRITES = _Word(31)  # banks whose last write took more than a cycle and may not be over
ACCEPTS_FROM = _Word(32)  # first cycle in which its load-store unit takes an instruction, where it has an interval
BARRIER_FREE = _Word(33)  # first cycle in which its barrier unit takes an arrival
LINES_USED = _Word(34)  # uses of lines in its caches for instructions and constants
HELD = Column[SmRow, OpRow](35)  # HELD_LISTS lists of loads that wait without memory for a hook to complete them
RIPE = _Word(35 + HELD_LISTS)  # non-empty buckets of the timing wheel, in as many words as needed
