"""Second-level cache: address-interleaved slices, write-back, allocate on miss.

A store makes its sectors valid and dirty without fetching them.  Functions return the outcome of a look-up; the models
add the time.
"""

from __future__ import annotations

from warpreg.timing.core import access_record as record
from warpreg.timing.core.typed import NONE
from warpreg.timing.memory import tags
from warpreg.timing.memory.heap import OFF_CHIP, SECOND_LEVEL, new_node, note_level
from warpreg.timing.memory.layout import FOLDED, RANDOM, Memory
from warpreg.timing.memory.memory_columns import cache_lines, counts, nodes, parameters, scalars, slices

HIT, WAITS, ASKS, NO_SLOT = range(4)
"""Outcomes of a look-up: a hit; a miss on sectors already requested; a miss that reads ``ASKED`` from DRAM; no line can
be replaced, or one of the sectors already has the maximum number of waiting requests.
"""


def slice_of(memory: Memory, line: int) -> int:
    """The slice of a line."""
    p = memory.parameters
    chunk = line >> p[parameters.INTERLEAVE_SHIFT]
    if p[parameters.SPREAD] == FOLDED:
        return tags.set_of(chunk, p[parameters.SLICES], p[parameters.SLICE_BITS])
    spread = _mixed(chunk) if p[parameters.SPREAD] == RANDOM else chunk
    if p[parameters.SLICE_BITS] >= 0:
        return spread & (p[parameters.SLICES] - 1)
    return spread % p[parameters.SLICES]


def _mixed(number: int) -> int:
    """A 32-bit hash of a number."""
    mixed = (number ^ number >> 32) & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 16) * 0x45D9F3B & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 16) * 0x45D9F3B & 0xFFFFFFFF
    return mixed ^ mixed >> 16


def channel_of(memory: Memory, which: int) -> int:
    """The DRAM channel of a slice."""
    return memory.slices[which, slices.CHANNEL]


def index_in_slice(memory: Memory, line: int) -> int:
    """The index of a line among those of its slice, in the order of addresses."""
    p = memory.parameters
    chunk = line >> p[parameters.INTERLEAVE_SHIFT]
    bits = p[parameters.SLICE_BITS]
    above = chunk >> bits if bits >= 0 else chunk // p[parameters.SLICES]
    within = p[parameters.INTERLEAVE_SHIFT] - 7
    return above << within | line >> 7 & ((1 << within) - 1)


def index_in_channel(memory: Memory, line: int) -> int:
    """The index of a line among those of its DRAM channel, in the order of addresses."""
    p = memory.parameters
    within = p[parameters.INTERLEAVE_SHIFT] - 7
    chunk = line >> p[parameters.INTERLEAVE_SHIFT]
    return chunk // p[parameters.CHANNELS] << within | line >> 7 & ((1 << within) - 1)


def expect(memory: Memory, node: int) -> None:
    """Hint that the line of a request is looked up soon."""
    which, line = memory.nodes[node, nodes.SLICE], memory.nodes[node, nodes.LINE]
    tags.expect(memory.buckets2, memory.parameters[parameters.BUCKETS2], which, line)


