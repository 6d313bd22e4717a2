"""LARF, the locality-aware register file: loads of the same words share a register (thesis of 2021, chapter 5).

Every global load looks its addresses up in the address mapping table of its SM: base, one stride and the active lanes,
with the physical register that holds the data (§5.5.2, Figure 5.5).

- *Perfect sharing* (§5.3.1): an entry has the same base and stride, and at least the lanes of the load.  The
  destination is renamed to that physical register.  Nothing is read, written or sent.
- *Partial sharing* (§5.3.2): one or two registers hold the words in other lanes.  A collector slot of its own reads
  them from their banks, shifts and merges them, and the result is written to a new physical register.
- *Miss*: a new physical register gets an entry, the oldest one leaves a full table, and the load goes to memory.

Registers are renamed as in ``virtualization``: from their first write to their last read.  References to physical
registers are counted; a register without any is free, and its entry is deleted.  A store or an atomic deletes the
entries of which it changes a byte.

With ``versions``, shared values are compared with a shadow memory (`load_sharing.shadow`), and the
events say what it found.

Where the text is silent:

- *Loads under way.*  A hit on an entry whose data are not back waits for them.  At most 60 loads and reads wait for one
  register; others go to memory.  Other readings are ``pending``: with ``miss``, an entry is found only once its data
  are there; with ``complete``, a load is complete at its operand collector as the Discussions of §5.5.2 word it, data
  or not, which no hardware could do.
- *Searches.*  A word that no entry covers alone costs a second access of the table, the search for two entries that do:
  one access of an associative table, each of whose entries finds its distance to the base that is asked for.  A table
  that is read base by base would need 62, for the 31 bases below and above.  ``searched`` counts these searches.
- *Merged registers* get no entry (``enters_merged``: they do).  One register with lanes to spare is merged alone.
- *Fewer lanes* than an entry has are a hit: the other lanes of the destination hold data that nothing reads.
- *Pairs and vectors*: each word of 32 bits has a register and an entry.  A load shares only if all its words can.
  Loads of bytes and half-words, and texture fetches, do not share.
- *Strides* are 0 to 1020 bytes and multiples of four, as 8 bits hold; other loads are irregular and do not share.  A
  base is an address of 64 bits here; the printed entry has 32 of them.
- *Predicated loads and divergent code*: if a lane that is not loaded may need its old value, a hit is merged into a
  register of its own, and a miss reads the old register for those lanes.  Entries name only lanes that were loaded.
- *Partial writes* to a shared register go to a new one, and the old one is read for the other lanes.
- *Sources* read where their register was at issue; a register that is renamed before they are read is kept for them.
- *Barriers* change nothing: stores of the SM have deleted their entries when they were sent.
- *Other SMs.*  Nothing tells an SM what others store.  After a fence (not of the thread block), an atomic with a
  result, and a volatile or ordered load, the table is emptied; while one of the last two is under way, no load of its
  warp shares.  Until then a load may return an older value than memory has, as the memory model allows without order.
- *Volatile and ordered loads* always go to memory.
- *Ends*: a warp that ends releases its registers, and their entries go.  The table of a kernel begins empty.
- *No free register*: a load goes to memory without an entry; a result is written without renaming and counted
  (``unplaced``), which takes more live values than the register file holds.

Limits: a replay has no addresses: there registers are renamed, and no load shares.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import Declaration, Logic, Program, Residency, Structure, Table, parameter
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.load_sharing.events import EVENTS, RESOURCES
from warpreg.designs.parts.load_sharing.hints import LoadHints, load_hints
from warpreg.designs.parts.load_sharing.hooks import (
    collected,
    load_lookup,
    memory_issued,
    plan_reads,
    produced,
    warp_end,
)
from warpreg.designs.parts.load_sharing.parts import added_hardware, checked_residency, register_file
from warpreg.designs.parts.load_sharing.state import JOIN, PENDING_RULES, State, empty
from warpreg.gpu.machine import Machine

__all__ = ["collected", "compile", "load_lookup", "memory_issued", "plan_reads", "produced", "warp_end"]

DESIGN = Declaration(
    slot="mapping", source="larf §5.3, §5.5", order="sm", events=EVENTS, resources=RESOURCES, lanes=True
)


@dataclass(frozen=True)
class Parameters:
    """Size of the address mapping table, and options."""

    enabled: bool = parameter(True, source="assumed: off, the plain register file")
    entries: int = parameter(
        400,
        unit="entries",
        low=1,
        high=65536,
        source="larf §5.6.1: 400; 100 to 400 (§5.4); as many as physical registers: unlimited",
    )
    partial: bool = parameter(True, source="larf §5.3.2: two registers may be merged")
    enters_merged: bool = parameter(False, source="assumed: §5.5.2 enters loads that are sent to memory")
    pending: str = parameter(
        JOIN,
        choices=PENDING_RULES,
        source="assumed: a load waits for the data of an entry that are under way; §5.5 does not say",
    )
    merge_cycles: int = parameter(
        4, unit="cycles", low=1, high=64, source="assumed: two reads, SHIFT and OR in the slot of §5.5.2"
    )
    physical: int = parameter(
        2048, unit="warp-registers", low=32, high=65536, machine="warp_registers", source="larf §5.6.4"
    )
    banks: int = parameter(
        16, unit="banks", low=1, high=64, machine="register_file.banks", source="assumed: as the machine"
    )
    renaming_stages: int = parameter(
        1, unit="cycles", low=0, high=8, source="assumed: as the renaming table of virtualization (§5.5.1)"
    )
    versions: bool = parameter(False, source="assumed: compare shared values with a shadow memory")


def residency(parameters: Parameters, program: Program, machine: Machine) -> Residency:
    """That of the plain register file."""
    return checked_residency(parameters.physical, parameters.banks, program, machine)


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> LoadHints:
    """What loads may share, what stores change, and where registers are dead."""
    return load_hints(program, analysis)


def init(parameters: Parameters, program: Program) -> State:
    """An empty register file and an empty table."""
    return empty(
        program,
        parameters.physical,
        parameters.banks,
        parameters.entries,
        enabled=parameters.enabled,
        partial=parameters.partial,
        enters_merged=parameters.enters_merged,
        pending=parameters.pending,
        merge_cycles=parameters.merge_cycles,
        versioned=parameters.versions,
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """The register file, gated."""
    return register_file(parameters.enabled)


def hardware(parameters: Parameters) -> tuple[Table | Logic, ...]:
    """Renaming table, address mapping table, and the slot for merging."""
    if not parameters.enabled:
        return ()
    return added_hardware(parameters.physical, parameters.banks, parameters.renaming_stages, parameters.entries)
