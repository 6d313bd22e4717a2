"""The cached model: exact caches; network, slices and DRAM as latency and bandwidth.

Each resource stores the time at which it is free again.  Requests occupy it in the order of arrival, kept by a heap of
events; requests that arrive in the same cycle are ordered by SM.  Queues are unbounded, and DRAM has no rows.

SMs interact only where their requests arrive, so each may be stepped for several cycles before the next: `look_ahead`.
"""

from __future__ import annotations

from piecewise_numba.noinline import apart
from warpreg.timing.core import access_record as record
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.prefetch import HOST_LINE, prefetch
from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory import answers, first_level, network, second_level
from warpreg.timing.memory.agenda import empty_outboxes, first_of_day, next_planned, plan, take
from warpreg.timing.memory.heap import OFF_CHIP, free_node, note_level, sectors_in
from warpreg.timing.memory.layout import TICKS, Memory
from warpreg.timing.memory.memory_columns import channels, counts, nodes, parameters, scalars, slices


def advance(memory: Memory, now: int) -> None:
    """Process all events due by ``now``."""
    _do_before(memory, now + 1)
    for sm in range(memory.parameters[parameters.SMS]):
        answers.settle(memory, sm, now)


@stands_for(ports.look_ahead, when.CACHED)
def look_ahead(memory: Memory, soonest: int, until: int) -> int:
    """Process all events that SMs cannot affect: they have been stepped up to ``until`` and do nothing before
    ``soonest``.  Returns the cycle up to which all answers are known.

    A request reaches its slice after the latencies of the first-level cache (if it passes through it), of the network
    and of the second-level cache.  An answer reaches its SM after that of the network.
    """
    empty_outboxes(memory)
    p = memory.parameters
    way = p[parameters.NETWORK_LATENCY]
    first = min(soonest, next_planned(memory) + way)
    if first >= NEVER:
        return NEVER
    around = p[parameters.HAS_L1] == 0 or p[parameters.SKIP_GLOBAL] == 1
    leaves = first_level.BYPASS_CYCLES if around else p[parameters.L1_LATENCY]
    before = max(first, until) + leaves + way + p[parameters.L2_LATENCY]
    _do_before(memory, before)
    return before + way


def next_event(memory: Memory, now: int) -> int:
    """The earliest cycle in which `advance` is due."""
    return min(next_planned(memory), answers.next_answer_of_all(memory))


@apart
def _do_before(memory: Memory, end: int) -> None:
    """Process all events due before ``end``, in order of time."""
    while True:
        time = next_planned(memory)
        if time >= end:
            break
        node = take(memory, time)
        _expect(memory, first_of_day(memory, time))
        stage = memory.nodes[node, nodes.STAGE]
        which = memory.nodes[node, nodes.SLICE]
        if stage == nodes.ARRIVE:
            _arrive(memory, which, node, time)
            continue
        chain = node
        if stage == nodes.FILLED:
            chain = second_level.fill(memory, node)
            free_node(memory, node)
        while chain != NONE:
            following = memory.nodes[chain, nodes.NEXT]
            network.reply(memory, which, chain, time)
            chain = following


def _expect(memory: Memory, node: int) -> None:
    """Prefetch for the event of a node (NONE: nothing), then for that of its successor."""
    if node == NONE:
        return
    following = memory.nodes[node, nodes.NEXT] * nodes.COUNT
    prefetch(memory.nodes, following)
    prefetch(memory.nodes, following + HOST_LINE)
    second_level.expect(memory, node)


def _arrive(memory: Memory, which: int, node: int, now: int) -> None:
    """A request arrives at its slice: look it up, and compute when the slice answers or DRAM has its sectors."""
    p = memory.parameters
    start = max(now * TICKS, memory.slices[which, slices.FREE_AT])
    busy = sectors_in(memory.nodes[node, nodes.SECTORS]) * p[parameters.L2_SECTOR_TICKS]
    memory.slices[which, slices.FREE_AT] = start + busy
    outcome = second_level.look_up(memory, which, node)
    if outcome == second_level.ASKS or outcome == second_level.WAITS:
        second_level.wait(memory, node)
    later = start // TICKS
    sm = memory.nodes[node, nodes.SM]
    written = sectors_in(memory.scalars[scalars.EVICTED])
    read = sectors_in(memory.scalars[scalars.ASKED])
    stage = nodes.REPLY
    if outcome == second_level.ASKS:
        node = second_level.request(memory, node)
        stage = nodes.FILLED
    elif outcome == second_level.NO_SLOT:
        memory.nodes[node, nodes.NEXT] = NONE
        note_level(memory, node, OFF_CHIP)
        count = sectors_in(memory.nodes[node, nodes.SECTORS])
        if memory.nodes[node, nodes.KIND] == record.STORE:
            written += count
        else:
            read = count
    memory.counts[sm, counts.DRAM_WRITES] += written
    memory.counts[sm, counts.DRAM_READS] += read
    at_dram = later
    if read > 0:
        later = _move(memory, which, read, at_dram) + p[parameters.DRAM_LATENCY]
    if written > 0:
        _move(memory, which, written, at_dram)
    if outcome == second_level.HIT and later == now:
        network.reply(memory, which, node, now)
    elif outcome != second_level.WAITS:
        plan(memory, later, stage, node)


def _move(memory: Memory, which: int, sectors: int, now: int) -> int:
    """Occupy the data bus of the slice's channel; returns the cycle at whose start the transfer is complete."""
    channel = second_level.channel_of(memory, which)
    start = max(now * TICKS, memory.channels[channel, channels.FREE_AT])
    end = start + sectors * memory.parameters[parameters.DRAM_SECTOR_TICKS]
    memory.channels[channel, channels.FREE_AT] = end
    return (end + TICKS - 1) // TICKS
