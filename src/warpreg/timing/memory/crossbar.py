"""A crossbar for requests and one for replies: queues at the inputs, and outputs that take one packet at a time.

A packet occupies its input and its output for as many cycles as it has flits.  In a cycle each free input offers the
oldest of its packets whose output is free and has room, and each output takes the oldest that it is offered.  An input
has a queue for each virtual channel, which its packets' destinations are divided among, so that a packet whose output
is busy holds up only those of its own queue.
"""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory import queues
from warpreg.timing.memory.agenda import plan
from warpreg.timing.memory.heap import wake
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.packets import reply_flits, request_flits
from warpreg.timing.memory.second_level import slice_of


def requests(memory: Memory, now: int) -> None:
    """Move requests from SMs to slices whose queues have room."""
    parameters, nodes, sms, slices = memory.parameters, memory.nodes, memory.sms, memory.slices
    for which in range(parameters[at.SLICES]):
        slices[which, at.CHOSEN] = at.NONE
    for sm in range(parameters[at.SMS]):
        if sms[sm, at.INJECT_AT] <= now:
            _offer_request(memory, sm, now)
    for which in range(parameters[at.SLICES]):
        queue = slices[which, at.CHOSEN]
        if queue != at.NONE:
            node = queues.take(memory, queue)
            sm = nodes[node, at.SM]
            flits = request_flits(memory, node)
            sms[sm, at.INJECT_AT] = now + flits
            slices[which, at.TAKE_AT] = now + flits
            there = now + flits - 1 + parameters[at.NETWORK_LATENCY]
            plan(memory, there + parameters[at.L2_LATENCY], at.ARRIVE, node)
            wake(memory, sm)


def _offer_request(memory: Memory, sm: int, now: int) -> None:
    """Offer the oldest request of an SM that can be taken, unless its slice is offered an older one."""
    parameters, nodes, slices = memory.parameters, memory.nodes, memory.slices
    channels = parameters[at.VIRTUAL_CHANNELS]
    oldest = at.NEVER
    best, goal = at.NONE, 0
    for queue in range(sm * channels, (sm + 1) * channels):
        if memory.queues[queue, at.LENGTH] == 0:
            continue
        node = memory.queues[queue, at.HEAD]
        which = slice_of(memory, nodes[node, at.LINE])
        waiting = memory.queues[parameters[at.SLICE_QUEUES] + which, at.LENGTH]
        if nodes[node, at.ORDER] < oldest and slices[which, at.TAKE_AT] <= now and waiting < parameters[at.QUEUE2]:
            oldest, best, goal = nodes[node, at.ORDER], queue, which
    if best != at.NONE:
        other = slices[goal, at.CHOSEN]
        if other == at.NONE or oldest < nodes[memory.queues[other, at.HEAD], at.ORDER]:
            slices[goal, at.CHOSEN] = best


def replies(memory: Memory, now: int) -> None:
    """Move replies from slices to SMs, which always take them."""
    parameters, nodes, sms, slices = memory.parameters, memory.nodes, memory.sms, memory.slices
    for sm in range(parameters[at.SMS]):
        sms[sm, at.CHOSEN_BY] = at.NONE
    for which in range(parameters[at.SLICES]):
        if slices[which, at.REPLY_AT] <= now:
            _offer_reply(memory, which, now)
    for sm in range(parameters[at.SMS]):
        queue = sms[sm, at.CHOSEN_BY]
        if queue != at.NONE:
            node = queues.take(memory, queue)
            flits = reply_flits(memory, node)
            slices[slice_of(memory, nodes[node, at.LINE]), at.REPLY_AT] = now + flits
            sms[sm, at.EJECT_AT] = now + flits
            plan(memory, now + flits - 1 + parameters[at.NETWORK_LATENCY], at.DELIVER, node)


def _offer_reply(memory: Memory, which: int, now: int) -> None:
    """Offer the oldest reply of a slice that can be taken, unless its SM is offered an older one."""
    nodes, sms = memory.nodes, memory.sms
    channels = memory.parameters[at.VIRTUAL_CHANNELS]
    first = memory.parameters[at.REPLY_QUEUES] + which * channels
    oldest = at.NEVER
    best, goal = at.NONE, 0
    for queue in range(first, first + channels):
        if memory.queues[queue, at.LENGTH] == 0:
            continue
        node = memory.queues[queue, at.HEAD]
        sm = nodes[node, at.SM]
        if nodes[node, at.ORDER] < oldest and sms[sm, at.EJECT_AT] <= now:
            oldest, best, goal = nodes[node, at.ORDER], queue, sm
    if best != at.NONE:
        other = sms[goal, at.CHOSEN_BY]
        if other == at.NONE or oldest < nodes[memory.queues[other, at.HEAD], at.ORDER]:
            sms[goal, at.CHOSEN_BY] = best
