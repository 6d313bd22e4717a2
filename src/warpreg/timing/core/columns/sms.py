"""SMs: one row each at the begin of ``Core.table``."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import BankRow, BlockRow, CollectorRow, Column, OpRow, SmRow

_Word = Column[SmRow, int]

DUE = _Word(0)  # when it is to be stepped next, memory's returns apart
SEQ = _Word(1)  # instructions issued
AGES = _Word(2)  # warps taken
RESIDENT = _Word(3)  # thread blocks
FREE_SLOTS = _Word(4)  # set of warp slots
REQUEST_BANKS = _Word(5)  # banks that collectors wait for
WRITE_BANKS = _Word(6)  # banks with a write in their queue
READY_COLLECTORS = _Word(7)  # whose operands are all granted
QUEUE_HEAD = Column[SmRow, OpRow](8)  # of the load-store queue
QUEUE_TAIL = Column[SmRow, OpRow](9)
QUEUED = _Word(10)  # instructions in it
QUEUE_AT = _Word(11)  # when its head acts next
RETRY_AT = _Word(12)  # when a unit may take what was refused in phase 3
STEPPED = _Word(13)  # the last cycle in which it was
CHECK_BARRIER = _Word(14)  # thread blocks of which a barrier may be complete
BLOCK_ENDED = _Word(15)  # thread blocks that have ended in this cycle
GROUPS_LATCHED = _Word(16)  # groups of collectors with an instruction in a latch
FREE_BLOCKS = _Word(17)  # rows of thread blocks
WRITTEN_BANKS = _Word(18)  # banks that took a write in this cycle
TRIED = _Word(19)  # collectors that were ready at the last dispatch
ENDED_WARPS = _Word(20)  # slots of warps that have ended in this cycle
EXTRA_FIRST = Column[SmRow, OpRow](21)  # list of accesses that hooks asked for in this phase
EXTRA_LAST = Column[SmRow, OpRow](22)
UNITS_ASKED = _Word(23)  # units that collectors could be dispatched to
TAKES_BLOCK_AT = _Word(24)  # the cycle at whose end it takes a thread block once it is its turn, NONE without room
FIRST_BANK = Column[SmRow, BankRow](25)
FIRST_COLLECTOR = Column[SmRow, CollectorRow](26)
FIRST_BLOCK = Column[SmRow, BlockRow](27)
RIPE = _Word(28)  # which buckets of the timing wheel hold something; as many words as that takes
