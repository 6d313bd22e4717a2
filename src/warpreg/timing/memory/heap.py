"""Binary heaps of (time, value) in rows of an array; what has the same time keeps the order in which it was put."""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory.layout import Array, Memory

ORDER_BITS = 24


def push(rows: Array, base: int, count: int, key: int, value: int) -> None:
    """Put a row into the heap ``rows[base:base + count]``; the caller counts."""
    place = count
    while place > 0:
        above = (place - 1) >> 1
        if rows[base + above, 0] <= key:
            break
        rows[base + place, 0] = rows[base + above, 0]
        rows[base + place, 1] = rows[base + above, 1]
        place = above
    rows[base + place, 0] = key
    rows[base + place, 1] = value


def pop(rows: Array, base: int, count: int) -> None:
    """Take the first row out of ``rows[base:base + count]``, which the caller has read; the caller counts."""
    last = count - 1
    key = rows[base + last, 0]
    place = 0
    below = 1
    while below < last:
        if below + 1 < last and rows[base + below + 1, 0] < rows[base + below, 0]:
            below += 1
        if key <= rows[base + below, 0]:
            break
        rows[base + place, 0] = rows[base + below, 0]
        rows[base + place, 1] = rows[base + below, 1]
        place = below
        below = 2 * place + 1
    rows[base + place, 0] = key
    rows[base + place, 1] = rows[base + last, 1]


def key_of(time: int, order: int) -> int:
    """A key that sorts by time, then by ``order``, of which it has the lower bits."""
    return time << ORDER_BITS | order & ((1 << ORDER_BITS) - 1)


def give_back(memory: Memory, sm: int, time: int, ticket: int) -> None:
    """Let a ticket return to its SM at ``time``."""
    sms = memory.sms
    sms[sm, at.GIVEN_BACK] += 1
    key = key_of(time, sms[sm, at.GIVEN_BACK])
    push(memory.returns, sm * memory.parameters[at.OUTSTANDING], sms[sm, at.RETURNS], key, ticket)
    sms[sm, at.RETURNS] += 1


def next_return(memory: Memory, sm: int) -> int:
    """The earliest known return to this SM; NEVER without."""
    if memory.sms[sm, at.RETURNS] == 0:
        return at.NEVER
    return memory.returns[sm * memory.parameters[at.OUTSTANDING], 0] >> ORDER_BITS


def returned(memory: Memory, sm: int, now: int) -> int:
    """Takes out a ticket that is back by ``now``, in order of return; NONE without."""
    if next_return(memory, sm) > now:
        return at.NONE
    base = sm * memory.parameters[at.OUTSTANDING]
    ticket = memory.returns[base, 1]
    pop(memory.returns, base, memory.sms[sm, at.RETURNS])
    memory.sms[sm, at.RETURNS] -= 1
    memory.sms[sm, at.UNDER_WAY] -= 1
    memory.counts[sm, at.RETURNED] += 1
    return ticket


def new_node(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int) -> int:
    """A node that nobody uses."""
    node = memory.scalars[at.FREE_NODE]
    nodes = memory.nodes
    if node == at.NONE:
        node = memory.scalars[at.FRESH_NODE]
        memory.scalars[at.FRESH_NODE] = node + 1
    else:
        memory.scalars[at.FREE_NODE] = nodes[node, at.NEXT]
    nodes[node, at.TICKET] = ticket
    nodes[node, at.SM] = sm
    nodes[node, at.KIND] = kind
    nodes[node, at.LINE] = line
    nodes[node, at.SECTORS] = sectors
    nodes[node, at.NEED] = 0
    nodes[node, at.NEXT] = at.NONE
    nodes[node, at.FILLS] = at.NONE
    nodes[node, at.ASKED_BY] = at.NONE
    return node


def free_node(memory: Memory, node: int) -> None:
    """Back to the free list."""
    memory.nodes[node, at.NEXT] = memory.scalars[at.FREE_NODE]
    memory.scalars[at.FREE_NODE] = node


def sectors_in(mask: int) -> int:
    """How many of four sectors."""
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1)


def wake(memory: Memory, sm: int) -> None:
    """Note that what blocks an SM's transaction may be gone."""
    if memory.sms[sm, at.BLOCKED] != at.NONE:
        memory.sms[sm, at.WOKEN] = 1
        memory.scalars[at.WOKEN_ANY] = 1
