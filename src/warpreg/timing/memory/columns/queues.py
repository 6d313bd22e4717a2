"""Queues of nodes, which are linked by their NEXT."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Queues = NewType("Queues", int)
_Word = Column[Queues, int]

HEAD = _Word(0)  # its first node
TAIL = _Word(1)  # its last one
LENGTH = _Word(2)  # how many they are
EXPECTED = _Word(3)  # how many are on their way to it
COUNT = 4
