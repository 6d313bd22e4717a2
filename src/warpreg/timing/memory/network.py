"""The network between SMs and slices: packets, and which model carries them."""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory.heap import next_planned, plan, sectors_in
from warpreg.timing.memory.layout import Memory

HEADER_BYTES = 8
SECTOR_BYTES = 32


def flits(memory: Memory, node: int, with_data: int) -> int:
    """Flits of a request or reply: one packet, or one for each sector where first-level caches fetch sectors."""
    parameters = memory.parameters
    count = sectors_in(memory.nodes[node, at.SECTORS])
    packets = count if parameters[at.BY_SECTOR] == 1 else 1
    data = SECTOR_BYTES * count // packets if with_data == 1 else 0
    return packets * ((HEADER_BYTES + data + parameters[at.FLIT_BYTES] - 1) // parameters[at.FLIT_BYTES])


def has_room(memory: Memory, sm: int, node: int) -> int:
    """Whether the network takes a request of an SM."""
    return 1


def inject(memory: Memory, node: int, time: int) -> None:
    """A request leaves its SM at ``time`` or when the port is free."""
    sm = memory.nodes[node, at.SM]
    kind = memory.nodes[node, at.KIND]
    count = flits(memory, node, 1 if kind == at.STORE or kind == at.ATOMIC else 0)
    start = max(time, memory.sms[sm, at.INJECT_AT])
    memory.sms[sm, at.INJECT_AT] = start + count
    plan(memory, start + count - 1 + memory.parameters[at.NETWORK_LATENCY], at.ARRIVE, node)


def reply(memory: Memory, which: int, node: int, now: int) -> None:
    """A slice answers: through its port, and through that of the SM."""
    sm = memory.nodes[node, at.SM]
    count = flits(memory, node, 0 if memory.nodes[node, at.KIND] == at.STORE else 1)
    start = max(now, memory.slices[which, at.REPLY_AT])
    memory.slices[which, at.REPLY_AT] = start + count
    there = start + count - 1 + memory.parameters[at.NETWORK_LATENCY]
    at_sm = max(there, memory.sms[sm, at.EJECT_AT])
    memory.sms[sm, at.EJECT_AT] = at_sm + count
    plan(memory, at_sm, at.DELIVER, node)


def next_event(memory: Memory, now: int) -> int:
    """The earliest at which something happens in the memory system."""
    return next_planned(memory)
