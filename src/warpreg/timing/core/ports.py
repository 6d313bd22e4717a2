"""Where the core asks something outside: the memory system, and the designs.

The functions here are what holds without a design.  A run puts the memory model's functions and what the designs'
hooks make of the others in their place before anything is compiled, so what nobody defines leaves no code.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.plan import GO
from warpreg.timing.core import operand_word
from warpreg.timing.core.columns import code, machine, warps
from warpreg.timing.core.columns.typed import (
    NEVER,
    NONE,
    CollectorRow,
    OpRow,
    Pc,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
)
from warpreg.timing.core.state import Core


def accepts(memory: Any, sm: SmRow, now: int) -> bool:
    """Whether memory takes a transaction of this SM now."""
    return False


def expect(memory: Any, sm: SmRow, line: int) -> None:
    """The SM is about to send it one; a hint that changes nothing."""


def send(memory: Any, sm: SmRow, kind: int, line: int, sectors: int, ticket: OpRow, now: int) -> None:
    """Give it one; the ticket comes back once."""


def look_ahead(memory: Any, soonest: int, until: int) -> int:
    """Let memory do what SMs cannot change any more that have been stepped up to ``until`` and do nothing before
    ``soonest``; returns up to where what comes back to them is known, NEVER if nothing will happen.
    """
    return soonest + 1


def settle(memory: Any, sm: SmRow, now: int) -> None:
    """Take what has come back to the SM."""


def awaited(memory: Any, sm: SmRow) -> OpRow:
    """A ticket that comes back to the SM soon, NONE where that is not known; a hint."""
    return NONE


def next_return(memory: Any, sm: SmRow) -> int:
    """When something may come back to the SM, as far as is known."""
    return NEVER


def returned(memory: Any, sm: SmRow, now: int) -> OpRow:
    """Take one ticket that is back, NONE without."""
    return NONE


def retry(memory: Any, sm: SmRow, now: int) -> int:
    """When memory may accept again; NEVER: not before something comes back."""
    return now + 1


MEMORY: tuple[Any, ...] = (accepts, expect, send, look_ahead, settle, awaited, next_return, returned, retry)
"""The ports that a memory model fills, all of them."""


def is_two_level(c: Core) -> bool:
    """Whether schedulers have active sets."""
    return c.machine[machine.ACTIVE_WARPS] != 0


def is_ideal(c: Core) -> bool:
    """Whether the operand path is ideal."""
    return c.machine[machine.IDEAL] != 0


def collect(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Phase 2; returns when a collector that waits for a unit may go on."""
    return NEVER


def is_collecting(c: Core, sm: SmRow) -> bool:
    """Whether the operand path has work in the next cycle that is there already."""
    return False


def may_refuse(c: Core, row: SchedulerRow) -> int:
    """The pipes of a scheduler that may have no room for an instruction."""
    return 0


def refuses(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> bool:
    """Whether a pipe has no room for an instruction."""
    return False


def waits_for(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> UnitsRow:
    """The row of the units that a pipe that refuses waits for, NONE if operands are what it waits for."""
    return NONE


def take(c: Core, d: Any, sm: SmRow, row: SchedulerRow, pipe: int, pc: Pc, op: OpRow, now: int) -> None:
    """The operand path takes an instruction that issues."""


def admit(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, now: int) -> int:
    """GO, or a token."""
    return GO


def plan_reads(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    """An instruction issues: where its operands come from."""


def plan_write(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    """Where its results go."""


def first_read(c: Core, pc: Pc) -> int:
    """Where the sources that are asked for begin in ``lists``: each register once, or every operand if it matters."""
    return c.code[pc, code.READS]


def end_of_reads(c: Core, pc: Pc) -> int:
    """Where they end."""
    return c.code[pc, code.READS_END]


def source_word(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, row: int) -> int:
    """Bank of the k-th source | its cycles beyond one << CYCLE_SHIFT; ``-1 - cycles`` if it asks for no bank."""
    return _listed_bank(c, warp, row)


def same_word(c: Core, first: int, k: int, row: CollectorRow, word: int) -> int:
    """The earlier source whose grant serves this one too, NONE without."""
    return NONE


def ideal_cycles(c: Core, d: Any, op: OpRow, pc: Pc) -> int:
    """With the ideal operand path: cycles until all operands are there."""
    return 0


def result_word(c: Core, d: Any, warp: WarpRow, op: OpRow, row: int) -> int:
    """Bank of a result (SAYS_BANK for none) | ALSO_ELSEWHERE | cycles << RESULT_SHIFT."""
    return _listed_bank(c, warp, row) | 1 << operand_word.RESULT_SHIFT


def queue_extras(c: Core, sm: SmRow) -> None:
    """The end of a phase: accesses that hooks asked for join the queues of their banks."""


def arrived(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """All results of an instruction are there."""


def written_back(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """All results of an instruction are written."""


def _listed_bank(c: Core, warp: WarpRow, row: int) -> int:
    """The bank of an operand of ``lists``."""
    return _bank(c, warp, c.lists[row, 2])


def bank_of(c: Core, warp: WarpRow, register: int) -> int:
    """The machine's mapping of a register to a bank."""
    return _bank(c, warp, register * c.machine[machine.BY_REGISTER] % c.machine[machine.OWN_BANKS])


def _bank(c: Core, warp: WarpRow, offset: int) -> int:
    bank = c.rows[warp, warps.BANK_OFFSET] + offset
    if bank >= c.machine[machine.OWN_BANKS]:
        bank -= c.machine[machine.OWN_BANKS]
    return bank + c.rows[warp, warps.FIRST_OWN_BANK]


def memory_issued(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """A memory instruction goes to memory."""


def memory_returned(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """The last ticket of one is back."""


def activated(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp enters its scheduler's active set."""


def suspended(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp leaves it."""


def block_start(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """A thread block starts."""


def warp_start(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp starts."""


def warp_end(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp of a thread block that leaves."""


def block_end(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """A thread block has left."""


def prefer(c: Core, d: Any, sm: SmRow, scheduler: int, ready: int, now: int) -> int:
    """Of the ready warps those that go first."""
    return ready


def load_lookup(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> int:
    """After how many cycles a load is complete that does not go to memory; 0: it goes there."""
    return 0
