"""Counters, by SM."""

from __future__ import annotations

from typing import NewType

from warpreg.timing.core.columns.typed import Column
from warpreg.timing.core.prefetch import HOST_LINE

Counts = NewType("Counts", int)
_Word = Column[Counts, int]

NAMES: list[str] = []
"""Names of the counters, by column."""


def _counter(name: str) -> Column[Counts, int]:
    NAMES.append(name)
    return _Word(len(NAMES) - 1)


L1_HITS = _counter("l1_hits")  # transactions that hit in the first-level cache (loads only)
L1_MISSES = _counter("l1_misses")
L2_HITS = _counter("l2_hits")  # requests that hit in the second level
L2_MISSES = _counter("l2_misses")
DRAM_READS = _counter("dram_reads")  # sectors transferred from DRAM
DRAM_WRITES = _counter("dram_writes")
BURSTS = _counter("dram_bursts")
ROWS_OPENED = _counter("rows_opened")  # rows opened for bursts
SENT = _counter("sent")  # transactions sent
RETURNED = _counter("returned")
BLOCKS = _counter("blocks")  # transactions that had to wait in front of the first-level cache
PORT_TICKS = _counter("port_ticks")  # ticks in which the ports of the fixed model were busy
COUNT = -(-len(NAMES) // HOST_LINE) * HOST_LINE  # whole cache lines of the host
