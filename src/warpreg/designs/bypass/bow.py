"""Bypassing operand collectors that write through: a window of recent instructions (BOW, thesis chapter 3).

Every warp owns a collector.  It holds the registers that the last ``window`` instructions of the warp have read or
written.  A source that is there is forwarded; any other is read from the MRF and stays.  Every result is written to the
collector and to the MRF, so nothing is written when a register leaves (section 3.4.1).  ``bow-wr`` writes back.

Time is counted in instructions that the warp issues, of any kind.  With the *extended* window each read keeps a
register for another ``window`` instructions.  The oldest instruction leaves before the next one looks its sources up
(``eviction``): so a register that was last used three instructions ago is not forwarded with a window of 3, as in
Figure 3.6 and in the write-back column of Table 3.1.  Section 3.4.1 names the other order, which is an option.  With a
window of 1 nothing is forwarded, every result goes to the MRF, and the machine has its plain collectors.

In a timing run, the collector holds the instructions of the window that are not dispatched.  All of them (or the oldest
``reading``) read their operands at the same time through one port (``ports``), and collectors dispatch in turn (section
3.4.1).  A forwarded source needs
no bank and no port and is there when its instruction enters.  A source takes its entry when its instruction issues.  A
result enters when it leaves its unit or memory; instructions that need it may then issue, even if its bank is busy.  A
register that leaves is written to its bank, for which it competes.

Where the thesis is silent:
- the collector accesses that are counted are those that a plain collector does not have: forwarded sources and
  results;
- a source that an instruction names twice is read from the MRF once;
- all sources of an instruction are looked up before one of them takes an entry; in a full collector the entry made
  first is evicted (section 3.4.3), whether or not it has been used since;
- a result that overwrites a register in all lanes frees its old entry when it issues, and takes a new one;
- each word of a 64-bit pair or of a vector is a register of its own;
- the results of one instruction enter in operand order;
- a result under a guard or in divergent code writes some lanes.  It joins the register's entry, or takes an entry of
  these lanes; a read of other lanes completes the entry from the MRF (``merged_reads``);
- instructions whose guard is false in all lanes, branches and barriers count as instructions of the window;
- the collector keeps its registers while the warp waits, at barriers, and when it is descheduled; calls are inlined;
- a result whose instruction has left the window before it arrives (``late``) is written to the MRF only; results of
  ALUs are late, too, if their warp issues enough other instructions meanwhile;
- two instructions that read the same register in turn share its entry even if it is still being read;
- the port of a collector goes to the bank with the lowest number, not to the older instruction;
- entries of a warp that has ended are dropped.
"""

from dataclasses import dataclass

import numpy as np

from warpreg.designs.interface import Declaration, Program
from warpreg.designs.parts.hints.partial_results import compile
from warpreg.designs.parts.storage.bypass_hooks import (
    State,
    collectors,
    empty_state,
    hardware,
    plan_reads,
    produced,
    structures,
    warp_end,
)
from warpreg.designs.parts.storage.bypass_parameters import (
    entries_parameter,
    eviction_parameter,
    extended_parameter,
    ports_parameter,
    reading_parameter,
    window_parameter,
)
from warpreg.designs.parts.storage.bypass_window import EVENTS, RESOURCES
from warpreg.designs.parts.window.destinations import Destination

__all__ = ["State", "collectors", "compile", "hardware", "plan_reads", "produced", "structures", "warp_end"]

DESIGN = Declaration(
    slot="levels", levels=("MRF", "BOC"), events=EVENTS, resources=RESOURCES, source="bow §3.4.1, §3.4.3"
)


@dataclass(frozen=True)
class Parameters:
    """Parameters of the collectors."""

    window: int = window_parameter()
    entries: int = entries_parameter()
    extended: bool = extended_parameter()
    eviction: str = eviction_parameter()
    reading: int = reading_parameter()
    ports: int = ports_parameter()


def init(parameters: Parameters, program: Program) -> State:
    """An empty collector for each warp.  Raises DesignError if it cannot hold the sources of an instruction."""
    return empty_state(
        "bow",
        program,
        np.full(program.result.size, Destination.BOTH, np.uint8),
        parameters,
        writes_back=False,
    )
