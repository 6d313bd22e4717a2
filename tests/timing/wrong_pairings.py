"""Rows and columns of different components: the type checker must reject exactly the lines marked ``wrong``.

Only the type checker reads this file (`test_columns`); nothing runs it.
"""

from __future__ import annotations

from warpreg.timing.core.columns import (
    banks,
    blocks,
    causes,
    clock,
    code,
    collectors,
    function_units,
    groups,
    machine,
    ops,
    schedulers,
    sms,
    warps,
)
from warpreg.timing.core.inflight import mark, take_op
from warpreg.timing.core.rows import account_of, bank_at, scheduler_at, warp_at
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import (
    NONE,
    AccountRow,
    BankRow,
    BlockRow,
    CollectorRow,
    GroupRow,
    OpRow,
    Pc,
    SchedulerRow,
    SmRow,
    UnitsRow,
    WarpRow,
)
from warpreg.timing.core.whole_columns import warps_of
from warpreg.timing.memory import Memory
from warpreg.timing.memory.memory_columns import cache_sets, nodes, parameters, queues, scalars
from warpreg.timing.memory.memory_columns import sms as memory_sms


def right(c: Core, sm: SmRow, warp: WarpRow, op: OpRow) -> None:
    c.rows[warp, warps.FLIGHT] += 1
    c.rows[warp, warps.BUSY + 2] |= 1
    c.rows[warp, warps.BLOCK] = NONE
    c.rows[c.rows[warp, warps.BLOCK], blocks.WAITING] -= 1
    c.rows[c.rows[warp, warps.TURN_ROW], schedulers.DIRTY] |= c.rows[warp, warps.OWN]
    c.rows[account_of(c, scheduler_at(c, sm, 0)), c.rows[warp, warps.CAUSE]] += c.machine[machine.WIDTH]
    c.rows[op, c.machine[machine.OP_READS] + 1] = c.code[c.rows[op, ops.PC], code.LATENCY]
    c.table[sm, sms.QUEUE_HEAD] = c.rows[op, ops.NEXT]
    c.clock[clock.DISPATCHED + c.code[c.rows[warp, warps.HEAD], code.PIPE]] += 1
    warps_of(c)[warps.SINCE] = 0


def columns_of_another_component(
    c: Core,
    warp: WarpRow,
    scheduler: SchedulerRow,
    account: AccountRow,
    units: UnitsRow,
    group: GroupRow,
    collector: CollectorRow,
    bank: BankRow,
    block: BlockRow,
    op: OpRow,
) -> None:
    _ = c.rows[warp, banks.REQUESTS]  # wrong
    _ = c.rows[warp, ops.PC]  # wrong
    _ = c.rows[scheduler, warps.HEAD]  # wrong
    _ = c.rows[scheduler, causes.ISSUED]  # wrong
    _ = c.rows[account, schedulers.READY]  # wrong
    _ = c.rows[units, groups.FREE]  # wrong
    _ = c.rows[group, collectors.HELD]  # wrong
    _ = c.rows[collector, groups.LATCHED]  # wrong
    _ = c.rows[bank, collectors.WORD + 1]  # wrong
    _ = c.rows[block, warps.BLOCK]  # wrong
    _ = c.rows[op, blocks.INDEX]  # wrong
    _ = c.rows[op, function_units.FREE_AT]  # wrong
    c.rows[warp, blocks.WAITING] += 1  # wrong
    c.rows[bank, warps.OWN] |= 1  # wrong


def columns_of_another_array(c: Core, sm: SmRow, warp: WarpRow, pc: Pc) -> None:
    _ = c.machine[clock.UNTIL]  # wrong
    _ = c.machine[warps.HEAD]  # wrong
    _ = c.clock[machine.SLOTS]  # wrong
    _ = c.clock[sms.DUE]  # wrong
    _ = c.code[pc, warps.HEAD]  # wrong
    _ = c.code[warp, code.PIPE]  # wrong
    _ = c.table[sm, machine.SMS]  # wrong
    _ = c.table[warp, warps.HEAD]  # wrong
    _ = c.rows[sm, sms.DUE]  # wrong
    _ = c.rows[pc, code.PIPE]  # wrong
    c.clock[machine.SLOTS] = 1  # wrong
    c.table[sm, clock.UNTIL] = 1  # wrong


def columns_of_the_memory_system(memory: Memory, c: Core, sm: SmRow, node: int, warp: WarpRow) -> None:
    memory.sms[sm, memory_sms.BLOCKED] = node
    memory.queues[memory.parameters[parameters.BANK_QUEUES] + 1, queues.LENGTH] += 1
    _ = memory.sms[sm, sms.DUE]  # wrong
    _ = memory.nodes[node, queues.HEAD]  # wrong
    _ = memory.queues[node, nodes.NEXT]  # wrong
    _ = memory.lines1[node, cache_sets.OLDEST]  # wrong
    _ = memory.slices[node, memory_sms.FREE_AT]  # wrong
    _ = memory.parameters[scalars.QUEUED]  # wrong
    _ = memory.scalars[clock.UNTIL]  # wrong
    memory.scalars[parameters.SLICES] = 1  # wrong
    _ = c.table[sm, memory_sms.BLOCKED]  # wrong
    _ = c.rows[warp, nodes.NEXT]  # wrong


def numbers_that_are_no_rows(c: Core, warp: WarpRow, slot: int) -> None:
    _ = c.rows[slot, warps.HEAD]  # wrong
    _ = c.rows[warp, slot]  # wrong
    _ = c.machine[3]  # wrong
    _ = c.table[slot, sms.DUE]  # wrong
    mark(c, slot)  # wrong


def values_of_another_kind(c: Core, sm: SmRow, warp: WarpRow, bank: BankRow, op: OpRow) -> None:
    c.rows[warp, warps.BLOCK] = bank  # wrong
    c.rows[op, ops.NEXT] = warp  # wrong
    c.rows[warp, warps.TURN_ROW] = 7  # wrong
    c.rows[warp, warps.CAUSE] = 3  # wrong
    c.table[sm, sms.QUEUE_HEAD] = warp  # wrong
    c.clock[clock.FREE_OP] = bank  # wrong
    _ = c.rows[c.rows[op, ops.UNITS], warps.HEAD]  # wrong
    _ = c.rows[c.rows[warp, warps.BLOCK], schedulers.READY]  # wrong


def arguments_in_another_order(c: Core, sm: SmRow, warp: WarpRow, op: OpRow, pc: Pc) -> None:
    _ = warp_at(c, warp, 0)  # wrong
    _ = bank_at(c, op, 3)  # wrong
    mark(c, op)  # wrong
    take_op(c, sm, op, pc)  # wrong
    take_op(c, sm, warp, warp)  # wrong
    _ = account_of(c, warp)  # wrong
    _ = warps_of(c.table)  # wrong
    _ = warps_of(c)[banks.REQUESTS]  # wrong
