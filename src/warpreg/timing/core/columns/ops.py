"""Operations: instructions in flight, and other entries of the timing wheel."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, OpRow, Pc, UnitsRow, WarpRow

_Word = Column[OpRow, int]

WARP = Column[OpRow, WarpRow](0)
PC = Column[OpRow, Pc](1)
NEXT = Column[OpRow, OpRow](2)  # next operation in its current list
DUE = _Word(3)  # cycle in which it is due
LEFT = _Word(4)  # results that are not written yet
RECORD = _Word(5)  # index in ``Core.slab`` of its access record, NONE if it has none
LATE = Column[OpRow, OpRow](5)  # same word of an entry LEAVES or PRESENT: its instruction
MASK = _Word(6)  # mask of active lanes
SEQUENCE = _Word(7)  # order of issue in its SM
TICKETS = _Word(8)  # outstanding transactions
TO_SEND = _Word(9)  # transactions still to send, or conflict cycles
PLACE = _Word(9)  # the same word before dispatch, with a read window: its place in a queue
UNITS = Column[OpRow, UnitsRow](10)
ISSUED = _Word(11)  # cycle of issue
ENTERED = _Word(12)  # cycle in which it entered its collector
REACHED = _Word(12)  # the same word after dispatch: level of memory that its transactions reached, in a run that asks
CURSOR = _Word(13)  # index in ``Core.slab`` of its next transaction; see also LEAVES, EXTRA and PRESENT
SENT_AT = _Word(14)  # cycle in which it entered the load-store queue
ALONE = _Word(14)  # the same word before dispatch, where a design asks: whether no source comes with another one
READY_AT = _Word(15)  # cycle in which its operands are present
ENTERS_FROM = _Word(15)  # the same word before dispatch: cycle from which it may enter a collector
LINK = _Word(16)  # + k: write after its k-th result in the queue of a bank

TIMER, LEAVES, EXTRA, PRESENT, ASKS = Pc(-2), Pc(-3), Pc(-4), Pc(-5), Pc(-6)
"""PC of entries that are not instructions: wake a warp; remove a cell (result CURSOR of LATE) from the scoreboard;
access bank CURSOR, with nothing waiting for it; source CURSOR of LATE is present; a refused warp asks again.
"""
