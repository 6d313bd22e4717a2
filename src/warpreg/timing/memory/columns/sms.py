"""SMs, as the memory system sees them."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Sms = NewType("Sms", int)
_Word = Column[Sms, int]

RETURNS = _Word(0)  # length of its heap of returns
FREE_AT = _Word(1)  # ticks: when its first-level cache, or its port, is free
INJECT_AT = _Word(2)  # cycles: when its port into the network is
EJECT_AT = _Word(3)  # cycles: when its port out of it is
BLOCKED = _Word(4)  # the transaction that the cache could not take, or NONE
MISSES = _Word(5)  # lines that it waits for
UNDER_WAY = _Word(6)  # transactions
WOKEN = _Word(7)  # whether what blocks it may be gone
CHOSEN_BY = _Word(8)  # the queue whose first packet it takes next
GIVEN_BACK = _Word(9)  # tickets that were put into its heap
FIRST_ANSWER = _Word(10)  # first of the answers on their way to it, NONE without
LAST_ANSWER = _Word(11)
COUNT = 16  # a multiple of a cache line of the host, or a part of one
