"""Sizes of requests and replies on the network."""

from __future__ import annotations

from warpreg.timing.core import access_record as record
from warpreg.timing.memory.heap import sectors_in
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import nodes, parameters


def request_flits(memory: Memory, node: int) -> int:
    """Flits of a request: stores and atomics carry data."""
    kind = memory.nodes[node, nodes.KIND]
    return _flits(memory, node, 1 if kind == record.STORE or kind == record.ATOMIC else 0)


def reply_flits(memory: Memory, node: int) -> int:
    """Flits of an answer: all but those of stores carry data."""
    return _flits(memory, node, 0 if memory.nodes[node, nodes.KIND] == record.STORE else 1)


def _flits(memory: Memory, node: int, with_data: int) -> int:
    """Flits of one packet, or of one packet per sector if first-level caches fetch sectors."""
    p = memory.parameters
    count = sectors_in(memory.nodes[node, nodes.SECTORS])
    if p[parameters.BY_SECTOR] == 1:
        return count * p[parameters.FLITS + with_data]
    return p[parameters.FLITS + count * with_data]
