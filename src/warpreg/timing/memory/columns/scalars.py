"""State of the whole memory system; of the threads that step its SMs, each has scalars of its own."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Scalars = NewType("Scalars", int)
_Word = Column[Scalars, int]

EVENTS = _Word(0)  # length of the heap of events
IN_DAYS = _Word(1)  # events in days
BEGIN = _Word(2)  # no event is or will be before this cycle
FREE_NODE = _Word(3)  # first of the released nodes, NONE if there are none
FRESH_NODE = _Word(4)  # first node that was never used
SEQUENCE = _Word(5)  # sequence number of heap entries and numbered nodes
STEPPED = _Word(6)  # last cycle in which queues were stepped
QUEUED = _Word(7)  # requests in queues
ASKED = _Word(8)  # result of the last look-up in the second level: sectors to read from DRAM
EVICTED = _Word(9)  # dirty sectors that it evicted
EVICTED_LINE = _Word(10)  # their line
FOUND = _Word(11)  # line that it found or allocated
WOKEN_ANY = _Word(12)  # whether any SM is woken
DRAM_AT = _Word(13)  # cycle in which a DRAM controller may have work
MEMBER = _Word(14)  # number of the thread that has these scalars, among those that step the SMs together
MEMBERS = _Word(15)
OUTBOX = _Word(16)  # first row of its outbox; the first word of that row is the number of rows in use after it
OUTBOX_ROWS = _Word(17)  # rows of an outbox
SPENT = _Word(18)  # processor cycles spent in functions of the memory model, in a run that measures them
CALLS = _Word(19)  # calls of those functions
NEXT_ANSWER = _Word(20)  # with contention, since memory began to look ahead: the first answer or unblocked SM
NODES_OF_SMS = _Word(21)  # node after those for transactions of the SMs of this thread
COUNT = 22
