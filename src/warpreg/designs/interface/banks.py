"""How operands are fetched: slices and row addresses of banks, and collectors that belong to warps.

A design file returns them from ``banks(parameters, machine)`` and ``collectors(parameters, machine)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpreg.designs.errors import DesignError

MAX_SLICES = 16
DISPATCH: tuple[str, ...] = ("oldest", "round-robin")
Dispatch = Literal["oldest", "round-robin"]


@dataclass(frozen=True, slots=True)
class Banks:
    """Slices and row addresses of a bank of the register file.

    ``slices``: equal parts of a bank's word that are accessed alone (bits of the argument ``slices`` of ``read``).
    ``row_addresses``: rows that one access names at most.  ``shares_port``: words of one instruction that share a bank
    access take one collector port, else one each.  ``across_instructions``: words of other instructions may join too.
    ``added``: banks of the design's own, with the numbers after those of the register file.
    """

    slices: int = 4
    row_addresses: int = 2
    shares_port: bool = True
    across_instructions: bool = False
    added: int = 0

    def __post_init__(self) -> None:
        for name, most in (("slices", MAX_SLICES), ("row_addresses", MAX_SLICES)):
            if not 1 <= (value := getattr(self, name)) <= most:
                raise DesignError(f"banks: {name} expects 1 to {most}, found {value}")
        if self.added < 0:
            raise DesignError(f"banks: added expects at least 0, found {self.added}")

    @property
    def shares(self) -> bool:
        """Whether words may share an access at all."""
        return self.slices > 1 or self.row_addresses > 1


MAX_READING = 63
"""Instructions of a warp that read at a time, at most: a set of them is one word of the timing core."""


@dataclass(frozen=True, slots=True)
class Collectors:
    """Collectors of which each warp slot owns one, in place of the machine's sets.

    ``entries``: source words that one of them holds, None for enough; an instruction with more is an error before the
    run.  ``instructions``: of its warp, issued and not yet dispatched, that it holds; the oldest ``reading`` of them
    ask the banks for their words.  ``operand_ports``: words that it takes in a cycle, 0 for any number; None as the
    machine.  ``dispatch``: which collector dispatches first, the one with the oldest instruction or all in turn.
    """

    per_warp: bool = True
    entries: int | None = None
    instructions: int = 1
    reading: int = 1
    operand_ports: int | None = None
    dispatch: Dispatch = "oldest"

    def __post_init__(self) -> None:
        for name, least in (("entries", 1), ("instructions", 1), ("reading", 1), ("operand_ports", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise DesignError(f"collectors: {name} expects at least {least}, found {value}")
        if self.reading > self.instructions:
            raise DesignError(
                f"collectors: reading expects at most {self.instructions} instructions, found {self.reading}"
            )
        if self.reading > MAX_READING:
            raise DesignError(f"collectors: reading expects at most {MAX_READING}, found {self.reading}")
        if self.dispatch not in DISPATCH:
            raise DesignError(f"collectors: dispatch expects one of {', '.join(DISPATCH)}, found {self.dispatch!r}")
        if not self.per_warp:
            raise DesignError("collectors: per_warp expects True: a machine's own sets need no collectors function")
