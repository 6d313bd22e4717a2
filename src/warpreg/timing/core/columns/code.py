"""Instructions: one row per pc.

The set of cells that an instruction reads or writes begins at NEED; the set of those that it writes follows.
"""

from __future__ import annotations

from warpreg.timing.core.columns.typed import Column, Pc

_Word = Column[Pc, int]

PIPE = _Word(0)  # one of `warpreg.gpu.pipes.PIPES`
LATENCY = _Word(1)
INITIATION = _Word(2)  # cycles until a unit accepts the next instruction
KIND = _Word(3)  # memory operation, see `warpreg.timing.core.access_record`
FLAGS = _Word(4)
WAIT_CLASS = _Word(5)  # wait class of its results (index of `causes.WAITS`), with LONG_BIT
READS = _Word(6)  # first row in ``Core.lists`` of its sources, each register once
READS_END = _Word(7)
WRITES = _Word(8)  # first row of its results
WRITES_END = _Word(9)
ALL_READS = _Word(10)  # first row of all source operands
ALL_READS_END = _Word(11)
LEAD = _Word(12)  # with a read window, of variable latency: cycles from issue to dispatch, at least; otherwise 0
CONTROL = _Word(13)  # control code, see STALL_BITS to LIMIT_SHIFT; 0 without one
LOCAL_LATENCY = _Word(14)  # cycles from its last conflict cycle to its results, if it differs from the machine's
CONSTANT = _Word(15)  # 1 + the line of the constant that it reads, with constant caches; 0 for none
NEED = _Word(16)
COUNT = 16
"""Number of columns before the sets."""

BARRIER, FENCE, SUSPENDS, LONG, COPIES_ONE, COMMITS, AWAITS, WAITS_FOR_ALL = 1, 2, 4, 8, 16, 32, 64, 128
NUMBER_SHIFT, COUNT_SHIFT = 8, 12
"""FLAGS of a barrier with a count: its number in four bits, and above them the number of warps.  FLAGS of a wait for
asynchronous copies: groups that may remain in flight, in the same four bits.
"""
BARRIERS = 16

STALL_BITS = 63
"""CONTROL: cycles from issue to the next issue of the warp, at least."""
WRITE_SHIFT, READ_SHIFT, LIMIT_SHIFT, ALLOWED_SHIFT = 6, 9, 12, 15
"""CONTROL: the counter of its results, that of its sources, that of which it allows a number, in three bits each, as
the number of the counter plus 1 (0: none); then the number that it allows.
"""

CLASS_BITS = 7
LONG_BIT = 8
"""WAIT_CLASS: mask of the class, and flag of a long latency."""
