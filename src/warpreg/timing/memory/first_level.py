"""First-level cache of an SM, shared by the models that have one.

Loads are looked up when they are sent and answered ``latency`` cycles later.  A miss allocates a line, and transactions
that wait for it are chained to it; each line in flight occupies a miss register, which merges a limited number of them.
Stores, atomics and ordered loads pass through.  A transaction without a free miss register or a place in one, a line or
a place in the network waits in front of the cache, and the SM sends no other until it has proceeded.
"""

from __future__ import annotations

from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.access_record import LOCAL_BASE
from warpreg.timing.core.port import port, stands_for
from warpreg.timing.core.prefetch import HOST_LINE, prefetch
from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory import network, tags
from warpreg.timing.memory.heap import (
    FIRST_LEVEL,
    besides,
    free_node,
    give_back_from,
    level_of,
    new_node,
    sectors_in,
    wake,
)
from warpreg.timing.memory.layout import EVICT, TICKS, Memory
from warpreg.timing.memory.memory_columns import cache_lines, counts, nodes, parameters, sms

BYPASS_CYCLES = 1
MUST_WAIT = -2


@stands_for(ports.accepts, when.CACHES)
def accepts(memory: Memory, sm: int, now: int) -> bool:
    """Whether the cache accepts a transaction of this SM in this cycle."""
    free = memory.sms[sm, sms.FREE_AT] < (now + 1) * TICKS
    room = memory.sms[sm, sms.UNDER_WAY] < memory.parameters[parameters.OUTSTANDING]
    return free and room and memory.sms[sm, sms.BLOCKED] == NONE


@stands_for(ports.joins, when.CACHES)
def joins(memory: Memory, sm: int, sectors: int, now: int) -> bool:
    """Whether a further transaction of the same instruction can be looked up in this cycle: its banks are free.

    Loads that bypass the cache do not use its banks.
    """
    p = memory.parameters
    if p[parameters.BANKS1] == 1 or p[parameters.SKIP_GLOBAL] == 1:
        return False
    free = memory.sms[sm, sms.TAKEN_AT] == now and memory.sms[sm, sms.BANKS_TAKEN] & _banks_of(memory, sectors) == 0
    room = memory.sms[sm, sms.UNDER_WAY] < p[parameters.OUTSTANDING]
    return free and room and memory.sms[sm, sms.BLOCKED] == NONE


def _banks_of(memory: Memory, sectors: int) -> int:
    """The banks of some sectors of a line, as a set."""
    return sectors if memory.parameters[parameters.BANKS1] == 4 else (sectors | sectors >> 2) & 3


