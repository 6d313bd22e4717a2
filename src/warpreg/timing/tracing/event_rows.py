"""Rows of recorded events: eight int32 words in the core, a structured array outside."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

KIND, SM, SLOT, UNIT, PC, SEQUENCE, CYCLE, VALUE = range(8)
"""Words of a row.  Of a span, SEQUENCE is the number of its cycles."""
WORDS = 8


class Kind(IntEnum):
    """What happened, and the meaning of ``unit`` and ``value``; 0 where nothing is said."""

    ISSUE = 0
    """An instruction issued: scheduler; index of its thread block."""
    ENTER = 1
    """It entered an operand collector: collector."""
    READ = 2
    """A bank granted a source: bank; source operands that the grant serves."""
    DISPATCH = 3
    """It went to a unit or the load-store queue: pipe."""
    RESULT = 4
    """Its results are there, or its store is acknowledged."""
    WRITE = 5
    """A bank served the write of a result: bank."""
    EXTRA = 6
    """A bank served an access that belongs to no operand: bank.  It has no instruction."""
    DONE = 7
    """The instruction is complete."""
    STATE = 8
    """Span: a warp slot has one cause of the stall account: cause."""
    COUNTED = 9
    """Hooks have counted: counter as in `warpreg.timing.tracing.buffers.counters`; how much."""
    RESOURCE = 10
    """Span: a quantity of the design in an SM: resource; its value."""


SPANS = (Kind.STATE, Kind.RESOURCE)

EVENT = np.dtype(
    [
        ("launch", np.int32),
        ("cycle", np.int64),
        ("cycles", np.int64),
        ("sm", np.int32),
        ("kind", np.int32),
        ("slot", np.int32),
        ("unit", np.int32),
        ("pc", np.int32),
        ("sequence", np.int64),
        ("value", np.int64),
    ]
)
"""An event outside the core.  ``cycle`` counts from the start of the run, ``sequence`` from that of the launch, by SM;
``cycles`` is 1 except for spans.  -1 is no slot, no instruction (``pc``) and no ``sequence``.
"""
