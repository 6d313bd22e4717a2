"""The first-level cache of an SM, shared by the models that have one.

Loads are looked up when they are sent and answered ``latency`` cycles later.  A line is allocated when it is missed,
and transactions that wait for it are chained to it; each line that is waited for occupies a miss register.  Stores and
atomics pass through.  A transaction that finds no miss register, no line or no room in the network waits alone in
front of the cache, and the SM sends none until it has been taken.
"""

from __future__ import annotations

from warpreg.timing.core.access_record import LOCAL_BASE
from warpreg.timing.core.prefetch import HOST_LINE, prefetch
from warpreg.timing.memory import layout as at
from warpreg.timing.memory import network, tags
from warpreg.timing.memory.heap import free_node, give_back, new_node, next_return, sectors_in, wake
from warpreg.timing.memory.layout import TICKS, Memory

BYPASS_CYCLES = 1
MUST_WAIT = -2


def accepts(memory: Memory, sm: int, now: int) -> bool:
    """Whether the cache takes a transaction of this SM in this cycle."""
    free = memory.sms[sm, at.FREE_AT] < (now + 1) * TICKS
    room = memory.sms[sm, at.UNDER_WAY] < memory.parameters[at.OUTSTANDING]
    return free and room and memory.sms[sm, at.BLOCKED] == at.NONE


