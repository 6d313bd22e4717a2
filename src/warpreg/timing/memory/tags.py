"""Set-associative tags with LRU replacement and sectors; look-up and replacement take constant time.

Functions take the arrays of one level (``lines``, ``sets``, ``buckets``).  Caches of the same shape are consecutive:
cache ``which`` begins at line ``which * sets * ways``.  A cache is empty if its sets and buckets are zero, whatever its
lines contain, so those that are never used cost nothing.  Buckets and HASH_NEXT store the slot plus one.
"""

from __future__ import annotations

from warpreg.timing.core.prefetch import prefetch
from warpreg.timing.core.typed import NONE
from warpreg.timing.memory.array_types import Halves, Records
from warpreg.timing.memory.memory_columns import CacheLines, CacheSets, Nodes, cache_lines, cache_sets, nodes

LINE_SHIFT = 7
TAG_BITS = 31
TAG_MASK = (1 << TAG_BITS) - 1
COUNT_BITS = 16
COUNT_MASK = (1 << COUNT_BITS) - 1
COUNTS = sum(1 << COUNT_BITS * sector for sector in range(4))
SPREAD = sum(1 << (COUNT_BITS - 1) * sector for sector in range(4))
"""The product of a set of sectors and SPREAD has the bit of each at the place of its count."""


def find(lines: Records[CacheLines], buckets: Halves, count: int, which: int, line: int) -> int:
    """The slot of a line in cache ``which``, or NONE; ``count`` buckets per cache, a power of two."""
    number = line >> LINE_SHIFT
    tag, above = number & TAG_MASK, number >> TAG_BITS
    slot = int(buckets[which * count + _bucket(number, count)]) - 1
    while slot != NONE and (lines[slot, cache_lines.TAG] != tag or lines[slot, cache_lines.TAG_ABOVE] != above):
        slot = int(lines[slot, cache_lines.HASH_NEXT]) - 1
    return slot


def expect(buckets: Halves, count: int, which: int, line: int) -> None:
    """Hint that a line of cache ``which`` is looked up soon."""
    prefetch(buckets, which * count + _bucket(line >> LINE_SHIFT, count))


def line_at(lines: Records[CacheLines], slot: int) -> int:
    """The address of the line in a slot."""
    return (int(lines[slot, cache_lines.TAG_ABOVE]) << TAG_BITS | lines[slot, cache_lines.TAG]) << LINE_SHIFT


def touch(lines: Records[CacheLines], sets: Records[CacheSets], slot: int) -> None:
    """Make a line the most recently used of its set."""
    newer = lines[slot, cache_lines.NEWER]
    if newer == NONE:
        return
    older = lines[slot, cache_lines.OLDER]
    group = lines[slot, cache_lines.SET]
    lines[newer, cache_lines.OLDER] = older
    if older == NONE:
        sets[group, cache_sets.OLDEST] = newer
    else:
        lines[older, cache_lines.NEWER] = newer
    _make_newest(lines, sets, group, slot)


def _make_newest(lines: Records[CacheLines], sets: Records[CacheSets], group: int, slot: int) -> None:
    newest = sets[group, cache_sets.NEWEST]
    lines[newest, cache_lines.NEWER] = slot
    lines[slot, cache_lines.OLDER] = newest
    lines[slot, cache_lines.NEWER] = NONE
    sets[group, cache_sets.NEWEST] = slot


def victim(lines: Records[CacheLines], sets: Records[CacheSets], group: int, ways: int) -> int:
    """A slot of a set that was never used, else its oldest line that waits for nothing, else NONE."""
    if sets[group, cache_sets.USED] < ways:
        unused = group * ways + sets[group, cache_sets.USED]
        lines[unused, cache_lines.TAG] = lines[unused, cache_lines.TAG_ABOVE] = lines[unused, cache_lines.BITS] = 0
        return unused
    slot = sets[group, cache_sets.OLDEST]
    while slot != NONE and lines[slot, cache_lines.BITS] & cache_lines.PENDING:
        slot = lines[slot, cache_lines.NEWER]
    return slot


def is_crowded(lines: Records[CacheLines], chained: Records[Nodes], slot: int, need: int, room: int) -> bool:
    """Whether ``room`` nodes wait already for one of the missing sectors of ``need``.

    Few nodes in all need not be counted by sector.  One number holds a count for each sector.
    """
    bits = lines[slot, cache_lines.BITS]
    sought = need & ~bits & bits >> cache_lines.PENDING_SHIFT & cache_lines.VALID
    if sought == 0 or bits >> cache_lines.CHAINED_SHIFT < room:
        return False
    waiting = 0
    node = lines[slot, cache_lines.CHAIN]
    while node != NONE:
        waiting += (chained[node, nodes.NEED] & sought) * SPREAD & COUNTS
        node = chained[node, nodes.NEXT]
    while waiting != 0:
        if waiting & COUNT_MASK >= room:
            return True
        waiting >>= COUNT_BITS
    return False


