"""Queues of nodes, linked lists by their NEXT: what is in them counts as queued, so that somebody steps them."""

from __future__ import annotations

from warpreg.timing.core.columns.typed import NONE
from warpreg.timing.memory.columns import nodes, queues, scalars
from warpreg.timing.memory.layout import Memory


def number(memory: Memory, node: int) -> None:
    """Give a node its place in the order of all that are numbered."""
    memory.scalars[scalars.SEQUENCE] += 1
    memory.nodes[node, nodes.ORDER] = memory.scalars[scalars.SEQUENCE]


def append(memory: Memory, queue: int, node: int) -> None:
    """Put a node at the end."""
    memory.nodes[node, nodes.NEXT] = NONE
    if memory.queues[queue, queues.LENGTH] == 0:
        memory.queues[queue, queues.HEAD] = node
    else:
        memory.nodes[memory.queues[queue, queues.TAIL], nodes.NEXT] = node
    memory.queues[queue, queues.TAIL] = node
    memory.queues[queue, queues.LENGTH] += 1
    memory.scalars[scalars.QUEUED] += 1


def take(memory: Memory, queue: int) -> int:
    """Take the first node out of a queue that is not empty."""
    node = memory.queues[queue, queues.HEAD]
    memory.queues[queue, queues.HEAD] = memory.nodes[node, nodes.NEXT]
    memory.queues[queue, queues.LENGTH] -= 1
    memory.scalars[scalars.QUEUED] -= 1
    return node


def take_after(memory: Memory, queue: int, before: int) -> int:
    """Take the node after ``before`` out; the first one if that is NONE."""
    if before == NONE:
        return take(memory, queue)
    node = memory.nodes[before, nodes.NEXT]
    memory.nodes[before, nodes.NEXT] = memory.nodes[node, nodes.NEXT]
    if memory.queues[queue, queues.TAIL] == node:
        memory.queues[queue, queues.TAIL] = before
    memory.queues[queue, queues.LENGTH] -= 1
    memory.scalars[scalars.QUEUED] -= 1
    return node
