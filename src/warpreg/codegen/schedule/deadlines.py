"""Deadlines: the latest issue cycle of each instruction that does not lengthen the block.

A list schedule from the end of the block to its beginning (Gibbons and Muchnick, PLDI 1986, reversed) gives each
instruction the latest cycle at which its unit is free and its readers are not delayed.  Issuing earlier only lengthens
live ranges.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from warpreg.codegen.schedule.dependence_graph import Dependences


def deadlines(graph: Dependences, ports: Sequence[str], interval: Mapping[str, int]) -> list[int]:
    """Cycles from the beginning of the block, by position; ``interval`` as in `Cycles`.  O(n log n)."""
    count = len(ports)
    predecessors: list[list[int]] = [[] for _ in range(count)]
    depth = [0] * count
    for i, successors in enumerate(graph.successors):
        for j, cycles in successors.items():
            predecessors[j].append(i)
            depth[j] = max(depth[j], depth[i] + cycles)
    waiting = [len(successors) for successors in graph.successors]
    before_end = [0] * count
    ready = [(0, -depth[i], -i) for i in range(count) if not waiting[i]]
    heapq.heapify(ready)
    free_at = dict.fromkeys(ports, 0)
    clock = -1
    while ready:
        earliest, _, negative = heapq.heappop(ready)
        i = -negative
        clock = before_end[i] = max(clock + 1, earliest, free_at[ports[i]])
        free_at[ports[i]] = clock + interval.get(ports[i], 1)
        for p in predecessors[i]:
            before_end[p] = max(before_end[p], clock + graph.successors[p][i])
            waiting[p] -= 1
            if not waiting[p]:
                heapq.heappush(ready, (before_end[p], -depth[p], -p))
    last = max(before_end, default=0)
    return [last - cycles for cycles in before_end]
