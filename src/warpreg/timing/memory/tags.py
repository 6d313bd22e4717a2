"""Set-associative tags with least-recently-used replacement and sectors; finding and replacing take constant time.

Functions take the arrays of one level (``lines``, ``sets``, ``buckets``); several caches of the same shape lie one
after the other, cache ``which`` of them beginning at ``which * sets * ways``.  All zeros is an empty cache, so a large
one costs nothing until it is used: buckets, and lines' HASH_NEXT, name one more than the place.
"""

from __future__ import annotations

from warpreg.timing.core.prefetch import prefetch
from warpreg.timing.memory import layout as at
from warpreg.timing.memory.layout import Array, Halves

LINE_SHIFT = 7
TAG_BITS = 31
TAG_MASK = (1 << TAG_BITS) - 1


def find(lines: Halves, buckets: Halves, count: int, which: int, line: int) -> int:
    """The place of a line in cache ``which``, or NONE; ``count`` buckets for each cache, a power of two."""
    number = line >> LINE_SHIFT
    tag, above = number & TAG_MASK, number >> TAG_BITS
    place = int(buckets[which * count + _bucket(number, count)]) - 1
    while place != at.NONE and (lines[place, at.TAG] != tag or lines[place, at.TAG_ABOVE] != above):
        place = int(lines[place, at.HASH_NEXT]) - 1
    return place


def expect(buckets: Halves, count: int, which: int, line: int) -> None:
    """A line of cache ``which`` is looked up soon."""
    prefetch(buckets, which * count + _bucket(line >> LINE_SHIFT, count))


def line_at(lines: Halves, place: int) -> int:
    """The address of the line that has a place."""
    return (int(lines[place, at.TAG_ABOVE]) << TAG_BITS | lines[place, at.TAG]) << LINE_SHIFT


def touch(lines: Halves, sets: Array, place: int) -> None:
    """Make a line the youngest of its set."""
    newer = lines[place, at.NEWER]
    if newer == at.NONE:
        return
    older = lines[place, at.OLDER]
    group = lines[place, at.SET]
    lines[newer, at.OLDER] = older
    if older == at.NONE:
        sets[group, at.OLDEST] = newer
    else:
        lines[older, at.NEWER] = newer
    _make_newest(lines, sets, group, place)


def _make_newest(lines: Halves, sets: Array, group: int, place: int) -> None:
    newest = sets[group, at.NEWEST]
    lines[newest, at.NEWER] = place
    lines[place, at.OLDER] = newest
    lines[place, at.NEWER] = at.NONE
    sets[group, at.NEWEST] = place


def victim(lines: Halves, sets: Array, group: int, ways: int) -> int:
    """A place of a set that was never used, or its oldest line that waits for nothing, or NONE."""
    if sets[group, at.USED] < ways:
        return group * ways + sets[group, at.USED]
    place = sets[group, at.OLDEST]
    while place != at.NONE and lines[place, at.BITS] & at.PENDING:
        place = lines[place, at.NEWER]
    return place


def fill(lines: Halves, nodes: Array, place: int, sectors: int) -> int:
    """Sectors of a line are there; returns a chain of the nodes that have all they need now, first come first."""
    lines[place, at.BITS] = (lines[place, at.BITS] | sectors) & ~(sectors << at.PENDING_SHIFT)
    ready = at.NONE
    waiting = at.NONE
    last = at.NONE
    node = lines[place, at.CHAIN]
    while node != at.NONE:
        following = nodes[node, at.NEXT]
        nodes[node, at.NEED] &= ~sectors
        if nodes[node, at.NEED] == 0:
            nodes[node, at.NEXT] = ready
            ready = node
        else:
            nodes[node, at.NEXT] = at.NONE
            if waiting == at.NONE:
                waiting = node
            else:
                nodes[last, at.NEXT] = node
            last = node
        node = following
    lines[place, at.CHAIN] = waiting
    return ready


def replace(
    lines: Halves, sets: Array, buckets: Halves, count: int, which: int, group: int, ways: int, place: int, line: int
) -> None:
    """Give a place of a set, which `victim` has found, to another line, with no sectors."""
    used = sets[group, at.USED]
    if place == group * ways + used:
        _use(lines, sets, group, used, place)
    else:
        _unlink(lines, buckets, which * count + _bucket(line_at(lines, place) >> LINE_SHIFT, count), place)
    number = line >> LINE_SHIFT
    bucket = which * count + _bucket(number, count)
    lines[place, at.TAG] = number & TAG_MASK
    lines[place, at.TAG_ABOVE] = number >> TAG_BITS
    lines[place, at.BITS] = 0
    lines[place, at.CHAIN] = at.NONE
    lines[place, at.HASH_NEXT] = buckets[bucket]
    buckets[bucket] = place + 1


def _use(lines: Halves, sets: Array, group: int, used: int, place: int) -> None:
    """A place is used for the first time: as the newest of its set."""
    sets[group, at.USED] = used + 1
    lines[place, at.SET] = group
    if used != 0:
        _make_newest(lines, sets, group, place)
        return
    sets[group, at.OLDEST] = place
    sets[group, at.NEWEST] = place
    lines[place, at.OLDER] = at.NONE
    lines[place, at.NEWER] = at.NONE


def _unlink(lines: Halves, buckets: Halves, bucket: int, place: int) -> None:
    before = buckets[bucket] - 1
    if before == place:
        buckets[bucket] = lines[place, at.HASH_NEXT]
        return
    while lines[before, at.HASH_NEXT] != place + 1:
        before = lines[before, at.HASH_NEXT] - 1
    lines[before, at.HASH_NEXT] = lines[place, at.HASH_NEXT]


def _bucket(number: int, count: int) -> int:
    return (number ^ number >> 9 ^ number >> 18) & (count - 1)


def set_of(number: int, sets: int, bits: int) -> int:
    """The set of a line's number.

    ``bits`` is log2 of ``sets``: the number's parts of so many bits are folded together, so that power-of-two strides
    spread.  Where it is negative, ``sets`` is no power of two.
    """
    if bits < 0:
        return number % sets
    return (number ^ number >> bits ^ number >> (2 * bits)) & (sets - 1)
