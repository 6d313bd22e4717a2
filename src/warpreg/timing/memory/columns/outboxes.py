"""Outboxes: requests that the SMs of a thread have sent, until the leader of the threads schedules them."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column

Outboxes = NewType("Outboxes", int)
_Word = Column[Outboxes, int]

FIRST = _Word(0)  # first of the nodes, linked by NEXT; NONE without any
LAST = _Word(1)
COUNT = 16  # cache lines of the host of its own
