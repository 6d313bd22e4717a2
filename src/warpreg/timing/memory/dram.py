"""DRAM controllers: first ready, first come first served (FR-FCFS) among the bursts of a channel's bounded queue.

Per cycle, a controller issues at most one column command and one row command.  The column command serves the oldest
burst whose row is open, whose bank may be accessed and whose data find the bus free.  The row command (activation,
after a precharge if a row is open) serves the oldest burst among the first bursts of banks in which no burst needs the
open row.  Bursts of one row are served in order of arrival.
"""

from __future__ import annotations

from warpreg.timing.core import access_record as record
from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory import late_bursts, linked_queues
from warpreg.timing.memory.agenda import plan
from warpreg.timing.memory.heap import free_node, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory
from warpreg.timing.memory.memory_columns import channels, counts, dram_banks, nodes, parameters, queues, scalars
from warpreg.timing.memory.second_level import index_in_channel


def enter(memory: Memory, channel: int, node: int, now: int) -> None:
    """A burst arrives at its controller."""
    p = memory.parameters
    banks = p[parameters.BANKS]
    row = index_in_channel(memory, memory.nodes[node, nodes.LINE]) >> (p[parameters.ROW_SHIFT] - 7)
    linked_queues.number(memory, node)
    memory.nodes[node, nodes.ROW] = row // banks
    linked_queues.append(memory, p[parameters.BANK_QUEUES] + channel * banks + row % banks, node)
    memory.scalars[scalars.QUEUED] -= 1
    memory.channels[channel, channels.STEP_AT] = min(memory.channels[channel, channels.STEP_AT], now * TICKS)
    memory.scalars[scalars.DRAM_AT] = min(memory.scalars[scalars.DRAM_AT], now)


def step(memory: Memory, channel: int, now: int) -> None:
    """Issue the commands of this cycle."""
    p = memory.parameters
    ticks = now * TICKS
    count = p[parameters.BANKS]
    best_column, column_bank, column_before = NEVER, NONE, NONE
    best_row, row_bank = NEVER, NONE
    soonest = NEVER
    for bank in range(channel * count, (channel + 1) * count):
        if memory.queues[p[parameters.BANK_QUEUES] + bank, queues.LENGTH] == 0:
            continue
        head = memory.queues[p[parameters.BANK_QUEUES] + bank, queues.HEAD]
        before = _before_hit(memory, head, memory.banks[bank, dram_banks.OPEN_ROW])
        if before == MISS:
            ready = max(
                memory.channels[channel, channels.ACTIVATE_AT] - _before_activation(memory, bank),
                memory.banks[bank, dram_banks.PRECHARGE_AT],
            )
            if ready <= ticks and memory.nodes[head, nodes.ORDER] < best_row:
                best_row, row_bank = memory.nodes[head, nodes.ORDER], bank
        else:
            node = head if before == NONE else memory.nodes[before, nodes.NEXT]
            ready = _column_at(memory, channel, bank, memory.nodes[node, nodes.KIND])
            if ready <= ticks and memory.nodes[node, nodes.ORDER] < best_column:
                best_column, column_bank, column_before = memory.nodes[node, nodes.ORDER], bank, before
        soonest = min(soonest, ready)
    memory.channels[channel, channels.STEP_AT] = max(soonest, ticks + TICKS)
    if column_bank != NONE:
        memory.scalars[scalars.QUEUED] += 1
        node = linked_queues.take_after(memory, p[parameters.BANK_QUEUES] + column_bank, column_before)
        _move(memory, channel, column_bank, node, ticks)
        memory.channels[channel, channels.STEP_AT] = ticks + TICKS
    if row_bank != NONE:
        _open(memory, channel, row_bank, ticks)
        memory.channels[channel, channels.STEP_AT] = ticks + TICKS


MISS = -2


def _before_hit(memory: Memory, head: int, row: int) -> int:
    """The node before the first one of a list that needs ``row``: NONE if that is the head, MISS if none does."""
    before = NONE
    node = head
    while node != NONE:
        if memory.nodes[node, nodes.ROW] == row:
            return before
        before = node
        node = memory.nodes[node, nodes.NEXT]
    return MISS


def _column_at(memory: Memory, channel: int, bank: int, kind: int) -> int:
    """First tick in which a burst of an open row may be read or written, given bank, bus turnaround and bus."""
    p = memory.parameters
    is_write = kind == record.STORE
    first = memory.channels[channel, channels.FREE_AT] - (p[parameters.T_WL] if is_write else p[parameters.T_CL])
    if not is_write:
        first = max(first, memory.channels[channel, channels.READ_AT])
    return max(first, memory.banks[bank, dram_banks.COLUMN_AT])


def _move(memory: Memory, channel: int, bank: int, node: int, ticks: int) -> None:
    """Read or write a burst."""
    p = memory.parameters
    is_write = memory.nodes[node, nodes.KIND] == record.STORE
    sectors = sectors_in(memory.nodes[node, nodes.SECTORS])
    start = ticks + (p[parameters.T_WL] if is_write else p[parameters.T_CL])
    end = max(start, memory.channels[channel, channels.FREE_AT]) + sectors * p[parameters.DRAM_SECTOR_TICKS]
    memory.channels[channel, channels.FREE_AT] = end
    memory.channels[channel, channels.BURSTS] -= 1
    sm = memory.nodes[node, nodes.SM]
    now = ticks // TICKS
    late_bursts.note(memory, now, 0 if is_write else sectors, sectors if is_write else 0, 1, 0)
    memory.counts[sm, counts.DRAM_BURSTS] += 1
    if is_write:
        memory.counts[sm, counts.DRAM_WRITES] += sectors
        memory.channels[channel, channels.READ_AT] = end + p[parameters.T_WTR]
        memory.banks[bank, dram_banks.PRECHARGE_AT] = max(
            memory.banks[bank, dram_banks.PRECHARGE_AT], end + p[parameters.T_WR]
        )
        free_node(memory, node)
    else:
        memory.counts[sm, counts.DRAM_READS] += sectors
        memory.banks[bank, dram_banks.PRECHARGE_AT] = max(
            memory.banks[bank, dram_banks.PRECHARGE_AT], end - p[parameters.T_CL]
        )
        plan(memory, (end + TICKS - 1) // TICKS + p[parameters.DRAM_LATENCY], nodes.FILLED, node)


def _open(memory: Memory, channel: int, bank: int, ticks: int) -> None:
    """Open the row that the first burst of a bank needs."""
    p = memory.parameters
    activation = ticks + _before_activation(memory, bank)
    head = memory.queues[p[parameters.BANK_QUEUES] + bank, queues.HEAD]
    memory.banks[bank, dram_banks.OPEN_ROW] = memory.nodes[head, nodes.ROW]
    memory.banks[bank, dram_banks.COLUMN_AT] = activation + p[parameters.T_RCD]
    memory.banks[bank, dram_banks.PRECHARGE_AT] = activation + p[parameters.T_RAS]
    memory.channels[channel, channels.ACTIVATE_AT] = activation + p[parameters.T_RRD]
    late_bursts.note(memory, ticks // TICKS, 0, 0, 0, 1)
    memory.counts[memory.nodes[head, nodes.SM], counts.ROWS_OPENED] += 1


def _before_activation(memory: Memory, bank: int) -> int:
    """Ticks of the precharge if a row is open, else 0."""
    return 0 if memory.banks[bank, dram_banks.OPEN_ROW] == NONE else memory.parameters[parameters.T_RP]
