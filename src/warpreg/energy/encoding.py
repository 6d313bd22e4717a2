"""Power overhead of extra instruction bits (Gebhart et al., MICRO 2011, section 6.5).

Fetch, decode and schedule are 15% of a chip's dynamic power, a third each (the paper's assumption); fetch and decode
grow in proportion to the bits of an instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.energy.errors import EnergyError

FETCH_DECODE_SCHEDULE = 0.15
FETCH_DECODE = FETCH_DECODE_SCHEDULE * 2 / 3
INSTRUCTION_BITS = 32
"""Not printed; 1 bit is taken to be 3%."""


@dataclass(frozen=True, slots=True)
class EncodingOverhead:
    """The added share of fetch and decode energy, and of the chip's dynamic power."""

    of_fetch_decode: float
    of_dynamic: float


def encoding_overhead(bits: int) -> EncodingOverhead:
    """The overhead of ``bits`` additional bits per instruction.  Raises EnergyError for a negative number."""
    if bits < 0:
        raise EnergyError(f"encoding: expected 0 bits or more, found {bits}")
    share = bits / INSTRUCTION_BITS
    return EncodingOverhead(share, share * FETCH_DECODE)
