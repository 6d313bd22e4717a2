"""SMs in the memory system."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Sms = NewType("Sms", int)
_Word = Column[Sms, int]

RETURNS = _Word(0)  # length of its heap of returns
FREE_AT = _Word(1)  # ticks: when its first-level cache, or its port, is free
INJECT_AT = _Word(2)  # cycles: when its port to the network is free
EJECT_AT = _Word(3)  # cycles: when its port from the network is free
BLOCKED = _Word(4)  # transaction that the cache could not accept, or NONE
MISSES = _Word(5)  # miss registers in use: lines in flight, or sectors
UNDER_WAY = _Word(6)  # transactions in flight
WOKEN = _Word(7)  # whether the transaction that blocks it may proceed
CHOSEN_BY = _Word(8)  # queue of the reply that it accepts in this cycle, or NONE
GIVEN_BACK = _Word(9)  # tickets pushed to its heap
FIRST_ANSWER = _Word(10)  # first of the answers on their way to it, NONE if there are none
LAST_ANSWER = _Word(11)
UNBLOCKED_AT = _Word(12)  # when a transaction that waited has proceeded, until the SM is stepped; else NEVER
BANKS_TAKEN = _Word(13)  # banks of its first-level cache that a look-up of TAKEN_AT uses
TAKEN_AT = _Word(14)  # cycle of the last look-up, NONE before the first
RETURN_AT = _Word(15)  # when the first ticket returns; NEVER if none does
LEVEL = _Word(16)  # level of memory that has answered its last ticket, in a run that asks
COUNT = 24  # a multiple of a cache line of the host
