"""The contention model: bounded queues everywhere, stepped cycle by cycle while they are not empty.

A slice serves the first request of its queue when it is free, has a free line, its reply queue has room, and its DRAM
controller can accept the resulting bursts.  Until then the queue stalls, the network fills, and SMs wait in front of
their first-level caches.

With crossbars, the system has two parts that are stepped one after the other, each for many cycles:

- the network of requests, which knows what SMs have sent: up to CARRIED;
- slices, DRAM controllers and the network of replies: up to STEPPED, `ahead` cycles further, because no request reaches
  a slice earlier.  Which queues of slices were full in which cycle is kept for the other part (`full_queues`).

With a mesh, requests and replies meet in the routers, and both parts take a cycle together.
"""

from __future__ import annotations

from piecewise_numba.noinline import apart
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.bitset import lowest
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.typed import NEVER, NONE, SET_SIZE
from warpreg.timing.memory import (
    agenda,
    answers,
    crossbar,
    dram,
    first_level,
    linked_queues,
    mesh,
    network,
    second_level,
    wide_sets,
)
from warpreg.timing.memory.full_queues import note_full
from warpreg.timing.memory.heap import free_node, new_node, sectors_in
from warpreg.timing.memory.layout import RING, TICKS, Memory
from warpreg.timing.memory.memory_columns import channels, nodes, parameters, queues, scalars, slices, sms
from warpreg.timing.memory.wide_sets import REPLYING, SENDING, SERVING

LEAST_SHARE = 4
"""Several threads step SMs for at least this share of the cycles that they could be ahead, or memory first works while
they wait.  Changes no result.  Chosen, not measured.
"""


def advance(memory: Memory, now: int) -> None:
    """One cycle of memory, then of all SMs."""
    _step(memory, now)
    network.hand_over(memory)
    for sm in range(memory.parameters[parameters.SMS]):
        settle(memory, sm, now)


def next_event(memory: Memory, now: int) -> int:
    """The earliest cycle in which `advance` is due."""
    return min(_next_of_both(memory), answers.next_answer_of_all(memory))


