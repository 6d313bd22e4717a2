"""The clock: numbers of the whole run."""

from __future__ import annotations

from warpreg.gpu.pipes import PIPES
from warpreg.timing.core.columns.typed import Clock, Column, OpRow

_Word = Column[Clock, int]

UNTIL = _Word(0)  # SMs may be stepped up to this cycle
NEXT_BLOCK = _Word(1)  # the thread block that is placed next
LOADED_BLOCKS = _Word(2)
FIRST_LOADED = _Word(3)  # thread block of the first entry at STARTS
TOTAL_BLOCKS = _Word(4)
ENDED_BLOCKS = _Word(5)
FREE_OP = Column[Clock, OpRow](6)  # list of the operations that were given back
FREE_OPS = _Word(7)  # operations that are free, given back or fresh
LAST_PROGRESS = _Word(8)  # the last cycle in which an instruction issued
LEAST_OPS = _Word(9)  # operations that a step of an SM may take
STEPS_TAKEN = _Word(10)
STARTS = _Word(11)  # where in ``Core.slab`` the paths and records of each loaded warp are said
OVERFLOW = _Word(12)  # whether hooks asked for more than there is room for
INSTRUCTIONS = _Word(13)
BANK_WAITS = _Word(14)  # banks with a read left over, summed over steps
WRITE_WAITS = _Word(15)  # writes that found others in the queue of their bank
COLLECTED = _Word(16)  # instructions without memory access that left their collector
COLLECT_CYCLES = _Word(17)  # cycles that they were in it
COLLECTED_MEMORY = _Word(18)  # those with a memory access
COLLECT_CYCLES_MEMORY = _Word(19)
TRANSACTIONS = _Word(20)
MEMORY_LOADS = _Word(21)
MEMORY_LOAD_CYCLES = _Word(22)
LAST_LEFT = _Word(23)  # the last cycle in which a thread block left
PLACING = _Word(24)  # SMs that wait for their turn to take a thread block
FRESH_OP = Column[Clock, OpRow](25)  # the first operation that nobody has taken yet
DISPATCHED = _Word(26)  # + pipe: instructions dispatched
COUNT = 26 + len(PIPES)
