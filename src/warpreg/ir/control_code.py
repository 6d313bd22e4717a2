"""Control code of a machine instruction: how the compiler orders instructions on sm_70 and later.

Sources: CuAssembler ``CuControlCode.py`` and Mesa NAK ``sm70_encode.rs`` for the fields; Huerta et al., "Dissecting and
Modeling the Architecture of Modern GPU Cores" (MICRO 2025), section 4, for their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

COUNTERS = 6
"""Dependence counters of a warp, SB0 to SB5."""

FIRST_BIT = 41
"""The first bit of the code in the upper 64 bits of an instruction."""

NO_COUNTER = 7


@dataclass(frozen=True, slots=True)
class ControlCode:
    """``stall``: cycles until the warp may issue again (0 to 15).  ``yields``: another warp is preferred next.
    ``write``: the counter that is incremented, and decremented when the result is written; ``read``: likewise, when the
    sources have been read; None without one.  ``waits``: the counters that must be 0 before it issues, one bit each."""

    stall: int = 1
    yields: bool = False
    write: int | None = None
    read: int | None = None
    waits: int = 0

    @classmethod
    def decoded(cls, upper: int) -> ControlCode:
        """The code in the upper 64 bits of an encoded instruction.  The bit of ``yields`` is inverted there."""
        code = upper >> FIRST_BIT
        write, read = code >> 5 & 7, code >> 8 & 7
        return cls(
            stall=code & 15,
            yields=not code >> 4 & 1,
            write=None if write == NO_COUNTER else write,
            read=None if read == NO_COUNTER else read,
            waits=code >> 11 & 63,
        )

    def __str__(self) -> str:
        """As in listings: ``B01----:R-:W1:Y:S04``, the counters that it waits for, then R, W, yield and stall."""
        waits = "".join(str(n) if self.waits >> n & 1 else "-" for n in range(COUNTERS))
        read, write = ("-" if one is None else str(one) for one in (self.read, self.write))
        return f"B{waits}:R{read}:W{write}:{'Y' if self.yields else '-'}:S{self.stall:02}"
