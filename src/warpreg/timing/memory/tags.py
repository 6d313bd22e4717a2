"""Set-associative tags with least-recently-used replacement and sectors; finding and replacing take constant time.

Functions take the arrays of one level (``lines``, ``sets``, ``buckets``); several caches of the same shape lie one
after the other, cache ``which`` of them beginning at ``which * sets * ways``.
"""

from __future__ import annotations

from warpreg.timing.memory import layout as at
from warpreg.timing.memory.layout import Array


def find(lines: Array, buckets: Array, count: int, which: int, line: int) -> int:
    """The place of a line in cache ``which``, or NONE; ``count`` buckets for each cache, a power of two."""
    place = buckets[which * count + _bucket(line, count)]
    while place != at.NONE and lines[place, at.TAG] != line:
        place = lines[place, at.HASH_NEXT]
    return place


def touch(lines: Array, sets: Array, place: int) -> None:
    """Make a line the youngest of its set."""
    newer = lines[place, at.NEWER]
    if newer == at.NONE:
        return
    older = lines[place, at.OLDER]
    group = lines[place, at.SET]
    lines[newer, at.OLDER] = older
    if older == at.NONE:
        sets[group, 0] = newer
    else:
        lines[older, at.NEWER] = newer
    newest = sets[group, 1]
    lines[newest, at.NEWER] = place
    lines[place, at.OLDER] = newest
    lines[place, at.NEWER] = at.NONE
    sets[group, 1] = place


def victim(lines: Array, sets: Array, group: int) -> int:
    """The oldest line of a set that waits for nothing, or NONE."""
    place = sets[group, 0]
    while place != at.NONE and lines[place, at.BITS] & at.PENDING:
        place = lines[place, at.NEWER]
    return place


def fill(lines: Array, nodes: Array, place: int, sectors: int) -> int:
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


def replace(lines: Array, buckets: Array, count: int, which: int, place: int, line: int) -> None:
    """Give a place to another line, with no sectors."""
    old = lines[place, at.TAG]
    if old != at.NONE:
        _unlink(lines, buckets, which * count + _bucket(old, count), place)
    bucket = which * count + _bucket(line, count)
    lines[place, at.TAG] = line
    lines[place, at.BITS] = 0
    lines[place, at.CHAIN] = at.NONE
    lines[place, at.HASH_NEXT] = buckets[bucket]
    buckets[bucket] = place


def _unlink(lines: Array, buckets: Array, bucket: int, place: int) -> None:
    before = buckets[bucket]
    if before == place:
        buckets[bucket] = lines[place, at.HASH_NEXT]
        return
    while lines[before, at.HASH_NEXT] != place:
        before = lines[before, at.HASH_NEXT]
    lines[before, at.HASH_NEXT] = lines[place, at.HASH_NEXT]


def _bucket(line: int, count: int) -> int:
    number = line >> 7
    return (number ^ number >> 9 ^ number >> 18) & (count - 1)


def set_of(number: int, sets: int, bits: int) -> int:
    """The set of a line's number.

    ``bits`` is log2 of ``sets``: the number's parts of so many bits are folded together, so that power-of-two strides
    spread.  Where it is negative, ``sets`` is no power of two.
    """
    if bits < 0:
        return number % sets
    return (number ^ number >> bits ^ number >> (2 * bits)) & (sets - 1)
