"""Where a warp may have to wait for a long-latency result: the suspension points of the two-level scheduler (ISCA 2011,
section 3.2; MICRO 2011, section 4.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.strand_rules import LongLatencyRules
from warpreg.analysis.strands import Boundaries, Start
from warpreg.designs.interface.program import WAITS_FOR_ALL
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


def waits_for_all(kernel: Kernel, long_latency: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The column ``suspends`` if every suspension lasts until all long-latency results of the warp have arrived.

    A warp is suspended where the strands of MICRO 2011 wait (section 4.1): at the first access to an outstanding
    result, and at merges of paths of which only some have one.
    """
    boundaries = LongLatencyRules().boundaries(kernel, long_latency.astype(bool).tolist(), {})
    return WAITS_FOR_ALL * _starts(kernel, boundaries, Start.WAITS)


def after_stops(kernel: Kernel) -> NDArray[np.uint8]:
    """Per pc, whether it follows a barrier, fence or host call, at which a warp leaves the active set too."""
    return _starts(kernel, LongLatencyRules().boundaries(kernel, [False] * kernel.first_pcs()[-1], {}), Start.RESUMES)


def _starts(kernel: Kernel, boundaries: Boundaries, start: Start) -> NDArray[np.uint8]:
    """The instructions before which strands start in a given way."""
    first = kernel.first_pcs()
    places = {first[block]: one for block, one in boundaries.blocks.items() if kernel.blocks[block].instructions}
    flags = np.zeros(first[-1], np.uint8)
    flags[[pc for pc, one in {**places, **boundaries.inside}.items() if one.start is start]] = 1
    return flags


def _bits(registers: list[int]) -> int:
    bits = 0
    for register in registers:
        bits |= 1 << register
    return bits