def look_up(memory: Memory, which: int, node: int) -> int:
    """Look up the sectors of a request in its slice, or allocate them; the result is in the scalars."""
    p = memory.parameters
    lines = memory.lines2
    line = memory.nodes[node, nodes.LINE]
    kind = memory.nodes[node, nodes.KIND]
    sm = memory.nodes[node, nodes.SM]
    memory.scalars[scalars.EVICTED] = 0
    memory.scalars[scalars.ASKED] = 0
    note_level(memory, node, SECOND_LEVEL)
    need = memory.nodes[node, nodes.SECTORS]
    slot = tags.find(lines, memory.buckets2, p[parameters.BUCKETS2], which, line)
    is_read = kind != record.STORE
    if slot != NONE and is_read and tags.is_crowded(lines, memory.nodes, slot, need, p[parameters.MERGED2]):
        return NO_SLOT
    if slot == NONE:
        slot = allocate(memory, which, line)
        if slot == NONE:
            return NO_SLOT
    tags.touch(lines, memory.sets2, slot)
    if kind == record.STORE:
        memory.counts[sm, counts.L2_HITS] += 1
        lines[slot, cache_lines.BITS] |= need | need << cache_lines.DIRTY_SHIFT
        return HIT
    if kind == record.ATOMIC:
        lines[slot, cache_lines.BITS] |= need << cache_lines.DIRTY_SHIFT
    missing = need & ~lines[slot, cache_lines.BITS]
    if missing == 0:
        memory.counts[sm, counts.L2_HITS] += 1
        return HIT
    memory.counts[sm, counts.L2_MISSES] += 1
    asked = missing & ~(lines[slot, cache_lines.BITS] >> cache_lines.PENDING_SHIFT)
    if p[parameters.FETCHED2] > 1:
        asked = _fetched_with(asked, p[parameters.FETCHED2])
        asked &= ~(lines[slot, cache_lines.BITS] | lines[slot, cache_lines.BITS] >> cache_lines.PENDING_SHIFT)
    lines[slot, cache_lines.BITS] |= asked << cache_lines.PENDING_SHIFT
    memory.nodes[node, nodes.NEED] = missing
    memory.scalars[scalars.ASKED] = asked
    memory.scalars[scalars.FOUND] = slot
    return ASKS if asked else WAITS


def _fetched_with(sectors: int, together: int) -> int:
    """Sectors of a line, and those in the same aligned groups of ``together``: 2, or all 4."""
    if together == 2:
        return sectors | (sectors & 0b0101) << 1 | (sectors & 0b1010) >> 1
    return 0b1111 if sectors else 0


def allocate(memory: Memory, which: int, line: int) -> int:
    """The slot of a line that replaces another in its slice, or NONE; what it evicts is in the scalars."""
    p = memory.parameters
    lines = memory.lines2
    group = which * p[parameters.SETS2] + tags.set_of(
        index_in_slice(memory, line), p[parameters.SETS2], p[parameters.BITS2]
    )
    ways = p[parameters.WAYS2]
    slot = tags.victim(lines, memory.sets2, group, ways)
    if slot == NONE:
        return NONE
    memory.scalars[scalars.EVICTED] = lines[slot, cache_lines.BITS] >> cache_lines.DIRTY_SHIFT & cache_lines.VALID
    memory.scalars[scalars.EVICTED_LINE] = tags.line_at(lines, slot)
    count = p[parameters.BUCKETS2]
    tags.replace(lines, memory.sets2, memory.buckets2, count, which, group, ways, slot, line)
    return slot


def wait(memory: Memory, node: int) -> None:
    """Chain a request to the line that the last look-up returned."""
    slot = memory.scalars[scalars.FOUND]
    note_level(memory, node, OFF_CHIP)
    tags.chain(memory.lines2, memory.nodes, slot, node)


def request(memory: Memory, node: int) -> int:
    """The DRAM read of the sectors that the last look-up of a request missed."""
    made = new_node(
        memory,
        memory.nodes[node, nodes.SM],
        record.LOAD,
        memory.nodes[node, nodes.LINE],
        memory.scalars[scalars.ASKED],
        NONE,
    )
    memory.nodes[made, nodes.SLICE] = memory.nodes[node, nodes.SLICE]
    memory.nodes[made, nodes.FILLS] = memory.scalars[scalars.FOUND]
    return made


def fill(memory: Memory, node: int) -> int:
    """DRAM has read the sectors of a request; returns a chain of the nodes that are complete, first come first."""
    return tags.fill(memory.lines2, memory.nodes, memory.nodes[node, nodes.FILLS], memory.nodes[node, nodes.SECTORS])
