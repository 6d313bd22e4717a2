"""The contention model: bounded queues everywhere, stepped cycle by cycle while there is anything in them.

A slice takes the first request of its queue when it is free, has a line to wait with, its reply queue has room and its
DRAM controller takes what may come of it; until then the queue stands, the network fills, and the SMs wait in front of
their first-level caches.
"""

from __future__ import annotations

from warpreg.timing.memory import crossbar, dram, first_level, mesh, network, queues, second_level
from warpreg.timing.memory import layout as at
from warpreg.timing.memory.agenda import next_planned, take
from warpreg.timing.memory.heap import free_node, new_node, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory


def advance(memory: Memory, now: int) -> None:
    """One cycle: what is due, then slices, DRAM controllers and networks."""
    time = next_planned(memory)
    while time <= now:
        _due(memory, take(memory, time), now)
        time = next_planned(memory)
    parameters, channels, scalars = memory.parameters, memory.channels, memory.scalars
    if scalars[at.QUEUED] > 0:
        for which in range(parameters[at.SLICES]):
            queue = parameters[at.SLICE_QUEUES] + which
            if memory.queues[queue, at.LENGTH] > 0:
                _serve(memory, which, queue, now)
    soonest = at.NEVER
    for channel in range(parameters[at.CHANNELS]):
        if channels[channel, at.STEP_AT] <= now * TICKS:
            dram.step(memory, channel, now)
        soonest = min(soonest, channels[channel, at.STEP_AT])
    scalars[at.DRAM_AT] = (soonest + TICKS - 1) // TICKS if soonest < at.NEVER else at.NEVER
    if scalars[at.QUEUED] > 0:
        if parameters[at.IS_MESH] == 1:
            mesh.step(memory, now)
        else:
            crossbar.replies(memory, now)
            crossbar.requests(memory, now)
    scalars[at.STEPPED] = now
    first_level.unblock(memory, now)


def look_ahead(memory: Memory, soonest: int, until: int) -> int:
    """The cycle in which something happens next, if SMs do nothing before ``soonest`` and have been stepped up to
    ``until``; then they go on by one cycle.
    """
    now = min(soonest, network.next_event(memory, until))
    if now >= at.NEVER:
        return at.NEVER
    now = max(now, until)
    if network.next_event(memory, now) <= now:
        advance(memory, now)
    return now + 1


def settle(memory: Memory, sm: int, now: int) -> None:
    """Answers are taken in `advance`."""


def _due(memory: Memory, node: int, now: int) -> None:
    """A node's event."""
    nodes = memory.nodes
    stage = nodes[node, at.STAGE]
    which = second_level.slice_of(memory, nodes[node, at.LINE])
    if stage == at.DELIVER:
        first_level.deliver(memory, node, now)
    elif stage == at.LEAVE:
        network.leave(memory, node, now)
    elif stage == at.ARRIVE:
        queues.append(memory, memory.parameters[at.SLICE_QUEUES] + which, node)
    else:
        memory.slices[which, at.MISSES2] -= 1
        chain = second_level.fill(memory, node)
        free_node(memory, node)
        while chain != at.NONE:
            following = nodes[chain, at.NEXT]
            network.reply(memory, which, chain, now)
            chain = following


def _serve(memory: Memory, which: int, queue: int, now: int) -> None:
    """Let a slice take the first request of its queue, if it can."""
    parameters, nodes, scalars = memory.parameters, memory.nodes, memory.scalars
    node = memory.queues[queue, at.HEAD]
    channel = second_level.channel_of(memory, which)
    if (
        memory.slices[which, at.SLICE_FREE] >= (now + 1) * TICKS
        or memory.slices[which, at.MISSES2] >= parameters[at.MSHRS2]
        or memory.channels[channel, at.BURSTS] + 2 > parameters[at.QUEUE_DRAM]
        or _replies(memory, which) >= parameters[at.QUEUE2]
    ):
        return
    found = second_level.look_up(memory, which, node)
    if found == second_level.NO_PLACE:
        return
    queues.take(memory, queue)
    if found != second_level.HIT:
        second_level.wait(memory, node)
    start = max(now * TICKS, memory.slices[which, at.SLICE_FREE])
    busy = sectors_in(nodes[node, at.SECTORS]) * parameters[at.L2_SECTOR_TICKS]
    memory.slices[which, at.SLICE_FREE] = start + busy
    burst = at.NONE
    if found == second_level.ASKS:
        memory.slices[which, at.MISSES2] += 1
        burst = second_level.request(memory, node)
    elif found == second_level.HIT:
        network.reply(memory, which, node, now)
    sm = nodes[node, at.SM]
    while burst != at.NONE or scalars[at.EVICTED] != 0:
        if burst == at.NONE:
            burst = new_node(memory, sm, at.STORE, scalars[at.EVICTED_LINE], scalars[at.EVICTED], at.NONE)
            scalars[at.EVICTED] = 0
        memory.channels[channel, at.BURSTS] += 1
        dram.enter(memory, channel, burst, now)
        burst = at.NONE


def _replies(memory: Memory, which: int) -> int:
    """Answers that wait at a slice's ports."""
    channels = memory.parameters[at.VIRTUAL_CHANNELS]
    first = memory.parameters[at.REPLY_QUEUES] + which * channels
    total = 0
    for queue in range(first, first + channels):
        total += memory.queues[queue, at.LENGTH]
    return total
