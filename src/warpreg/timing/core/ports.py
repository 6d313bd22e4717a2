"""Ports that several phases call, as they are without a design; those of one phase stand in its module.

Before compilation, a run replaces them by the functions of the memory model and by adapters of the designs' hooks
(`warpreg.timing.core.port`).  A hook that is not defined leaves no code.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.plan import GO
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word
from warpreg.timing.core.columns import Cause, causes, code, machine, warps
from warpreg.timing.core.inflight import schedule
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import (
    NEVER,
    NONE,
    BankRow,
    BlockRow,
    CollectorRow,
    OpRow,
    Pc,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
)


@port("the memory model")
def accepts(memory: Any, sm: SmRow, now: int) -> bool:
    """Whether memory accepts a transaction of this SM now."""
    return False


@port("the memory model")
def joins(memory: Any, sm: SmRow, sectors: int, now: int) -> bool:
    """Whether a further transaction of the same instruction, with these sectors, can be sent in the same cycle."""
    return False


@port("the memory model")
def expect(memory: Any, sm: SmRow, line: int) -> None:
    """Hint that the SM will soon send a transaction for this line; has no effect on results."""


@port("the memory model")
def send(memory: Any, sm: SmRow, kind: int, line: int, sectors: int, ticket: OpRow, now: int) -> None:
    """Send a transaction; its ticket returns once."""


@port("the memory model")
def look_ahead(memory: Any, soonest: int, until: int) -> int:
    """Advance memory as far as SMs cannot affect it: they have been stepped up to ``until`` and do nothing before
    ``soonest``.  Returns the cycle up to which all returns are known, NEVER if no event remains.
    """
    return soonest + 1


@port("the memory model contention")
def work_ahead(memory: Any) -> None:
    """In the leader of several threads, before it steps its SMs: work that `look_ahead` need not wait for."""


@port("the memory model")
def settle(memory: Any, sm: SmRow, now: int) -> None:
    """Process what has returned to the SM."""


@port("the memory model")
def awaited(memory: Any, sm: SmRow) -> OpRow:
    """A ticket that returns to the SM soon, NONE if unknown; a hint."""
    return NONE


@port("the memory model")
def next_return(memory: Any, sm: SmRow) -> int:
    """The earliest cycle, as far as known, in which a ticket may return to the SM, or in which it may send again after
    `retry` has said NEVER.
    """
    return NEVER


@port("the memory model")
def returned(memory: Any, sm: SmRow, now: int) -> OpRow:
    """Remove and return one ticket that is back, NONE if there is none."""
    return NONE


@port("the memory model")
def retry(memory: Any, sm: SmRow, now: int) -> int:
    """The cycle in which memory may accept again; NEVER: not before `next_return`."""
    return now + 1


@port("the memory model")
def room_for_sms(memory: Any) -> int:
    """SMs that one of several threads can step, as far as room for their transactions is concerned."""
    return 0


MEMORY: tuple[Any, ...] = (
    accepts, joins, expect, send, look_ahead, settle, awaited, next_return, returned, retry, room_for_sms,
)  # fmt: skip
"""The ports that every memory model must fill."""


@port("the memory model of a run that asks how far accesses go, or whose hooks send registers to memory")
def reach(memory: Any, sm: SmRow) -> int:
    """The level of memory that has answered the last ticket; known only in a run that asks."""
    return 0


@port("hooks that send registers to memory")
def sends_first(c: Core, memory: Any, sm: SmRow, now: int) -> None:
    """Before the head of the load-store queue: a register that has waited longer is sent."""


@port("hooks that send registers to memory")
def sends_then(c: Core, memory: Any, sm: SmRow, now: int) -> None:
    """After the head of the load-store queue: a register is sent if memory still accepts one."""


@port("hooks that send registers to memory")
def traffic_at(c: Core, sm: SmRow) -> int:
    """The next cycle in which a register may be sent, NEVER without one."""
    return NEVER


@port("hooks that send registers to memory")
def memory_answers(c: Core, sm: SmRow, now: int) -> None:
    """Memory returns something to the SM, so that it may accept again."""


@port("hooks that send registers to memory")
def nothing_away(c: Core, warp: WarpRow) -> bool:
    """Whether memory has answered all that hooks have sent and fetched for a warp."""
    return True


@port("hooks that send registers to memory")
def is_traffic(c: Core, op: OpRow) -> bool:
    """Whether a ticket is that of a register that a hook has sent or fetched."""
    return False


@port("hooks that send registers to memory")
def traffic_is_back(c: Core, memory: Any, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """That ticket is back."""


@port("a run that asks how far accesses go")
def begin_access(c: Core, op: OpRow) -> None:
    """A memory instruction is dispatched."""


@port("a run that asks how far accesses go")
def ticket_is_back(c: Core, memory: Any, sm: SmRow, op: OpRow) -> None:
    """One of its transactions is answered."""


@port("a run that asks how far accesses go")
def result_is_there(c: Core, op: OpRow) -> None:
    """The cell of a result leaves the scoreboard."""


@port("a run that asks how far accesses go")
def still_waits(before: Cause, cause: Cause) -> bool:
    """Whether a warp with these causes, one after the other, waits for memory all the time."""
    return False


@port("a run that asks how far accesses go")
def waited(c: Core, warp: WarpRow, cycles: int) -> None:
    """A warp has waited for memory."""


@port("a constant of the compiled core")
def is_two_level(c: Core) -> bool:
    """Whether schedulers have active sets."""
    return c.machine[machine.ACTIVE_WARPS] != 0


@port("a constant of the compiled core")
def may_wait_for_all(c: Core) -> bool:
    """Whether a suspended warp may wait for all its long-latency results."""
    return True


@stands_for(is_two_level, when.TWO_LEVEL)
@stands_for(may_wait_for_all, when.WAITS_FOR_ALL)
def _yes(c: Any) -> bool:
    return True


@stands_for(is_two_level, ~when.TWO_LEVEL)
@stands_for(may_wait_for_all, ~when.WAITS_FOR_ALL)
def _no(c: Any) -> bool:
    return False


@port("a constant of the compiled core")
def is_ideal(c: Core) -> bool:
    """Whether the operand path is ideal."""
    return c.machine[machine.IDEAL] != 0


stands_for(is_ideal, when.IDEAL)(_yes)
stands_for(is_ideal, ~when.IDEAL)(_no)


@port("the operand path")
def collect(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Phase 2; returns the first cycle in which a collector that waits for a unit may dispatch."""
    return NEVER


