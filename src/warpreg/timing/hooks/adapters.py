"""Adapters: replacements of ports that call the hooks of a design with a plan and store the answers.

The functions of this module that have the names of hooks are placeholders for the design's own.  One word per operand
of a plan is stored in the row of the instruction until it is used.  For a source: its bank and the cycles after the
grant, or ``-1 - cycles`` if it requests no bank.  For a result: its bank, whether it is also written elsewhere, and
cycles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from piecewise_numba.noinline import noinline
from warpreg.designs.interface.plan import (
    BANK,
    CYCLES,
    ELSEWHERE,
    EXTRA_BANK,
    EXTRA_REGISTER,
    EXTRA_WARP,
    EXTRAS,
    GRANTED,
    IN_BANKS,
    LEVEL,
    MERGED,
    UNSET,
    WOKEN,
    Plan,
    detailed_plan,
    forget,
    forget_results,
)
from warpreg.designs.interface.state import reset_rows
from warpreg.designs.interface.thread_blocks import NO_BLOCK, take_slot
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import operand_word, ports
from warpreg.timing.core.bitset import bit, lowest
from warpreg.timing.core.columns import blocks, clock, code, collectors, machine, ops, sms, warps
from warpreg.timing.core.inflight import mark, take_op
from warpreg.timing.core.port import constant, placeholder, port, stands_for
from warpreg.timing.core.rows import number_of, numbered_warp, warp_at, warp_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, BlockRow, CollectorRow, OpRow, Pc, SmRow, WarpRow
from warpreg.timing.sm.wakeup import know_eligible, slowest
from warpreg.timing.sm.writeback import queue_write

port("what sets the rows of the design's state to their first values")(reset_rows)


@constant(when.SLICED, lambda given: given.banks.slices)
def bank_slices() -> int:
    """Slices of a bank; a constant of the compiled core."""
    return 1


@constant(when.SLICED | when.SHARED, lambda given: GRANTED)
def planned_columns() -> int:
    """Columns of an operand's details that the core reads; a constant of the compiled core."""
    return MERGED + 1


@constant(when.SEVERAL_MAIN, lambda given: given.main_levels)
def main_levels() -> int:
    """The levels of the main register file, a bit each; a constant of the compiled core."""
    return 1


@port("a main register file of several levels")
def is_main(level: int) -> bool:
    """Whether a level is part of the main register file."""
    return level == 0


@stands_for(is_main, when.SEVERAL_MAIN)
def is_one_of_main(level: int) -> bool:
    """In place of `is_main` where several levels are."""
    return main_levels() >> level & 1 != 0


def plan_of(c: Core, d: Any, sm: SmRow, number: int, pc: Pc, mask: int, access: int, load: int, now: int) -> Plan:
    """A plan for a hook.

    NONE is the ``pc`` if the hook belongs to no instruction, its ``access`` record without one, and its number ``load``
    if it has not issued.
    """
    see_lanes(c, d, access)
    datapath = 0
    first_source = 0
    first_result = 0
    if pc != NONE:
        datapath = d.program.datapath[pc]
        first_source = d.program.source_start[pc]
        first_result = d.program.result_start[pc]
    base, stride = record_base(c, access), record_stride(c, access)
    return detailed_plan(
        d.plan, bank_slices(), mask, datapath, base, stride, number, sm, now, load, main_levels(), first_source,
        first_result,
    )  # fmt: skip


def plan_of_issue(c: Core, d: Any, sm: SmRow, number: int, pc: Pc, op: OpRow, now: int) -> Plan:
    """A plan for a hook that is for an instruction that issues."""
    access, program = c.rows[op, ops.RECORD], d.program
    see_lanes(c, d, access)
    return detailed_plan(
        d.plan, bank_slices(), c.rows[op, ops.MASK], program.datapath[pc], record_base(c, access),
        record_stride(c, access), number, sm, now, c.rows[op, ops.SEQUENCE], main_levels(), program.source_start[pc],
        program.result_start[pc],
    )  # fmt: skip


@port("hooks that ask for addresses of lanes")
def see_lanes(c: Core, d: Any, access: int) -> None:
    """A hook is called for an instruction with this access record: say where the addresses of its lanes are."""


