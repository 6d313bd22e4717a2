"""Nodes: transactions and requests under way."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Nodes = NewType("Nodes", int)
_Word = Column[Nodes, int]

TICKET = _Word(0)
SM = _Word(1)  # whose it is
KIND = _Word(2)  # see `warpreg.timing.core.access_record`
LINE = _Word(3)
SECTORS = _Word(4)
NEED = _Word(5)  # sectors that it waits for
NEXT = _Word(6)  # in a chain, a queue or the free list
STAGE = _Word(7)  # what its event does: one of ARRIVE and those behind it
FILLS = _Word(8)  # the cache line that it fills when it comes back, or NONE
ORDER = _Word(9)  # its place in the order in which it entered a controller or the network
ROW = _Word(10)  # of a burst
FREE_FROM = _Word(11)  # the cycle from which a packet may move, or in which an answer is there
KEY = _Word(12)  # what its event is sorted by
ASKED_BY = _Word(13)  # the transaction that a request was made for, or NONE
COUNT = 16  # a multiple of a cache line of the host, or a part of one

ARRIVE, FILLED, REPLY, DELIVER, LEAVE = range(5)
"""A request reaches its slice; DRAM has its sectors; the slice answers; its SM has the answer; it leaves its SM."""