def retry(memory: Memory, sm: int, now: int) -> int:
    """When `accepts` may hold after a refusal."""
    if memory.sms[sm, at.BLOCKED] != at.NONE:
        return max(now + 1, network.next_event(memory, now))
    if memory.sms[sm, at.UNDER_WAY] >= memory.parameters[at.OUTSTANDING]:
        return max(now + 1, min(next_return(memory, sm), network.next_event(memory, now)))
    return max(now + 1, memory.sms[sm, at.FREE_AT] // TICKS)


def send(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    """Take a transaction, which occupies the cache for a cycle at least."""
    parameters = memory.parameters
    start = max(now * TICKS, memory.sms[sm, at.FREE_AT])
    memory.sms[sm, at.FREE_AT] = start + max(TICKS, sectors_in(sectors) * parameters[at.L1_SECTOR_TICKS])
    memory.sms[sm, at.UNDER_WAY] += 1
    memory.counts[sm, at.SENT] += 1
    wanted = parameters[at.SEGMENT] if kind == at.LOAD or kind == at.TEXTURE else 0
    node = new_node(memory, sm, kind, line, sectors | wanted, ticket)
    if _take(memory, sm, node, start // TICKS) == 0:
        memory.sms[sm, at.BLOCKED] = node
        memory.counts[sm, at.BLOCKS] += 1


def expect(memory: Memory, sm: int, line: int) -> None:
    """A transaction for this line is sent soon."""
    if memory.parameters[at.HAS_L1] == 1:
        tags.expect(memory.buckets1, memory.parameters[at.BUCKETS1], sm, line)


def unblock(memory: Memory, now: int) -> None:
    """Let transactions that wait in front of caches try again where something has changed."""
    if memory.scalars[at.WOKEN_ANY] == 0:
        return
    memory.scalars[at.WOKEN_ANY] = 0
    for sm in range(memory.parameters[at.SMS]):
        unblock_one(memory, sm, now)


def unblock_one(memory: Memory, sm: int, now: int) -> None:
    """The same of one SM."""
    if memory.sms[sm, at.WOKEN] == 1:
        memory.sms[sm, at.WOKEN] = 0
        node = memory.sms[sm, at.BLOCKED]
        if node != at.NONE and _take(memory, sm, node, now) == 1:
            memory.sms[sm, at.BLOCKED] = at.NONE


def deliver(memory: Memory, node: int, now: int) -> None:
    """An answer is there: it fills the cache and those that waited go back, or it goes back itself."""
    nodes = memory.nodes
    sm = nodes[node, at.SM]
    chain = node
    nodes[node, at.NEXT] = at.NONE
    if nodes[node, at.FILLS] != at.NONE:
        chain = _fill(memory, sm, nodes[node, at.FILLS], nodes[node, at.SECTORS])
        free_node(memory, node)
    else:
        nodes[node, at.NEXT] = at.NONE
    while chain != at.NONE:
        following = nodes[chain, at.NEXT]
        give_back(memory, sm, now, nodes[chain, at.TICKET])
        free_node(memory, chain)
        chain = following
    wake(memory, sm)


def expect_answer(memory: Memory, node: int) -> None:
    """An answer is delivered soon, to the line and the transaction that it is for; then the one after it."""
    nodes = memory.nodes
    prefetch(nodes, nodes[node, at.NEXT] * at.NODE_FIELDS)
    prefetch(nodes, nodes[node, at.NEXT] * at.NODE_FIELDS + HOST_LINE)
    prefetch(memory.lines1, nodes[node, at.FILLS] * at.LINE_FIELDS)
    prefetch(nodes, nodes[node, at.ASKED_BY] * at.NODE_FIELDS)


def _take(memory: Memory, sm: int, node: int, now: int) -> int:
    """Look the transaction up; 0 where it has to wait, and nothing has changed then."""
    parameters = memory.parameters
    kind = memory.nodes[node, at.KIND]
    is_load = kind == at.LOAD or kind == at.TEXTURE
    line = memory.nodes[node, at.LINE]
    skips = parameters[at.HAS_L1] == 0 or (parameters[at.SKIP_GLOBAL] == 1 and kind != at.TEXTURE and line < LOCAL_BASE)
    place = at.NONE
    if parameters[at.HAS_L1] == 1:
        place = tags.find(memory.lines1, memory.buckets1, parameters[at.BUCKETS1], sm, line)
    request = node
    if is_load and not skips:
        request = _look_up(memory, sm, node, place, now)
        if request == MUST_WAIT:
            return 0
    elif network.has_room(memory, sm, node) == 0:
        return 0
    elif place != at.NONE and not is_load and (parameters[at.WRITE1] == at.EVICT or kind == at.ATOMIC):
        memory.lines1[place, at.BITS] &= ~memory.nodes[node, at.SECTORS]
    if request != at.NONE:
        network.inject(memory, request, now + (BYPASS_CYCLES if skips else parameters[at.L1_LATENCY]))
    return 1


def _look_up(memory: Memory, sm: int, node: int, place: int, now: int) -> int:
    """A load at its line, if there is one; returns the request that it makes, NONE, or MUST_WAIT."""
    parameters, nodes, lines = memory.parameters, memory.nodes, memory.lines1
    need = nodes[node, at.SECTORS]
    pending = 0
    if place != at.NONE:
        need &= ~lines[place, at.BITS]
        pending = lines[place, at.BITS] >> at.PENDING_SHIFT & at.VALID
        if need == 0:
            tags.touch(lines, memory.sets1, place)
            memory.counts[sm, at.L1_HITS] += 1
            give_back(memory, sm, now + parameters[at.L1_LATENCY], nodes[node, at.TICKET])
            free_node(memory, node)
            return at.NONE
    asked = need & ~pending
    if (pending == 0 and memory.sms[sm, at.MISSES] >= parameters[at.MSHRS1]) or (
        asked != 0 and network.has_room(memory, sm, node) == 0
    ):
        return MUST_WAIT
    if place == at.NONE:
        sets = parameters[at.SETS1]
        group = sm * sets + tags.set_of(nodes[node, at.LINE] >> 7, sets, parameters[at.BITS1])
        ways = parameters[at.WAYS1]
        place = tags.victim(lines, memory.sets1, group, ways)
        if place == at.NONE:
            return MUST_WAIT
        count, line = parameters[at.BUCKETS1], nodes[node, at.LINE]
        tags.replace(lines, memory.sets1, memory.buckets1, count, sm, group, ways, place, line)
    tags.touch(lines, memory.sets1, place)
    if pending == 0:
        memory.sms[sm, at.MISSES] += 1
    memory.counts[sm, at.L1_MISSES] += 1
    nodes[node, at.NEED] = need
    nodes[node, at.NEXT] = lines[place, at.CHAIN]
    lines[place, at.CHAIN] = node
    lines[place, at.BITS] |= asked << at.PENDING_SHIFT
    if asked == 0:
        return at.NONE
    request = new_node(memory, sm, at.LOAD, nodes[node, at.LINE], asked, nodes[node, at.TICKET])
    nodes[request, at.FILLS] = place
    nodes[request, at.ASKED_BY] = node
    return request


def _fill(memory: Memory, sm: int, place: int, sectors: int) -> int:
    """Sectors of a line are there; returns a chain of those that waited for nothing else, first come first."""
    lines = memory.lines1
    chain = tags.fill(lines, memory.nodes, place, sectors)
    if lines[place, at.BITS] & at.PENDING == 0:
        memory.sms[sm, at.MISSES] -= 1
    return chain
