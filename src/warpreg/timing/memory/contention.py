"""The contention model: bounded queues everywhere, stepped cycle by cycle while they are not empty.

A slice serves the first request of its queue when it is free, has a free line, its reply queue has room, and its DRAM
controller can accept the resulting bursts.  Until then the queue stalls, the network fills, and SMs wait in front of
their first-level caches.
"""

from __future__ import annotations

from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory import answers, crossbar, dram, first_level, linked_queues, mesh, network, second_level
from warpreg.timing.memory.agenda import next_of_memory, next_planned, take
from warpreg.timing.memory.heap import free_node, new_node, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory
from warpreg.timing.memory.memory_columns import channels, nodes, parameters, queues, scalars, slices, sms


def advance(memory: Memory, now: int) -> None:
    """One cycle of memory, then of all SMs."""
    _step(memory, now)
    for sm in range(memory.parameters[parameters.SMS]):
        settle(memory, sm, now)


def _step(memory: Memory, now: int) -> None:
    """One cycle: due events, then slices, DRAM controllers and networks."""
    p = memory.parameters
    time = next_planned(memory)
    while time <= now:
        _due(memory, take(memory, time), now)
        time = next_planned(memory)
    if memory.scalars[scalars.QUEUED] > 0:
        for which in range(p[parameters.SLICES]):
            queue = p[parameters.SLICE_QUEUES] + which
            if memory.queues[queue, queues.LENGTH] > 0:
                _serve(memory, which, queue, now)
    soonest = NEVER
    for channel in range(p[parameters.CHANNELS]):
        if memory.channels[channel, channels.STEP_AT] <= now * TICKS:
            dram.step(memory, channel, now)
        soonest = min(soonest, memory.channels[channel, channels.STEP_AT])
    memory.scalars[scalars.DRAM_AT] = (soonest + TICKS - 1) // TICKS if soonest < NEVER else NEVER
    if memory.scalars[scalars.QUEUED] > 0:
        if p[parameters.IS_MESH] == 1:
            mesh.step(memory, now)
        else:
            crossbar.replies(memory, now)
            crossbar.requests(memory, now)
    memory.scalars[scalars.STEPPED] = now
    _unblock(memory, now)


@stands_for(ports.look_ahead, when.CONTENTION)
def look_ahead(memory: Memory, soonest: int, until: int) -> int:
    """Step memory as far as SMs cannot affect it: they have been stepped up to ``until`` and do nothing before
    ``soonest``.  Returns the cycle up to which all answers are known.

    An answer that leaves its slice later passes through the network, and what SMs send until then meets no limit.
    """
    memory.scalars[scalars.NEXT_ANSWER] = NEVER
    event = network.next_event(memory, until)
    while event < NEVER and event <= min(soonest, memory.scalars[scalars.NEXT_ANSWER]):
        _step(memory, event)
        event = network.next_event(memory, event)
    now = min(soonest, memory.scalars[scalars.NEXT_ANSWER])
    if now >= NEVER:
        return NEVER
    memory.scalars[scalars.BEGIN] = max(memory.scalars[scalars.BEGIN], now)
    return _known_until(memory, now)


def _known_until(memory: Memory, now: int) -> int:
    """The cycle up to which SMs may be stepped if memory has been stepped up to ``now``: before, no answer is missing,
    and no queue of requests can be full.
    """
    p = memory.parameters
    if p[parameters.IS_MESH] == 1:
        return now + 1
    taken = 0
    for queue in range(p[parameters.SMS] * p[parameters.VIRTUAL_CHANNELS]):
        taken = max(taken, memory.queues[queue, queues.LENGTH] + memory.queues[queue, queues.EXPECTED])
    cycles = (p[parameters.QUEUE_NETWORK] - taken) // (p[parameters.BANKS1] + 1)
    return max(now + 1, min(now + cycles, _next_reply(memory, now) + p[parameters.NETWORK_LATENCY]))


def _next_reply(memory: Memory, now: int) -> int:
    """The first cycle after ``now`` in which a slice may answer a request of the crossbar."""
    p = memory.parameters
    if memory.scalars[scalars.QUEUED] > 0:
        for queue in range(p[parameters.SLICE_QUEUES], p[parameters.BANK_QUEUES]):
            if memory.queues[queue, queues.LENGTH] > 0:
                return now + 1
    sent = now + 1 + p[parameters.NETWORK_LATENCY] + p[parameters.L2_LATENCY]
    return min(
        sent, next_of_memory(memory, now + 1, sent), memory.scalars[scalars.DRAM_AT] + p[parameters.DRAM_LATENCY]
    )


