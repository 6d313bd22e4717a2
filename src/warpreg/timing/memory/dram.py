"""DRAM controllers: first ready, first come first served (FR-FCFS) among the bursts of a channel's bounded queue.

In a cycle a controller gives at most one column command and one row command.  The column command goes to the oldest
burst whose row is open, whose bank may be accessed, and whose data find the bus free.  The row command, a precharge and
an activation or the latter alone, goes to the oldest burst of those that are the first of a bank none of whose bursts
wants its open row.  Bursts of one row stay in the order of arrival.
"""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory import queues
from warpreg.timing.memory.agenda import plan
from warpreg.timing.memory.heap import free_node, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory
from warpreg.timing.memory.second_level import place_in_channel


def enter(memory: Memory, channel: int, node: int, now: int) -> None:
    """A burst arrives at its controller."""
    parameters = memory.parameters
    banks = parameters[at.BANKS]
    row = place_in_channel(memory, memory.nodes[node, at.LINE]) >> (parameters[at.ROW_SHIFT] - 7)
    queues.number(memory, node)
    memory.nodes[node, at.ROW] = row // banks
    queues.append(memory, parameters[at.BANK_QUEUES] + channel * banks + row % banks, node)
    memory.scalars[at.QUEUED] -= 1
    memory.channels[channel, at.STEP_AT] = min(memory.channels[channel, at.STEP_AT], now * TICKS)


def step(memory: Memory, channel: int, now: int) -> None:
    """Give the commands of this cycle."""
    parameters, nodes, banks, channels = memory.parameters, memory.nodes, memory.banks, memory.channels
    ticks = now * TICKS
    count = parameters[at.BANKS]
    best_column, column_bank, column_before = at.NEVER, at.NONE, at.NONE
    best_row, row_bank = at.NEVER, at.NONE
    soonest = at.NEVER
    for bank in range(channel * count, (channel + 1) * count):
        if memory.queues[parameters[at.BANK_QUEUES] + bank, at.LENGTH] == 0:
            continue
        head = memory.queues[parameters[at.BANK_QUEUES] + bank, at.HEAD]
        before = _before_hit(memory, head, banks[bank, at.OPEN_ROW])
        if before == MISS:
            ready = max(
                channels[channel, at.ACTIVATE_AT] - _before_activation(memory, bank), banks[bank, at.PRECHARGE_AT]
            )
            if ready <= ticks and nodes[head, at.ORDER] < best_row:
                best_row, row_bank = nodes[head, at.ORDER], bank
        else:
            node = head if before == at.NONE else nodes[before, at.NEXT]
            ready = _column_at(memory, channel, bank, nodes[node, at.KIND])
            if ready <= ticks and nodes[node, at.ORDER] < best_column:
                best_column, column_bank, column_before = nodes[node, at.ORDER], bank, before
        soonest = min(soonest, ready)
    channels[channel, at.STEP_AT] = max(soonest, ticks + TICKS)
    if column_bank != at.NONE:
        memory.scalars[at.QUEUED] += 1
        node = queues.take_after(memory, parameters[at.BANK_QUEUES] + column_bank, column_before)
        _move(memory, channel, column_bank, node, ticks)
        channels[channel, at.STEP_AT] = ticks + TICKS
    if row_bank != at.NONE:
        _open(memory, channel, row_bank, ticks)
        channels[channel, at.STEP_AT] = ticks + TICKS


MISS = -2


def _before_hit(memory: Memory, head: int, row: int) -> int:
    """The node before the first one of a list that wants ``row``: NONE if that is the head, MISS if none does."""
    nodes = memory.nodes
    before = at.NONE
    node = head
    while node != at.NONE:
        if nodes[node, at.ROW] == row:
            return before
        before = node
        node = nodes[node, at.NEXT]
    return MISS


def _column_at(memory: Memory, channel: int, bank: int, kind: int) -> int:
    """Ticks from which a burst of an open row may be read or written: bank, turnaround of the bus, and bus."""
    parameters, channels = memory.parameters, memory.channels
    is_write = kind == at.STORE
    first = channels[channel, at.CHANNEL_FREE] - (parameters[at.T_WL] if is_write else parameters[at.T_CL])
    if not is_write:
        first = max(first, channels[channel, at.READ_AT])
    return max(first, memory.banks[bank, at.COLUMN_AT])


def _move(memory: Memory, channel: int, bank: int, node: int, ticks: int) -> None:
    """Read or write a burst."""
    parameters, nodes, banks, channels = memory.parameters, memory.nodes, memory.banks, memory.channels
    is_write = nodes[node, at.KIND] == at.STORE
    sectors = sectors_in(nodes[node, at.SECTORS])
    start = ticks + (parameters[at.T_WL] if is_write else parameters[at.T_CL])
    end = max(start, channels[channel, at.CHANNEL_FREE]) + sectors * parameters[at.DRAM_SECTOR_TICKS]
    channels[channel, at.CHANNEL_FREE] = end
    channels[channel, at.BURSTS] -= 1
    sm = nodes[node, at.SM]
    memory.counts[sm, at.BURSTS_MOVED] += 1
    if is_write:
        memory.counts[sm, at.DRAM_WRITES] += sectors
        channels[channel, at.READ_AT] = end + parameters[at.T_WTR]
        banks[bank, at.PRECHARGE_AT] = max(banks[bank, at.PRECHARGE_AT], end + parameters[at.T_WR])
        free_node(memory, node)
    else:
        memory.counts[sm, at.DRAM_READS] += sectors
        banks[bank, at.PRECHARGE_AT] = max(banks[bank, at.PRECHARGE_AT], end - parameters[at.T_CL])
        plan(memory, (end + TICKS - 1) // TICKS + parameters[at.DRAM_LATENCY], at.FILLED, node)


def _open(memory: Memory, channel: int, bank: int, ticks: int) -> None:
    """Open the row that the first burst of a bank wants."""
    parameters, banks = memory.parameters, memory.banks
    activation = ticks + _before_activation(memory, bank)
    head = memory.queues[parameters[at.BANK_QUEUES] + bank, at.HEAD]
    banks[bank, at.OPEN_ROW] = memory.nodes[head, at.ROW]
    banks[bank, at.COLUMN_AT] = activation + parameters[at.T_RCD]
    banks[bank, at.PRECHARGE_AT] = activation + parameters[at.T_RAS]
    memory.channels[channel, at.ACTIVATE_AT] = activation + parameters[at.T_RRD]
    memory.counts[memory.nodes[head, at.SM], at.ROWS_OPENED] += 1


def _before_activation(memory: Memory, bank: int) -> int:
    """Ticks that a precharge takes first, if a row is open."""
    return 0 if memory.banks[bank, at.OPEN_ROW] == at.NONE else memory.parameters[at.T_RP]