def chain(lines: Records[CacheLines], chained: Records[Nodes], slot: int, node: int) -> None:
    """Let a node wait for sectors of a line."""
    chained[node, nodes.NEXT] = lines[slot, cache_lines.CHAIN]
    lines[slot, cache_lines.CHAIN] = node
    lines[slot, cache_lines.BITS] += 1 << cache_lines.CHAINED_SHIFT


def fill(lines: Records[CacheLines], chained: Records[Nodes], slot: int, sectors: int) -> int:
    """Mark sectors of a line as valid; returns a chain of the nodes that have all they need, first come first."""
    bits = (lines[slot, cache_lines.BITS] | sectors) & ~(sectors << cache_lines.PENDING_SHIFT)
    ready = NONE
    waiting = NONE
    last = NONE
    node = lines[slot, cache_lines.CHAIN]
    while node != NONE:
        following = chained[node, nodes.NEXT]
        chained[node, nodes.NEED] &= ~sectors
        if chained[node, nodes.NEED] == 0:
            chained[node, nodes.NEXT] = ready
            ready = node
            bits -= 1 << cache_lines.CHAINED_SHIFT
        else:
            chained[node, nodes.NEXT] = NONE
            if waiting == NONE:
                waiting = node
            else:
                chained[last, nodes.NEXT] = node
            last = node
        node = following
    lines[slot, cache_lines.CHAIN] = waiting
    lines[slot, cache_lines.BITS] = bits
    return ready


def replace(
    lines: Records[CacheLines],
    sets: Records[CacheSets],
    buckets: Halves,
    count: int,
    which: int,
    group: int,
    ways: int,
    slot: int,
    line: int,
) -> None:
    """Replace the line in a slot of a set, found by `victim`, by another line without sectors."""
    used = sets[group, cache_sets.USED]
    if slot == group * ways + used:
        _use(lines, sets, group, used, slot)
    else:
        _unlink(lines, buckets, which * count + _bucket(line_at(lines, slot) >> LINE_SHIFT, count), slot)
    number = line >> LINE_SHIFT
    bucket = which * count + _bucket(number, count)
    lines[slot, cache_lines.TAG] = number & TAG_MASK
    lines[slot, cache_lines.TAG_ABOVE] = number >> TAG_BITS
    lines[slot, cache_lines.BITS] = 0
    lines[slot, cache_lines.CHAIN] = NONE
    lines[slot, cache_lines.HASH_NEXT] = buckets[bucket]
    buckets[bucket] = slot + 1


def _use(lines: Records[CacheLines], sets: Records[CacheSets], group: int, used: int, slot: int) -> None:
    """Use a slot for the first time, as the most recently used of its set."""
    sets[group, cache_sets.USED] = used + 1
    lines[slot, cache_lines.SET] = group
    if used != 0:
        _make_newest(lines, sets, group, slot)
        return
    sets[group, cache_sets.OLDEST] = slot
    sets[group, cache_sets.NEWEST] = slot
    lines[slot, cache_lines.OLDER] = NONE
    lines[slot, cache_lines.NEWER] = NONE


def _unlink(lines: Records[CacheLines], buckets: Halves, bucket: int, slot: int) -> None:
    before = buckets[bucket] - 1
    if before == slot:
        buckets[bucket] = lines[slot, cache_lines.HASH_NEXT]
        return
    while lines[before, cache_lines.HASH_NEXT] != slot + 1:
        before = lines[before, cache_lines.HASH_NEXT] - 1
    lines[before, cache_lines.HASH_NEXT] = lines[slot, cache_lines.HASH_NEXT]


def _bucket(number: int, count: int) -> int:
    return (number ^ number >> 9 ^ number >> 18) & (count - 1)


def set_of(number: int, sets: int, bits: int) -> int:
    """The set of a line number.

    ``bits`` is log2 of ``sets``; the number is folded in parts of this width, so that power-of-two strides spread over
    the sets.  A negative value means that ``sets`` is not a power of two.
    """
    if bits < 0:
        return number % sets
    return (number ^ number >> bits ^ number >> (2 * bits)) & (sets - 1)
