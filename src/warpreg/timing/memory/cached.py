"""The cached model: caches as they are, and network, slices and DRAM as latency and bandwidth.

Each resource keeps the time at which it is free again; requests take it in the order of their arrival, which a heap of
events keeps.  Queues have no bounds, and DRAM has no rows.
"""

from __future__ import annotations

from warpreg.timing.memory import first_level, network, second_level
from warpreg.timing.memory import layout as at
from warpreg.timing.memory.heap import free_node, new_node, next_node, next_planned, plan, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory


def advance(memory: Memory, now: int) -> None:
    """Do all that is due by ``now``, in order of time."""
    nodes = memory.nodes
    while next_planned(memory) <= now:
        time = next_planned(memory)
        node = next_node(memory)
        stage = nodes[node, at.STAGE]
        if stage == at.DELIVER:
            first_level.deliver(memory, node, now)
            continue
        which = second_level.slice_of(memory, nodes[node, at.LINE])
        if stage == at.ARRIVE:
            _arrive(memory, which, node, time)
            continue
        chain = node
        if stage == at.FILLED:
            chain = second_level.fill(memory, which, nodes[node, at.LINE], nodes[node, at.SECTORS])
            free_node(memory, node)
        while chain != at.NONE:
            following = nodes[chain, at.NEXT]
            network.reply(memory, which, chain, time)
            chain = following
    first_level.unblock(memory, now)


def _arrive(memory: Memory, which: int, node: int, now: int) -> None:
    """A request at its slice: look it up, and find when the slice answers or DRAM has what is lacking."""
    parameters, nodes, scalars = memory.parameters, memory.nodes, memory.scalars
    start = max(now * TICKS, memory.slices[which, at.SLICE_FREE])
    busy = sectors_in(nodes[node, at.SECTORS]) * parameters[at.L2_SECTOR_TICKS]
    memory.slices[which, at.SLICE_FREE] = start + busy
    found = second_level.look_up(memory, which, node)
    if found == second_level.ASKS or found == second_level.WAITS:
        second_level.wait(memory, node)
    later = start // TICKS + parameters[at.L2_LATENCY]
    sm = nodes[node, at.SM]
    written = sectors_in(scalars[at.EVICTED])
    read = sectors_in(scalars[at.ASKED])
    stage = at.REPLY
    if found == second_level.ASKS:
        node = new_node(memory, sm, at.LOAD, nodes[node, at.LINE], scalars[at.ASKED], at.NONE)
        stage = at.FILLED
    elif found == second_level.NO_PLACE:
        nodes[node, at.NEXT] = at.NONE
        count = sectors_in(nodes[node, at.SECTORS])
        if nodes[node, at.KIND] == at.STORE:
            written += count
        else:
            read = count
    memory.counts[sm, at.DRAM_WRITES] += written
    memory.counts[sm, at.DRAM_READS] += read
    at_dram = later
    if read > 0:
        later = _move(memory, which, read, at_dram) + parameters[at.DRAM_LATENCY]
    if written > 0:
        _move(memory, which, written, at_dram)
    if found != second_level.WAITS:
        plan(memory, later, stage, node)


def _move(memory: Memory, which: int, sectors: int, now: int) -> int:
    """Occupy the data bus of the slice's channel; the cycle at whose beginning the last byte has been moved."""
    channel = second_level.channel_of(memory, which)
    start = max(now * TICKS, memory.channels[channel, at.CHANNEL_FREE])
    end = start + sectors * memory.parameters[at.DRAM_SECTOR_TICKS]
    memory.channels[channel, at.CHANNEL_FREE] = end
    return (end + TICKS - 1) // TICKS
