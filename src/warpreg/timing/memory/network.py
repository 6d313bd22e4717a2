"""The network between SMs and slices as the caches see it; which model carries requests and replies."""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory import queues
from warpreg.timing.memory.agenda import next_planned, plan, plan_by_sm
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.packets import reply_flits, request_flits
from warpreg.timing.memory.second_level import slice_of


def has_room(memory: Memory, sm: int, node: int) -> int:
    """Whether the network takes a request of an SM."""
    if memory.parameters[at.MODEL] == at.CACHED:
        return 1
    queue = _entry(memory, sm, memory.nodes[node, at.LINE])
    taken = memory.queues[queue, at.LENGTH] + memory.queues[queue, at.EXPECTED]
    return 1 if taken < memory.parameters[at.QUEUE_NETWORK] else 0


def inject(memory: Memory, node: int, time: int) -> None:
    """A request leaves its SM at ``time`` or when the port is free."""
    sm, parameters = memory.nodes[node, at.SM], memory.parameters
    if parameters[at.MODEL] == at.CACHED:
        flits = request_flits(memory, node)
        start = max(time, memory.sms[sm, at.INJECT_AT])
        memory.sms[sm, at.INJECT_AT] = start + flits
        there = start + flits - 1 + parameters[at.NETWORK_LATENCY]
        plan_by_sm(memory, there + parameters[at.L2_LATENCY], at.ARRIVE, node)
    else:
        memory.queues[_entry(memory, sm, memory.nodes[node, at.LINE]), at.EXPECTED] += 1
        plan(memory, time, at.LEAVE, node)


def leave(memory: Memory, node: int, now: int) -> None:
    """A request has come through its first-level cache: into the queue that has kept room for it."""
    queue = _entry(memory, memory.nodes[node, at.SM], memory.nodes[node, at.LINE])
    memory.queues[queue, at.EXPECTED] -= 1
    memory.nodes[node, at.FREE_FROM] = now
    queues.number(memory, node)
    queues.append(memory, queue, node)


def reply(memory: Memory, which: int, node: int, now: int) -> None:
    """A slice answers: through its port, and through that of the SM."""
    sm = memory.nodes[node, at.SM]
    if memory.parameters[at.MODEL] == at.CACHED:
        flits = reply_flits(memory, node)
        start = max(now, memory.slices[which, at.REPLY_AT])
        memory.slices[which, at.REPLY_AT] = start + flits
        there = start + flits - 1 + memory.parameters[at.NETWORK_LATENCY]
        at_sm = max(there, memory.sms[sm, at.EJECT_AT])
        memory.sms[sm, at.EJECT_AT] = at_sm + flits
        _answer(memory, sm, node, at_sm)
    else:
        channels = memory.parameters[at.VIRTUAL_CHANNELS]
        memory.nodes[node, at.FREE_FROM] = now
        queues.number(memory, node)
        queues.append(memory, memory.parameters[at.REPLY_QUEUES] + which * channels + sm % channels, node)


def _answer(memory: Memory, sm: int, node: int, time: int) -> None:
    """An answer is at its SM at ``time``, later than all before it."""
    nodes, sms = memory.nodes, memory.sms
    nodes[node, at.FREE_FROM] = time
    nodes[node, at.NEXT] = at.NONE
    if sms[sm, at.FIRST_ANSWER] == at.NONE:
        sms[sm, at.FIRST_ANSWER] = node
    else:
        nodes[sms[sm, at.LAST_ANSWER], at.NEXT] = node
    sms[sm, at.LAST_ANSWER] = node


def next_event(memory: Memory, now: int) -> int:
    """The earliest at which something happens in the memory system; every cycle while requests are in queues."""
    soonest = min(next_planned(memory), memory.scalars[at.DRAM_AT])
    if memory.scalars[at.QUEUED] > 0:
        return min(soonest, memory.scalars[at.STEPPED] + 1)
    return soonest


def _entry(memory: Memory, sm: int, line: int) -> int:
    """The queue of an SM that a line's requests enter."""
    channels = memory.parameters[at.VIRTUAL_CHANNELS]
    return sm * channels + slice_of(memory, line) % channels
