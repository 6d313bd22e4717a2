"""Crossbars for requests and for replies: queues at the inputs, outputs that accept one packet at a time.

A packet occupies its input and its output for as many cycles as it has flits.  In each cycle, every free input offers
its oldest packet whose output is free and has room, and every output accepts the oldest offered packet.  An input has
one queue per virtual channel; the destination selects the channel, so a packet whose output is busy blocks only the
packets of its own queue.
"""

from __future__ import annotations

from warpreg.timing.core.bitset import lowest
from warpreg.timing.core.typed import NEVER, NONE, SET_SIZE
from warpreg.timing.memory import linked_queues, wide_sets
from warpreg.timing.memory.agenda import plan
from warpreg.timing.memory.full_queues import was_full
from warpreg.timing.memory.heap import wake
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import nodes, parameters, queues, slices, sms
from warpreg.timing.memory.network import answer, taken
from warpreg.timing.memory.packets import reply_flits, request_flits
from warpreg.timing.memory.wide_sets import OFFERED, REPLYING, SENDING


def requests(memory: Memory, now: int) -> None:
    """Move requests from SMs to slices whose queues have room."""
    p = memory.parameters
    for word in range(p[parameters.SET_WORDS]):
        left = wide_sets.members(memory, SENDING, word)
        while left != 0:
            sm = word * SET_SIZE + lowest(left)
            left &= left - 1
            if memory.sms[sm, sms.INJECT_AT] <= now:
                _offer_request(memory, sm, now)
    for word in range(p[parameters.SET_WORDS]):
        left = wide_sets.members(memory, OFFERED, word)
        while left != 0:
            _accept_request(memory, word * SET_SIZE + lowest(left), now)
            left &= left - 1
    wide_sets.clear(memory, OFFERED)


def _accept_request(memory: Memory, which: int, now: int) -> None:
    """A slice accepts the oldest request that is offered to it."""
    p = memory.parameters
    queue = memory.slices[which, slices.CHOSEN]
    memory.slices[which, slices.CHOSEN] = NONE
    node = linked_queues.take(memory, queue)
    sm = memory.nodes[node, nodes.SM]
    flits = request_flits(memory, node)
    memory.sms[sm, sms.INJECT_AT] = now + flits
    memory.slices[which, slices.TAKE_AT] = now + flits
    there = now + flits - 1 + p[parameters.NETWORK_LATENCY]
    plan(memory, there + p[parameters.L2_LATENCY], nodes.ARRIVE, node)
    if taken(memory, queue) >= p[parameters.QUEUE_NETWORK]:
        wake(memory, sm)
    memory.queues[queue, queues.GONE] += 1
    channels = p[parameters.VIRTUAL_CHANNELS]
    if _is_empty(memory, sm * channels, channels):
        wide_sets.remove(memory, SENDING, sm)


def _is_empty(memory: Memory, first: int, count: int) -> bool:
    """Whether ``count`` queues from ``first`` on are empty."""
    length = 0
    for queue in range(first, first + count):
        length += memory.queues[queue, queues.LENGTH]
    return length == 0


def _offer_request(memory: Memory, sm: int, now: int) -> None:
    """Offer the oldest request of an SM that can move, unless its slice has an older offer."""
    channels = memory.parameters[parameters.VIRTUAL_CHANNELS]
    oldest = NEVER
    best, goal = NONE, 0
    for queue in range(sm * channels, (sm + 1) * channels):
        if memory.queues[queue, queues.LENGTH] == 0:
            continue
        node = memory.queues[queue, queues.HEAD]
        which = memory.nodes[node, nodes.SLICE]
        if (
            memory.nodes[node, nodes.ORDER] < oldest
            and memory.slices[which, slices.TAKE_AT] <= now
            and not was_full(memory, which, now)
        ):
            oldest, best, goal = memory.nodes[node, nodes.ORDER], queue, which
    if best != NONE:
        other = memory.slices[goal, slices.CHOSEN]
        if other == NONE or oldest < memory.nodes[memory.queues[other, queues.HEAD], nodes.ORDER]:
            memory.slices[goal, slices.CHOSEN] = best
            wide_sets.add(memory, OFFERED, goal)


def replies(memory: Memory, now: int) -> None:
    """Move replies from slices to SMs, which always accept them."""
    p = memory.parameters
    for word in range(p[parameters.SET_WORDS]):
        left = wide_sets.members(memory, REPLYING, word)
        while left != 0:
            which = word * SET_SIZE + lowest(left)
            left &= left - 1
            if memory.slices[which, slices.REPLY_AT] <= now:
                _offer_reply(memory, which, now)
    for word in range(p[parameters.SET_WORDS]):
        left = wide_sets.members(memory, OFFERED, word)
        while left != 0:
            _accept_reply(memory, word * SET_SIZE + lowest(left), now)
            left &= left - 1
    wide_sets.clear(memory, OFFERED)


def _accept_reply(memory: Memory, sm: int, now: int) -> None:
    """An SM accepts the oldest reply that is offered to it."""
    p = memory.parameters
    queue = memory.sms[sm, sms.CHOSEN_BY]
    memory.sms[sm, sms.CHOSEN_BY] = NONE
    node = linked_queues.take(memory, queue)
    flits = reply_flits(memory, node)
    which = memory.nodes[node, nodes.SLICE]
    memory.slices[which, slices.REPLY_AT] = now + flits
    memory.sms[sm, sms.EJECT_AT] = now + flits
    answer(memory, sm, node, now + flits - 1 + p[parameters.NETWORK_LATENCY])
    channels = p[parameters.VIRTUAL_CHANNELS]
    if _is_empty(memory, p[parameters.REPLY_QUEUES] + which * channels, channels):
        wide_sets.remove(memory, REPLYING, which)


def _offer_reply(memory: Memory, which: int, now: int) -> None:
    """Offer the oldest reply of a slice that can move, unless its SM has an older offer."""
    p = memory.parameters
    channels = p[parameters.VIRTUAL_CHANNELS]
    first = p[parameters.REPLY_QUEUES] + which * channels
    oldest = NEVER
    best, goal = NONE, 0
    for queue in range(first, first + channels):
        if memory.queues[queue, queues.LENGTH] == 0:
            continue
        node = memory.queues[queue, queues.HEAD]
        sm = memory.nodes[node, nodes.SM]
        if memory.nodes[node, nodes.ORDER] < oldest and memory.sms[sm, sms.EJECT_AT] <= now:
            oldest, best, goal = memory.nodes[node, nodes.ORDER], queue, sm
    if best != NONE:
        other = memory.sms[goal, sms.CHOSEN_BY]
        if other == NONE or oldest < memory.nodes[memory.queues[other, queues.HEAD], nodes.ORDER]:
            memory.sms[goal, sms.CHOSEN_BY] = best
            wide_sets.add(memory, OFFERED, goal)
