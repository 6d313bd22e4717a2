"""Queues of nodes, as lists linked by NEXT.  Their nodes count as queued, so that queues are stepped."""

from __future__ import annotations

from warpreg.timing.core.typed import NONE
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import nodes, queues, scalars


def number(memory: Memory, node: int) -> None:
    """Assign the next sequence number to a node."""
    memory.scalars[scalars.SEQUENCE] += 1
    memory.nodes[node, nodes.ORDER] = memory.scalars[scalars.SEQUENCE]


def append(memory: Memory, queue: int, node: int) -> None:
    """Append a node."""
    memory.nodes[node, nodes.NEXT] = NONE
    if memory.queues[queue, queues.LENGTH] == 0:
        memory.queues[queue, queues.HEAD] = node
    else:
        memory.nodes[memory.queues[queue, queues.TAIL], nodes.NEXT] = node
    memory.queues[queue, queues.TAIL] = node
    memory.queues[queue, queues.LENGTH] += 1
    memory.scalars[scalars.QUEUED] += 1


def take(memory: Memory, queue: int) -> int:
    """Remove and return the first node of a non-empty queue."""
    node = memory.queues[queue, queues.HEAD]
    memory.queues[queue, queues.HEAD] = memory.nodes[node, nodes.NEXT]
    memory.queues[queue, queues.LENGTH] -= 1
    memory.scalars[scalars.QUEUED] -= 1
    return node


def take_after(memory: Memory, queue: int, before: int) -> int:
    """Remove and return the node after ``before``; the first one if that is NONE."""
    if before == NONE:
        return take(memory, queue)
    node = memory.nodes[before, nodes.NEXT]
    memory.nodes[before, nodes.NEXT] = memory.nodes[node, nodes.NEXT]
    if memory.queues[queue, queues.TAIL] == node:
        memory.queues[queue, queues.TAIL] = before
    memory.queues[queue, queues.LENGTH] -= 1
    memory.scalars[scalars.QUEUED] -= 1
    return node
