"""Nodes: transactions and requests in flight."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Nodes = NewType("Nodes", int)
_Word = Column[Nodes, int]

TICKET = _Word(0)
SM = _Word(1)  # SM that sent it
KIND = _Word(2)  # see `warpreg.timing.core.access_record`
LINE = _Word(3)
SECTORS = _Word(4)
NEED = _Word(5)  # sectors that it waits for
NEXT = _Word(6)  # next node in a chain, a queue or the free list
STAGE = _Word(7)  # kind of its event: ARRIVE or one of those after it
FILLS = _Word(8)  # cache line that it fills on return, or NONE
ORDER = _Word(9)  # order in which it entered a controller or the network
ROW = _Word(10)  # DRAM row of a burst
FREE_FROM = _Word(11)  # first cycle in which a packet may move or an answer is available
KEY = _Word(12)  # sort key of its event
ASKED_BY = _Word(13)  # transaction that a request was made for, or NONE
LEVEL = _Word(14)  # level of memory that answers, in a run that asks
SLICE = _Word(15)  # slice of its line, of a request that has left its first level and of a read of DRAM
COUNT = 16  # a multiple or a fraction of a cache line of the host

ARRIVE, FILLED, REPLY, LEAVE = range(4)
"""Events: a request reaches its slice; DRAM has read its sectors; the slice answers; the request leaves its SM."""
