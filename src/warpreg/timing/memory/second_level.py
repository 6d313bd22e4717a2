"""The second-level cache: slices that lines are spread over, write-back, allocated when missed.

A store makes its sectors valid and dirty without fetching them.  Functions say what a look-up found; time is the
business of the model.
"""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory import tags
from warpreg.timing.memory.heap import new_node
from warpreg.timing.memory.layout import Memory

HIT, WAITS, ASKS, NO_PLACE = range(4)
"""What a look-up found: the sectors; that others have asked for them; that DRAM is to be asked for ``ASKED``; no line
that could be replaced, or as many requests for one of the sectors as may wait."""


def slice_of(memory: Memory, line: int) -> int:
    """The slice that a line belongs to."""
    parameters = memory.parameters
    chunk = line >> parameters[at.INTERLEAVE_SHIFT]
    if parameters[at.SPREAD] == at.FOLDED:
        return tags.set_of(chunk, parameters[at.SLICES], parameters[at.SLICE_BITS])
    return (_mixed(chunk) if parameters[at.SPREAD] == at.RANDOM else chunk) % parameters[at.SLICES]


def _mixed(number: int) -> int:
    """32 bits that depend on all bits of a number, as if drawn at random."""
    mixed = (number ^ number >> 32) & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 16) * 0x45D9F3B & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 16) * 0x45D9F3B & 0xFFFFFFFF
    return mixed ^ mixed >> 16


def channel_of(memory: Memory, which: int) -> int:
    """The DRAM channel behind a slice."""
    return which % memory.parameters[at.CHANNELS]


def place_in_slice(memory: Memory, line: int) -> int:
    """A line's number among those of its slice, in the order of addresses."""
    parameters = memory.parameters
    chunk = line >> parameters[at.INTERLEAVE_SHIFT]
    bits = parameters[at.SLICE_BITS]
    above = chunk >> bits if bits >= 0 else chunk // parameters[at.SLICES]
    within = parameters[at.INTERLEAVE_SHIFT] - 7
    return above << within | line >> 7 & ((1 << within) - 1)


def place_in_channel(memory: Memory, line: int) -> int:
    """A line's number among those of its DRAM channel, in the order of addresses."""
    parameters = memory.parameters
    within = parameters[at.INTERLEAVE_SHIFT] - 7
    chunk = line >> parameters[at.INTERLEAVE_SHIFT]
    return chunk // parameters[at.CHANNELS] << within | line >> 7 & ((1 << within) - 1)


def expect(memory: Memory, line: int) -> None:
    """A line is looked up soon."""
    tags.expect(memory.buckets2, memory.parameters[at.BUCKETS2], slice_of(memory, line), line)


def look_up(memory: Memory, which: int, node: int) -> int:
    """Find a request's sectors in its slice, or make room for them; what to do for it stands in the scalars."""
    parameters, nodes, lines = memory.parameters, memory.nodes, memory.lines2
    scalars = memory.scalars
    line = nodes[node, at.LINE]
    kind = nodes[node, at.KIND]
    sm = nodes[node, at.SM]
    scalars[at.EVICTED] = 0
    scalars[at.ASKED] = 0
    need = nodes[node, at.SECTORS]
    place = tags.find(lines, memory.buckets2, parameters[at.BUCKETS2], which, line)
    if place != at.NONE and kind != at.STORE and _is_crowded(memory, place, need):
        return NO_PLACE
    if place == at.NONE:
        group = which * parameters[at.SETS2] + tags.set_of(
            place_in_slice(memory, line), parameters[at.SETS2], parameters[at.BITS2]
        )
        ways = parameters[at.WAYS2]
        place = tags.victim(lines, memory.sets2, group, ways)
        if place == at.NONE:
            return NO_PLACE
        scalars[at.EVICTED] = lines[place, at.BITS] >> at.DIRTY_SHIFT & at.VALID
        scalars[at.EVICTED_LINE] = tags.line_at(lines, place)
        count = parameters[at.BUCKETS2]
        tags.replace(lines, memory.sets2, memory.buckets2, count, which, group, ways, place, line)
    tags.touch(lines, memory.sets2, place)
    if kind == at.STORE:
        memory.counts[sm, at.L2_HITS] += 1
        lines[place, at.BITS] |= need | need << at.DIRTY_SHIFT
        return HIT
    if kind == at.ATOMIC:
        lines[place, at.BITS] |= need << at.DIRTY_SHIFT
    missing = need & ~lines[place, at.BITS]
    if missing == 0:
        memory.counts[sm, at.L2_HITS] += 1
        return HIT
    memory.counts[sm, at.L2_MISSES] += 1
    asked = missing & ~(lines[place, at.BITS] >> at.PENDING_SHIFT)
    lines[place, at.BITS] |= asked << at.PENDING_SHIFT
    nodes[node, at.NEED] = missing
    scalars[at.ASKED] = asked
    scalars[at.PLACE] = place
    return ASKS if asked else WAITS


def _is_crowded(memory: Memory, place: int, need: int) -> bool:
    """Whether as many requests wait for one of these sectors of a line as may."""
    bits = memory.lines2[place, at.BITS]
    sought = need & ~bits & bits >> at.PENDING_SHIFT
    room = memory.parameters[at.MERGED2]
    if sought == 0 or room == at.NEVER:
        return False
    node = memory.lines2[place, at.CHAIN]
    while node != at.NONE and room > 0:
        if memory.nodes[node, at.NEED] & sought:
            room -= 1
        node = memory.nodes[node, at.NEXT]
    return room == 0


def wait(memory: Memory, node: int) -> None:
    """Chain a request to the line that it has just been found to wait for."""
    place = memory.scalars[at.PLACE]
    memory.nodes[node, at.NEXT] = memory.lines2[place, at.CHAIN]
    memory.lines2[place, at.CHAIN] = node


def request(memory: Memory, node: int) -> int:
    """What asks DRAM for the sectors that a request has just been found to lack."""
    scalars, nodes = memory.scalars, memory.nodes
    made = new_node(memory, nodes[node, at.SM], at.LOAD, nodes[node, at.LINE], scalars[at.ASKED], at.NONE)
    nodes[made, at.FILLS] = scalars[at.PLACE]
    return made


def fill(memory: Memory, node: int) -> int:
    """DRAM has given the sectors of a request; returns a chain of those that have all they need, first come first."""
    return tags.fill(memory.lines2, memory.nodes, memory.nodes[node, at.FILLS], memory.nodes[node, at.SECTORS])