def next_event(memory: Memory, now: int) -> int:
    """The earliest cycle in which `advance` is due."""
    return min(network.next_event(memory, now), answers.next_answer_of_all(memory))


@stands_for(ports.next_return, when.CONTENTION)
def next_return(memory: Memory, sm: int) -> int:
    """The earliest cycle in which a ticket may return to this SM, or in which it may send again."""
    return min(answers.next_return(memory, sm), memory.sms[sm, sms.UNBLOCKED_AT])


@stands_for(ports.settle, when.CONTENTION)
def settle(memory: Memory, sm: int, now: int) -> None:
    """Process what has reached an SM by ``now``."""
    memory.sms[sm, sms.UNBLOCKED_AT] = NEVER
    answers.settle(memory, sm, now)


def _unblock(memory: Memory, now: int) -> None:
    """Retry transactions that wait in front of caches where the state has changed."""
    if memory.scalars[scalars.WOKEN_ANY] == 0:
        return
    memory.scalars[scalars.WOKEN_ANY] = 0
    for sm in range(memory.parameters[parameters.SMS]):
        if first_level.unblock(memory, sm, now):
            memory.sms[sm, sms.UNBLOCKED_AT] = now
            memory.scalars[scalars.NEXT_ANSWER] = min(memory.scalars[scalars.NEXT_ANSWER], now)


def _due(memory: Memory, node: int, now: int) -> None:
    """Process the event of a node."""
    stage = memory.nodes[node, nodes.STAGE]
    which = memory.nodes[node, nodes.SLICE]
    if stage == nodes.LEAVE:
        network.leave(memory, node, now)
    elif stage == nodes.ARRIVE:
        linked_queues.append(memory, memory.parameters[parameters.SLICE_QUEUES] + which, node)
    else:
        memory.slices[which, slices.MISSES] -= 1
        chain = second_level.fill(memory, node)
        free_node(memory, node)
        while chain != NONE:
            following = memory.nodes[chain, nodes.NEXT]
            network.reply(memory, which, chain, now)
            chain = following


def _serve(memory: Memory, which: int, queue: int, now: int) -> None:
    """Let a slice serve the first request of its queue, if it can."""
    p = memory.parameters
    node = memory.queues[queue, queues.HEAD]
    channel = second_level.channel_of(memory, which)
    if (
        memory.slices[which, slices.FREE_AT] >= (now + 1) * TICKS
        or memory.slices[which, slices.MISSES] >= p[parameters.MSHRS2]
        or memory.channels[channel, channels.BURSTS] + 2 > p[parameters.QUEUE_DRAM]
        or _replies(memory, which) >= p[parameters.QUEUE2]
    ):
        return
    outcome = second_level.look_up(memory, which, node)
    if outcome == second_level.NO_SLOT:
        return
    linked_queues.take(memory, queue)
    if outcome != second_level.HIT:
        second_level.wait(memory, node)
    start = max(now * TICKS, memory.slices[which, slices.FREE_AT])
    busy = sectors_in(memory.nodes[node, nodes.SECTORS]) * p[parameters.L2_SECTOR_TICKS]
    memory.slices[which, slices.FREE_AT] = start + busy
    burst = NONE
    if outcome == second_level.ASKS:
        memory.slices[which, slices.MISSES] += 1
        burst = second_level.request(memory, node)
    elif outcome == second_level.HIT:
        network.reply(memory, which, node, now)
    sm = memory.nodes[node, nodes.SM]
    while burst != NONE or memory.scalars[scalars.EVICTED] != 0:
        if burst == NONE:
            burst = new_node(
                memory, sm, record.STORE, memory.scalars[scalars.EVICTED_LINE], memory.scalars[scalars.EVICTED], NONE
            )
            memory.scalars[scalars.EVICTED] = 0
        memory.channels[channel, channels.BURSTS] += 1
        dram.enter(memory, channel, burst, now)
        burst = NONE


def _replies(memory: Memory, which: int) -> int:
    """Answers that wait at the ports of a slice."""
    p = memory.parameters
    width = p[parameters.VIRTUAL_CHANNELS]
    first = p[parameters.REPLY_QUEUES] + which * width
    total = 0
    for queue in range(first, first + width):
        total += memory.queues[queue, queues.LENGTH]
    return total
