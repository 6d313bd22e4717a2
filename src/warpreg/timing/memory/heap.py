"""Binary heaps of (time, value) in rows of an array; entries of equal time keep the order of insertion."""

from __future__ import annotations

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.access_record import DESIGN_BASE
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.typed import NEVER, NONE, Array
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import counts, nodes, parameters, scalars, sms

NODES_OF_SM = 2
"""Nodes of a transaction that the thread of its SM allocates: its own and the request of the first level."""
ORDER_BITS = 24
SPARE_RETURNS = 4
"""Unused rows between the returns of two SMs, so that the first ones are in different sets of a cache of the host."""
FIRST_LEVEL, SECOND_LEVEL, OFF_CHIP = range(3)
"""What answers a transaction: memory inside the SM, the second-level cache, DRAM."""


def push(rows: Array, base: int, count: int, key: int, value: int) -> None:
    """Push a row to the heap ``rows[base:base + count]``; the caller updates the count."""
    index = count
    while index > 0:
        above = (index - 1) >> 1
        if rows[base + above, 0] <= key:
            break
        rows[base + index, 0] = rows[base + above, 0]
        rows[base + index, 1] = rows[base + above, 1]
        index = above
    rows[base + index, 0] = key
    rows[base + index, 1] = value


def pop(rows: Array, base: int, count: int) -> None:
    """Remove the first row of ``rows[base:base + count]``, which the caller has read; the caller updates the count."""
    last = count - 1
    key = rows[base + last, 0]
    index = 0
    below = 1
    while below < last:
        if below + 1 < last and rows[base + below + 1, 0] < rows[base + below, 0]:
            below += 1
        if key <= rows[base + below, 0]:
            break
        rows[base + index, 0] = rows[base + below, 0]
        rows[base + index, 1] = rows[base + below, 1]
        index = below
        below = 2 * index + 1
    rows[base + index, 0] = key
    rows[base + index, 1] = rows[base + last, 1]


def key_of(time: int, order: int) -> int:
    """A sort key by time, then by the lower bits of ``order``."""
    return time << ORDER_BITS | order & ((1 << ORDER_BITS) - 1)


def give_back(memory: Memory, sm: int, time: int, ticket: int) -> None:
    """Return a ticket to its SM at ``time``."""
    memory.sms[sm, sms.GIVEN_BACK] += 1
    key = key_of(time, memory.sms[sm, sms.GIVEN_BACK])
    base = _first_return(memory, sm)
    push(memory.returns, base, memory.sms[sm, sms.RETURNS], key, ticket)
    memory.sms[sm, sms.RETURNS] += 1
    memory.sms[sm, sms.RETURN_AT] = memory.returns[base, 0] >> ORDER_BITS


def _first_return(memory: Memory, sm: int) -> int:
    """The first row of the returns to an SM."""
    return sm * (memory.parameters[parameters.OUTSTANDING] + SPARE_RETURNS)


@port("a run that asks how far accesses go")
def give_back_from(memory: Memory, sm: int, time: int, ticket: int, level: int) -> None:
    """`give_back`; ``level`` of memory has answered, which is kept only in a run that asks (`answering_level`)."""
    give_back(memory, sm, time, ticket)


@port("a run that asks how far accesses go")
def note_level(memory: Memory, node: int, level: int) -> None:
    """A level of memory answers a request."""


@port("a run that asks how far accesses go")
def level_of(memory: Memory, node: int) -> int:
    """The level that has answered a request; known only in a run that asks."""
    return FIRST_LEVEL


@stands_for(ports.next_return, when.FIXED)
def next_return(memory: Memory, sm: int) -> int:
    """The earliest known return to this SM; NEVER if there is none."""
    return memory.sms[sm, sms.RETURN_AT]


@stands_for(ports.returned, ~when.ANSWERING_LEVELS)
def returned(memory: Memory, sm: int, now: int) -> int:
    """Remove and return a ticket that is back by ``now``, in order of return; NONE if there is none."""
    if next_return(memory, sm) > now:
        return NONE
    base = _first_return(memory, sm)
    ticket = memory.returns[base, 1]
    pop(memory.returns, base, memory.sms[sm, sms.RETURNS])
    memory.sms[sm, sms.RETURNS] -= 1
    more = memory.sms[sm, sms.RETURNS] != 0
    memory.sms[sm, sms.RETURN_AT] = memory.returns[base, 0] >> ORDER_BITS if more else NEVER
    memory.sms[sm, sms.UNDER_WAY] -= 1
    memory.counts[sm, counts.RETURNED] += 1
    return ticket


def new_node(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int) -> int:
    """Allocate a node."""
    node = memory.scalars[scalars.FREE_NODE]
    if node == NONE:
        node = memory.scalars[scalars.FRESH_NODE]
        memory.scalars[scalars.FRESH_NODE] = node + 1
    else:
        memory.scalars[scalars.FREE_NODE] = memory.nodes[node, nodes.NEXT]
    memory.nodes[node, nodes.TICKET] = ticket
    memory.nodes[node, nodes.SM] = sm
    memory.nodes[node, nodes.KIND] = kind
    memory.nodes[node, nodes.LINE] = line
    memory.nodes[node, nodes.SECTORS] = sectors
    memory.nodes[node, nodes.NEED] = 0
    memory.nodes[node, nodes.NEXT] = NONE
    memory.nodes[node, nodes.FILLS] = NONE
    memory.nodes[node, nodes.ASKED_BY] = NONE
    return node


def free_node(memory: Memory, node: int) -> None:
    """Release a node to the free list."""
    memory.nodes[node, nodes.NEXT] = memory.scalars[scalars.FREE_NODE]
    memory.scalars[scalars.FREE_NODE] = node


@stands_for(ports.room_for_sms, when.CACHES)
def room_for_sms(memory: Memory) -> int:
    """SMs for whose transactions the nodes that this thread has never used suffice, whoever releases its other ones."""
    unused = memory.scalars[scalars.NODES_OF_SMS] - memory.scalars[scalars.FRESH_NODE]
    return unused // (NODES_OF_SM * memory.parameters[parameters.OUTSTANDING])


@port("hooks that send no registers to memory")
def besides(memory: Memory, line: int) -> int:
    """Sectors of a line that a load fetches besides its own; none for a register of a design."""
    return 0 if line >= DESIGN_BASE else memory.parameters[parameters.SEGMENT]


@stands_for(besides, ~when.TRAFFIC)
def besides_always(memory: Memory, line: int) -> int:
    return memory.parameters[parameters.SEGMENT]


def sectors_in(mask: int) -> int:
    """The number of sectors in a mask of four."""
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1)


def wake(memory: Memory, sm: int) -> None:
    """Mark an SM whose blocked transaction may proceed."""
    if memory.sms[sm, sms.BLOCKED] != NONE:
        memory.sms[sm, sms.WOKEN] = 1
        memory.scalars[scalars.WOKEN_ANY] = 1