@port("the operand path")
def is_collecting(c: Core, sm: SmRow) -> bool:
    """Whether the operand path already has work for the next cycle."""
    return False


@port("the operand path")
def may_refuse(c: Core, sm: SmRow, row: SchedulerRow, now: int) -> int:
    """Set of pipes of a scheduler that may have no room for an instruction."""
    return 0


@port("the operand path")
def refuses(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> bool:
    """Whether a pipe has no room for an instruction."""
    return False


@port("the operand path")
def waits_for(c: Core, sm: SmRow, row: SchedulerRow, pipe: int, now: int) -> UnitsRow:
    """The units that a refusing pipe waits for, NONE if it waits for operands."""
    return NONE


@port("the operand path")
def take(c: Core, d: Any, sm: SmRow, row: SchedulerRow, pipe: int, pc: Pc, op: OpRow, now: int) -> None:
    """Pass an issued instruction to the operand path."""


@port("collectors of warps")
def is_full(c: Core, warp: WarpRow) -> bool:
    """Whether the collector that a warp owns has no room."""
    return False


@port("tables in front of operand fetch")
def begin_lookups(c: Core, op: OpRow, now: int) -> None:
    """An instruction issues that may look something up in tables."""


@port("tables in front of operand fetch")
def late_entry(c: Core, op: OpRow, now: int) -> int:
    """With the ideal operand path: cycles by which its lookups delay an instruction."""
    return 0


@port("constant caches")
def lacks_constant(c: Core, sm: SmRow, row: SchedulerRow, scheduler: int, warp: WarpRow, now: int) -> bool:
    """Whether the head of a warp that a scheduler selects must wait for a constant."""
    return False


@port("constant caches")
def constant_cycles(c: Core, sm: SmRow, op: OpRow, now: int) -> int:
    """Cycles until the constant of an instruction that is dispatched is there."""
    return 0


@port("the hook admit")
def admit(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, now: int) -> int:
    """GO, or the token to wait for."""
    return GO


@port("the hook admit, which may refuse for a number of cycles")
def refused(c: Core, sm: SmRow, warp: WarpRow, answer: int, now: int) -> None:
    """``admit`` has refused the head of a warp, which waits for the token that is its answer."""
    c.rows[warp, warps.STOP] = warps.AT_TOKEN
    c.rows[warp, warps.TOKEN] = answer


@port("the hook admit, which may refuse for a number of cycles")
def keeps_place(c: Core, warp: WarpRow) -> bool:
    """Whether a warp that may not go on keeps its place in the active set."""
    return False


@port("the hook admit, which may refuse for a number of cycles")
def asks_again(c: Core, entry: OpRow) -> bool:
    """Whether an entry of the timing wheel says that a refused warp asks again."""
    return False


@port("the hook admit, which may refuse for a number of cycles")
def ask_again(c: Core, entry: OpRow, now: int) -> None:
    """The warp of such an entry does, in the next cycle."""


@port("the hook admit, which may refuse for a number of cycles")
def asks_later(c: Core, warp: WarpRow, now: int) -> bool:
    """Whether `admit` may not be called for a warp yet."""
    return False


@port("the hooks stalled and resumed")
def observe(c: Core, d: Any, sm: SmRow, warp: WarpRow, cause: Cause, now: int) -> None:
    """The cause of a warp in the stall account may change to this one."""


@port("hooks that ask for widths of results")
def take_widths(c: Core, d: Any, warp: WarpRow, pc: Pc, op: OpRow) -> None:
    """An instruction issues: which widths are those of its results."""


@port("the hook plan_reads")
def plan_reads(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    """Plan the sources of an issued instruction."""


@port("banks with slices or row addresses")
def note_source(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, register: int) -> None:
    """Keep the address of the k-th source of a plan."""


@port("the hook plan_write")
def plan_write(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    """Plan its results."""


@port("the hook issued")
def issued(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    """An instruction has issued."""


@port("the hook collected")
def collected(c: Core, d: Any, sm: SmRow, op: OpRow, k: int, now: int) -> None:
    """A bank has granted the k-th source, which others may come with."""


@port("the hook collected")
def served_elsewhere(c: Core, d: Any, sm: SmRow, op: OpRow, k: int, word: int, now: int) -> None:
    """The k-th source asks for no bank; its instruction has entered a collector."""


@port("the hook collected")
def collected_at_once(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """All sources of an instruction are there when it issues."""


@port("the hook collected")
def is_present(c: Core, entry: OpRow) -> bool:
    """Whether an entry of the timing wheel says that a source is present."""
    return False


@port("the hook collected")
def present(c: Core, d: Any, sm: SmRow, entry: OpRow, now: int) -> None:
    """The source of such an entry is."""


@port("a design with paths")
def is_transfer(c: Core, entry: OpRow) -> bool:
    """Whether an entry is a transfer of a register."""
    return False


@port("a design with paths")
def advance_transfer(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """A transfer has been served by its bank, or has come to the end of its path."""


@port("the hook produced")
def produced(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> int:
    """The results of an instruction have left their unit or memory; their writes are not queued yet.  Returns the
    cycles by which they are postponed.
    """
    return 0


@port("the hook produced")
def is_postponed(c: Core, op: OpRow) -> bool:
    """Whether the results of an instruction that is due were postponed until now."""
    return False


@port("the hooks plan_reads and collected, which see every operand")
def first_read(c: Core, pc: Pc) -> int:
    """First row in ``lists`` of the sources to read: each register once, or every operand if the design needs it."""
    return c.code[pc, code.READS]


@port("the hooks plan_reads and collected, which see every operand")
def end_of_reads(c: Core, pc: Pc) -> int:
    """End of these rows."""
    return c.code[pc, code.READS_END]


@port("the hook plan_reads")
def source_word(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, row: int) -> int:
    """Bank of the k-th source | extra cycles << CYCLE_SHIFT; ``-1 - cycles`` if it requests no bank."""
    return _listed_bank(c, warp, row)


@port("the hooks plan_reads and collected, which see every operand")
def same_word(c: Core, first: int, k: int, row: CollectorRow, word: int) -> int:
    """The earlier source whose grant also serves this one, NONE if there is none."""
    return NONE


@port("control codes")
def sources_read(c: Core, op: OpRow) -> None:
    """All sources of an instruction are read."""


@port("sources in a scoreboard")
def queued(c: Core, warp: WarpRow, pc: Pc) -> None:
    """With a read window, an instruction enters the queue of its pipe."""


@port("sources in a scoreboard")
def waits_for_readers(c: Core, warp: WarpRow) -> bool:
    """Whether the head of a warp writes what an instruction in a queue still reads."""
    return False


@port("control codes")
def results_written(c: Core, op: OpRow) -> None:
    """An instruction is complete."""


@port("control codes")
def exceeds_limit(c: Core, warp: WarpRow, head: Pc) -> bool:
    """Whether more instructions are under way than the head of a warp allows."""
    return False


@port("control codes")
def stall(c: Core, sm: SmRow, warp: WarpRow, pc: Pc, now: int) -> None:
    """A warp has issued an instruction, which may say when it issues again."""


@port("instruction caches")
def fetch_next(c: Core, sm: SmRow, warp: WarpRow, pc: Pc, now: int) -> None:
    """A warp has issued an instruction, and fetches further ones."""


@port("instruction caches")
def fetch_first(c: Core, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp that is placed fetches its first instruction."""


@port("control codes")
def unfetched(c: Core) -> Cause:
    """The cause of the cycles behind an instruction of pipe ``ctrl``."""
    return causes.FETCH


@port("the hook plan_reads")
def ideal_cycles(c: Core, d: Any, op: OpRow, pc: Pc) -> int:
    """Cycles until all operands are present, with the ideal operand path."""
    return 0


@port("the operand path, and hooks that plan results")
def result_word(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, row: int) -> int:
    """Bank of the k-th result (SAYS_BANK for none) | ALSO_ELSEWHERE | cycles << RESULT_SHIFT; ``row``: its row in
    ``lists``.
    """
    return _listed_bank(c, warp, row) | 1 << operand_word.RESULT_SHIFT


@port("hooks that plan results")
def still_writing(c: Core, sm: SmRow, now: int) -> int:
    """The banks whose last write is not over, at the start of a cycle."""
    return 0


@port("hooks that plan results")
def keep_writing(c: Core, sm: SmRow, bank: int, until: int) -> None:
    """A bank serves no other write before cycle ``until``."""


@port("a design with hooks")
def queue_extras(c: Core, sm: SmRow) -> None:
    """At the end of a phase, append the extra accesses of hooks to the queues of their banks."""


@port("extra accesses that are counted")
def serves_extra(c: Core, row: BankRow) -> bool:
    """Whether the turn of a bank is that of an extra access before its queue, which it then serves."""
    return False


@port("extra accesses that are counted")
def has_extras(c: Core, row: BankRow) -> bool:
    """Whether there are extra accesses before the queue of a bank."""
    return False


@port("the hook arrived")
def arrived(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """All results of an instruction are available."""


@port("the hook written_back")
def written_back(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """All results of an instruction are written."""


@port("the hook buffered")
def see_buffer(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """After that: what is in the instruction buffer of its warp?"""


@port("the hook buffered")
def see_next(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """The head of a warp is another instruction."""


def _listed_bank(c: Core, warp: WarpRow, row: int) -> int:
    """The bank of an operand of ``lists``."""
    return _bank(c, warp, c.lists[row, 2])


def bank_of(c: Core, warp: WarpRow, register: int) -> int:
    """The bank of a register in the machine's mapping."""
    return _bank(c, warp, register * c.machine[machine.BY_REGISTER] % c.machine[machine.OWN_BANKS])


def _bank(c: Core, warp: WarpRow, offset: int) -> int:
    bank = c.rows[warp, warps.BANK_OFFSET] + offset
    if bank >= c.machine[machine.OWN_BANKS]:
        bank -= c.machine[machine.OWN_BANKS]
    return bank + c.rows[warp, warps.FIRST_OWN_BANK]


@port("the hook memory_issued")
def memory_issued(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """A memory instruction is sent to memory."""


@port("the hook memory_returned")
def memory_returned(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """Its last ticket is back."""


@port("the hook activated")
def activated(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp enters the active set of its scheduler."""


@port("the hook suspended")
def suspended(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp leaves the active set."""


@port("hooks that ask for thread blocks")
def take_slots(c: Core, d: Any, sm: SmRow, block: BlockRow) -> None:
    """A thread block is about to start."""


@port("hooks that ask for thread blocks")
def left_slot(c: Core, d: Any, warp: WarpRow) -> None:
    """The thread block of a warp has left."""


@port("the hook block_start")
def block_start(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """A thread block starts."""


@port("a design with hooks, the hook warp_start among them")
def warp_start(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp starts."""


@port("the hook warp_end")
def warp_end(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    """A warp ends; its thread block leaves."""


@port("the hook block_end")
def block_end(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """A thread block has left."""


@port("the hook turns_start")
def turns_start(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """The schedulers of an SM are about to take their turns."""


@port("the hook turns_end")
def turns_end(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """All schedulers of an SM have taken their turns."""


@port("the hooks turns_start and turns_end")
def sees_every_cycle(c: Core, sm: SmRow) -> bool:
    """Whether a hook is called in the next cycle even if nothing happens in it."""
    return False


@port("the hook priority")
def prefer(c: Core, d: Any, sm: SmRow, scheduler: int, ready: int, now: int) -> int:
    """The ready warps with the highest priority."""
    return ready


@port("the hook load_lookup")
def load_lookup(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> int:
    """Cycles until a load that does not use memory is complete; 0: it uses memory; HELD: until a hook completes it."""
    return 0


@port("the hook load_lookup, which may hold a load")
def wait_without_memory(c: Core, sm: SmRow, op: OpRow, ready: int, cycles: int, now: int) -> None:
    """A memory instruction does not enter the queue: its results follow ``cycles`` cycles after its operands."""
    schedule(c, sm, op, ready + cycles, now)
