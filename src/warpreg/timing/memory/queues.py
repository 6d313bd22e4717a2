"""Queues of nodes, linked lists by their NEXT: what is in them counts as queued, so that somebody steps them."""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory.layout import Memory


def number(memory: Memory, node: int) -> None:
    """Give a node its place in the order of all that are numbered."""
    memory.scalars[at.SEQUENCE] += 1
    memory.nodes[node, at.ORDER] = memory.scalars[at.SEQUENCE]


def append(memory: Memory, queue: int, node: int) -> None:
    """Put a node at the end."""
    queues = memory.queues
    memory.nodes[node, at.NEXT] = at.NONE
    if queues[queue, at.LENGTH] == 0:
        queues[queue, at.HEAD] = node
    else:
        memory.nodes[queues[queue, at.TAIL], at.NEXT] = node
    queues[queue, at.TAIL] = node
    queues[queue, at.LENGTH] += 1
    memory.scalars[at.QUEUED] += 1


def take(memory: Memory, queue: int) -> int:
    """Take the first node out of a queue that is not empty."""
    queues = memory.queues
    node = queues[queue, at.HEAD]
    queues[queue, at.HEAD] = memory.nodes[node, at.NEXT]
    queues[queue, at.LENGTH] -= 1
    memory.scalars[at.QUEUED] -= 1
    return node


def take_after(memory: Memory, queue: int, before: int) -> int:
    """Take the node after ``before`` out; the first one if that is NONE."""
    if before == at.NONE:
        return take(memory, queue)
    nodes, queues = memory.nodes, memory.queues
    node = nodes[before, at.NEXT]
    nodes[before, at.NEXT] = nodes[node, at.NEXT]
    if queues[queue, at.TAIL] == node:
        queues[queue, at.TAIL] = before
    queues[queue, at.LENGTH] -= 1
    memory.scalars[at.QUEUED] -= 1
    return node
