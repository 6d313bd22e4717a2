"""Where a warp may have to wait for a long-latency result: the suspension points of the two-level scheduler (ISCA 2011,
section 3.2).
"""

from __future__ import annotations

from warpreg.ir.kernel import Kernel


def suspensions(
    kernel: Kernel, sources: list[list[int]], results: list[list[int]], long_latency: list[bool]
) -> list[bool]:
    """Per pc, whether it may read or overwrite a long-latency result that is outstanding on some path.

    Forward may-analysis: a long-latency result is pending until the first instruction that reads or overwrites it.  An
    overwrite waits too, because results must arrive in order (assumed; the paper speaks of sources only).
    """
    first = kernel.first_pcs()
    entry = [0] * len(kernel.blocks)
    suspends = [False] * first[-1]
    waiting = list(range(len(kernel.blocks)))
    while waiting:
        block = kernel.blocks[waiting.pop()]
        pending = entry[block.index]
        for pc in range(first[block.index], first[block.index + 1]):
            touched = _bits(sources[pc]) | _bits(results[pc])
            suspends[pc] = bool(pending & touched)
            pending &= ~touched
            if long_latency[pc]:
                pending |= _bits(results[pc])
        for successor in block.successors:
            if pending & ~entry[successor]:
                entry[successor] |= pending
                waiting.append(successor)
    return suspends


def _bits(registers: list[int]) -> int:
    bits = 0
    for register in registers:
        bits |= 1 << register
    return bits
