"""Network between SMs and slices: selects the model that carries requests and replies."""

from __future__ import annotations

from warpreg.timing.core.typed import NONE
from warpreg.timing.memory import linked_queues
from warpreg.timing.memory.agenda import plan_by_sm, plan_to_leave, send_to_leader
from warpreg.timing.memory.layout import CACHED, Memory
from warpreg.timing.memory.memory_columns import nodes, parameters, queues, scalars, slices, sms
from warpreg.timing.memory.packets import reply_flits, request_flits
from warpreg.timing.memory.second_level import slice_of
from warpreg.timing.memory.wide_sets import REPLYING, SENDING, add

SM_BITS = 20


def has_room(memory: Memory, sm: int, node: int) -> int:
    """Whether the network accepts a request of an SM."""
    p = memory.parameters
    if p[parameters.MODEL] == CACHED:
        return 1
    queue = sm
    if p[parameters.VIRTUAL_CHANNELS] != 1:
        queue = _entry(memory, sm, slice_of(memory, memory.nodes[node, nodes.LINE]))
    return 1 if taken(memory, queue) < p[parameters.QUEUE_NETWORK] else 0


def taken(memory: Memory, queue: int) -> int:
    """Requests in a queue of an SM, and those that have reserved room in it."""
    return memory.sent[queue, 0] - memory.queues[queue, queues.GONE]


def inject(memory: Memory, node: int, time: int, turn: int) -> None:
    """Inject a request at ``time`` or when the port of its SM is free.

    Of requests of the same time, those of the first ``turn`` enter the network first, then those of the first SM; SMs
    may be stepped for several cycles one after another.
    """
    sm, p = memory.nodes[node, nodes.SM], memory.parameters
    memory.nodes[node, nodes.SLICE] = slice_of(memory, memory.nodes[node, nodes.LINE])
    if p[parameters.MODEL] == CACHED:
        flits = request_flits(memory, node)
        start = max(time, memory.sms[sm, sms.INJECT_AT])
        memory.sms[sm, sms.INJECT_AT] = start + flits
        there = start + flits - 1 + p[parameters.NETWORK_LATENCY]
        if memory.scalars[scalars.MEMBER] == 0:
            plan_by_sm(memory, there + p[parameters.L2_LATENCY], nodes.ARRIVE, node)
        else:
            send_to_leader(memory, there + p[parameters.L2_LATENCY], node)
    else:
        memory.sent[_entry(memory, sm, memory.nodes[node, nodes.SLICE]), 0] += 1
        memory.nodes[node, nodes.ORDER] = turn << SM_BITS | sm
        if memory.scalars[scalars.MEMBER] == 0:
            plan_to_leave(memory, time, node)
        else:
            send_to_leader(memory, time, node)


def leave(memory: Memory, node: int, now: int) -> None:
    """A request has passed its first-level cache: it enters the queue that has reserved room for it."""
    sm = memory.nodes[node, nodes.SM]
    queue = _entry(memory, sm, memory.nodes[node, nodes.SLICE])
    memory.nodes[node, nodes.FREE_FROM] = now
    linked_queues.number(memory, node)
    linked_queues.append(memory, queue, node)
    add(memory, SENDING, sm)


def reply(memory: Memory, which: int, node: int, now: int) -> None:
    """A slice answers, through its port and that of the SM."""
    p = memory.parameters
    sm = memory.nodes[node, nodes.SM]
    if p[parameters.MODEL] == CACHED:
        flits = reply_flits(memory, node)
        start = max(now, memory.slices[which, slices.REPLY_AT])
        memory.slices[which, slices.REPLY_AT] = start + flits
        there = start + flits - 1 + p[parameters.NETWORK_LATENCY]
        at_sm = max(there, memory.sms[sm, sms.EJECT_AT])
        memory.sms[sm, sms.EJECT_AT] = at_sm + flits
        _answer(memory, sm, node, at_sm)
    else:
        channels = p[parameters.VIRTUAL_CHANNELS]
        memory.nodes[node, nodes.FREE_FROM] = now
        linked_queues.number(memory, node)
        linked_queues.append(memory, p[parameters.REPLY_QUEUES] + which * channels + sm % channels, node)
        add(memory, REPLYING, which)


def _answer(memory: Memory, sm: int, node: int, time: int) -> None:
    """An answer reaches its SM at ``time``, later than all before it."""
    memory.nodes[node, nodes.FREE_FROM] = time
    memory.nodes[node, nodes.NEXT] = NONE
    if memory.sms[sm, sms.FIRST_ANSWER] == NONE:
        memory.sms[sm, sms.FIRST_ANSWER] = node
    else:
        memory.nodes[memory.sms[sm, sms.LAST_ANSWER], nodes.NEXT] = node
    memory.sms[sm, sms.LAST_ANSWER] = node


def answer(memory: Memory, sm: int, node: int, time: int) -> None:
    """With contention, an answer reaches its SM at ``time``, later than all before it; the SM sees it after
    `hand_over`.
    """
    memory.scalars[scalars.NEXT_ANSWER] = min(memory.scalars[scalars.NEXT_ANSWER], time)
    memory.nodes[node, nodes.FREE_FROM] = time
    memory.nodes[node, nodes.NEXT] = NONE
    if memory.sms[sm, sms.FIRST_COMING] == NONE:
        memory.sms[sm, sms.FIRST_COMING] = node
    else:
        memory.nodes[memory.sms[sm, sms.LAST_COMING], nodes.NEXT] = node
    memory.sms[sm, sms.LAST_COMING] = node


def hand_over(memory: Memory) -> None:
    """Append the answers on their way to those that SMs see, while no SM is stepped."""
    for sm in range(memory.parameters[parameters.SMS]):
        first = memory.sms[sm, sms.FIRST_COMING]
        if first == NONE:
            continue
        memory.sms[sm, sms.FIRST_COMING] = NONE
        if memory.sms[sm, sms.FIRST_ANSWER] == NONE:
            memory.sms[sm, sms.FIRST_ANSWER] = first
        else:
            memory.nodes[memory.sms[sm, sms.LAST_ANSWER], nodes.NEXT] = first
        memory.sms[sm, sms.LAST_ANSWER] = memory.sms[sm, sms.LAST_COMING]


def _entry(memory: Memory, sm: int, which: int) -> int:
    """The queue of an SM for requests to a slice."""
    channels = memory.parameters[parameters.VIRTUAL_CHANNELS]
    return sm if channels == 1 else sm * channels + which % channels