@stands_for(ports.send, when.CACHES)
def send(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    """Send a transaction, which occupies the cache for at least one cycle unless it `joins` another."""
    p = memory.parameters
    start = now * TICKS
    if p[parameters.BANKS1] > 1 and memory.sms[sm, sms.TAKEN_AT] == now:
        memory.sms[sm, sms.BANKS_TAKEN] |= _banks_of(memory, sectors)
    else:
        start = max(start, memory.sms[sm, sms.FREE_AT])
        memory.sms[sm, sms.FREE_AT] = start + max(TICKS, sectors_in(sectors) * p[parameters.L1_SECTOR_TICKS])
        memory.sms[sm, sms.BANKS_TAKEN], memory.sms[sm, sms.TAKEN_AT] = _banks_of(memory, sectors), now
    memory.sms[sm, sms.UNDER_WAY] += 1
    memory.counts[sm, counts.SENT] += 1
    wanted = besides(memory, line) if record.is_load(kind) else 0
    node = new_node(memory, sm, kind, line, sectors | wanted, ticket)
    if _take(memory, sm, node, start // TICKS, 2 * now + 1) == 0:
        memory.sms[sm, sms.BLOCKED] = node
        memory.counts[sm, counts.BLOCKS] += 1


@stands_for(ports.expect, when.CACHES)
def expect(memory: Memory, sm: int, line: int) -> None:
    """Hint that a transaction for this line is sent soon."""
    p = memory.parameters
    if p[parameters.HAS_L1] == 1:
        tags.expect(memory.buckets1, p[parameters.BUCKETS1], sm, line)


@stands_for(ports.retry, when.CACHES)
def retry(memory: Memory, sm: int, now: int) -> int:
    """The cycle in which `accepts` may hold after a refusal; NEVER: not before `next_return` of the model."""
    if (
        memory.sms[sm, sms.BLOCKED] != NONE
        or memory.sms[sm, sms.UNDER_WAY] >= memory.parameters[parameters.OUTSTANDING]
    ):
        return NEVER
    return max(now + 1, memory.sms[sm, sms.FREE_AT] // TICKS)


def unblock(memory: Memory, sm: int, now: int) -> bool:
    """Retry the transaction that waits in front of an SM's cache, if the state has changed; returns whether it
    proceeds.
    """
    if memory.sms[sm, sms.WOKEN] == 0:
        return False
    memory.sms[sm, sms.WOKEN] = 0
    node = memory.sms[sm, sms.BLOCKED]
    if node == NONE or _take(memory, sm, node, now, 2 * now) == 0:
        return False
    memory.sms[sm, sms.BLOCKED] = NONE
    return True


def deliver(memory: Memory, node: int, now: int) -> None:
    """An answer arrives: it fills the cache and returns the transactions that waited, or returns its own."""
    sm, level = memory.nodes[node, nodes.SM], level_of(memory, node)
    chain = node
    memory.nodes[node, nodes.NEXT] = NONE
    if memory.nodes[node, nodes.FILLS] != NONE:
        chain = _fill(memory, sm, memory.nodes[node, nodes.FILLS], memory.nodes[node, nodes.SECTORS])
        free_node(memory, node)
    else:
        memory.nodes[node, nodes.NEXT] = NONE
    while chain != NONE:
        following = memory.nodes[chain, nodes.NEXT]
        give_back_from(memory, sm, now, memory.nodes[chain, nodes.TICKET], level)
        free_node(memory, chain)
        chain = following
    wake(memory, sm)


def expect_answer(memory: Memory, node: int) -> None:
    """Prefetch for the delivery of an answer, then for the one after it."""
    prefetch(memory.nodes, memory.nodes[node, nodes.NEXT] * nodes.COUNT)
    prefetch(memory.nodes, memory.nodes[node, nodes.NEXT] * nodes.COUNT + HOST_LINE)
    prefetch(memory.lines1, memory.nodes[node, nodes.FILLS] * cache_lines.COUNT)
    prefetch(memory.nodes, memory.nodes[node, nodes.ASKED_BY] * nodes.COUNT)


def _take(memory: Memory, sm: int, node: int, now: int, turn: int) -> int:
    """Look a transaction up; returns 0 if it must wait, without any change of state.  Of requests that leave their SMs
    in the same cycle, that of the first ``turn`` is first.
    """
    p = memory.parameters
    kind = memory.nodes[node, nodes.KIND]
    is_load = record.is_load(kind)
    line = memory.nodes[node, nodes.LINE]
    skips = p[parameters.HAS_L1] == 0 or (
        p[parameters.SKIP_GLOBAL] == 1 and line < LOCAL_BASE and not _is_cached_apart(memory, kind)
    )
    passes = skips or (kind == record.ORDERED_LOAD and line < LOCAL_BASE)
    slot = NONE
    if p[parameters.HAS_L1] == 1:
        slot = tags.find(memory.lines1, memory.buckets1, p[parameters.BUCKETS1], sm, line)
    request = node
    if is_load and not passes:
        request = _look_up(memory, sm, node, slot, now)
        if request == MUST_WAIT:
            return 0
    elif network.has_room(memory, sm, node) == 0:
        return 0
    elif slot != NONE and not is_load and (p[parameters.WRITE1] == EVICT or kind == record.ATOMIC):
        memory.lines1[slot, cache_lines.BITS] &= ~memory.nodes[node, nodes.SECTORS]
    keep_spilled(memory, sm, node, slot)
    if request != NONE:
        network.inject(memory, request, now + (BYPASS_CYCLES if skips else p[parameters.L1_LATENCY]), turn)
    return 1


@port("hooks that send no registers to memory")
def keep_spilled(memory: Memory, sm: int, node: int, slot: int) -> None:
    """A register of a design stays in the cache, unless no line of its set can be replaced, and is stored behind it."""
    p = memory.parameters
    if memory.nodes[node, nodes.KIND] != record.SPILL:
        return
    memory.nodes[node, nodes.KIND] = record.STORE
    if p[parameters.HAS_L1] == 0:
        return
    if slot == NONE:
        slot = _allocate(memory, sm, memory.nodes[node, nodes.LINE])
    if slot != NONE:
        tags.touch(memory.lines1, memory.sets1, slot)
        memory.lines1[slot, cache_lines.BITS] |= memory.nodes[node, nodes.SECTORS]


@stands_for(keep_spilled, ~when.TRAFFIC)
def keep_nothing(memory: Memory, sm: int, node: int, slot: int) -> None:
    """There are no such registers."""


def _allocate(memory: Memory, sm: int, line: int) -> int:
    """The slot of a line that replaces another, NONE if none can be replaced."""
    p = memory.parameters
    sets, ways = p[parameters.SETS1], p[parameters.WAYS1]
    group = sm * sets + tags.set_of(line >> 7, sets, p[parameters.BITS1])
    slot = tags.victim(memory.lines1, memory.sets1, group, ways)
    if slot != NONE:
        count = p[parameters.BUCKETS1]
        tags.replace(memory.lines1, memory.sets1, memory.buckets1, count, sm, group, ways, slot, line)
    return slot


def _is_cached_apart(memory: Memory, kind: int) -> bool:
    """Whether such loads are cached although other loads from global memory are not."""
    read_only = kind == record.READ_ONLY_LOAD and memory.parameters[parameters.CACHES_READ_ONLY] == 1
    return read_only or kind == record.TEXTURE_LOAD


def _look_up(memory: Memory, sm: int, node: int, slot: int, now: int) -> int:
    """Look a load up in its line, if present; returns the request that it makes, NONE, or MUST_WAIT."""
    p = memory.parameters
    lines = memory.lines1
    need = memory.nodes[node, nodes.SECTORS]
    pending = 0
    if slot != NONE:
        need &= ~lines[slot, cache_lines.BITS]
        pending = lines[slot, cache_lines.BITS] >> cache_lines.PENDING_SHIFT & cache_lines.VALID
        if need == 0:
            tags.touch(lines, memory.sets1, slot)
            memory.counts[sm, counts.L1_HITS] += 1
            give_back_from(memory, sm, now + p[parameters.L1_LATENCY], memory.nodes[node, nodes.TICKET], FIRST_LEVEL)
            free_node(memory, node)
            return NONE
        if tags.is_crowded(lines, memory.nodes, slot, need, p[parameters.MERGED1]):
            return MUST_WAIT
    asked = need & ~pending
    registers = 1 if pending == 0 else 0
    if p[parameters.MISS_SECTORS] == 1:
        registers = sectors_in(asked)
    if (registers != 0 and memory.sms[sm, sms.MISSES] + registers > p[parameters.MSHRS1]) or (
        asked != 0 and network.has_room(memory, sm, node) == 0
    ):
        return MUST_WAIT
    if slot == NONE:
        slot = _allocate(memory, sm, memory.nodes[node, nodes.LINE])
        if slot == NONE:
            return MUST_WAIT
    tags.touch(lines, memory.sets1, slot)
    memory.sms[sm, sms.MISSES] += registers
    memory.counts[sm, counts.L1_MISSES] += 1
    memory.nodes[node, nodes.NEED] = need
    tags.chain(lines, memory.nodes, slot, node)
    lines[slot, cache_lines.BITS] |= asked << cache_lines.PENDING_SHIFT
    if asked == 0:
        return NONE
    request = new_node(memory, sm, record.LOAD, memory.nodes[node, nodes.LINE], asked, memory.nodes[node, nodes.TICKET])
    memory.nodes[request, nodes.FILLS] = slot
    memory.nodes[request, nodes.ASKED_BY] = node
    return request


def _fill(memory: Memory, sm: int, slot: int, sectors: int) -> int:
    """Mark sectors of a line as valid; returns a chain of the nodes that wait for nothing else, first come first."""
    lines = memory.lines1
    chain = tags.fill(lines, memory.nodes, slot, sectors)
    if memory.parameters[parameters.MISS_SECTORS] == 1:
        memory.sms[sm, sms.MISSES] -= sectors_in(sectors)
    elif lines[slot, cache_lines.BITS] & cache_lines.PENDING == 0:
        memory.sms[sm, sms.MISSES] -= 1
    return chain
