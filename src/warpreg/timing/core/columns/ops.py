"""Operations: instructions under way, and entries of the timing wheel that are none."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, OpRow, Pc, UnitsRow, WarpRow

_Word = Column[OpRow, int]

WARP = Column[OpRow, WarpRow](0)
PC = Column[OpRow, Pc](1)
NEXT = Column[OpRow, OpRow](2)  # in whatever list it is in
DUE = _Word(3)  # the cycle in which it is
LEFT = _Word(4)  # results that are not written yet
RECORD = _Word(5)  # where in ``Core.slab`` its access record begins, NONE without
LATE = Column[OpRow, OpRow](5)  # the same word of an entry LEAVES: the instruction that it is for
MASK = _Word(6)  # active lanes
SEQUENCE = _Word(7)  # order of issue in its SM
TICKETS = _Word(8)  # transactions that are not back
TO_SEND = _Word(9)  # transactions still to send, or conflict cycles
UNITS = Column[OpRow, UnitsRow](10)
ISSUED = _Word(11)  # cycle
ENTERED = _Word(12)  # cycle in which it entered its collector
CURSOR = _Word(13)  # where in ``Core.slab`` its next transaction is; see LEAVES and EXTRA
SENT_AT = _Word(14)  # cycle in which it entered the load-store queue
READY_AT = _Word(15)  # cycle in which its operands are there
LINK = _Word(16)  # + k: the next write after its k-th result in the queue of a bank

TIMER, LEAVES, EXTRA = Pc(-2), Pc(-3), Pc(-4)
"""PC of entries that wake a warp, let a cell (result CURSOR of LATE) leave the scoreboard, or are an access of bank
CURSOR that nobody waits for.
"""