@port("hooks that ask for widths of results")
def see_widths(c: Core, d: Any, op: OpRow) -> None:
    """A hook is called for an instruction under way: say where the widths of its results are."""


@port("hooks that ask for widths of results")
def see_widths_of_head(c: Core, d: Any, warp: WarpRow, pc: Pc) -> None:
    """The same of the instruction that a warp would issue next."""


def record_base(c: Core, access: int) -> int:
    """The base address of an access record, 0 without one."""
    return c.slab[access + 1] if access != NONE else 0


def record_stride(c: Core, access: int) -> int:
    """The stride of an access record, 0 without one."""
    return c.slab[access + 2] if access != NONE else 0


@port("a recording")
def settle(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Process the side effects of a hook: extra accesses wait for the end of the phase, tokens wake their warps, tables
    are accessed.  Returns the cycle from which on its lookups are done, 0 without.
    """
    if d.queued[EXTRAS] != 0:
        _take_extras(c, d, sm, now)
    if d.queued[WOKEN] != 0:
        _wake_all(c, d, sm, now)
    complete_loads(c, d, sm, now)
    send_registers(c, d, sm, now)
    return serve_tables(c, d, sm, now)


@port("the hook load_lookup, which may hold a load")
def complete_loads(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """Complete the held loads that a hook has named."""


@port("hooks that send registers to memory")
def send_registers(c: Core, d: Any, sm: SmRow, now: int) -> None:
    """Registers that a hook sends to memory or fetches wait for the load-store unit."""


@port("tables in front of operand fetch")
def serve_tables(c: Core, d: Any, sm: SmRow, now: int) -> int:
    """Serve what a hook has asked of tables."""
    return 0


@port("tables in front of operand fetch")
def await_lookups(c: Core, op: OpRow, ready: int) -> None:
    """An instruction that issues waits for its lookups."""


@noinline
def _take_extras(c: Core, d: Any, sm: SmRow, now: int) -> None:
    count = d.queued[EXTRAS]
    d.queued[EXTRAS] = 0
    if count > d.extras.shape[0]:
        c.clock[clock.OVERFLOW] = 1
        return
    for row in range(count):
        take_extra(c, d, sm, row, now)


@noinline
def _wake_all(c: Core, d: Any, sm: SmRow, now: int) -> None:
    if d.queued[WOKEN] > d.woken.shape[0]:
        c.clock[clock.OVERFLOW] = 1
    for row in range(min(d.queued[WOKEN], d.woken.shape[0])):
        _wake(c, sm, d.woken[row], now)
    d.queued[WOKEN] = 0


@port("a design with paths")
def take_extra(c: Core, d: Any, sm: SmRow, row: int, now: int) -> None:
    """Take what a hook has asked for: an extra access, or a transfer."""
    keep_extra(c, d, sm, row)


def keep_extra(c: Core, d: Any, sm: SmRow, row: int) -> None:
    """An extra access waits for its bank, if there are banks."""
    if ports.is_ideal(c):
        return
    warp = numbered_warp(c, d.extras[row, EXTRA_WARP])
    bank = d.extras[row, EXTRA_BANK]
    if bank == UNSET:
        register: Any = np.int64(np.uint32(d.extras[row, EXTRA_REGISTER]))  # not negative: no sign to check
        bank = ports.bank_of(c, warp, register)
    ask_bank(c, sm, warp, bank)


@port("extra accesses that are counted")
def ask_bank(c: Core, sm: SmRow, warp: WarpRow, bank: int) -> None:
    """An extra access joins the queue of its bank at the end of this phase."""
    if c.clock[clock.FREE_OPS] < 2:
        c.clock[clock.OVERFLOW] = 1
        return
    op = take_op(c, sm, warp, ops.EXTRA)
    c.rows[op, ops.CURSOR] = bank
    await_bank(c, sm, op)


def await_bank(c: Core, sm: SmRow, op: OpRow) -> None:
    """An access joins the queue of bank CURSOR at the end of this phase."""
    c.rows[op, ops.NEXT] = NONE
    if c.table[sm, sms.EXTRA_FIRST] == NONE:
        c.table[sm, sms.EXTRA_FIRST] = op
    else:
        c.rows[c.table[sm, sms.EXTRA_LAST], ops.NEXT] = op
    c.table[sm, sms.EXTRA_LAST] = op


def _wake(c: Core, sm: SmRow, token: int, now: int) -> None:
    for slot in range(c.machine[machine.SLOTS]):
        warp = warp_at(c, sm, slot)
        waits_for = c.rows[warp, warps.TOKEN]
        if c.rows[warp, warps.STOP] == warps.AT_TOKEN and (waits_for == token or waits_for == warps.STAYS - token):
            let_go(c, warp, now)


def let_go(c: Core, warp: WarpRow, now: int) -> None:
    """A warp no longer waits for its token; ``admit`` is called from the next cycle on."""
    c.rows[warp, warps.STOP] = warps.GOING
    c.rows[warp, warps.ASKS_FROM] = now + 1
    mark(c, warp)
    if ports.is_two_level(c):
        know_eligible(c, warp, slowest(c, warp))


@stands_for(ports.queue_extras, when.HOOKS_CALLED & ~when.COUNTS_EXTRAS)
def queue_extras(c: Core, sm: SmRow) -> None:
    op = c.table[sm, sms.EXTRA_FIRST]
    c.table[sm, sms.EXTRA_FIRST] = NONE
    while op != NONE:
        following = c.rows[op, ops.NEXT]
        queue_write(c, sm, c.rows[op, ops.CURSOR], op, 0)
        op = following


# A warp starts.


@placeholder
def warp_start(state: Any, program: Any, warp: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@port("hooks that ask for widths of results")
def begin_widths(c: Core, warp: WarpRow) -> None:
    """It has written nothing."""


@stands_for(ports.warp_start, when.HOOKS_CALLED)
def call_warp_start(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    number = number_of(c, warp)
    begin_widths(c, warp)
    reset_rows(d.resets, number)
    tell_start(c, d, sm, number, now)


@port("the hook warp_start")
def tell_start(c: Core, d: Any, sm: SmRow, number: int, now: int) -> None:
    """Call the hook, if the design defines it."""


@stands_for(tell_start, when.hook("warp_start"))
def call_start(c: Core, d: Any, sm: SmRow, number: int, now: int) -> None:
    warp_start(d.state, d.program, number, plan_of(c, d, sm, number, NONE, 0, NONE, NONE, now))
    settle(c, d, sm, now)


# Thread blocks of slots.


@stands_for(ports.take_slots, when.THREAD_BLOCKS)
def take_slots(c: Core, d: Any, sm: SmRow, block: BlockRow) -> None:
    """The warps of a thread block that comes take the lowest free slots, in order."""
    free = c.table[sm, sms.FREE_SLOTS]
    for index in range(c.machine[machine.BLOCK_WARPS]):
        slot = lowest(free)
        free ^= bit(slot)
        take_slot(d.program, number_of(c, warp_at(c, sm, slot)), c.rows[block, blocks.INDEX], index)


@stands_for(ports.left_slot, when.THREAD_BLOCKS)
def left_slot(c: Core, d: Any, warp: WarpRow) -> None:
    take_slot(d.program, number_of(c, warp), NO_BLOCK, NO_BLOCK)


# An instruction issues.


@placeholder
def plan_reads(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@placeholder
def plan_write(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.plan_reads, when.hook("plan_reads"))
def call_plan_reads(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    number = number_of(c, warp)
    plan = plan_of_issue(c, d, sm, number, pc, op, now)
    forget(d.sources, d.program.source_start[pc + 1] - d.program.source_start[pc], planned_columns())
    plan_reads(d.state, d.program, number, pc, plan)
    await_lookups(c, op, settle(c, d, sm, now))
    least = 0
    first, kept = c.code[pc, code.ALL_READS], c.machine[machine.OP_READS]
    for k in range(c.code[pc, code.ALL_READS_END] - first):
        register = c.lists[first + k, 0]
        word = _source(c, d, warp, k, register)
        least = min(least, word)
        c.rows[op, kept + k] = word
        ports.note_source(c, d, warp, op, k, register)
    note_sources(c, op, pc, least)


@port("merged sources")
def note_sources(c: Core, op: OpRow, pc: Pc, least: int) -> None:
    """The words of all sources are kept, the ``least`` of which is this, or 0."""


def _source(c: Core, d: Any, warp: WarpRow, k: int, register: int) -> int:
    level = d.sources[k, LEVEL]
    if level == UNSET:
        return -1
    if d.sources[k, BANK] & d.sources[k, CYCLES] & d.sources[k, MERGED] == UNSET:  # none of them is set
        return _main_bank(c, warp, register) if is_main(level) else -2
    if d.sources[k, MERGED] != UNSET:
        return merged_word(d, k)
    cycles = d.sources[k, CYCLES] if d.sources[k, CYCLES] != UNSET else 1
    bank = d.sources[k, BANK]
    if bank == UNSET:
        if not is_main(level):
            return -1 - cycles
        bank = _main_bank(c, warp, register)
    return bank | max(0, cycles - 1) << operand_word.CYCLE_SHIFT


def _main_bank(c: Core, warp: WarpRow, register: int) -> int:
    """The bank of a register in the main register file, 0 without banks."""
    return ports.bank_of(c, warp, register) if not ports.is_ideal(c) else 0


@port("merged sources")
def merged_word(d: Any, k: int) -> int:
    """Of a source that arrives with another one."""
    return -1


@stands_for(ports.first_read, when.SEES_ALL_READS)
def first_read(c: Core, pc: Pc) -> int:
    return c.code[pc, code.ALL_READS]


@stands_for(ports.end_of_reads, when.SEES_ALL_READS)
def end_of_reads(c: Core, pc: Pc) -> int:
    return c.code[pc, code.ALL_READS_END]


@stands_for(ports.source_word, when.PLANS_SOURCES)
def source_word(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, row: int) -> int:
    return kept_source(c, op, k)


@port("merged sources")
def kept_source(c: Core, op: OpRow, k: int) -> int:
    """What was planned of a source."""
    return c.rows[op, c.machine[machine.OP_READS] + k]


@stands_for(ports.same_word, when.SEES_ALL_READS)
def same_word(c: Core, first: int, k: int, row: CollectorRow, word: int) -> int:
    """The earlier source of the same register and bank, whose grant also serves this one; NONE if there is none."""
    for other in range(k):
        earlier = c.rows[row, collectors.WORD + other]
        asks = earlier >= 0 and earlier & operand_word.SAYS_BANK == word & operand_word.SAYS_BANK
        if asks and c.lists[first + other, 0] == c.lists[first + k, 0]:
            return other
    return NONE


@stands_for(ports.ideal_cycles, when.PLANS_SOURCES)
def ideal_cycles(c: Core, d: Any, op: OpRow, pc: Pc) -> int:
    cycles = 0
    for k in range(c.code[pc, code.ALL_READS_END] - c.code[pc, code.ALL_READS]):
        word = kept_source(c, op, k)
        cycles = max(cycles, word >> operand_word.CYCLE_SHIFT if word >= 0 else -2 - word)
    return cycles


@stands_for(ports.plan_write, when.hook("plan_write"))
def call_plan_write(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, op: OpRow, now: int) -> None:
    number = number_of(c, warp)
    plan = plan_of_issue(c, d, sm, number, pc, op, now)
    count = d.program.result_start[pc + 1] - d.program.result_start[pc]
    see_widths(c, d, op)
    forget_results(d.results, count, planned_columns())
    plan_write(d.state, d.program, number, pc, keeping(plan))
    keep_results(c, d, op, count)
    await_lookups(c, op, settle(c, d, sm, now))
    note_results(c, d, warp, pc, op)


@port("results that are planned twice")
def keeping(plan: Plan) -> Plan:
    """The plan for ``plan_write``."""
    return plan


@port("results that are planned twice")
def keep_results(c: Core, d: Any, op: OpRow, count: int) -> None:
    """What is planned of the first results is needed once more, when they are produced."""


def note_results(c: Core, d: Any, warp: WarpRow, pc: Pc, op: OpRow) -> None:
    """Keep what the plan says of each result in the instruction's row."""
    operand, first, kept = d.program.result_start[pc], c.code[pc, code.WRITES], c.machine[machine.OP_WRITES]
    for k in range(c.code[pc, code.WRITES_END] - first):
        row = first + k
        if c.lists[row, 1] != NONE:
            c.rows[op, kept + k] = _result(c, d, warp, c.lists[row, 1] - operand, c.lists[row, 0])


def _result(c: Core, d: Any, warp: WarpRow, k: int, register: int) -> int:
    elsewhere = d.results[k, ELSEWHERE, LEVEL] != UNSET
    quick = d.results[k, ELSEWHERE, CYCLES]
    if d.results[k, IN_BANKS, LEVEL] == UNSET:
        cycles = quick if elsewhere and quick != UNSET else 1
        return operand_word.SAYS_BANK | max(1, cycles) << operand_word.RESULT_SHIFT
    bank = d.results[k, IN_BANKS, BANK]
    if ports.is_ideal(c):
        bank = operand_word.SAYS_BANK
    elif bank == UNSET:
        bank = ports.bank_of(c, warp, register)
    cycles = quick if elsewhere else d.results[k, IN_BANKS, CYCLES]
    if cycles == UNSET:
        cycles = 1
    return bank | (operand_word.ALSO_ELSEWHERE if elsewhere else 0) | max(1, cycles) << operand_word.RESULT_SHIFT


@stands_for(ports.result_word, when.PLANS_RESULTS)
def result_word(c: Core, d: Any, warp: WarpRow, op: OpRow, k: int, row: int) -> int:
    return c.rows[op, c.machine[machine.OP_WRITES] + k]


# Admission, priority, active sets, starts and ends.


@placeholder
def admit(state: Any, program: Any, warp: int, pc: int, plan: Any) -> int:
    """Placeholder for the design's hook."""
    return -1


@stands_for(ports.admit, when.hook("admit"))
def call_admit(c: Core, d: Any, sm: SmRow, warp: WarpRow, pc: Pc, now: int) -> int:
    access = c.rows[warp, warps.ACCESS] if c.code[pc, code.KIND] != record.NO_ACCESS else NONE
    mask = c.rows[warp, warps.MASK]
    plan = plan_of(c, d, sm, number_of(c, warp), pc, mask, access, NONE, now)
    see_widths_of_head(c, d, warp, pc)
    answer = admit(d.state, d.program, number_of(c, warp), pc, plan)
    settle(c, d, sm, now)
    return answer


@placeholder
def priority(state: Any, program: Any, warp: int, pc: int) -> int:
    """Placeholder for the design's hook."""
    return 0


@stands_for(ports.prefer, when.hook("priority"))
def call_priority(c: Core, d: Any, sm: SmRow, scheduler: int, ready: int, now: int) -> int:
    """The ready warps with the highest priority."""
    best = 0
    chosen = 0
    left = ready
    while left != 0:
        position = lowest(left)
        left ^= bit(position)
        warp = warp_of(c, sm, scheduler, position)
        found = priority(d.state, d.program, number_of(c, warp), c.rows[warp, warps.HEAD])
        if chosen == 0 or found > best:
            best = found
            chosen = bit(position)
        elif found == best:
            chosen |= bit(position)
    return chosen


@placeholder
def activated(state: Any, program: Any, warp: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.activated, when.hook("activated"))
def call_activated(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    plan = plan_of(c, d, sm, number_of(c, warp), NONE, 0, NONE, NONE, now)
    activated(d.state, d.program, number_of(c, warp), plan)
    settle(c, d, sm, now)


@placeholder
def suspended(state: Any, program: Any, warp: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.suspended, when.hook("suspended"))
def call_suspended(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    plan = plan_of(c, d, sm, number_of(c, warp), NONE, 0, NONE, NONE, now)
    suspended(d.state, d.program, number_of(c, warp), plan)
    settle(c, d, sm, now)


@placeholder
def warp_end(state: Any, program: Any, warp: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.warp_end, when.hook("warp_end"))
def call_warp_end(c: Core, d: Any, sm: SmRow, warp: WarpRow, now: int) -> None:
    plan = plan_of(c, d, sm, number_of(c, warp), NONE, 0, NONE, NONE, now)
    warp_end(d.state, d.program, number_of(c, warp), plan)
    settle(c, d, sm, now)


@placeholder
def block_start(state: Any, program: Any, sm: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.block_start, when.hook("block_start"))
def call_block_start(c: Core, d: Any, sm: SmRow, now: int) -> None:
    plan = plan_of(c, d, sm, NONE, NONE, 0, NONE, NONE, now)
    block_start(d.state, d.program, sm, plan)
    settle(c, d, sm, now)


@placeholder
def block_end(state: Any, program: Any, sm: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.block_end, when.hook("block_end"))
def call_block_end(c: Core, d: Any, sm: SmRow, now: int) -> None:
    plan = plan_of(c, d, sm, NONE, NONE, 0, NONE, NONE, now)
    block_end(d.state, d.program, sm, plan)
    settle(c, d, sm, now)


# Memory.


def plan_of_access(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> Plan:
    """A plan for a hook that is for an access to memory: its mask is that of the record."""
    access = c.rows[op, ops.RECORD]
    number, mask = number_of(c, c.rows[op, ops.WARP]), c.slab[access] & 0xFFFFFFFF
    return plan_of(c, d, sm, number, c.rows[op, ops.PC], mask, access, c.rows[op, ops.SEQUENCE], now)


@placeholder
def memory_issued(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.memory_issued, when.hook("memory_issued"))
def call_memory_issued(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    pc = c.rows[op, ops.PC]
    number = number_of(c, c.rows[op, ops.WARP])
    plan = plan_of_access(c, d, sm, op, now)
    memory_issued(d.state, d.program, number, pc, plan)
    settle(c, d, sm, now)


@placeholder
def memory_returned(state: Any, program: Any, warp: int, pc: int, cycles: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.memory_returned, when.hook("memory_returned"))
def call_memory_returned(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    pc = c.rows[op, ops.PC]
    number = number_of(c, c.rows[op, ops.WARP])
    plan = plan_of_access(c, d, sm, op, now)
    memory_returned(d.state, d.program, number, pc, now - c.rows[op, ops.SENT_AT], plan)
    settle(c, d, sm, now)


@placeholder
def arrived(state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.arrived, when.hook("arrived"))
def call_arrived(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    pc = c.rows[op, ops.PC]
    if d.program.long_latency[pc] != 0:
        see_widths(c, d, op)
        number = number_of(c, c.rows[op, ops.WARP])
        access = c.rows[op, ops.RECORD]
        plan = plan_of(c, d, sm, number, pc, c.rows[op, ops.MASK], access, c.rows[op, ops.SEQUENCE], now)
        arrived(d.state, d.program, number, pc, plan)
        settle(c, d, sm, now)


@placeholder
def written_back(
    state: Any, program: Any, warp: int, pc: int, next_pc: int, base: int, stride: int, mask: int, plan: Any
) -> None:
    """Placeholder for the design's hook."""


@stands_for(ports.written_back, when.hook("written_back"))
def call_written_back(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    pc = c.rows[op, ops.PC]
    if c.code[pc, code.WRITES] == c.code[pc, code.WRITES_END]:
        return
    warp = c.rows[op, ops.WARP]
    access = c.rows[op, ops.RECORD]
    mask = c.rows[op, ops.MASK]
    plan = plan_of(c, d, sm, number_of(c, warp), pc, mask, access, c.rows[op, ops.SEQUENCE], now)
    head = c.rows[warp, warps.HEAD]
    following = NONE
    if head != NONE and c.code[head, code.KIND] != record.NO_ACCESS:
        following = c.rows[warp, warps.ACCESS]
    lanes = c.slab[following] & 0xFFFFFFFF if following != NONE else 0
    base, stride = record_base(c, following), record_stride(c, following)
    written_back(d.state, d.program, number_of(c, warp), pc, head, base, stride, lanes, plan)
    settle(c, d, sm, now)
