"""What the core counts for the result of a run: each counter once, with its unit and what it counts.

A counter is a word of the clock (`columns.clock`), whose column has its name in capitals.  The result
of a run has it as a field; it is summed over threads and over launches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


def counted(unit: str) -> Any:
    """A counter, as a field."""
    return field(metadata={"unit": unit})


@dataclass(frozen=True, eq=False, kw_only=True)
class Counters:
    """Sums over a run of a launch, or of several in sequence."""

    warp_instructions: int = counted("warp-instructions")
    """Issued."""
    bank_conflicts: int = counted("banks times steps")
    """Banks with a read that was not granted, summed over steps."""
    write_conflicts: int = counted("writes")
    """Writes that found other writes in the queue of their bank."""
    collected: int = counted("warp-instructions")
    """Instructions without memory access that left their collector."""
    collect_cycles: int = counted("cycles")
    """Cycles that they spent in it, from entry to dispatch."""
    collected_memory: int = counted("warp-instructions")
    """Instructions with a memory access that left their collector."""
    collect_cycles_memory: int = counted("cycles")
    """Cycles that they spent in it, from entry to dispatch."""
    latch_cycles: int = counted("cycles")
    """Cycles from the issue of instructions that left their collector to their entry into it."""
    transactions: int = counted("transactions")
    """Transactions that the load-store units sent."""
    memory_loads: int = counted("warp-instructions")
    """Loads and atomics that were sent to memory and are complete."""
    memory_load_cycles: int = counted("cycles")
    """Cycles that they took, from entering the load-store queue to their data."""
    shared_reads: int = counted("words")
    """Words read in one access with another word of their instruction."""
    shared_across: int = counted("words")
    """Words read in one access with a word of another instruction."""

    design_reads_sm: int = counted("transactions")
    """Registers that a design fetched and memory inside the SM, its first-level cache, answered."""
    design_reads_l2: int = counted("transactions")
    """The same, answered by the second level."""
    design_reads_dram: int = counted("transactions")
    """The same, answered by DRAM."""
    design_writes_sm: int = counted("transactions")
    """Registers that a design sent to memory and memory inside the SM acknowledged."""
    design_writes_l2: int = counted("transactions")
    """The same, acknowledged by the second level."""
    design_writes_dram: int = counted("transactions")
    """The same, acknowledged by DRAM."""
    design_read_cycles: int = counted("cycles")
    """Cycles that the registers fetched took, from the call of `fetch` to the hook ``transferred``."""


NAMES = tuple(one.name for one in fields(Counters))
"""The counters, in the order of their columns."""
UNITS: Mapping[str, str] = {one.name: one.metadata["unit"] for one in fields(Counters)}
"""The unit of each."""
