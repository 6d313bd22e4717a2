"""The clock: state of the whole run; if several threads step its SMs, each has a clock of its own."""

from __future__ import annotations

from warpreg.gpu.pipes import PIPES
from warpreg.timing.core.columns.typed import Clock, Column, OpRow

_Word = Column[Clock, int]

UNTIL = _Word(0)  # SMs may be stepped up to this cycle, exclusive
NEXT_BLOCK = _Word(1)  # thread block that is dispatched next; a later one may be if other threads dispatch too
LOADED_BLOCKS = _Word(2)
FIRST_LOADED = _Word(3)  # thread block of the first entry at STARTS
TOTAL_BLOCKS = _Word(4)
ENDED_BLOCKS = _Word(5)
FREE_OP = Column[Clock, OpRow](6)  # list of released operations
FREE_OPS = _Word(7)  # free operations, released or never used
LAST_PROGRESS = _Word(8)  # last cycle in which an instruction issued
LEAST_OPS = _Word(9)  # operations that one step of an SM may allocate
STEPS_TAKEN = _Word(10)
STARTS = _Word(11)  # index in ``Core.slab`` of the starts of paths and records of each loaded warp
OVERFLOW = _Word(12)  # what hooks did wrong: 1, more than the buffers hold; -1 - load: that load is not held
INSTRUCTIONS = _Word(13)
BANK_WAITS = _Word(14)  # banks with a read that was not granted, summed over steps
WRITE_WAITS = _Word(15)  # writes that found other writes in the queue of their bank
COLLECTED = _Word(16)  # instructions without memory access that left their collector
COLLECT_CYCLES = _Word(17)  # cycles that they spent in it
COLLECTED_MEMORY = _Word(18)  # instructions with a memory access that left their collector
COLLECT_CYCLES_MEMORY = _Word(19)
TRANSACTIONS = _Word(20)
MEMORY_LOADS = _Word(21)
MEMORY_LOAD_CYCLES = _Word(22)
LAST_LEFT = _Word(23)  # last cycle in which a thread block left
LATCH_CYCLES = _Word(24)  # cycles from the issue of instructions that left their collector to their entry into it
FRESH_OP = Column[Clock, OpRow](25)  # first operation that was never used
SHARED_READS = _Word(26)  # words read together with another one of their instruction
SHARED_ACROSS = _Word(27)  # words read together with one of another instruction
DISPATCHED = _Word(28)  # + pipe: instructions dispatched
WAITED = _Word(28 + len(PIPES))  # + level of memory: cycles in which warps waited for it, in a run that asks
MEMBER = _Word(31 + len(PIPES))  # number of its thread; 0 is the leader
MEMBERS = _Word(32 + len(PIPES))  # threads
MEETINGS = _Word(33 + len(PIPES))  # meetings of the threads since they were started
REST = _Word(34 + len(PIPES))  # first turn of its other SMs; NONE while no thread waits for turns
REFUSED = _Word(35 + len(PIPES))  # times that ``admit`` has refused since REFUSED_SINCE
REFUSED_SINCE = _Word(36 + len(PIPES))  # last cycle in which an instruction had issued before it did
COUNT = 37 + len(PIPES)
