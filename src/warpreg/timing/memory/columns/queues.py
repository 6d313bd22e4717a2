"""Queues of nodes, linked by NEXT."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Queues = NewType("Queues", int)
_Word = Column[Queues, int]

HEAD = _Word(0)  # first node
TAIL = _Word(1)  # last node
LENGTH = _Word(2)  # number of nodes
EXPECTED = _Word(3)  # number of nodes on their way to it
COUNT = 4
