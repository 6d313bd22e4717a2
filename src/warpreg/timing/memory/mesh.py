"""Two meshes of routers, for requests and for replies, with dimension-order routing (x, then y).

SMs and slices have one router each (`PLACE`), by default SMs first, row by row.  A router has one queue per input
(north, east, south, west, local) and virtual channel; the destination of a packet selects its channel.  In each cycle,
an output whose link is free accepts the oldest packet for it that has room at the other end; an input sends at most
one.  The link is busy for one cycle per flit, or per so many flits as it moves in a cycle, and the packet may continue
after the link latency.
"""

from __future__ import annotations

from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory import linked_queues
from warpreg.timing.memory.agenda import plan
from warpreg.timing.memory.heap import wake
from warpreg.timing.memory.layout import PLACE, Memory
from warpreg.timing.memory.memory_columns import nodes, parameters, queues
from warpreg.timing.memory.network import answer
from warpreg.timing.memory.packets import reply_flits, request_flits

NORTH, EAST, SOUTH, WEST, LOCAL, PORTS = range(6)
REQUESTS, REPLIES = range(2)
PACKETS = 5
"""Column of a router's number of packets, after the times of its links."""


def step(memory: Memory, now: int) -> None:
    """Move packets in both networks, including those at the entries."""
    p = memory.parameters
    for net in range(2):
        _enter(memory, net, now)
        for router in range(p[parameters.ROUTERS]):
            if memory.routers[net * p[parameters.ROUTERS] + router, PACKETS] > 0:
                _route(memory, net, router, now)


def _enter(memory: Memory, net: int, now: int) -> None:
    """Move packets of SMs or slices to the local queues, at most one of each per cycle."""
    p = memory.parameters
    channels, sms = p[parameters.VIRTUAL_CHANNELS], p[parameters.SMS]
    count = sms if net == REQUESTS else p[parameters.SLICES]
    for source in range(count):
        router = memory.routers[source if net == REQUESTS else sms + source, PLACE]
        first = source * channels if net == REQUESTS else p[parameters.REPLY_QUEUES] + source * channels
        for turn in range(channels):
            channel = (turn + now) % channels
            if memory.queues[first + channel, queues.LENGTH] == 0:
                continue
            node = memory.queues[first + channel, queues.HEAD]
            to = _queue(memory, net, router, LOCAL, channel)
            if memory.nodes[node, nodes.FREE_FROM] <= now and _has_room(memory, to):
                linked_queues.append(memory, to, linked_queues.take(memory, first + channel))
                memory.queues[first + channel, queues.GONE] += 1
                memory.nodes[node, nodes.FREE_FROM] = now + 1
                memory.routers[net * p[parameters.ROUTERS] + router, PACKETS] += 1
                if net == REQUESTS:
                    wake(memory, source)
                break


def _route(memory: Memory, net: int, router: int, now: int) -> None:
    """Let each output of a router accept the oldest packet for it, at most one per input."""
    p = memory.parameters
    channels = p[parameters.VIRTUAL_CHANNELS]
    row = net * p[parameters.ROUTERS] + router
    first = _queue(memory, net, router, 0, 0)
    used = 0
    for out in range(PORTS):
        if memory.routers[row, out] >= (now + 1) * p[parameters.FLITS_PER_CYCLE]:
            continue
        oldest, best = NEVER, NONE
        for place in range(PORTS * channels):
            queue = first + place
            if memory.queues[queue, queues.LENGTH] == 0 or used >> (place // channels) & 1:
                continue
            node = memory.queues[queue, queues.HEAD]
            if (
                memory.nodes[node, nodes.ORDER] < oldest
                and memory.nodes[node, nodes.FREE_FROM] <= now
                and _direction(p[parameters.MESH_WIDTH], router, _goal(memory, net, node)) == out
                and _goes_on(memory, net, router, out, place % channels, node)
            ):
                oldest, best = memory.nodes[node, nodes.ORDER], place
        if best != NONE:
            used |= 1 << (best // channels)
            _forward(memory, net, router, out, first + best, best % channels, now)


def _goal(memory: Memory, net: int, node: int) -> int:
    """The destination router of a packet."""
    if net == REPLIES:
        return memory.routers[memory.nodes[node, nodes.SM], PLACE]
    return memory.routers[memory.parameters[parameters.SMS] + memory.nodes[node, nodes.SLICE], PLACE]


def _goes_on(memory: Memory, net: int, router: int, out: int, channel: int, node: int) -> bool:
    """Whether there is room after an output."""
    p = memory.parameters
    if out != LOCAL:
        other = _neighbour(p[parameters.MESH_WIDTH], router, out)
        return _has_room(memory, _queue(memory, net, other, (out + 2) % 4, channel))
    entry = p[parameters.SLICE_QUEUES] + memory.nodes[node, nodes.SLICE]
    return net == REPLIES or memory.queues[entry, queues.LENGTH] < p[parameters.QUEUE2]


def _forward(memory: Memory, net: int, router: int, out: int, queue: int, channel: int, now: int) -> None:
    """Send the first packet of a queue through an output."""
    p = memory.parameters
    row = net * p[parameters.ROUTERS] + router
    node = linked_queues.take(memory, queue)
    each = p[parameters.FLITS_PER_CYCLE]
    flits = request_flits(memory, node) if net == REQUESTS else reply_flits(memory, node)
    cycles = (flits + each - 1) // each
    if out == LOCAL:
        if net == REQUESTS:
            plan(memory, now + cycles + p[parameters.L2_LATENCY], nodes.ARRIVE, node)
        else:
            answer(memory, memory.nodes[node, nodes.SM], node, now + cycles)
    else:
        other = _neighbour(p[parameters.MESH_WIDTH], router, out)
        memory.nodes[node, nodes.FREE_FROM] = now + p[parameters.NETWORK_LATENCY]
        linked_queues.append(memory, _queue(memory, net, other, (out + 2) % 4, channel), node)
        memory.routers[net * p[parameters.ROUTERS] + other, PACKETS] += 1
    memory.routers[row, out] = max(memory.routers[row, out], now * each) + flits
    memory.routers[row, PACKETS] -= 1


def _queue(memory: Memory, net: int, router: int, port: int, channel: int) -> int:
    p = memory.parameters
    number = (net * p[parameters.ROUTERS] + router) * PORTS + port
    return p[parameters.MESH_QUEUES] + number * p[parameters.VIRTUAL_CHANNELS] + channel


def _has_room(memory: Memory, queue: int) -> bool:
    return memory.queues[queue, queues.LENGTH] < memory.parameters[parameters.QUEUE_NETWORK]


def _direction(width: int, router: int, goal: int) -> int:
    """The output towards ``goal``: along x first."""
    x, to_x = router % width, goal % width
    if x != to_x:
        return EAST if to_x > x else WEST
    y, to_y = router // width, goal // width
    if y != to_y:
        return SOUTH if to_y > y else NORTH
    return LOCAL


def _neighbour(width: int, router: int, out: int) -> int:
    if out == NORTH:
        return router - width
    if out == SOUTH:
        return router + width
    return router + 1 if out == EAST else router - 1
