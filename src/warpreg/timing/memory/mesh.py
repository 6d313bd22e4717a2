"""Two meshes of routers, one for requests and one for replies, in which packets go along x and then along y.

SMs and slices have a router each, SMs first, row by row.  A router has a queue for each input (north, east, south,
west, local) and virtual channel; a packet keeps the channel that its destination gives it.  In a cycle an output
whose link is free takes the oldest packet that wants it and finds room at the other end, an input sends at most one;
the link is busy for a cycle a flit, and the packet may go on after the network's latency.
"""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory import queues
from warpreg.timing.memory.agenda import plan
from warpreg.timing.memory.heap import wake
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.packets import reply_flits, request_flits
from warpreg.timing.memory.second_level import slice_of

NORTH, EAST, SOUTH, WEST, LOCAL, PORTS = range(6)
REQUESTS, REPLIES = range(2)
PACKETS = 5
"""Position of a router's count of packets, after the times of its links."""


def step(memory: Memory, now: int) -> None:
    """Let both networks move packets, from their entries too."""
    parameters = memory.parameters
    for net in range(2):
        _enter(memory, net, now)
        for router in range(parameters[at.ROUTERS]):
            if memory.routers[net * parameters[at.ROUTERS] + router, PACKETS] > 0:
                _route(memory, net, router, now)


def _enter(memory: Memory, net: int, now: int) -> None:
    """The local queues take what SMs or slices have to send: one packet of each in a cycle."""
    parameters = memory.parameters
    channels, sms = parameters[at.VIRTUAL_CHANNELS], parameters[at.SMS]
    count = sms if net == REQUESTS else parameters[at.SLICES]
    for source in range(count):
        router = source if net == REQUESTS else sms + source
        first = source * channels if net == REQUESTS else parameters[at.REPLY_QUEUES] + source * channels
        for turn in range(channels):
            channel = (turn + now) % channels
            if memory.queues[first + channel, at.LENGTH] == 0:
                continue
            node = memory.queues[first + channel, at.HEAD]
            to = _queue(memory, net, router, LOCAL, channel)
            if memory.nodes[node, at.FREE_FROM] <= now and _has_room(memory, to):
                queues.append(memory, to, queues.take(memory, first + channel))
                memory.nodes[node, at.FREE_FROM] = now + 1
                memory.routers[net * parameters[at.ROUTERS] + router, PACKETS] += 1
                if net == REQUESTS:
                    wake(memory, source)
                break


def _route(memory: Memory, net: int, router: int, now: int) -> None:
    """Let each output of a router take the oldest packet that wants it, at most one of each input."""
    parameters, nodes, routers = memory.parameters, memory.nodes, memory.routers
    channels = parameters[at.VIRTUAL_CHANNELS]
    row = net * parameters[at.ROUTERS] + router
    first = _queue(memory, net, router, 0, 0)
    used = 0
    for out in range(PORTS):
        if routers[row, out] > now:
            continue
        oldest, best = at.NEVER, at.NONE
        for place in range(PORTS * channels):
            queue = first + place
            if memory.queues[queue, at.LENGTH] == 0 or used >> (place // channels) & 1:
                continue
            node = memory.queues[queue, at.HEAD]
            if (
                nodes[node, at.ORDER] < oldest
                and nodes[node, at.FREE_FROM] <= now
                and _direction(parameters[at.MESH_WIDTH], router, _goal(memory, net, node)) == out
                and _goes_on(memory, net, router, out, place % channels, node)
            ):
                oldest, best = nodes[node, at.ORDER], place
        if best != at.NONE:
            used |= 1 << (best // channels)
            _forward(memory, net, router, out, first + best, best % channels, now)


def _goal(memory: Memory, net: int, node: int) -> int:
    """The router that a packet goes to."""
    if net == REPLIES:
        return memory.nodes[node, at.SM]
    return memory.parameters[at.SMS] + slice_of(memory, memory.nodes[node, at.LINE])


def _goes_on(memory: Memory, net: int, router: int, out: int, channel: int, node: int) -> bool:
    """Whether there is room behind an output."""
    parameters = memory.parameters
    if out != LOCAL:
        other = _neighbour(parameters[at.MESH_WIDTH], router, out)
        return _has_room(memory, _queue(memory, net, other, (out + 2) % 4, channel))
    entry = parameters[at.SLICE_QUEUES] + slice_of(memory, memory.nodes[node, at.LINE])
    return net == REPLIES or memory.queues[entry, at.LENGTH] < parameters[at.QUEUE2]


def _forward(memory: Memory, net: int, router: int, out: int, queue: int, channel: int, now: int) -> None:
    """Send the first packet of a queue through an output."""
    parameters, nodes, routers = memory.parameters, memory.nodes, memory.routers
    row = net * parameters[at.ROUTERS] + router
    node = queues.take(memory, queue)
    flits = request_flits(memory, node) if net == REQUESTS else reply_flits(memory, node)
    if out == LOCAL:
        later = parameters[at.L2_LATENCY] if net == REQUESTS else 0
        plan(memory, now + flits + later, at.ARRIVE if net == REQUESTS else at.DELIVER, node)
    else:
        other = _neighbour(parameters[at.MESH_WIDTH], router, out)
        nodes[node, at.FREE_FROM] = now + parameters[at.NETWORK_LATENCY]
        queues.append(memory, _queue(memory, net, other, (out + 2) % 4, channel), node)
        routers[net * parameters[at.ROUTERS] + other, PACKETS] += 1
    routers[row, out] = now + flits
    routers[row, PACKETS] -= 1


def _queue(memory: Memory, net: int, router: int, port: int, channel: int) -> int:
    parameters = memory.parameters
    number = (net * parameters[at.ROUTERS] + router) * PORTS + port
    return parameters[at.MESH_QUEUES] + number * parameters[at.VIRTUAL_CHANNELS] + channel


def _has_room(memory: Memory, queue: int) -> bool:
    return memory.queues[queue, at.LENGTH] < memory.parameters[at.QUEUE_NETWORK]


def _direction(width: int, router: int, goal: int) -> int:
    """Where a packet leaves a router: along x first."""
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
