"""Words that describe one operand of an instruction in flight.

An operand word describes a source or a result, see `ports.source_word` and `ports.result_word`.  A write word is an
entry in the write queue of a bank: ``op << WORD_BITS | k`` for the k-th result of an operation.
"""

from __future__ import annotations

from warpreg.timing.core.typed import OpRow

SAYS_BANK = 255
ALSO_ELSEWHERE = 256
CYCLE_SHIFT = 8
RESULT_SHIFT = 9

MERGED_WITH = -(1 << 32)
"""A source word of ``MERGED_WITH - k``, where it matters: the source arrives with the k-th one."""

WORD_BITS = 6
WORD_MASK = 63


def op_of(write: int) -> OpRow:
    """The operation of a write word."""
    return write >> WORD_BITS  # type: ignore[return-value]