@stands_for(ports.look_ahead, when.CONTENTION)
def look_ahead(memory: Memory, soonest: int, until: int) -> int:
    """Step memory as far as SMs cannot affect it: they have been stepped up to ``until`` and do nothing before
    ``soonest``.  Returns the cycle up to which they may be stepped: before, no answer is missing, and no queue of
    requests can be full.

    If other threads step SMs meanwhile, `work_ahead` does the work for the cycles after those.
    """
    agenda.empty_outboxes(memory)
    soonest = min(soonest, _handed_over(memory))
    if memory.parameters[parameters.IS_MESH] == 1:
        now = _together(memory, soonest)
        return NEVER if now >= NEVER else now + 1
    known = memory.scalars[scalars.KNOWN]
    now = min(soonest, known)
    way = _ahead(memory) + memory.parameters[parameters.NETWORK_LATENCY] + 1
    may_wait = known - now >= max(way // LEAST_SHARE, memory.parameters[parameters.NETWORK_LATENCY] + 1)
    end = min(known, now + _cycles_with_room(memory))
    if not may_wait:
        now = _run(memory, soonest)
    elif memory.scalars[scalars.MEMBERS] == 1 or end - now < way // LEAST_SHARE:
        now = _carry(memory, now, now)
    if now >= NEVER:
        return NEVER
    _handed_over(memory)
    memory.scalars[scalars.CARRY_TO] = now
    end = min(memory.scalars[scalars.KNOWN], now + min(RING, _cycles_with_room(memory)))
    if memory.scalars[scalars.MEMBERS] > 1:
        end = min(end, now + way // 2)
    return max(end, now + 1)


@stands_for(ports.work_ahead, when.CONTENTION)
def work_ahead(memory: Memory) -> None:
    """The leader, while other threads step their SMs: step memory as far as those have been stepped before."""
    _run(memory, memory.scalars[scalars.CARRY_TO])


def _ahead(memory: Memory) -> int:
    """Cycles between a request in its network and its slice, at least; no more than are kept of full queues."""
    return min(memory.parameters[parameters.NETWORK_LATENCY] + memory.parameters[parameters.L2_LATENCY], RING - 1)


def _handed_over(memory: Memory) -> int:
    """Let SMs see the answers on their way; returns when the first of these arrives."""
    network.hand_over(memory)
    first = memory.scalars[scalars.NEXT_ANSWER]
    memory.scalars[scalars.NEXT_ANSWER] = NEVER
    return first


@apart
def _run(memory: Memory, soonest: int) -> int:
    """Step the requests up to the cycle ``soonest``, or that of the first answer or unblocked SM, and slices so far
    that no request which may still be sent reaches one earlier.  Returns that cycle; NEVER if nothing happens before.
    """
    ahead = _ahead(memory)
    while True:
        now = min(soonest, memory.scalars[scalars.NEXT_ANSWER])
        following = _next_request(memory)
        event = _next_of_slices(memory)
        while event < NEVER and event <= min(now, following - 1) + ahead:
            _step_slices(memory, event)
            now = min(now, memory.scalars[scalars.NEXT_ANSWER])
            event = _next_of_slices(memory)
        if following > now or following >= NEVER:
            break
        now = _carry(memory, now, event - 1)
    if now < NEVER:
        memory.scalars[scalars.CARRIED] = now
        memory.scalars[scalars.KNOWN] = now + 1 + ahead + memory.parameters[parameters.NETWORK_LATENCY]
    return now


@apart
def _carry(memory: Memory, now: int, known: int) -> int:
    """Step the requests up to the cycle ``now``, or that of the first unblocked SM, but no further than what slices do
    is known: up to ``known``, or until a request reaches one.  Returns the first of the former cycles.
    """
    following = _next_request(memory)
    while following <= min(now, known):
        _step_requests(memory, following)
        now = min(now, memory.scalars[scalars.NEXT_ANSWER])
        known = min(known, following + _ahead(memory) - 1)
        following = _next_request(memory)
    return now


def _cycles_with_room(memory: Memory) -> int:
    """Cycles in which SMs cannot fill a queue of requests, whatever they send."""
    p = memory.parameters
    most = 0
    for queue in range(p[parameters.SMS] * p[parameters.VIRTUAL_CHANNELS]):
        most = max(most, network.taken(memory, queue))
    return (p[parameters.QUEUE_NETWORK] - 1 - most) // p[parameters.BANKS1]


def _together(memory: Memory, soonest: int) -> int:
    """With a mesh: step all up to the cycle ``soonest``, or that of the first answer or unblocked SM; returns it."""
    event = _next_of_both(memory)
    while event < NEVER and event <= min(soonest, memory.scalars[scalars.NEXT_ANSWER]):
        _step(memory, event)
        event = _next_of_both(memory)
    now = min(soonest, _handed_over(memory))
    if now < NEVER:
        memory.scalars[scalars.BEGIN] = max(memory.scalars[scalars.BEGIN], now)
        memory.scalars[scalars.CARRIED] = max(memory.scalars[scalars.CARRIED], now)
    return now


def _next_of_both(memory: Memory) -> int:
    """The earliest cycle with an event in the memory system."""
    if memory.parameters[parameters.IS_MESH] == 1 and memory.scalars[scalars.QUEUED] > 0:
        return memory.scalars[scalars.STEPPED] + 1
    return min(_next_of_slices(memory), _next_request(memory))


def _next_of_slices(memory: Memory) -> int:
    """The earliest cycle with an event in slices, DRAM controllers and the network of replies."""
    if not (wide_sets.is_empty(memory, SERVING) and wide_sets.is_empty(memory, REPLYING)):
        return memory.scalars[scalars.STEPPED] + 1
    return min(agenda.next_of_memory(memory), memory.scalars[scalars.DRAM_AT])


def _next_request(memory: Memory) -> int:
    """The earliest cycle with an event in the network of requests."""
    if not wide_sets.is_empty(memory, SENDING):
        return memory.scalars[scalars.CARRIED] + 1
    return agenda.next_leaving(memory)


def _step(memory: Memory, now: int) -> None:
    """One cycle of the whole memory system."""
    if memory.parameters[parameters.IS_MESH] == 1:
        _take_due(memory, now)
        _take_leaving(memory, now)
        _serve_all(memory, now)
        _step_dram(memory, now)
        mesh.step(memory, now)
        memory.scalars[scalars.STEPPED] = memory.scalars[scalars.CARRIED] = now
        _unblock(memory, now)
    else:
        _step_slices(memory, now)
        _step_requests(memory, now)


def _step_slices(memory: Memory, now: int) -> None:
    """One cycle of slices, DRAM controllers and the network of replies."""
    _take_due(memory, now)
    _serve_all(memory, now)
    if memory.scalars[scalars.DRAM_AT] <= now:
        _step_dram(memory, now)
    crossbar.replies(memory, now)
    memory.scalars[scalars.STEPPED] = memory.scalars[scalars.BEGIN] = now


def _step_requests(memory: Memory, now: int) -> None:
    """One cycle of the network of requests; slices have been stepped up to it."""
    _take_leaving(memory, now)
    crossbar.requests(memory, now)
    memory.scalars[scalars.CARRIED] = now
    memory.scalars[scalars.BEGIN] = max(memory.scalars[scalars.BEGIN], now)
    _unblock(memory, now)


def _take_due(memory: Memory, now: int) -> None:
    """Process the due events of slices."""
    while agenda.is_due(memory, now):
        _due(memory, agenda.take_of_memory(memory, now), now)


def _take_leaving(memory: Memory, now: int) -> None:
    """Let requests that have passed their first levels enter the network."""
    node = agenda.take_leaving(memory, now)
    while node != NONE:
        network.leave(memory, node, now)
        node = agenda.take_leaving(memory, now)


def _serve_all(memory: Memory, now: int) -> None:
    """Let all slices with requests serve one."""
    p = memory.parameters
    for word in range(p[parameters.SET_WORDS]):
        left = wide_sets.members(memory, SERVING, word)
        while left != 0:
            which = word * SET_SIZE + lowest(left)
            left &= left - 1
            queue = p[parameters.SLICE_QUEUES] + which
            _serve(memory, which, queue, now)
            length = memory.queues[queue, queues.LENGTH]
            if length == 0:
                wide_sets.remove(memory, SERVING, which)
            elif length >= p[parameters.QUEUE2]:
                note_full(memory, which, now)


def _step_dram(memory: Memory, now: int) -> None:
    """Let all DRAM controllers with work issue commands."""
    soonest = NEVER
    for channel in range(memory.parameters[parameters.CHANNELS]):
        if memory.channels[channel, channels.STEP_AT] <= now * TICKS:
            dram.step(memory, channel, now)
        soonest = min(soonest, memory.channels[channel, channels.STEP_AT])
    memory.scalars[scalars.DRAM_AT] = (soonest + TICKS - 1) // TICKS if soonest < NEVER else NEVER


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
    """Retry transactions that wait in front of caches for room in the network."""
    if memory.scalars[scalars.WOKEN_ANY] == 0:
        return
    memory.scalars[scalars.WOKEN_ANY] = 0
    for sm in range(memory.parameters[parameters.SMS]):
        if first_level.unblock(memory, sm, now):
            memory.sms[sm, sms.UNBLOCKED_AT] = now
            memory.scalars[scalars.NEXT_ANSWER] = min(memory.scalars[scalars.NEXT_ANSWER], now)


def _due(memory: Memory, node: int, now: int) -> None:
    """A request reaches its slice, or DRAM has read its sectors."""
    which = memory.nodes[node, nodes.SLICE]
    if memory.nodes[node, nodes.STAGE] == nodes.ARRIVE:
        linked_queues.append(memory, memory.parameters[parameters.SLICE_QUEUES] + which, node)
        wide_sets.add(memory, SERVING, which)
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
