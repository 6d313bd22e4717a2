"""The clock: state of the whole run; if several threads step its SMs, each has a clock of its own."""

from __future__ import annotations

from warpreg.gpu.pipes import PIPES
from warpreg.timing.core.columns.typed import Clock, Column, OpRow
from warpreg.timing.core.counters import NAMES

_Word = Column[Clock, int]
FIRST_COUNTER = 14
AFTER_COUNTERS = FIRST_COUNTER + len(NAMES)


def _counter(name: str) -> Column[Clock, int]:
    """A counter of `warpreg.timing.core.counters`."""
    return _Word(FIRST_COUNTER + NAMES.index(name))


UNTIL = _Word(0)  # SMs may be stepped up to this cycle, exclusive
NEXT_BLOCK = _Word(1)  # thread block that is dispatched next; a later one may be if other threads dispatch too
LOADED_BLOCKS = _Word(2)
FIRST_LOADED = _Word(3)  # thread block of the first entry at STARTS
TOTAL_BLOCKS = _Word(4)
ENDED_BLOCKS = _Word(5)
FREE_OP = Column[Clock, OpRow](6)  # list of released operations
FREE_OPS = _Word(7)  # free operations, released or never used
LAST_PROGRESS = _Word(8)  # last cycle in which an instruction issued
MIN_OPS = _Word(9)  # operations that one step of an SM may allocate
STEPS_TAKEN = _Word(10)
STARTS = _Word(11)  # index in ``Core.slab`` of the starts of paths and records of each loaded warp
OVERFLOW = _Word(12)  # what hooks did wrong: 1, more than the buffers hold; -1 - load: that load is not held
LAST_LEFT = _Word(13)  # last cycle in which a thread block left
WARP_INSTRUCTIONS = _counter("warp_instructions")
BANK_CONFLICTS = _counter("bank_conflicts")
WRITE_CONFLICTS = _counter("write_conflicts")
COLLECTED = _counter("collected")
COLLECT_CYCLES = _counter("collect_cycles")
COLLECTED_MEMORY = _counter("collected_memory")
COLLECT_CYCLES_MEMORY = _counter("collect_cycles_memory")
LATCH_CYCLES = _counter("latch_cycles")
TRANSACTIONS = _counter("transactions")
MEMORY_LOADS = _counter("memory_loads")
MEMORY_LOAD_CYCLES = _counter("memory_load_cycles")
SHARED_READS = _counter("shared_reads")
SHARED_ACROSS = _counter("shared_across")
DISPATCHED = _Word(AFTER_COUNTERS)  # + pipe: instructions dispatched
WAITED = _Word(AFTER_COUNTERS + len(PIPES))  # + level of memory: cycles in which warps waited for it, if a run asks
AFTER_SUMS = AFTER_COUNTERS + len(PIPES) + 3
"""Columns from FIRST_COUNTER on, before this one, are summed over threads."""
MEMBER = _Word(AFTER_SUMS)  # number of its thread; 0 is the leader
MEMBERS = _Word(AFTER_SUMS + 1)  # threads
MEETINGS = _Word(AFTER_SUMS + 2)  # meetings of the threads since they were started
REST = _Word(AFTER_SUMS + 3)  # first turn of its other SMs; NONE while no thread waits for turns
REFUSED = _Word(AFTER_SUMS + 4)  # times that ``admit`` has refused since REFUSED_SINCE
REFUSED_SINCE = _Word(AFTER_SUMS + 5)  # last cycle in which an instruction had issued before it did
FRESH_OP = Column[Clock, OpRow](AFTER_SUMS + 6)  # first operation that was never used
COUNT = AFTER_SUMS + 7
