"""The team: words through which the threads that step the SMs of one run agree.

Row 0 is common to all; row 1 + member belongs to one thread, which alone writes it, but for the SMs that the leader
gives it; the last row only says where the SMs end.  Words that others wait for are in cache lines of the host of their
own.
"""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, SmRow, TeamRow

_Word = Column[TeamRow, int]

UNTIL = _Word(0)  # common: SMs may be stepped up to this cycle, exclusive
NEXT_BLOCK = _Word(1)  # common: thread block that is dispatched next
WINDOW = _Word(2)  # common: cycles that SMs are stepped at a time, at most
PLACED = _Word(3)  # common: NEXT_BLOCK at the last meeting
MEETINGS = _Word(16)  # common: meetings that are over
STOP = _Word(32)  # common: whether a member has left, so that all must

ENDED = _Word(4)  # of a member: thread blocks that ended
PROGRESS = _Word(5)  # last cycle in which an instruction issued
SOONEST = _Word(6)  # the earliest cycle in which one of its SMs must be stepped
ISSUED = _Word(7)  # instructions issued
FIRST_SM = Column[TeamRow, SmRow](8)  # first of its SMs, which end with the first one of the next member
NEXT_FIRST_SM = Column[TeamRow, SmRow](9)  # the same when SMs are shared again
ROOM = _Word(10)  # SMs for whose transactions it has room
SHARED_AT = _Word(11)  # instructions issued when SMs were last shared, set by the leader
ARRIVED = _Word(17)  # meetings that it has reached
BOUND = _Word(33)  # turn before which its SMs take no more thread blocks (`warpreg.timing.sm.team`)
AWAITS = _Word(48)  # turn that it waits for, NEVER if it does not wait
COUNT = 64

COMMON = TeamRow(0)
